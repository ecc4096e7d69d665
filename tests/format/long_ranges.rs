//! Long ranges: the oracle's blocks at the limits of the rule, and what each part of it is for.

mod random;

use std::sync::Arc;

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterPolicy, HashPolicy,
    HashedBy,
};

use super::api::assert_panics;
use crate::common::long_ranges::Comparison::{self, OfAll, OfPlaces};
use crate::common::long_ranges::{self as oracle, Entry};
use crate::common::reference;
use crate::common::{OfHashes, noise};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A key of four bytes is its own hash. Others have none.
fn of_hashes(policy: BloomFilterPolicy) -> HashedBy {
    HashedBy::new("example.Hashes", policy, |_, key| {
        Some(BloomHash::from_u32(u32::from_le_bytes(key.try_into().ok()?)))
    })
}

/// A hash of its own for each number.
fn spread(number: u32) -> u32 {
    number.wrapping_mul(0x85ebca6b)
}

/// Calls the builder as an engine does, or with superfluous calls that change nothing.
fn add(builder: &mut FilterBlockBuilder<impl FilterPolicy>, entries: &[Entry], superfluous: bool) {
    let mut last = None;
    for (offset, hash) in entries {
        if superfluous && last.is_some_and(|last| last < *offset) {
            builder.start_block(*offset - 1); // without keys
        }
        if last.replace(*offset) != Some(*offset) || superfluous {
            builder.start_block(*offset);
        }
        match hash {
            Some(hash) => builder.add_key(&hash.to_le_bytes()),
            None => builder.add_key(b"short"),
        }
    }
}

fn build(policy: BloomFilterPolicy, entries: &[Entry]) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_long_ranges(of_hashes(policy));
    add(&mut builder, entries, false);
    builder.finish()
}

fn expected_block(policy: BloomFilterPolicy, entries: &[Entry], comparison: Comparison) -> Vec<u8> {
    let create_filter = |hashes: &[u32], room: Option<u64>| {
        // The length and the number of probes are the policy's.
        let (mut filter, keys) = (vec![], vec![BloomHash::default(); hashes.len()]);
        match room {
            Some(room) => policy.create_filter_with_room(
                &keys,
                usize::try_from(room).expect("few"),
                &mut filter,
            ),
            None => policy.create_filter_of_hashes(&keys, &mut filter),
        }
        reference::create_filter_of_len(filter.len() - 1, filter[filter.len() - 1], hashes)
    };
    oracle::block(create_filter, entries, comparison)
}

#[test]
fn versions_of_a_key_take_no_bytes_and_shorten_no_range() {
    let filters = |versions: u32, num_of_block: u32| {
        let entry = |i| (u64::from(i / num_of_block) * 4_101, Some(spread(i / versions)));
        let entries: Vec<Entry> = (0..20_000 * versions).map(entry).collect();
        let block = build(POLICY.tuned(), &entries);
        (block[block.len() - 1], block.len())
    };
    let once = filters(1, 7);
    // In as many data blocks each time; with 7 entries a block, most keys are in two.
    for (versions, num_of_block) in [(2, 14), (10, 70), (100, 700), (10, 7), (3, 7)] {
        let (base_lg, len) = filters(versions, num_of_block);
        let more_blocks = (versions * 7 / num_of_block).ilog2();
        assert!(u32::from(base_lg) >= u32::from(once.0) + more_blocks, "{versions}");
        // A last, short range has room.
        assert!(len < once.1 + 2_600, "{versions} versions: {len} for {}", once.1);
    }
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
            let reader = FilterBlockReader::new(POLICY, builder.finish());
            assert_eq!((reader.num_filters(), reader.base_lg()), (1, 63), "{num_keys} keys");
            for offset in [0, 1, 1 << 20, u64::MAX >> 1] {
                assert!(keys.iter().all(|key| reader.key_may_match(offset, key)));
            }
        }
    }
}

/// The `base_lg` of data blocks of so many keys. One in so many has the hash 0, if not 0.
fn base_lg_of(blocks: &[(u64, u32, u32)]) -> u8 {
    let (mut entries, mut number) = (vec![], 0);
    for &(offset, num_keys, zero_one_in) in blocks {
        entries.extend((1..=num_keys).map(|i| {
            number += 1;
            let is_zero = zero_one_in > 0 && i % zero_one_in == 0;
            (offset, Some(if is_zero { 0 } else { spread(number) }))
        }));
    }
    let block = build(POLICY, &entries);
    assert!(block == expected_block(POLICY, &entries, OfPlaces));
    block[block.len() - 1]
}

