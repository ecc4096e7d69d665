//! Filters as long as those of a least number of keys.

use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;

use crate::common::strategies::config;
use crate::common::ways::assert_makes_as_reference;
use crate::common::{keys_with_hashes, random_hashes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

#[test]
fn the_larger_number_wins_whatever_other_calls_come_between() {
    let longest = POLICY.tuned().with_min_keys(40);
    assert_eq!(POLICY.with_min_keys(9).tuned().with_min_keys(40), longest);
    assert_eq!(longest.with_min_keys(9).with_min_keys(0), longest);
    let before = POLICY.with_min_keys(40).with_name("example.Bloom");
    let after = POLICY.with_name("example.Bloom").with_min_keys(40);
    assert_eq!((before, before.shape(1)), (after, POLICY.shape(40)));
    let policy = BloomFilterPolicy::for_false_positive_rate(0.001, 40).expect("reached");
    assert_eq!(policy.with_min_keys(40), policy);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn fewer_keys_are_counted_as_so_many_by_any_policy(
        millibits in 0..64_000_u32,
        min_keys in prop_oneof![0..50_usize, 0..1_000_usize],
        num_keys in prop_oneof![3 => 0..50_usize, 1 => 0..1_000_usize],
    ) {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let keys = keys_with_hashes(&random_hashes(num_keys, 1));
        for policy in [policy, policy.tuned()] {
            let longer = policy.with_min_keys(min_keys);
            let counted = if num_keys == 0 { 0 } else { num_keys.max(min_keys) };
            prop_assert_eq!(longer.shape(num_keys), policy.shape(counted));
            assert_makes_as_reference(longer, &keys);
        }
    }
}
