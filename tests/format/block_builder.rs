//! Filter blocks: the oracle's bytes and answers for ranges of any size, by key and by hash, and
//! limits.

use std::sync::Arc;

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy,
};
use proptest::prelude::*;

use super::api::assert_panics;
use crate::common::strategies::{DataBlocks, any_data_blocks, any_key, any_policy, config};
use crate::common::{OfHashes, OfKeys, reference};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

pub(super) fn build(policy: impl FilterPolicy, base_lg: u8, blocks: &DataBlocks) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
    add(&mut builder, blocks, FilterBlockBuilder::add_key);
    builder.finish()
}

pub(super) fn add<P: FilterPolicy>(
    builder: &mut FilterBlockBuilder<P>,
    blocks: &[(u64, Vec<Vec<u8>>)],
    add: fn(&mut FilterBlockBuilder<P>, &[u8]),
) {
    for (block_offset, keys) in blocks {
        builder.start_block(*block_offset);
        for key in keys {
            add(builder, key);
        }
    }
}

/// Builds the oracle's block, with filters of what `user_key` returns for each key.
fn build_by_reference(
    policy: BloomFilterPolicy,
    user_key: fn(&[u8]) -> &[u8],
    base_lg: u8,
    blocks: &DataBlocks,
) -> Vec<u8> {
    let create_filter = |keys: &[Vec<u8>]| {
        let hashes = keys.iter().map(|key| reference::bloom_hash(user_key(key)));
        let (hashes, shape) = (hashes.collect::<Vec<_>>(), policy.shape(keys.len()));
        reference::create_filter_of_len(shape.filter_len() - 1, shape.num_probes(), &hashes)
    };
    reference::filter_block(create_filter, base_lg, blocks)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_have_leveldbs_bytes_and_answers_by_key_and_by_hash_for_any_kind_of_policy(
        (base_lg, blocks) in any_data_blocks(),
        policy in any_policy(),
        absent in any_key(),
    ) {
        let shared: Arc<dyn FilterPolicy> = Arc::new(policy);
        let [of_policy, of_shared] = [&OfKeys(policy) as &dyn FilterPolicy, &OfKeys(&shared)];
        for (by_hash, by_key, is_internal) in [
            (&policy as &dyn FilterPolicy, of_policy, false),
            (&policy, of_policy, true),
            (&Box::new(&shared), of_shared, true),
        ] {
            let filtered: fn(&[u8]) -> &[u8] =
                if is_internal { reference::extract_user_key } else { |key| key };
            let add_key = if is_internal {
                FilterBlockBuilder::add_internal_key
            } else {
                FilterBlockBuilder::add_key
            };
            prop_assert!(by_hash.by_hash().is_some() && by_key.by_hash().is_none());
            let block = build_by_reference(policy, filtered, base_lg, &blocks);
            for policy in [by_hash, by_key] {
                let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
                add(&mut builder, &blocks, add_key);
                prop_assert_eq!(&builder.finish(), &block);
            }
            let readers = [by_hash, by_key].map(|policy| FilterBlockReader::new(policy, &block));
            for (offset, keys) in &blocks {
                for key in keys.iter().chain([&absent]).map(|key| filtered(key)) {
                    let may_match = reference::block_key_may_match(&block, *offset, key);
                    for reader in &readers {
                        prop_assert_eq!(reader.key_may_match(*offset, key), may_match);
                        for of in [by_hash, by_key] {
                            let key = FilterKey::new(of, key);
                            prop_assert_eq!(reader.may_match(*offset, &key), may_match);
                        }
                    }
                }
                let is_found = |key: &Vec<u8>| readers[0].key_may_match(*offset, filtered(key));
                prop_assert!(keys.iter().all(is_found));
            }
        }
    }
}

#[test]
fn estimates_are_exact_in_leveldbs_ranges_at_any_number_of_bits_per_key() {
    for bits_per_key in [0, 1, 10, 16, 4_000] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        for calls in 0..40_u64 {
            let mut builder = FilterBlockBuilder::new(policy);
            for call in 0..calls {
                match call % 5 {
                    // Also twice in a row, and with gaps.
                    0 | 4 => builder.start_block(call * call * calls),
                    _ => builder.add_key(&call.to_le_bytes()),
                }
            }
            let estimated_len = builder.estimated_len(bits_per_key);
            assert_eq!(builder.finish().len(), estimated_len, "{bits_per_key}, {calls}");
        }
    }
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.add_key(b"fig");
    assert!(builder.estimated_len(u32::MAX) > 500 << 20);
}

#[test]
fn an_offset_beyond_the_address_space_panics() {
    // 2^55 bytes of offsets exceed only what any allocator has.
    for base_lg in [0, 11] {
        let mut builder = FilterBlockBuilder::with_base_lg(POLICY, base_lg);
        builder.add_key(b"fig");
        assert_panics("capacity overflow", || builder.start_block(u64::MAX));
        assert_panics("an earlier call panicked", || drop(builder.finish()));
    }
    // Truncated to 32 bits, the filter's index would be 0.
    #[cfg(target_pointer_width = "32")]
    assert_panics("too many filters", || FilterBlockBuilder::new(POLICY).start_block(1 << 43));
}

/// Where the system allocates pages on first use, the zeros take addresses but no memory.
#[test]
#[ignore = "takes 12 GiB of addresses"]
#[cfg(target_pointer_width = "64")]
fn filters_of_a_block_have_less_than_4_gib() {
    let builder_with = |create_filter| {
        let key_hash = |_: &[u8]| BloomHash::default();
        let policy = OfHashes { key_hash, create_filter, may_match: |_, _| true };
        let mut builder = FilterBlockBuilder::new(policy);
        builder.add_key(b"key");
        builder
    };
    let one_more = || builder_with(|_, _, dst| *dst = vec![0; u32::MAX as usize + 1]);
    let most = u32::MAX as usize;
    let contents = builder_with(|_, _, dst| *dst = vec![0; u32::MAX as usize]).finish();
    assert_eq!(contents.len(), most + 4 + 4 + 1);
    let reader = FilterBlockReader::new(POLICY, contents);
    assert_eq!(reader.filter(0).map(<[u8]>::len), Some(most));

    let message = "the filters exceed 4 GiB";
    assert_panics(message, || drop(one_more().finish()));
    assert_panics(message, || one_more().start_block(2048));
}
