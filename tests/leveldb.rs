//! Byte for byte and answer for answer the same as LevelDB itself, which runs beside the tests.
//!
//! Each run draws cases of its own, from a seed that a failing test prints; `LEVELDB_FILTER_SEED`
//! sets it.
//!
//! ```sh
//! apt-get install g++ libleveldb-dev
//! cargo test --release --test leveldb -- --ignored
//! ```

mod common;

use std::cell::Cell;

use cases::check;
use common::strategies::{Keys, any_filter, any_keys, many_keys};
use common::ways::{answers, for_each_filter};
use leveldb_filter::BloomFilterPolicy;
use process::{LevelDb, Request};
use proptest::prelude::*;

#[path = "leveldb/cases.rs"]
mod cases;
#[path = "leveldb/filter_blocks.rs"]
mod filter_blocks;
#[path = "leveldb/process.rs"]
mod process;
#[path = "leveldb/tables.rs"]
mod tables;

/// Every kind of filter that this crate makes.
fn filters_for_leveldb(policy: BloomFilterPolicy, num_probes: u8, keys: &[&[u8]]) -> [Vec<u8>; 3] {
    [
        common::create_filter(policy, keys),
        common::create_filter(policy.with_num_probes(num_probes), keys),
        common::create_filter(policy.tuned(), keys),
    ]
}

fn assert_created_as_by(leveldb: &mut LevelDb, bits_per_key: usize, keys: &Keys) {
    let request = Request::new(b'c').u32(bits_per_key.try_into().expect("a small number"));
    let expected = leveldb.ask(&request.strings(&keys.0));
    let policy = BloomFilterPolicy::new(bits_per_key);
    for_each_filter(policy, &keys.slices(), |way, filter| {
        assert!(filter == expected, "{way} makes another filter");
    });
}

/// How many keys were looked up, and how many of them may match.
#[derive(Default)]
struct Tally {
    num_lookups: Cell<usize>,
    num_matches: Cell<usize>,
}

impl Tally {
    /// Asserts that all lookups answer as LevelDB.
    fn assert_answers_as(&self, leveldb: &mut LevelDb, filter: &[u8], keys: &[&[u8]]) {
        let expected = leveldb.ask(&Request::new(b'm').string(filter).strings(keys));
        let expected: Vec<bool> = expected.into_iter().map(|answer| answer == 1).collect();
        for (way, answers) in answers(filter, keys) {
            assert!(answers == expected, "{way} answers otherwise");
        }
        let num_matches = expected.iter().filter(|&&may_match| may_match).count();
        self.num_lookups.set(self.num_lookups.get() + keys.len());
        self.num_matches.set(self.num_matches.get() + num_matches);
    }

    /// Asserts that there were so many lookups, and among them one in 50 with either answer: so few
    /// that not one run in a million draws cases that have less.
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
    check(3_000, (0..=100_usize, any_keys(100)), |leveldb, (bits_per_key, keys)| {
        assert_created_as_by(leveldb, bits_per_key, &keys);
    });
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_of_many_keys_are_created_byte_for_byte() {
    check(200, (0..=100_usize, many_keys(0..=50_000)), |leveldb, (bits_per_key, keys)| {
        assert_created_as_by(leveldb, bits_per_key, &keys);
    });
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_above_the_cache_are_created_byte_for_byte() {
    check(3, (90..=100_usize, many_keys(750_000..=1_000_000)), |leveldb, (bits_per_key, keys)| {
        assert_created_as_by(leveldb, bits_per_key, &keys);
    });
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_of_every_kind_are_read_by_leveldb() {
    let tally = Tally::default();
    let case = (0..=40_usize, 1..=30_u8, any_keys(300), any_keys(300));
    check(1_500, case, |leveldb, (bits_per_key, num_probes, present, absent)| {
        let policy = BloomFilterPolicy::new(bits_per_key);
        for filter in filters_for_leveldb(policy, num_probes, &present.slices()) {
            tally.assert_answers_as(leveldb, &filter, &present.slices());
            tally.assert_answers_as(leveldb, &filter, &absent.slices());
        }
    });
    tally.assert_at_least(1_000_000);
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filters_of_better_lengths_are_read_by_leveldb() {
    let tally = Tally::default();
    let num_shorter = [Cell::new(0), Cell::new(0)];
    let num_keys = prop_oneof![500..=5_000_usize, 20_000..=60_000_usize];
    let keys = num_keys.prop_flat_map(|num_keys| many_keys(num_keys..=num_keys));
    check(
        60,
        (6..=16_usize, keys, many_keys(0..=50_000)),
        |leveldb, (bits_per_key, keys, others)| {
            let policy = BloomFilterPolicy::new(bits_per_key);
            let filter = common::create_filter(policy.tuned(), &keys.slices());
            if filter.len() < policy.shape(keys.0.len()).filter_len() {
                let num_shorter = &num_shorter[usize::from(keys.0.len() >= 20_000)];
                num_shorter.set(num_shorter.get() + 1);
            }
            tally.assert_answers_as(leveldb, &filter, &keys.slices());
            tally.assert_answers_as(leveldb, &filter, &others.slices());
        },
    );
    tally.assert_at_least(1_000_000);
    assert!(num_shorter.iter().all(|num_shorter| num_shorter.get() > 0), "{num_shorter:?}");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn arbitrary_filters_get_leveldbs_answers() {
    let tally = Tally::default();
    let filter = prop_oneof![any_filter(0..=100), any_filter(0..=5_000)];
    check(8_000, (filter, any_keys(300)), |leveldb, (filter, keys)| {
        tally.assert_answers_as(leveldb, &filter.0, &keys.slices());
    });
    tally.assert_at_least(1_000_000);
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn arbitrary_filters_above_the_cache_get_leveldbs_answers() {
    let tally = Tally::default();
    // Read as one that no cache holds.
    let filter = any_filter((8 << 20) + 2..=16 << 20);
    check(30, (filter, many_keys(0..=50_000)), |leveldb, (filter, keys)| {
        tally.assert_answers_as(leveldb, &filter.0, &keys.slices());
    });
    tally.assert_at_least(200_000);
}
