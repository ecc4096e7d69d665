//! Filters with a least length.

use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;

use super::api::assert_panics;
use crate::common::strategies::config;
use crate::common::ways::assert_makes_as_reference;
use crate::common::{keys_with_hashes, random_hashes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Asserts what `with_min_filter_len` promises of the lengths, by each rule.
fn assert_lengths(policy: BloomFilterPolicy, len: usize, num_keys: usize) {
    let at_least = |policy: BloomFilterPolicy| policy.with_min_filter_len(len).shape(num_keys);
    for policy in [policy, policy.with_num_probes(9)] {
        let usual = policy.shape(num_keys);
        let (is_asked, shape) = (num_keys > 0 && len > usual.filter_len(), at_least(policy));
        assert_eq!(shape.filter_len(), if is_asked { len } else { usual.filter_len() });
        assert_eq!(shape.num_probes(), usual.num_probes());
    }
    let (usual, shape) = (policy.tuned().shape(num_keys), at_least(policy.tuned()));
    assert_eq!(shape, policy.with_min_filter_len(len).tuned().shape(num_keys));
    let what = || format!("{policy:?}, {num_keys} keys, {len} bytes: {shape:?} for {usual:?}");
    if num_keys == 0 || len <= usual.filter_len() {
        assert_eq!(shape, usual, "{}", what());
    } else {
        assert!((len..len + 8).contains(&shape.filter_len()), "{}", what());
        assert!((1..=30).contains(&shape.num_probes()), "{}", what());
    }
}

#[test]
fn policies_with_lengths_that_change_nothing_are_equal() {
    for policy in [POLICY, POLICY.tuned(), POLICY.with_num_probes(8)] {
        assert!((0..=8).all(|len| policy.with_min_filter_len(len) == policy));
        assert_eq!(policy.with_min_filter_len(48).with_min_filter_len(0), policy);
        assert_ne!(policy.with_min_filter_len(10), policy);
        assert_ne!(policy.with_min_filter_len(10), policy.with_min_filter_len(11));
    }
    let nine = POLICY.tuned().with_min_filter_len(9);
    assert!((1..100).all(|num_keys| nine.shape(num_keys).filter_len() >= 9));
    let tuned_last = POLICY.with_min_filter_len(48).with_name("example.Bloom").tuned();
    assert_eq!(tuned_last, POLICY.tuned().with_name("example.Bloom").with_min_filter_len(48));
}

#[test]
fn more_bits_than_a_usize_counts_panic() {
    for policy in [POLICY, POLICY.tuned(), POLICY.with_num_probes(8)] {
        let most = usize::MAX / 8 - 6;
        let longest = policy.with_min_filter_len(most).shape(1);
        assert!((most..most + 8).contains(&longest.filter_len()));
        for len in [most + 1, usize::MAX] {
            let policy = policy.with_min_filter_len(len);
            assert_panics("capacity overflow", || assert!(policy.shape(1).num_bits() > 0));
            assert_eq!(policy.shape(0).num_bits(), 64);
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lengths_and_bytes_are_as_asked_for_any_policy(
        millibits in 0..64_000_usize,
        len in prop_oneof![0..70_usize, 0..5_000_usize],
        num_keys in prop_oneof![3 => 0..40_usize, 1 => 0..1_000_usize],
    ) {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        assert_lengths(policy, len, num_keys);
        let keys = keys_with_hashes(&random_hashes(num_keys, 1));
        for policy in [policy, policy.tuned()] {
            assert_makes_as_reference(policy.with_min_filter_len(len), &keys);
        }
    }
}

/// Of 71, 95, 96 and 109 bytes of bits, four counters match ten times as many others as of the
/// longest of eight lengths that is good; an odd one is taken where none is.
#[test]
fn lengths_that_neighbours_share_are_not_taken() {
    for (len, num_bytes) in
        [(24, 29), (48, 53), (65, 67), (96, 101), (110, 113), (2_048, 2_053), (65_801, 65_801)]
    {
        let shape = POLICY.tuned().with_min_filter_len(len).shape(4);
        assert_eq!((shape.filter_len() - 1, shape.num_probes()), (num_bytes, 6));
    }
}
