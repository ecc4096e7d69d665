//! Ranges that grow until their first filter has enough keys.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy};
use proptest::prelude::*;

use super::api::assert_panics;
use super::block_builder::{build, finish};
use crate::common::strategies::{DataBlocks, any_data_blocks, any_policy, config};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// How many keys the first of several ranges has; `None` if there is but one.
fn keys_of_first_range(base_lg: u8, blocks: &DataBlocks) -> Option<usize> {
    let beyond = blocks.iter().position(|(offset, _)| offset >> base_lg > 0)?;
    Some(blocks[..beyond].iter().map(|(_, keys)| keys.len()).sum())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn ranges_grow_no_more_than_their_first_filter_needs(
        (base_lg, blocks) in any_data_blocks(),
        policy in any_policy(),
        min_keys in prop_oneof![0..60_usize, Just(usize::MAX)],
    ) {
        let builder = FilterBlockBuilder::new(policy).with_base_lg(base_lg);
        let contents = finish(builder.clone().with_min_keys(min_keys), &blocks);
        let grown = contents[contents.len() - 1];
        // Where no key waits, the range need not grow.
        let is_enough = |base_lg| {
            keys_of_first_range(base_lg, &blocks).is_none_or(|keys| keys == 0 || keys >= min_keys)
        };
        prop_assert_eq!(grown, (base_lg..63).find(|&base_lg| is_enough(base_lg)).unwrap_or(63));
        // And otherwise the block is as if its range had been known before.
        prop_assert_eq!(&contents, &build(policy, grown, &blocks));
        prop_assert_eq!(finish(builder.with_min_keys(0), &blocks), build(policy, base_lg, &blocks));
        let reader = FilterBlockReader::new(policy, contents);
        for (offset, keys) in &blocks {
            prop_assert!(keys.iter().all(|key| reader.key_may_match(*offset, key)));
        }
    }
}

#[derive(Debug)]
struct Panics;

impl FilterPolicy for Panics {
    fn name(&self) -> &'static str {
        "example.Panics"
    }

    fn create_filter(&self, _keys: &[&[u8]], _dst: &mut Vec<u8>) {
        panic!("no filter");
    }

    fn key_may_match(&self, _key: &[u8], _filter: &[u8]) -> bool {
        true
    }
}

#[test]
fn a_panic_while_the_range_grows_leaves_the_builder_unchanged() {
    let mut builder = FilterBlockBuilder::new(Panics).with_min_keys(2);
    builder.start_block(0);
    builder.add_key(b"fig");
    // Beyond even the largest range.
    assert_panics("no filter", || builder.start_block(1 << 63));
    assert!(format!("{builder:?}").contains("base_lg: 11, filters: 0, pending_keys: 1"));
    // So it still may grow.
    builder.start_block(4096);
    builder.add_key(b"lime");
    assert_panics("no filter", || builder.start_block(8192));
    assert!(format!("{builder:?}").contains("base_lg: 13, filters: 0, pending_keys: 2"));
    builder.start_block(8191);
    assert_panics("no filter", || drop(builder.finish()));
}

#[test]
fn only_the_first_filter_decides_and_later_offsets_may_not_go_back() {
    let mut builder = FilterBlockBuilder::new(POLICY).with_min_keys(3);
    for block in 0..40_u64 {
        builder.start_block(block * 5_000);
        builder.add_key(&block.to_be_bytes());
    }
    // 3 keys were waiting at 15,000 bytes, and the 4th block is within 16 KiB, too.
    assert_panics("goes back to filter", || builder.start_block(16_383));
    builder.start_block(1 << 20);
    let contents = builder.finish();
    assert_eq!(contents.last(), Some(&14));
    assert_eq!(FilterBlockReader::new(POLICY, &contents).num_filters(), 64);
}

#[test]
fn a_range_without_keys_does_not_grow() {
    let mut builder = FilterBlockBuilder::new(POLICY).with_base_lg(19).with_min_keys(4_000);
    builder.start_block(1 << 32);
    builder.add_key(b"fig");
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (19, (1 << 13) + 1));
    assert!(reader.key_may_match(1 << 32, b"fig"));
}
