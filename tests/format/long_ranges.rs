//! Ranges that widen until the first has enough keys, and filters of few keys.

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader};
use proptest::collection::vec;
use proptest::prelude::*;

use super::block_builder::{add_and_finish, build, build_by_reference};
use crate::common::strategies::{DataBlocks, any_policy, config};
use crate::common::{OfHashes, OfKeys};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Data blocks with these steps between them, and this many entries in each. Each key has as many
/// successive entries as there are versions.
fn data_blocks(steps: &[(u64, u32)], versions: u32) -> DataBlocks {
    let (mut offset, mut next) = (0, 0);
    let block = |&(step, num_keys): &(u64, u32)| {
        offset += step;
        let keys = (next..next + num_keys).map(|i| (i / versions).to_be_bytes().to_vec());
        next += num_keys;
        (offset, keys.collect())
    };
    steps.iter().map(block).collect()
}

/// Of tables with values of all lengths: up to 20,000 keys, and megabytes for each.
fn any_wide_blocks() -> impl Strategy<Value = DataBlocks> {
    let step = (0..=26_u32, any::<u64>()).prop_map(|(log2, step)| step % (1 << log2));
    let num_keys = prop_oneof![2 => 0..4_u32, 2 => 0..1_500_u32, 1 => 3_990..=4_010_u32];
    let versions = prop_oneof![2 => Just(1), 1 => 2..4_u32, 1 => Just(50)];
    (vec((step, num_keys), 0..24), versions)
        .prop_map(|(steps, versions)| data_blocks(&steps, versions))
}

/// The range that the first filter needs, told from all blocks at once. By hash, successive equal
/// keys count once.
fn expected_base_lg(blocks: &DataBlocks, by_hash: bool) -> u8 {
    // The least range that has enough keys before the next one starts, or none.
    let is_enough = |base_lg: u8| {
        let beyond = blocks.iter().position(|(offset, _)| offset >> base_lg > 0);
        beyond.is_none_or(|beyond| {
            let mut keys: Vec<_> = blocks[..beyond].iter().flat_map(|(_, keys)| keys).collect();
            if by_hash {
                keys.dedup();
            }
            keys.is_empty() || keys.len() >= 4_000
        })
    };
    (19..63).find(|&base_lg| is_enough(base_lg)).unwrap_or(63)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 4, ..config() })]

    #[test]
    fn long_ranges_widen_until_the_first_has_4_000_keys_for_each_table_anew(
        tables in vec(any_wide_blocks(), 1..3),
        policy in any_policy()
            .prop_filter("short filters", |policy| policy.millibits_per_key() < 100_000),
    ) {
        let mut by_hash = FilterBlockBuilder::with_long_ranges(policy);
        let mut by_key = FilterBlockBuilder::with_long_ranges(OfKeys(policy));
        for blocks in &tables {
            let base_lg = expected_base_lg(blocks, true);
            let contents = add_and_finish(&mut by_hash, blocks);
            prop_assert_eq!(contents.last(), Some(&base_lg));
            prop_assert!(contents == build_by_reference(policy, |key| key, 2_000, base_lg, blocks));
            // Without hashes, each filter has each key as often as it was added.
            let of_keys = build(policy, expected_base_lg(blocks, false), blocks);
            prop_assert!(add_and_finish(&mut by_key, blocks) == of_keys);
            let reader = FilterBlockReader::new(policy, contents);
            for (offset, keys) in blocks {
                prop_assert!(keys.iter().all(|key| reader.key_may_match(*offset, key)));
            }
        }
    }
}

#[test]
fn the_first_range_widens_with_1_to_3_999_keys_however_many_versions_they_have() {
    for (num_keys, base_lg) in [(0, 19), (1, 20), (3_999, 20), (4_000, 19)] {
        for versions in [1, 3] {
            let blocks = data_blocks(&[(0, num_keys * versions), (1 << 19, 1)], versions);
            let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
            let contents = add_and_finish(&mut builder, &blocks);
            assert_eq!(contents.last(), Some(&base_lg), "{num_keys} keys, {versions} versions");
        }
    }
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

/// A filter is a byte for each hash, then the least number of keys. A key's hash is its first byte.
const LISTS: OfHashes = OfHashes {
    key_hash: |key| BloomHash::from_u32(key[0].into()),
    create_filter: |hashes, min_keys, dst| {
        dst.extend(hashes.iter().map(|hash| hash.to_u32().to_le_bytes()[0]));
        dst.extend(min_keys.to_string().bytes());
    },
    may_match: |hash, filter| filter.iter().any(|&byte| hash.to_u32() == byte.into()),
};

#[test]
fn long_ranges_ask_for_room_for_2_000_keys_and_count_equal_neighbours_once() {
    let keys = [b"fig", b"fir", b"pea", b"fig"];
    for (mut builder, expected) in [
        (FilterBlockBuilder::new(LISTS), &b"ffpf0"[..]),
        (FilterBlockBuilder::with_long_ranges(LISTS), b"fpf2000"),
    ] {
        for key in keys {
            builder.add_key(key);
        }
        let reader = FilterBlockReader::new(LISTS, builder.finish());
        assert_eq!(reader.filter(0), Some(expected));
        assert!(reader.key_may_match(0, b"pea") && !reader.key_may_match(0, b"kiwi"));
    }
}
