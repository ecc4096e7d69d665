//! Single filters, in cases that differ in each run.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::common::process::{LevelDb, Request};
use crate::common::strategies::{any_filter, any_keys, any_policy, many_keys};
use crate::common::ways::{answers, for_each_filter};
use crate::common::{create_filter, slices};

static SEED: LazyLock<u64> = LazyLock::new(|| match env::var("LEVELDB_FILTER_SEED") {
    Ok(seed) => seed.parse().expect("LEVELDB_FILTER_SEED is a number"),
    Err(_) => RandomState::new().build_hasher().finish(),
});

/// Runs `test` on this many cases, with its own LevelDB process.
fn check<S: Strategy>(cases: u32, case: S, test: impl Fn(&mut LevelDb, S::Value)) {
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

/// How many keys were looked up, and how many of them may match.
#[derive(Default)]
struct Tally {
    num_lookups: Cell<usize>,
    num_matches: Cell<usize>,
}

impl Tally {
    /// Asserts that all ways of looking up keys answer as LevelDB does.
    fn assert_answers_as(&self, leveldb: &mut LevelDb, filter: &[u8], keys: &[&[u8]]) {
        let expected = leveldb.ask(&Request::new(b'm').string(filter).strings(keys));
        let expected: Vec<bool> = expected.into_iter().map(|answer| answer == 1).collect();
        for (way, answers) in answers(filter, keys) {
            assert!(answers == expected, "{way} gives other answers than LevelDB");
        }
        let num_matches = expected.iter().filter(|&&may_match| may_match).count();
        self.num_lookups.set(self.num_lookups.get() + keys.len());
        self.num_matches.set(self.num_matches.get() + num_matches);
    }

    /// Asserts that there were enough lookups, and at least one in 50 with each answer: not one run
    /// in a million draws cases with fewer.
    fn assert_at_least(&self, num_lookups: usize) {
        let (lookups, matches) = (self.num_lookups.get(), self.num_matches.get());
        assert!(lookups >= num_lookups, "only {lookups} lookups");
        let either = matches.min(lookups - matches);
        assert!(either >= lookups / 50, "{matches} of {lookups} match");
    }
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_are_created_byte_for_byte() {
    for (cases, bits_per_key, keys) in [
        (750, 0..=100_u32, any_keys(100)),
        (20, 0..=100, many_keys(0..=50_000)),
        // Megabytes.
        (1, 90..=100, many_keys(750_000..=1_000_000)),
    ] {
        check(cases, (bits_per_key, keys), |leveldb, (bits_per_key, keys)| {
            let request = Request::new(b'c').u32(bits_per_key);
            let expected = leveldb.ask(&request.strings(&keys.0));
            let policy = BloomFilterPolicy::new(bits_per_key);
            for_each_filter(policy, &slices(&keys.0), |way, filter| {
                assert!(filter == expected, "{way} makes another filter than LevelDB");
            });
        });
    }
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_of_every_kind_are_read_by_leveldb() {
    for (cases, num_lookups, present, absent) in [
        (625, 100_000, any_keys(300), any_keys(300)),
        (30, 400_000, many_keys(500..=60_000), many_keys(0..=50_000)),
    ] {
        let tally = Tally::default();
        check(cases, (any_policy(), present, absent), |leveldb, (policy, present, absent)| {
            let filter = create_filter(policy, &present.0);
            tally.assert_answers_as(leveldb, &filter, &slices(&present.0));
            tally.assert_answers_as(leveldb, &filter, &slices(&absent.0));
        });
        tally.assert_at_least(num_lookups);
    }
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn arbitrary_filters_get_leveldbs_answers() {
    for (cases, num_lookups, filter, keys) in [
        (500, 50_000, any_filter(0..=100), any_keys(300)),
        (500, 50_000, any_filter(0..=5_000), any_keys(300)),
        // Megabytes.
        (15, 80_000, any_filter((8 << 20) + 2..=16 << 20), many_keys(0..=50_000)),
    ] {
        let tally = Tally::default();
        check(cases, (filter, keys), |leveldb, (filter, keys)| {
            tally.assert_answers_as(leveldb, &filter.0, &slices(&keys.0));
        });
        tally.assert_at_least(num_lookups);
    }
}
