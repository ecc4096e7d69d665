//! Reading filter blocks: the oracle's answers on any bytes.

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader, FilterKey};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::block_builder::build;
use crate::common::strategies::{any_data_blocks, config};
use crate::common::{drawn, noise, reference};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Asserts that a reader of `contents` finds LevelDB's filter for `block_offset`, and gives its
/// answer.
#[track_caller]
fn assert_reads_as_reference(contents: &[u8], block_offset: u64, key: &[u8]) {
    let reader = FilterBlockReader::new(POLICY, contents);
    let by_hash = FilterKey::new(&POLICY, key);
    let is_past_all = block_offset >> reader.base_lg() >= reader.num_filters() as u64;
    assert!(!is_past_all || reader.filter(block_offset).is_none());
    let may_match = reference::block_key_may_match(contents, block_offset, key);
    assert_eq!(
        (
            reader.filter(block_offset),
            reader.key_may_match(block_offset, key),
            reader.may_match(block_offset, &by_hash)
        ),
        (reference::block_filter(contents, block_offset), may_match, may_match),
        "key {key:02x?} at block offset {block_offset} in filter block {contents:02x?}"
    );
}

#[test]
fn truncated_and_repeated_and_arbitrary_bytes_are_read_as_leveldb_reads_them() {
    // Among them zeros, which are a frame without filters and could be mistaken for offsets.
    let repeated = (0..=255).map(|byte| vec![byte; 40]);
    let arbitrary = (0..20).map(|seed| noise(200, seed));
    // A filter of keys, a filter of no keys, and a filter of the empty key.
    let keys = ["apple", "fig", "lime", "pear", "plum", "quince"].map(Vec::from);
    let real = build(POLICY, 11, &vec![(0, keys.to_vec()), (5000, vec![Vec::new()])]);
    for contents in repeated.chain(arbitrary).chain([real]) {
        for len in 0..=contents.len() {
            for block_offset in [0, 2047, 2048, 4095, 4096, 6143, 6144, 1 << 40, u64::MAX] {
                assert_reads_as_reference(&contents[..len], block_offset, b"fig");
                assert_reads_as_reference(&contents[..len], block_offset, b"");
            }
        }
    }
}

/// Any bytes, then words small enough to be offsets, and any range.
#[test]
fn arbitrary_frames_are_read_as_leveldb_reads_them() {
    let mut below = drawn(1);
    for seed in 0..300 {
        let mut contents = noise(below(60), seed);
        for _ in 0..below(12) {
            contents.extend([u8::try_from(below(80)).expect("small"), 0, 0, 0]);
        }
        contents.push(u8::try_from(below(67)).expect("small"));
        for bits in 0..=63 {
            let block_offset = (u64::from(seed) << 32 | below(1 << 31) as u64) << 26 >> bits;
            assert_reads_as_reference(&contents, block_offset, b"key");
        }
    }
}

#[test]
fn base_lg_and_num_filters_are_the_blocks_unless_it_is_malformed() {
    for base_lg in 0..=255 {
        let block = [7, 7, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, base_lg];
        let reader = FilterBlockReader::new(POLICY, block);
        let expected = if base_lg < 64 { (base_lg, 2, false) } else { (0, 0, true) };
        assert_eq!((reader.base_lg(), reader.num_filters(), reader.is_malformed()), expected);
        assert_eq!(reader.contents(), &block);
    }
    for malformed in [&[][..], &[11], &[0, 0, 0, 11], &[1, 0, 0, 0, 11], &[0xff; 5]] {
        let reader = FilterBlockReader::new(POLICY, malformed);
        let found = (reader.base_lg(), reader.num_filters(), reader.is_malformed());
        assert_eq!(found, (0, 0, true), "{malformed:?}");
    }
    let empty = FilterBlockReader::new(POLICY, [0; 5]);
    assert_eq!((empty.base_lg(), empty.num_filters(), empty.is_malformed()), (0, 0, false));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn changed_blocks_are_read_as_leveldb_reads_them(
        (base_lg, blocks) in any_data_blocks(),
        changes in vec((any::<Index>(), any::<u8>()), 0..4),
        block_offsets in vec(0..200_000u64, 10),
    ) {
        let mut contents = build(POLICY, base_lg, &blocks);
        for (index, byte) in changes {
            *index.get_mut(&mut contents) = byte;
        }
        for (block_offset, keys) in &blocks {
            for key in keys {
                assert_reads_as_reference(&contents, *block_offset, key);
            }
        }
        for block_offset in block_offsets {
            assert_reads_as_reference(&contents, block_offset, b"absent");
        }
    }
}
