//! Runs tests with LevelDB on cases that differ in each run.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::common::process::LevelDb;

static SEED: LazyLock<u64> = LazyLock::new(|| match env::var("LEVELDB_FILTER_SEED") {
    Ok(seed) => seed.parse().expect("LEVELDB_FILTER_SEED is a number"),
    Err(_) => RandomState::new().build_hasher().finish(),
});

/// Runs `test` on this many cases, with its own LevelDB process.
pub(crate) fn check<S: Strategy>(cases: u32, case: S, test: impl Fn(&mut LevelDb, S::Value)) {
    println!("LEVELDB_FILTER_SEED={}", *SEED);
    let leveldb = RefCell::new(LevelDb::start().unwrap_or_else(|missing| panic!("{missing}")));
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_time: 10_000, // milliseconds
        rng_seed: RngSeed::Fixed(*SEED),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&case, |case| {
        test(&mut leveldb.borrow_mut(), case);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
