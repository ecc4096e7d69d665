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

use cases::{Keys, any_filter, any_keys, check, large_filter, many_keys};
use leveldb_filter::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, FilterPolicy, InvalidFilter, bloom_hash,
};
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

/// Every way to make LevelDB's filter.
fn filters_like_leveldbs(
    policy: BloomFilterPolicy,
    keys: &[&[u8]],
) -> [(&'static str, Vec<u8>); 5] {
    let mut builder = BloomFilterBuilder::new();
    let mut built = |add: &dyn Fn(&mut _)| {
        let mut filter = Vec::new();
        add(&mut builder);
        builder.finish_into(policy, &mut filter);
        filter
    };
    let mut inserted = BloomFilter::empty(policy.shape(keys.len()));
    for key in keys {
        inserted.insert(key);
    }
    [
        ("create_filter", common::create_filter(policy, keys)),
        ("add_key", built(&|builder| keys.iter().for_each(|key| builder.add_key(key)))),
        (
            "add_hash",
            built(&|builder| keys.iter().for_each(|key| builder.add_hash(bloom_hash(key)))),
        ),
        ("extend", built(&|builder| builder.extend(keys))),
        ("insert", inserted.into_inner()),
    ]
}

/// Every kind of filter that this crate makes.
fn filters_for_leveldb(policy: BloomFilterPolicy, num_probes: u8, keys: &[&[u8]]) -> [Vec<u8>; 4] {
    [
        tuned_filter(policy, keys),
        common::create_filter(policy, keys),
        common::create_filter(policy.with_num_probes(num_probes), keys),
        common::create_filter(policy.tuned(), keys),
    ]
}

/// The filter with the best number of probes and length.
fn tuned_filter(policy: BloomFilterPolicy, keys: &[&[u8]]) -> Vec<u8> {
    let mut builder = BloomFilterBuilder::new();
    builder.extend(keys);
    let mut filter = Vec::new();
    builder.finish_into(policy.tuned(), &mut filter);
    filter
}

/// Every way to look up keys.
fn answers(filter: &[u8], keys: &[&[u8]]) -> Vec<(&'static str, Vec<bool>)> {
    let policy = BloomFilterPolicy::default();
    let by_policy = keys.iter().map(|key| policy.key_may_match(key, filter)).collect();
    let parsed = match BloomFilter::new(filter) {
        Ok(parsed) => parsed,
        // What the documentation says to make of it.
        Err(error) => {
            let may_match = matches!(error, InvalidFilter::ReservedProbeCount { .. });
            return vec![("policy", by_policy), ("error", vec![may_match; keys.len()])];
        }
    };
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let (mut batch, mut batch_of_hashes) = (vec![false; keys.len()], vec![false; keys.len()]);
    parsed.keys_may_match(keys, &mut batch);
    parsed.hashes_may_match(&hashes, &mut batch_of_hashes);
    vec![
        ("policy", by_policy),
        ("key", keys.iter().map(|key| parsed.key_may_match(key)).collect()),
        ("hash", hashes.iter().map(|&hash| parsed.hash_may_match(hash)).collect()),
        ("batch", batch),
        ("batch of hashes", batch_of_hashes),
    ]
}

fn assert_created_as_by(leveldb: &mut LevelDb, bits_per_key: usize, keys: &Keys) {
    let request = Request::new(b'c').u32(bits_per_key.try_into().expect("a small number"));
    let expected = leveldb.ask(&request.strings(&keys.0));
    let policy = BloomFilterPolicy::new(bits_per_key);
    for (way, filter) in filters_like_leveldbs(policy, &keys.slices()) {
        assert!(filter == expected, "{way} makes another filter");
    }
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
            let filter = tuned_filter(policy, &keys.slices());
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
    check(8_000, (any_filter(), any_keys(300)), |leveldb, (filter, keys)| {
        tally.assert_answers_as(leveldb, &filter.0, &keys.slices());
    });
    tally.assert_at_least(1_000_000);
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn arbitrary_filters_above_the_cache_get_leveldbs_answers() {
    let tally = Tally::default();
    check(30, (large_filter(), many_keys(0..=50_000)), |leveldb, (filter, keys)| {
        tally.assert_answers_as(leveldb, &filter.0, &keys.slices());
    });
    tally.assert_at_least(200_000);
}