#[test]
fn ranges_are_long_at_their_limits() {
    // Huge offsets, and one key less than 2,000 for each filter.
    assert_eq!(base_lg_of(&[(0, 1, 0), (u64::MAX, 1, 0)]), 63);
    assert_eq!(base_lg_of(&[(0, 49_999, 0), (1 << 63, 1, 0)]), 59);
    assert_eq!(base_lg_of(&[(0, 33_998, 0), (1 << 40, 1, 0)]), 37);
    assert_eq!(base_lg_of(&[(0, 33_999, 0), (1 << 40, 1, 0)]), 36);
    // No two keys of a data block count.
    assert_eq!(base_lg_of(&[(0, 4_000, 2), (1 << 20, 4_000, 0)]), 19);
}

/// Tables of a data block every 4 KiB with 50 keys each, of which so many pairs have equal hashes:
/// the keys at `first`, `first + 50` and so on with the keys `distance` data blocks behind.
fn with_pairs(num_blocks: u32, first: u32, num_pairs: u32, distance: u32) -> Vec<Entry> {
    let mut entries: Vec<Entry> =
        (0..50 * num_blocks).map(|n| (u64::from(n / 50) << 12, Some(spread(n + 1)))).collect();
    for key in (0..num_pairs).map(|pair| first + pair) {
        entries[(key + 50 * distance) as usize].1 = entries[key as usize].1;
    }
    entries
}

#[test]
fn a_pair_more_than_1_in_128_of_2_000_successive_keys_shortens_ranges() {
    let base_lg = |entries: &[Entry]| {
        let block = build(POLICY, entries);
        assert!(block == expected_block(POLICY, entries, OfPlaces));
        block[block.len() - 1]
    };
    // Pairs that are in one range from 8, 16 or 32 KiB on. 7 pairs are 14 of 2,000 keys.
    for num_blocks in [40, 400, 401] {
        let good = base_lg(&with_pairs(num_blocks, 0, 0, 1));
        for (distance, lg) in [(1, 13), (2, 14), (4, 15)] {
            for first in [0, 50 * ((num_blocks - 40) / 8 * 8)] {
                let pairs = |n| base_lg(&with_pairs(num_blocks, first, n, distance));
                assert_eq!((pairs(7), pairs(8)), (good, lg - 1), "{num_blocks} {distance} {first}");
            }
        }
    }
    // 256 keys may have no pair more, and 255 none.
    let few = |num_keys: usize, n| base_lg(&with_pairs(6, 0, n, 1)[..num_keys]);
    assert_eq!((few(255, 0), few(255, 1), few(256, 1), few(256, 2)), (63, 12, 63, 12));

    // Eight pairs whose second keys are 2,000 keys apart are in no window, and 1,999 are.
    for (apart, lg) in [(1_999, 12), (2_000, 63)] {
        let mut entries = with_pairs(80, 20, 7, 1);
        let last = 70 + apart;
        entries[last].1 = entries[last - 50].1;
        let lg = if lg == 63 { base_lg(&with_pairs(80, 0, 0, 1)) } else { lg };
        assert_eq!(base_lg(&entries), lg, "{apart}");
    }
}

/// Far more pairs than are allowed, so many data blocks apart.
#[test]
fn ranges_become_shorter_if_bad_ones_are_not_longer_than_good_ones() {
    // 40,000 keys in 800 data blocks of 4 KiB: a good range is 256 KiB.
    for (distance, base_lg) in [(1, 12), (16, 16), (32, 17), (64, 18), (128, 18)] {
        let entries = with_pairs(800, 0, 40, distance);
        let block = build(POLICY, &entries);
        assert!(block == expected_block(POLICY, &entries, OfPlaces));
        assert_eq!(block[block.len() - 1], base_lg, "{distance} data blocks apart");
    }
}

/// Eight keys come back after so many others, all within one good range of 60,000 keys and more.
#[test]
fn keys_that_come_back_are_noticed_whatever_came_between() {
    for between in [1, 2_000, 60_000] {
        let mut hashes: Vec<u32> = (0..between + 16).map(spread).collect();
        for i in 0..8 {
            hashes[(between + i) as usize] = spread(i);
        }
        // A data block of each key, and one far away, so that ranges of few keys do not suffice.
        let entries = (0..).zip(hashes).map(|(n, hash)| (n * 8, Some(hash)));
        let entries: Vec<_> = entries.chain([(1 << 40, Some(1))]).collect();
        let block = build(POLICY, &entries);
        assert!(block == expected_block(POLICY, &entries, OfPlaces));
        let base_lg = oracle::base_lg(&entries, OfAll);
        assert_eq!(block.last(), Some(&base_lg), "after {between} others");
    }
}

