//! Lookups in a parsed filter, one at a time and in batches: the oracle's answers on any bytes.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::strategies::{any_hash, any_key, config};
use common::{as_bloom_hashes, create_filter, keys_with_hashes, noise, random_hashes, reference};
use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomHash, FilterPolicy, InvalidFilter};
use proptest::collection::vec;
use proptest::prelude::*;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Both sides of the sizes of a batch, and of the lanes that keys are hashed in.
const LENGTHS: [usize; 14] = [0, 1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 200, 1000];

/// Asserts that every way to look up `keys` gives the oracle's answers.
#[track_caller]
fn assert_answers_as_reference<K: AsRef<[u8]>>(bytes: &[u8], keys: &[K]) {
    let filter = BloomFilter::new(bytes).expect("at least 2 bytes and at most 30 probes");
    let shape = format!("{filter:?}, {} keys", keys.len());
    let hashes: Vec<_> = keys.iter().map(|key| reference::bloom_hash(key.as_ref())).collect();
    let expected: Vec<_> =
        hashes.iter().map(|&hash| reference::hash_may_match(hash, bytes)).collect();

    let by_policy = keys.iter().map(|key| POLICY.key_may_match(key.as_ref(), bytes));
    assert_eq!(by_policy.collect::<Vec<_>>(), expected, "policy, {shape}");
    let by_key = keys.iter().map(|key| filter.key_may_match(key.as_ref()));
    assert_eq!(by_key.collect::<Vec<_>>(), expected, "key_may_match, {shape}");
    let hashes = as_bloom_hashes(&hashes);
    let by_policy = hashes.iter().map(|&hash| POLICY.hash_may_match(hash, bytes));
    assert_eq!(by_policy.collect::<Vec<_>>(), expected, "policy, hashes, {shape}");
    let by_hash = hashes.iter().map(|&hash| filter.hash_may_match(hash));
    assert_eq!(by_hash.collect::<Vec<_>>(), expected, "hash_may_match, {shape}");

    for before in [false, true] {
        let mut matches = vec![before; keys.len()];
        filter.keys_may_match(keys, &mut matches);
        assert_eq!(matches, expected, "keys_may_match, {shape}");
        let mut matches = vec![before; keys.len()];
        filter.hashes_may_match(&hashes, &mut matches);
        assert_eq!(matches, expected, "hashes_may_match, {shape}");
    }
}

fn assert_hashes_answer_as_reference(bytes: &[u8], hashes: &[u32]) {
    assert_answers_as_reference(bytes, &keys_with_hashes(hashes));
}

fn filter_of_hashes(num_probes: u8, hashes: &[u32]) -> Vec<u8> {
    let mut filter = reference::create_filter_from_hashes(10, num_probes.max(1), hashes);
    filter[POLICY.shape(hashes.len()).filter_len() - 1] = num_probes;
    filter
}

#[test]
fn bytes_without_bits_are_too_short() {
    assert_eq!(BloomFilter::new([]), Err(InvalidFilter::TooShort { len: 0 }));
    for byte in 0..=255 {
        assert_eq!(BloomFilter::new([byte]), Err(InvalidFilter::TooShort { len: 1 }));
    }
}

