//! Long ranges: how far the first one reaches, how much room filters have, and that a block is
//! hardly longer than LevelDB's, whatever a table holds.

use std::cell::Cell;
use std::iter::repeat_n;

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, HashedBy,
    InternalKeyPolicy,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::block_builder::{add, add_and_finish, build_with};
use super::hash_policies::prefix_hash;
use crate::common::strategies::{DataBlocks, any_policy, config};
use crate::common::{OfHashes, OfKeys, drawn, of_any_magnitude, reference};

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
    let num_keys = prop_oneof![2 => 0..4_u32, 2 => 0..900_u32, 1 => 1_990..=2_010_u32];
    let versions = prop_oneof![2 => Just(1), 1 => 2..4_u32, 1 => Just(50)];
    (vec((step, num_keys), 0..24), versions)
        .prop_map(|(steps, versions)| data_blocks(&steps, versions))
}

/// The oracle's block. It tells the range of the first filter from all blocks at once. With
/// `counts_once`, successive equal keys count once, and filters have room.
fn build_long_by_reference(
    policy: BloomFilterPolicy,
    counts_once: bool,
    blocks: &DataBlocks,
) -> Vec<u8> {
    // The least range that has enough keys before the next one starts, or all keys.
    let is_enough = |base_lg: &u8| {
        let beyond = blocks.iter().position(|(offset, _)| offset >> base_lg > 0);
        beyond.is_none_or(|beyond| {
            let mut keys: Vec<_> = blocks[..beyond].iter().flat_map(|(_, keys)| keys).collect();
            if counts_once {
                keys.dedup();
            }
            keys.len() >= 2_000
        })
    };
    let base_lg = (11..63).find(is_enough).unwrap_or(63);
    let is_first = Cell::new(true);
    let create_filter = |keys: &[Vec<u8>]| {
        let mut hashes: Vec<_> = keys.iter().map(|key| reference::bloom_hash(key)).collect();
        let mut sized_for = hashes.len() as u128;
        if counts_once {
            hashes.dedup();
            let num_keys = hashes.len() as u128;
            // 3 keys for each 2 KiB.
            let most = num_keys + 3 * (1_u128 << base_lg) / 2_048;
            let most = if is_first.replace(false) { 2_000 } else { most.min(2_000) };
            sized_for = num_keys.max(most.min(8 * num_keys));
        }
        let shape = policy.shape(sized_for.try_into().expect("few keys"));
        reference::create_filter_of_len(shape.filter_len() - 1, shape.num_probes(), &hashes)
    };
    let mut block = build_with(create_filter, base_lg, blocks);
    if base_lg < 63 && reference::block_filter(&block, 1 << base_lg).is_none() {
        // The only filter is for the whole table.
        *block.last_mut().expect("a footer") = 63;
    }
    block
}

/// The length of the block if `finish` came now, as the docs compute it.
fn foretold(builder: &FilterBlockBuilder) -> usize {
    match builder.next_filter_num_keys() {
        0 => builder.finished_len(),
        n => builder.finished_len() + builder.policy().shape(n).filter_len() + 4,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: config().cases / 4, ..config() })]

    #[test]
    fn long_ranges_are_the_oracles_for_each_table_anew(
        tables in vec(any_wide_blocks(), 1..3),
        policy in any_policy()
            .prop_filter("short filters", |policy| policy.millibits_per_key() < 100_000),
    ) {
        let mut by_hash = FilterBlockBuilder::with_long_ranges(policy);
        let mut by_key = FilterBlockBuilder::with_long_ranges(OfKeys(policy));
        for blocks in &tables {
            add(&mut by_hash, &blocks[..blocks.len() / 2]);
            by_hash.clear();
            add(&mut by_hash, blocks);
            let len = foretold(&by_hash);
            let contents = by_hash.finish();
            prop_assert_eq!(contents.len(), len);
            prop_assert!(contents == build_long_by_reference(policy, true, blocks));
            // Without hashes, each filter has each key as often as it was added, and no room.
            let of_keys = build_long_by_reference(policy, false, blocks);
            prop_assert!(add_and_finish(&mut by_key, blocks) == of_keys);
            for contents in [contents, of_keys] {
                let reader = FilterBlockReader::new(policy, contents);
                for (offset, keys) in blocks {
                    prop_assert!(keys.iter().all(|key| reader.key_may_match(*offset, key)));
                }
            }
        }
    }
}

