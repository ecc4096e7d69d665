//! Filters whose length and number of probes are chosen: within their bounds, and the oracle's
//! bytes.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::strategies::{any_bits_per_key, any_key, config};
use common::{as_bloom_hashes, create_filter, keys_with_hashes, random_hashes, reference};
use leveldb_filter::{BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash, SortedRun};
use proptest::collection::vec;
use proptest::prelude::*;

/// The shortest that a tuned filter may be instead of so many bytes, that of the probes included.
fn shortest(longest: usize) -> usize {
    match longest - 1 {
        0..200 => longest,
        200..8192 => longest - 2,
        8192.. => longest - 11,
    }
}

/// Asserts that the keys' tuned filter has a shape within the bounds and the oracle's bytes, and
/// matches all of them.
#[track_caller]
fn assert_tunes(policy: BloomFilterPolicy, hashes: &[u32]) {
    let what = format!("{} keys, {} millibits per key", hashes.len(), policy.millibits_per_key());
    let shape = policy.tuned().shape(hashes.len());
    let longest = policy.shape(hashes.len()).filter_len();
    assert!(shortest(longest) <= shape.filter_len(), "{what}: {shape:?}");
    assert!(shape.filter_len() <= longest, "{what}: {shape:?}");

    let mut builder = BloomFilterBuilder::new();
    let mut filled = BloomFilter::empty(shape);
    for &hash in hashes {
        let hash = BloomHash::from_u32(hash);
        builder.add_hash(hash);
        filled.insert_hash(hash);
    }
    let mut filter = b"before".to_vec();
    builder.finish_into(policy.tuned(), &mut filter);
    assert!(builder.is_empty(), "{what}");
    assert!(filter.starts_with(b"before"), "{what}");

    let expected =
        reference::create_filter_of_len(shape.filter_len() - 1, shape.num_probes(), hashes);
    // Not assert_eq!, which would print megabytes.
    assert!(filter[6..] == expected, "{what}: {shape:?}");
    assert!(filled.as_bytes() == expected, "{what}: {shape:?}");
    let created = create_filter(policy.tuned(), &keys_with_hashes(hashes));
    assert!(created == expected, "{what}: {shape:?}");
    let filter = BloomFilter::new(&filter[6..]).expect("1 to 30 probes");
    assert!(
        as_bloom_hashes(hashes).into_iter().all(|hash| filter.hash_may_match(hash)),
        "{what}: {shape:?}"
    );
}

#[test]
fn tuned_filters_of_all_sizes_have_the_oracles_bytes() {
    let hashes = random_hashes(300_000, 1);
    for num_keys in [0, 1, 6, 7, 100, 1000, 19_999, 20_000, 75_000, 300_000] {
        for bits_per_key in [1, 8, 10, 14] {
            assert_tunes(BloomFilterPolicy::new(bits_per_key), &hashes[..num_keys]);
        }
    }
    // So many bits that they are set by regions.
    assert_tunes(BloomFilterPolicy::new(4000), &hashes[..20_000]);
}

#[test]
fn choices_are_the_same_everywhere() {
    let policy = BloomFilterPolicy::new(10);
    let choices = [0, 100, 1000, 10_000, 75_000, 150_000, 300_000, 10_000_000].map(|num_keys| {
        let shape = policy.tuned().shape(num_keys);
        (policy.shape(num_keys).filter_len() - shape.filter_len(), shape.num_probes())
    });
    let expected = [(0, 6), (0, 7), (1, 7), (4, 7), (4, 8), (1, 8), (2, 8), (4, 8)];
    assert_eq!(choices, expected);

    let millibits = |policy: Option<BloomFilterPolicy>| policy.map(|p| p.millibits_per_key());
    let sized =
        [(0.01, 30), (0.003, 5000), (0.01, 200_000), (1e-9, 200_000)].map(|(rate, num_keys)| {
            millibits(BloomFilterPolicy::for_false_positive_rate(rate, num_keys))
        });
    assert_eq!(sized, [Some(9_900), Some(12_150), Some(10_300), None]);
    let runs = [(1, 100), (10, 5000), (100, 20_000)]
        .map(|(num_filters, keys_per_filter)| SortedRun { num_filters, keys_per_filter });
    let shared = BloomFilterPolicy::for_runs(2_500_000, &runs);
    let shared: Vec<_> = shared.into_iter().map(millibits).collect();
    assert_eq!(shared, [Some(63_760), Some(17_150), Some(9_567)]);
}

#[test]
fn a_number_of_probes_set_before_has_no_effect() {
    let policy = BloomFilterPolicy::new(10);
    for num_keys in [0, 10, 1000, 100_000] {
        let shape = policy.tuned().shape(num_keys);
        assert_eq!(policy.with_num_probes(30).tuned().shape(num_keys), shape);
        assert_eq!(BloomFilter::empty(shape).as_bytes().len(), shape.filter_len());
        assert_eq!(BloomFilter::empty(shape).shape(), shape);
    }
}

#[test]
fn without_keys_or_bits_per_key_and_above_all_hashes_shapes_are_leveldbs() {
    for (bits_per_key, num_keys) in
        [(10, 0), (usize::MAX, 0), (0, 0), (0, 1), (0, 1000), (0, 1_000_000), (0, usize::MAX)]
    {
        let shape = BloomFilterPolicy::new(bits_per_key).tuned().shape(num_keys);
        assert_eq!(shape.filter_len(), 9, "{bits_per_key} {num_keys}");
        assert_eq!(shape.expected_false_positive_rate(0).to_bits(), 0);
    }
    for (bits_per_key, num_keys) in
        [(1_usize << 20, 5000), (11, 1 << 29), (usize::MAX, 1), (1, usize::MAX)]
    {
        let policy = BloomFilterPolicy::new(bits_per_key);
        // A usize of 32 bits does not hold them all, and has no more hashes than the last has bits.
        let num_bits = bits_per_key.checked_mul(num_keys);
        if num_bits.is_some_and(|num_bits| num_bits as u64 > 1 << 32) {
            assert_eq!(
                policy.tuned().shape(num_keys).filter_len(),
                policy.shape(num_keys).filter_len()
            );
        }
    }
}

#[test]
fn a_tuned_filter_above_usize_panics_before_it_touches_the_buffer() {
    let policy = BloomFilterPolicy::new(usize::MAX / 2 + 1).tuned();
    let mut builder = BloomFilterBuilder::new();
    builder.extend(["fig", "lime"]);
    let mut dst = b"before".to_vec();
    assert!(catch_unwind(AssertUnwindSafe(|| builder.finish_into(policy, &mut dst))).is_err());
    assert_eq!((dst.as_slice(), builder.len()), (b"before".as_slice(), 2));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tuned_filters_have_the_oracles_bytes(
        keys in vec(any_key(), 0..300),
        bits_per_key in any_bits_per_key(),
    ) {
        let hashes: Vec<u32> = keys.iter().map(|key| reference::bloom_hash(key)).collect();
        assert_tunes(BloomFilterPolicy::new(bits_per_key), &hashes);
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..config() })]

    #[test]
    fn shapes_are_within_the_bounds(num_keys in 0..3_000_000usize, bits_per_key in 0..=44usize) {
        let policy = BloomFilterPolicy::new(bits_per_key);
        let (shape, longest) = (policy.tuned().shape(num_keys), policy.shape(num_keys).filter_len());
        prop_assert!((shortest(longest)..=longest).contains(&shape.filter_len()));
        prop_assert!((1..=30).contains(&shape.num_probes()));
    }
}
