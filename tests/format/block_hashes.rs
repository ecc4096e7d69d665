//! Filter blocks built from hashes: the same as from keys, and no key lost by half a policy.

use std::sync::Arc;

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterPolicy,
    InternalKeyPolicy, bloom_hash,
};
use proptest::prelude::*;

use super::api::assert_panics;
use super::block_builder::{build, finish};
use crate::common::strategies::{any_data_blocks, any_policy, config};
use crate::common::{OfKeys, create_filter};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_of_hashes_are_those_of_keys_after_every_sequence_of_calls(
        (base_lg, mut blocks) in any_data_blocks(),
        policy in any_policy(),
        min_keys in prop_oneof![Just(0), 0..60_usize, Just(usize::MAX)],
        starts_late in any::<bool>(),
    ) {
        let is_late = starts_late && !blocks.is_empty();
        let first_keys = if is_late { blocks.remove(0).1 } else { Vec::new() };
        let build = |policy: &dyn FilterPolicy| {
            let builder = FilterBlockBuilder::new(policy);
            let mut builder = builder.with_min_keys(min_keys).with_base_lg(base_lg);
            for key in &first_keys {
                builder.add_key(key);
            }
            finish(builder, &blocks)
        };
        let of_user_keys = InternalKeyPolicy::new(policy);
        let shared: Arc<dyn FilterPolicy> = Arc::new(policy);
        for (of_hashes, of_keys) in [
            (&policy as &dyn FilterPolicy, &OfKeys(policy) as &dyn FilterPolicy),
            (&Box::new(&shared), &OfKeys(&shared)),
            (&of_user_keys, &OfKeys(of_user_keys)),
            (&InternalKeyPolicy::new(&shared), &InternalKeyPolicy::new(OfKeys(&shared))),
        ] {
            prop_assert!(of_hashes.key_hash(b"fig").is_some());
            prop_assert_eq!(of_keys.key_hash(b"fig"), None);
            prop_assert_eq!(build(of_hashes), build(of_keys));
        }
    }

    #[test]
    fn filters_of_hashes_are_appended_as_those_of_keys(
        policy in any_policy(),
        (_, blocks) in any_data_blocks(),
    ) {
        let of_user_keys = InternalKeyPolicy::new(policy);
        for policy in [&policy as &dyn FilterPolicy, &of_user_keys, &Arc::new(of_user_keys)] {
            for (_, keys) in &blocks {
                let hashes: Vec<_> = keys.iter().map(|key| policy.key_hash(key).unwrap()).collect();
                let mut dst = b"before".to_vec();
                policy.create_filter_of_hashes(&hashes, &mut dst);
                prop_assert_eq!(dst, [b"before".to_vec(), create_filter(policy, keys)].concat());
            }
        }
    }
}

/// Gives hashes of some keys; its filters take no hashes.
struct Half(fn(&[u8]) -> bool);

impl FilterPolicy for Half {
    fn name(&self) -> &'static str {
        "example.Half"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        POLICY.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        POLICY.key_may_match(key, filter)
    }

    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        self.0(key).then(|| bloom_hash(key))
    }
}

#[test]
fn a_policy_that_gives_hashes_but_takes_none_panics_at_the_first_filter() {
    fn assert_panics_at_first_filter(policy: impl FilterPolicy) {
        let mut builder = FilterBlockBuilder::new(policy);
        builder.start_block(0);
        let message = "example.Half overrides key_hash, but not create_filter_of_hashes";
        // Without keys it makes no filter.
        builder.start_block(2_048);
        for _ in 0..2 {
            builder.add_key(b"fig or lime");
            assert_panics(message, || builder.start_block(4_096));
        }
        assert_panics(message, || drop(builder.finish()));
    }

    let half = Half(|_| true);
    assert_panics_at_first_filter(&half);
    assert_panics_at_first_filter(&half as &dyn FilterPolicy);
    assert_panics_at_first_filter(InternalKeyPolicy::new(Box::new(&half)));
    assert_panics_at_first_filter(Arc::new(InternalKeyPolicy::new(half)));
}

#[test]
fn a_policy_that_gives_hashes_of_some_keys_panics_at_their_filter() {
    let policy = Half(|key| key.len() > 3);
    let mut builder = FilterBlockBuilder::new(&policy);
    builder.add_key(b"fig");
    // A filter of keys alone is right.
    builder.start_block(2_048);
    builder.add_key(b"kiwi");
    builder.add_key(b"fig");
    let message = "key_hash gives a hash for some keys only";
    assert_panics(message, || builder.start_block(4_096));
    assert_panics(message, || drop(builder.finish()));
}

/// The other half is never called.
struct TakesHashes;

impl FilterPolicy for TakesHashes {
    fn name(&self) -> &'static str {
        "example.TakesHashes"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        POLICY.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        POLICY.key_may_match(key, filter)
    }

    fn create_filter_of_hashes(&self, _hashes: &[BloomHash], _dst: &mut Vec<u8>) {
        panic!("no hashes were given");
    }
}

#[test]
fn a_policy_that_takes_hashes_but_gives_none_gets_keys() {
    let blocks = [(0, vec![b"fig".to_vec()]), (5_000, vec![b"lime".to_vec(), b"pear".to_vec()])];
    assert_eq!(build(TakesHashes, 11, &blocks), build(POLICY, 11, &blocks));
    let reader = FilterBlockReader::new(TakesHashes, build(TakesHashes, 11, &blocks));
    assert!(reader.key_may_match(5_000, b"pear") && !reader.key_may_match(0, b"pear"));
}