#[test]
fn probe_counts_above_30_are_reserved() {
    for num_bytes in [1, 2, 8, 9, 1000] {
        for num_probes in 0..=255 {
            let bytes = [noise(num_bytes, 1), vec![num_probes]].concat();
            match BloomFilter::new(bytes.as_slice()) {
                Ok(filter) => {
                    assert!(num_probes <= 30, "{num_probes}");
                    assert_eq!(filter.shape().num_probes(), num_probes);
                    assert_eq!(filter.shape().num_bits(), num_bytes as u64 * 8);
                    assert_eq!(filter.shape().filter_len(), bytes.len());
                    assert_eq!(filter.as_bytes(), bytes);
                }
                Err(error) => {
                    assert!(num_probes > 30, "{num_probes}");
                    assert_eq!(error, InvalidFilter::ReservedProbeCount { num_probes });
                }
            }
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let too_short = BloomFilter::new([]).unwrap_err();
    assert_eq!(too_short.to_string(), "a filter of 0 bytes is too short: at least 2 are needed");
    let reserved = BloomFilter::new([0, 31]).unwrap_err();
    assert_eq!(reserved.to_string(), "probe count 31 is reserved: at most 30 are possible");
}

#[test]
fn small_filters_with_any_number_of_probes_answer_as_leveldb() {
    let hashes = random_hashes(200, 1);
    for num_bytes in [1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000] {
        let sparse = noise(num_bytes, 1);
        let dense = sparse.iter().zip(noise(num_bytes, 2)).map(|(byte, other)| byte | other);
        for bits in [vec![0; num_bytes], dense.collect(), sparse, vec![0xff; num_bytes]] {
            for num_probes in 0..=30 {
                let filter = [bits.as_slice(), &[num_probes]].concat();
                assert_hashes_answer_as_reference(&filter, &hashes);
            }
        }
    }
}

#[test]
fn batches_of_any_length_and_share_of_present_keys_answer_as_leveldb() {
    let present = random_hashes(1000, 1);
    let absent = random_hashes(1000, 2);
    for num_probes in 0..=30 {
        let filter = filter_of_hashes(num_probes, &present);
        for len in LENGTHS {
            for eighths in [0, 1, 4, 7, 8] {
                let hashes: Vec<_> = (0..len)
                    .map(|i| if i * 5 % 8 < eighths { present[i] } else { absent[i] })
                    .collect();
                assert_hashes_answer_as_reference(&filter, &hashes);
            }
        }
    }
}

/// The number of survivors of the first probes decides how a batch goes on: every number of them,
/// at the front, at the back, and in between.
#[test]
fn batches_with_any_number_of_present_keys_answer_as_leveldb() {
    let present = random_hashes(64, 3);
    // Few bits set, so that hardly an absent key survives by chance.
    let in_filter = [present.as_slice(), &[0; 4000]].concat();
    let absent = random_hashes(64, 4);
    for num_probes in [0, 1, 2, 3, 4, 6, 7, 9, 12, 30] {
        let filter = filter_of_hashes(num_probes, &in_filter);
        for len in [1, 2, 3, 63, 64] {
            for num_present in 0..=len {
                let mut hashes = [&present[..num_present], &absent[num_present..len]].concat();
                assert_hashes_answer_as_reference(&filter, &hashes);
                hashes.reverse();
                assert_hashes_answer_as_reference(&filter, &hashes);
                let scattered: Vec<_> = (0..len).map(|i| hashes[i * 5 % len]).collect();
                assert_hashes_answer_as_reference(&filter, &scattered);
            }
        }
    }
}

#[test]
fn batches_of_keys_of_equal_and_of_mixed_lengths_answer_as_leveldb() {
    let bytes = noise(4000, 1);
    for num_keys in LENGTHS {
        let keys_with = |len: fn(usize) -> usize| -> Vec<&[u8]> {
            (0..num_keys).map(|i| &bytes[i..i + len(i)]).collect()
        };
        let mut key_lists = vec![
            keys_with(|i| i % 61),
            keys_with(|i| i * 7 % 61),
            // Hashed in lanes but for one key in some.
            keys_with(|i| if i % 20 == 11 { 15 } else { 16 }),
        ];
        for len in 0..=60 {
            key_lists.push((0..num_keys).map(|i| &bytes[i..i + len]).collect());
        }
        for keys in key_lists {
            let filter = create_filter(POLICY, &keys[..num_keys / 2]);
            assert_answers_as_reference(&filter, &keys);
        }
    }
}

#[test]
fn filters_above_8_mib_with_any_number_of_probes_answer_as_leveldb() {
    // A pattern of half of the bits, so that many keys only fail at a late probe.
    let pattern = noise(4099, 9);
    for num_bytes in [8 << 20, (8 << 20) + 1] {
        let mut bytes: Vec<u8> = pattern.iter().copied().cycle().take(num_bytes + 1).collect();
        for num_probes in 0..=30 {
            bytes[num_bytes] = num_probes;
            let hashes = random_hashes(300, num_probes.into());
            for &hash in &hashes[..100] {
                reference::insert_hash(hash, &mut bytes);
            }
            assert_hashes_answer_as_reference(&bytes, &hashes);
        }
    }
}

#[test]
fn filters_around_four_billion_bits_answer_as_leveldb() {
    let edges = [u32::MAX, u32::MAX - 7, u32::MAX - 8, 1 << 31, 0xbc9f1d34, 8, 7, 0];
    // With the last length, a remainder by the bits' reciprocal in 64 bits would be off by one.
    for num_bytes in [(1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 29) + 23171] {
        // Only the pages that a probe touches take memory.
        let mut bytes = vec![0; num_bytes + 1];
        bytes[num_bytes] = 6;
        assert_hashes_answer_as_reference(&bytes, &edges);
        for hash in edges {
            let before = reference::hash_may_match(hash, &bytes);
            let mut filter = BloomFilter::new(bytes.as_mut_slice()).expect("6 probes");
            assert_eq!(filter.shape().num_bits(), num_bytes as u64 * 8);
            assert_eq!(filter.insert_hash(BloomHash::from_u32(hash)), before, "hash {hash:#x}");
            assert!(reference::hash_may_match(hash, &bytes), "hash {hash:#x}");
            assert_hashes_answer_as_reference(&bytes, &edges);
        }
        // Few probes, which are found by another remainder where a filter is asked once.
        for num_probes in [1, 2] {
            bytes[num_bytes] = num_probes;
            let neighbours = edges.map(|hash| hash ^ 1);
            assert_hashes_answer_as_reference(&bytes, &[edges, neighbours].concat());
        }
    }
}

#[test]
#[should_panic(expected = "as many answers as keys")]
fn a_batch_of_keys_with_too_few_answers_panics() {
    BloomFilter::empty(POLICY.shape(1)).keys_may_match(&["fig", "lime"], &mut [false]);
}

#[test]
#[should_panic(expected = "as many answers as keys")]
fn a_batch_of_keys_with_too_many_answers_panics() {
    BloomFilter::empty(POLICY.shape(1)).keys_may_match(&["fig"], &mut [false; 2]);
}

#[test]
#[should_panic(expected = "as many answers as hashes")]
fn a_batch_of_hashes_with_too_few_answers_panics() {
    BloomFilter::empty(POLICY.shape(1)).hashes_may_match(&[BloomHash::default(); 2], &mut [false]);
}

#[test]
#[should_panic(expected = "as many answers as hashes")]
fn a_batch_of_hashes_with_too_many_answers_panics() {
    BloomFilter::empty(POLICY.shape(1)).hashes_may_match(&[], &mut [false]);
}

#[test]
fn a_policy_wants_as_many_answers_as_hashes_whatever_the_filter() {
    for filter in [&[][..], &[6], &[0, 6], &[0, 31]] {
        for num_answers in [0, 2] {
            let mut matches = vec![false; num_answers];
            let ask = || POLICY.hashes_may_match(&[BloomHash::default()], filter, &mut matches);
            assert!(catch_unwind(AssertUnwindSafe(ask)).is_err(), "{filter:?}, {num_answers}");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn real_filters_answer_as_leveldb(
        keys in vec(any_key(), 0..100),
        bits_per_key in 0..=44usize,
        num_probes in 1..=30u8,
        others in vec(any_key(), 0..100),
        hashes in vec(any_hash(), 0..100),
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let filter = create_filter(policy, &keys);
        assert_answers_as_reference(&filter, &[keys, others].concat());
        assert_hashes_answer_as_reference(&filter, &hashes);
    }

    #[test]
    fn arbitrary_filters_answer_as_leveldb(
        bits in vec(any::<u8>(), 1..200),
        ones in any::<u8>(),
        num_probes in 0..=30u8,
        keys in vec(any_key(), 0..200),
        hashes in vec(any_hash(), 0..200),
    ) {
        // Without more ones, many probes seldom match.
        let mut filter: Vec<_> = bits.iter().map(|byte| byte | ones).collect();
        filter.push(num_probes);
        assert_answers_as_reference(&filter, &keys);
        assert_hashes_answer_as_reference(&filter, &hashes);
    }
}