#[test]
fn the_first_range_widens_with_0_to_1_999_keys_however_many_versions_they_have() {
    // A second data block at 4 KiB is in the range, or begins a range of 2 KiB after an empty one.
    for (num_keys, base_lg) in [(0, 63), (1, 63), (1_999, 63), (2_000, 11)] {
        for versions in [1, 3] {
            let blocks = data_blocks(&[(0, num_keys * versions), (1 << 12, 1)], versions);
            let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
            let contents = add_and_finish(&mut builder, &blocks);
            assert_eq!(contents.last(), Some(&base_lg), "{num_keys} keys, {versions} versions");
            let reader = FilterBlockReader::new(POLICY, contents);
            assert_eq!(reader.num_filters(), if base_lg == 63 { 1 } else { 3 });
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

#[test]
fn a_block_of_one_filter_or_none_answers_at_every_offset() {
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY.tuned());
    assert_eq!(builder.finish(), [0, 0, 0, 0, 63]);
    builder.start_block(1 << 40);
    assert_eq!(builder.finish(), [0, 0, 0, 0, 63]);
    for num_keys in [1, 3, 1_999, 2_000, 60_000_u32] {
        let keys: Vec<_> = (0..num_keys).map(|n| (n / 2).to_be_bytes()).collect();
        // The last entry is not at the end, where LevelDB begins another data block.
        for ends in [false, true] {
            for key in &keys {
                builder.add_key(key);
            }
            if ends {
                builder.start_block(4_096);
            }
            let len = foretold(&builder);
            let reader = FilterBlockReader::new(POLICY, builder.finish());
            let is_only = reader.num_filters() == 1 && reader.base_lg() == 63;
            // An empty range lies before 4,096 if the first one is full.
            assert_eq!(is_only, !ends || num_keys < 4_000, "{num_keys} keys");
            assert_eq!(reader.contents().len(), len, "{num_keys} keys");
            assert!(keys.iter().all(|key| reader.key_may_match(0, key)));
            if is_only {
                let offsets = [1, 1 << 20, u64::MAX >> 1];
                assert!(offsets.iter().all(|&offset| reader.key_may_match(offset, &keys[0])));
            }
        }
    }
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
fn long_ranges_ask_for_room_for_8_times_the_keys_and_count_equal_neighbours_once() {
    let keys = [b"fig", b"fir", b"pea", b"fig"];
    for (mut builder, expected) in [
        (FilterBlockBuilder::new(LISTS), &b"ffpf0"[..]),
        (FilterBlockBuilder::with_long_ranges(LISTS), b"fpf24"),
    ] {
        for key in keys {
            builder.add_key(key);
        }
        let reader = FilterBlockReader::new(LISTS, builder.finish());
        assert_eq!(reader.filter(0), Some(expected));
        assert!(reader.key_may_match(0, b"pea") && !reader.key_may_match(0, b"kiwi"));
    }
}

#[test]
fn after_the_first_filter_room_is_what_leveldbs_offsets_take() {
    for (base_lg, num_keys, sized_for) in [
        // 2 KiB and 8 KiB: 3 and 12 keys more.
        (11, 1, 4),
        (13, 1, 8),
        (13, 2, 14),
        (13, 100, 112),
        // 2 MiB: 3,072 keys more.
        (21, 100, 800),
        (21, 1_000, 2_000),
        (21, 2_001, 2_001),
    ] {
        let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
        let mut keys = (0_u32..).map(u32::to_be_bytes);
        keys.by_ref().take(1_999).for_each(|key| builder.add_key(&key));
        builder.start_block((1 << base_lg) - 1);
        keys.by_ref().take(1).for_each(|key| builder.add_key(&key));
        builder.start_block(1 << base_lg);
        keys.take(num_keys).for_each(|key| builder.add_key(&key));
        assert_eq!(builder.next_filter_num_keys(), sized_for, "2^{base_lg}, {num_keys} keys");
    }
}

/// By how many bytes a block is longer than LevelDB's, if it is, for a table of these entries' lengths, in data
/// blocks of about 4 KiB. Asserts that its length is foretold, and that no key is lost.
fn bytes_beyond_leveldbs(header: u64, entry_lens: impl Iterator<Item = usize>) -> usize {
    let mut leveldb = FilterBlockBuilder::new(InternalKeyPolicy::new(POLICY));
    let mut long = FilterBlockBuilder::with_long_ranges(InternalKeyPolicy::new(POLICY.tuned()));
    let (mut offset, mut block_len, mut blocks, mut num_entries) = (header, 0, vec![], 0);
    for (n, entry_len) in (0_u64..).zip(entry_lens) {
        num_entries = n + 1;
        if n == 0 || block_len >= 4_096 {
            offset += block_len;
            block_len = 0;
            blocks.push((offset, n));
            leveldb.start_block(offset);
            long.start_block(offset);
        }
        let key = [n.to_be_bytes(), [1; 8]].concat();
        leveldb.add_key(&key);
        long.add_key(&key);
        block_len += entry_len as u64;
    }
    let num_keys = long.next_filter_num_keys();
    let len = long.finished_len() + POLICY.tuned().shape(num_keys).filter_len() + 4;
    let (leveldb, long) = (leveldb.finish(), long.finish());
    assert_eq!(long.len(), len);
    let reader = FilterBlockReader::new(POLICY.tuned(), &long);
    let ends = blocks.iter().skip(1).map(|(_, first)| *first).chain([num_entries]);
    for (&(offset, first), end) in blocks.iter().zip(ends) {
        let is_found = |n: u64| reader.key_may_match(offset, &n.to_be_bytes());
        assert!((first..end).all(is_found), "one of {first} to {end} at {offset} is lost");
    }
    long.len().saturating_sub(leveldb.len())
}

/// Where 2,000 entries of 3 bytes or more come before 16 KiB, ranges stay so short that the room of
/// tuned filters for 40 keys takes up to 30 bytes for each 8 KiB of large entries after them.
#[test]
fn blocks_are_hardly_longer_than_leveldbs_but_for_the_room_of_one_filter() {
    let mut below = drawn(1);
    for i in 0..150 {
        let lens = [(); 2].map(|()| (2 + of_any_magnitude(20_000, &mut below)).min(20_000));
        // At most 2 MiB of either.
        let most = lens.map(|len| 60_000.min((2 << 20) / len));
        let nums = most.map(|most| of_any_magnitude(most, &mut below));
        let header = [0, 0, 0, 1 << (i % 24)][i % 4];
        for nums in [nums, [nums[0], 0], [nums[0].max(2_000), most[1]]] {
            let entries = lens.into_iter().zip(nums).flat_map(|(len, num)| repeat_n(len, num));
            let beyond = bytes_beyond_leveldbs(header, entries);
            let is_tiny = lens[0] * 2_000 < 16 << 10 && nums[0] >= 2_000;
            let ranges = if is_tiny { nums[1] * lens[1] / (8 << 10) } else { 0 };
            let table = format!("{nums:?} entries of {lens:?} bytes, the first at {header}");
            assert!(beyond <= 2_520 + 30 * ranges, "{table}: {beyond} bytes longer");
        }
    }
}

#[test]
fn keys_without_a_hash_take_no_room_and_match_in_every_range() {
    let policy = HashedBy::new("example.Prefix3", POLICY, prefix_hash);
    let mut builder = FilterBlockBuilder::with_long_ranges(&policy);
    for (offset, letter) in [(0, b'a'), (1 << 20, b'b'), (2 << 20, b'c')] {
        builder.start_block(offset);
        builder.add_key(b"fi");
        assert_eq!(builder.next_filter_num_keys(), 0);
        for n in 0..2_000_u16 {
            let [high, low] = n.to_be_bytes();
            builder.add_key(&[letter, high, low]);
        }
        builder.add_key(b"");
    }
    let reader = FilterBlockReader::new(&policy, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (11, 1_025));
    for offset in [0, 1 << 20, 2 << 20] {
        for short in [&b"fi"[..], b"", b"x"] {
            assert!(reader.key_may_match(offset, short));
            assert!(reader.may_match(offset, &FilterKey::new(&policy, short)));
        }
        assert!(!reader.key_may_match(offset, b"pear"));
    }
}
