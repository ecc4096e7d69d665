//! Ranges that widen until the first has enough keys, and filters of few keys.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, InternalKeyPolicy};
use proptest::collection::vec;
use proptest::prelude::*;

use super::api::assert_panics;
use super::block_builder::{add_and_finish, build};
use crate::common::strategies::{DataBlocks, any_policy, config};
use crate::common::{OfKeys, create_filter, reference};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Data blocks with these steps between them, and this many keys in each.
fn data_blocks(steps: &[(u64, u32)]) -> DataBlocks {
    let (mut offset, mut next) = (0, 0);
    let block = |&(step, num_keys): &(u64, u32)| {
        offset += step;
        let keys = (next..next + num_keys).map(|key: u32| key.to_be_bytes().to_vec());
        next += num_keys;
        (offset, keys.collect())
    };
    steps.iter().map(block).collect()
}

/// Of tables with values of all lengths: up to 20,000 keys, and megabytes for each.
fn any_wide_blocks() -> impl Strategy<Value = DataBlocks> {
    let step = (0..=26_u32, any::<u64>()).prop_map(|(log2, step)| step % (1 << log2));
    let num_keys = prop_oneof![2 => 0..4_u32, 2 => 0..1_500_u32, 1 => 3_990..=4_010_u32];
    vec((step, num_keys), 0..24).prop_map(|steps| data_blocks(&steps))
}

/// The range that the first filter needs, told from all blocks at once.
fn expected_base_lg(blocks: &DataBlocks) -> u8 {
    // The least range that has enough keys before the next one starts, or none.
    let is_enough = |base_lg: u8| {
        let beyond = blocks.iter().position(|(offset, _)| offset >> base_lg > 0);
        beyond.is_none_or(|beyond| {
            let num_keys: usize = blocks[..beyond].iter().map(|(_, keys)| keys.len()).sum();
            num_keys == 0 || num_keys >= 4_000
        })
    };
    (19..63).find(|&base_lg| is_enough(base_lg)).unwrap_or(63)
}

/// Filters of their keys' hashes over and over until there are 1,000, as the oracle makes them.
fn build_by_reference(policy: BloomFilterPolicy, base_lg: u8, blocks: &DataBlocks) -> Vec<u8> {
    let create_filter = |keys: &[Vec<u8>]| {
        let hashes: Vec<_> = keys.iter().map(|key| reference::bloom_hash(key)).collect();
        let num_keys = hashes.len().max(1_000);
        let hashes: Vec<_> = hashes.into_iter().cycle().take(num_keys).collect();
        let shape = policy.shape(num_keys);
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
    #![proptest_config(ProptestConfig { cases: config().cases / 4, ..config() })]

    #[test]
    fn long_ranges_widen_until_the_first_has_4_000_keys_for_each_table_anew(
        tables in vec(any_wide_blocks(), 1..3),
        policy in any_policy().prop_filter("short filters", |policy| policy.millibits_per_key() < 100_000),
    ) {
        let mut by_hash = FilterBlockBuilder::with_long_ranges(policy);
        let mut by_key = FilterBlockBuilder::with_long_ranges(OfKeys(policy));
        for blocks in &tables {
            let base_lg = expected_base_lg(blocks);
            let contents = add_and_finish(&mut by_hash, blocks);
            prop_assert_eq!(contents.last(), Some(&base_lg));
            prop_assert!(contents == build_by_reference(policy, base_lg, blocks));
            // Without hashes, each filter has each key once.
            prop_assert!(add_and_finish(&mut by_key, blocks) == build(policy, base_lg, blocks));
            let reader = FilterBlockReader::new(policy, contents);
            for (offset, keys) in blocks {
                prop_assert!(keys.iter().all(|key| reader.key_may_match(*offset, key)));
            }
        }
    }
}

#[test]
fn filters_of_few_keys_are_as_long_as_1_000_keys_need() {
    for num_keys in [1, 10, 999, 1_000, 1_001] {
        let keys: Vec<_> = (0..num_keys).map(|key: u32| key.to_be_bytes()).collect();
        let repeated: Vec<_> = keys.iter().cycle().take(keys.len().max(1_000)).collect();
        for policy in [POLICY, POLICY.tuned(), BloomFilterPolicy::new(16).with_num_probes(3)] {
            let expected = create_filter(policy, &repeated);
            let mut builder = FilterBlockBuilder::with_long_ranges(InternalKeyPolicy::new(policy));
            for key in &keys {
                builder.add_key(&[&key[..], &[1; 8]].concat());
            }
            let reader = FilterBlockReader::new(policy, builder.finish());
            assert_eq!(reader.filter(0), Some(expected.as_slice()), "{num_keys} keys");
        }
    }
}

#[test]
fn data_blocks_of_5_000_bytes_and_one_key_share_a_filter_for_each_32_mib() {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    let blocks = data_blocks(&vec![(5_000, 1); 20_000]);
    assert_eq!(add_and_finish(&mut builder, &blocks).last(), Some(&25));
    assert_eq!(add_and_finish(&mut builder, &blocks[..9]).last(), Some(&19));
}

#[test]
fn only_the_first_filter_decides_and_later_offsets_may_not_go_back() {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
    for (offset, keys) in data_blocks(&[(0, 2_000), (600_000, 2_500), (500_000, 1), (9 << 20, 1)]) {
        builder.start_block(offset);
        for key in &keys {
            builder.add_key(key);
        }
    }
    let mut goes_back = builder.clone();
    assert_panics("goes back to filter", || goes_back.start_block((1 << 20) - 1));
    let contents = builder.finish();
    assert_eq!(contents.last(), Some(&20));
    assert_eq!(FilterBlockReader::new(POLICY, &contents).num_filters(), 11);
}

#[test]
fn a_range_without_keys_does_not_widen() {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
    builder.start_block(1 << 32);
    builder.add_key(b"fig");
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (19, (1 << 13) + 1));
    assert!(reader.key_may_match(1 << 32, b"fig"));
}

#[test]
fn long_ranges_widen_to_2_to_the_63_at_most() {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
    builder.add_key(b"fig");
    builder.start_block(u64::MAX);
    builder.add_key(b"lime");
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (63, 2));
    assert!(reader.key_may_match(0, b"fig") && reader.key_may_match(u64::MAX, b"lime"));
}