#[test]
fn equal_hashes_before_a_huge_offset_take_at_most_4_bytes_of_offsets_a_key() {
    for last in [1 << 38, 1 << 50, u64::MAX] {
        for (keys_of_a_block, block_len) in [(50, 4_096), (1, 2_048), (1, 4_096), (1, 1 << 16)] {
            let entry = |n: u32| (u64::from(n / keys_of_a_block) * block_len, Some(spread(n % 7)));
            let mut entries: Vec<Entry> = (0..5_000).map(entry).collect();
            entries.push((last, Some(1)));
            let block = build(POLICY.tuned(), &entries);
            assert!(block == expected_block(POLICY.tuned(), &entries, OfPlaces));
            let num_filters = FilterBlockReader::new(POLICY, block).num_filters();
            assert!(num_filters <= entries.len(), "{num_filters} offsets, {block_len} to {last}");
        }
    }
}

#[test]
fn an_offset_below_the_last_data_blocks_or_filters_panics_until_the_builder_is_cleared() {
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(5_000);
    builder.start_block(4_096);
    let message = "offset 4095 belongs to filter 1, which is already written (filters so far: 2)";
    assert_panics(message, || builder.start_block(4_095));
    assert_panics("an earlier call panicked", || builder.add_key(b"fig"));
    builder.clear();
    builder.start_block(0);
    assert_eq!(builder.finish(), [0, 0, 0, 0, 11]);

    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
    builder.start_block(5_000);
    builder.start_block(5_000);
    let message = "block offset 4999 is below the last data block's, 5000";
    assert_panics(message, || builder.start_block(4_999));
    assert_panics("an earlier call panicked", || builder.add_key(b"fig"));
    builder.clear();
    builder.start_block(0);
    assert_eq!(builder.finish(), [0, 0, 0, 0, 63]);
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
        (FilterBlockBuilder::with_long_ranges(LISTS), b"fpf40"),
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
fn every_wrapper_asks_for_the_same_room() {
    let hashed = HashedBy::new("example.Lists", LISTS, HashPolicy::key_hash);
    for policy in [&&LISTS as &dyn HashPolicy, &Box::new(LISTS), &Arc::new(LISTS), &hashed] {
        let (fig, mut dst) = ([BloomHash::from_u32(b'f'.into())], vec![]);
        policy.create_filter_of_hashes(&fig, &mut dst);
        policy.create_filter_with_room(&fig, 9, &mut dst);
        assert_eq!(dst, b"f0f9");
    }
}

#[test]
fn the_room_of_several_filters_takes_what_leveldbs_offsets_take() {
    // Of keys in the second of two ranges, after so many keys in the first.
    for (range_lg, num_keys, room) in [
        (11, 1, "1"),
        (12, 1, "4"),
        (13, 2, "11"),
        (13, 100, "109"),
        (15, 1, "40"),
        (21, 20, "160"),
    ] {
        let mut builder = FilterBlockBuilder::with_long_ranges(LISTS);
        (0..4_100_u32).for_each(|n| builder.add_key(&(n % 2).to_le_bytes()));
        builder.start_block(1 << range_lg);
        (0..num_keys).for_each(|n: u8| builder.add_key(&[n]));
        let reader = FilterBlockReader::new(LISTS, builder.finish());
        assert_eq!((reader.base_lg(), reader.num_filters()), (range_lg, 2));
        let filter = reader.filter(1 << range_lg).expect("a filter");
        let found = String::from_utf8_lossy(&filter[usize::from(num_keys)..]).into_owned();
        assert_eq!(found, room, "2^{range_lg}, {num_keys} keys");
    }
}

#[test]
fn keys_without_a_hash_take_no_room_and_match_in_every_range() {
    let policy = of_hashes(POLICY);
    let mut builder = FilterBlockBuilder::with_long_ranges(&policy);
    let numbers = |range: u32| 3_000 * range..=3_000 * range + 3_000;
    for range in 0..3 {
        builder.start_block(u64::from(range) << 20);
        builder.add_key(b"fi");
        // The first hash of this range is the last one of the range before.
        builder.start_block((u64::from(range) << 20) + 1);
        numbers(range).for_each(|n| builder.add_key(&noise(4, n)));
        builder.add_key(b"");
    }
    let reader = FilterBlockReader::new(&policy, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (20, 3));
    for range in 0..3 {
        let offset = u64::from(range) << 20;
        for short in [&b"fi"[..], b"", b"x"] {
            assert!(reader.key_may_match(offset, short));
        }
        assert!(numbers(range).all(|n| reader.key_may_match(offset, &noise(4, n))));
        assert!(!reader.key_may_match(offset, b"pear"));
    }
}
