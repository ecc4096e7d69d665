//! Building filter blocks: the oracle's bytes for ranges of any size, panics, and limits.

use std::mem;
use std::sync::Arc;

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy,
    InternalKeyPolicy,
};
use proptest::prelude::*;

use super::api::assert_panics;
use crate::common::strategies::{DataBlocks, any_data_blocks, any_policy, config};
use crate::common::{create_filter, reference};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

pub(super) fn build(
    policy: impl FilterPolicy,
    base_lg: u8,
    blocks: &[(u64, Vec<Vec<u8>>)],
) -> Vec<u8> {
    add_and_finish(&mut FilterBlockBuilder::with_base_lg(policy, base_lg), blocks)
}

pub(super) fn add_and_finish(
    builder: &mut FilterBlockBuilder<impl FilterPolicy>,
    blocks: &[(u64, Vec<Vec<u8>>)],
) -> Vec<u8> {
    for (block_offset, keys) in blocks {
        builder.start_block(*block_offset);
        for key in keys {
            builder.add_key(key);
        }
    }
    builder.finish()
}

/// Builds the oracle's block, with filters of what `user_key` returns for each key.
fn build_by_reference(
    policy: BloomFilterPolicy,
    user_key: fn(&[u8]) -> &[u8],
    base_lg: u8,
    blocks: &[(u64, Vec<Vec<u8>>)],
) -> Vec<u8> {
    let create_filter = |keys: &[Vec<u8>]| {
        let hashes: Vec<_> = keys.iter().map(|key| reference::bloom_hash(user_key(key))).collect();
        let shape = policy.shape(keys.len());
        reference::create_filter_of_len(shape.filter_len() - 1, shape.num_probes(), &hashes)
    };
    let mut builder = reference::FilterBlockBuilder::with_base_lg(create_filter, base_lg);
    for (block_offset, keys) in blocks {
        builder.start_block(*block_offset);
        for key in keys {
            builder.add_key(key);
        }
    }
    builder.finish()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_have_leveldbs_bytes_and_lose_no_key_for_any_kind_of_policy(
        (base_lg, blocks) in any_data_blocks(),
        policy in any_policy(),
    ) {
        let expected = build_by_reference(policy, |key| key, base_lg, &blocks);
        let shared: Arc<dyn FilterPolicy> = Arc::new(policy);
        prop_assert_eq!(&build(policy, base_lg, &blocks), &expected);
        prop_assert_eq!(&build(&policy as &dyn FilterPolicy, base_lg, &blocks), &expected);
        prop_assert_eq!(&build(Box::new(shared), base_lg, &blocks), &expected);

        let internal_key_policy = InternalKeyPolicy::new(policy);
        let of_user_keys = build(internal_key_policy, base_lg, &blocks);
        prop_assert_eq!(
            &of_user_keys,
            &build_by_reference(policy, reference::extract_user_key, base_lg, &blocks)
        );
        let reader = FilterBlockReader::new(policy, &expected);
        let reader_of_user_keys = FilterBlockReader::new(internal_key_policy, &of_user_keys);
        for (offset, keys) in blocks {
            for key in keys {
                let user_key = reference::extract_user_key(&key);
                prop_assert!(reader.key_may_match(offset, &key));
                prop_assert!(reader.may_match(offset, &FilterKey::new(&policy, &key)));
                prop_assert!(reader_of_user_keys.key_may_match(offset, &key));
                let of_internal_key = FilterKey::new(&internal_key_policy, &key);
                prop_assert!(reader_of_user_keys.may_match(offset, &of_internal_key));
                prop_assert!(reader_of_user_keys.may_match(offset, &FilterKey::new(&policy, user_key)));
                prop_assert!(reference::block_key_may_match(&expected, offset, &key));
                prop_assert!(reference::block_key_may_match(&of_user_keys, offset, user_key));
            }
        }
    }
}

#[test]
fn a_data_block_whose_only_key_is_empty_gets_a_filter() {
    let reader = FilterBlockReader::new(POLICY, build(POLICY, 11, &[(5000, vec![Vec::new()])]));
    assert_eq!(reader.filter(5000), Some(create_filter(POLICY, &[""]).as_slice()));
    assert!(reader.key_may_match(5000, b""));
    assert!(!reader.key_may_match(5000, b"fig"));
}

#[test]
fn internal_keys_shorter_than_their_trailer_stand_for_themselves() {
    let policy = InternalKeyPolicy::new(POLICY);
    let bytes = *b"123456789";
    for len in 0..=9 {
        let key = &bytes[..len];
        let user_key = if len < 8 { key } else { &bytes[..len - 8] };
        let filter = create_filter(policy, &[key]);
        assert_eq!(filter, create_filter(POLICY, &[user_key]), "{len} bytes");
        assert!(policy.key_may_match(key, &filter), "{len} bytes");
        assert!(!policy.key_may_match(b"absent", &filter), "{len} bytes");
    }
}

/// The reason why lookups of user keys use the inner policy.
#[test]
fn a_bare_user_key_is_found_by_the_inner_policy_but_not_by_internal_key_policy() {
    let user_keys: Vec<_> = (0..1_000).map(|i| format!("user key {i:06}").into_bytes()).collect();
    let internal_keys = user_keys.iter().map(|key| [key, &b"\x01\x07\0\0\0\0\0\0"[..]].concat());
    let filters = build(InternalKeyPolicy::new(POLICY), 19, &[(0, internal_keys.collect())]);

    let reader = FilterBlockReader::new(InternalKeyPolicy::new(POLICY), &filters);
    assert_eq!(user_keys.iter().filter(|key| reader.key_may_match(0, key)).count(), 0);
    let reader = FilterBlockReader::new(POLICY, &filters);
    assert!(user_keys.iter().all(|key| reader.key_may_match(0, key)));
    assert!(user_keys.iter().all(|key| reader.may_match(0, &FilterKey::new(&POLICY, key))));
}

#[test]
#[cfg(target_pointer_width = "32")]
fn a_filter_index_above_32_bits_panics() {
    // Truncated to 32 bits, it would be 0.
    let message = "capacity overflow: too many filters";
    assert_panics(message, || FilterBlockBuilder::new(POLICY).start_block(1 << 43));
}

/// Makes filters with a function; not for lookups.
struct By<F>(F);

impl<F: Fn(&[&[u8]], &mut Vec<u8>) + Send + Sync> FilterPolicy for By<F> {
    fn name(&self) -> &'static str {
        "example.By"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.0(keys, dst);
    }

    fn key_may_match(&self, _key: &[u8], _filter: &[u8]) -> bool {
        true
    }
}

/// One that takes the finished filters away is the worst.
#[test]
fn after_a_panic_in_a_policy_every_call_panics() {
    let mut builder = FilterBlockBuilder::new(By(|_: &[&[u8]], dst: &mut Vec<u8>| {
        drop(mem::take(dst));
        panic!("in the middle of a filter");
    }));
    builder.add_key(b"fig");
    assert_panics("in the middle", || builder.start_block(2_048));
    let message = "has panicked before";
    for _ in 0..2 {
        assert_panics(message, || builder.start_block(4_096));
        assert_panics(message, || builder.add_key(b"lime"));
        assert_panics(message, || _ = builder.finished_len());
        assert_panics(message, || drop(builder.finish()));
    }
}

#[test]
fn an_offset_beyond_the_address_space_panics() {
    // 2^55 bytes of offsets exceed only what any allocator has.
    for base_lg in [0, 11] {
        let mut builder = FilterBlockBuilder::with_base_lg(POLICY, base_lg);
        builder.add_key(b"fig");
        assert_panics("capacity overflow", || builder.start_block(u64::MAX));
        assert_panics("has panicked before", || drop(builder.finish()));
    }
}

#[test]
fn a_builder_is_as_new_for_the_next_table() {
    let tables: [DataBlocks; 4] = [
        vec![(0, vec![b"fig".into()]), (5_000, vec![b"lime".into(), b"pear".into()])],
        vec![],
        vec![(9_000, vec![b"plum".into()])],
        vec![(0, vec![]), (2_048, vec![])],
    ];
    let mut builder = FilterBlockBuilder::with_base_lg(POLICY, 12);
    for blocks in tables.iter().cycle().take(9) {
        assert_eq!(add_and_finish(&mut builder, blocks), build(POLICY, 12, blocks));
    }
}

/// Where the system allocates pages on first use, the zeros take addresses but no memory.
#[test]
#[ignore = "takes 12 GiB of addresses"]
#[cfg(target_pointer_width = "64")]
fn filters_of_a_block_have_less_than_4_gib() {
    let builder_with_filter_of = |len| {
        let mut builder =
            FilterBlockBuilder::new(By(move |_: &[&[u8]], dst: &mut Vec<u8>| *dst = vec![0; len]));
        builder.add_key(b"key");
        builder
    };
    let most = u32::MAX as usize;
    let contents = builder_with_filter_of(most).finish();
    assert_eq!(contents.len(), most + 4 + 4 + 1);
    let reader = FilterBlockReader::new(POLICY, contents);
    assert_eq!(reader.filter(0).map(<[u8]>::len), Some(most));

    let message = "filters of 4 GiB or more in a block";
    assert_panics(message, || drop(builder_with_filter_of(most + 1).finish()));
    assert_panics(message, || builder_with_filter_of(most + 1).start_block(2048));
}
