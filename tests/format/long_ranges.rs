//! Long ranges: the oracle's blocks for tables of every layout, hardly longer than LevelDB's.

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy,
    HashedBy, InternalKeyPolicy,
};

use super::api::assert_panics;
use crate::common::reference::{self, Entry};
use crate::common::strategies::config;
use crate::common::{OfHashes, OfKeys, drawn, noise, of_any_magnitude};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A key of four bytes is its own hash. Others have none.
fn of_hashes(policy: BloomFilterPolicy) -> HashedBy {
    HashedBy::new("example.Hashes", policy, |_, key| {
        Some(BloomHash::from_u32(u32::from_le_bytes(key.try_into().ok()?)))
    })
}

/// Lengths of the next entries, how many of them, in which data blocks, and how many versions each
/// key has.
struct Part {
    entry_len: usize,
    num_entries: usize,
    block_len: u64,
    versions: usize,
    /// How many hashes there are, in a random order, or `None` if no two are equal.
    num_hashes: Option<usize>,
}

/// Tables of one to three parts: small entries before large ones or after them, gaps, a first block
/// anywhere, versions within data blocks and across them, keys without a hash, many equal hashes.
fn any_table(below: &mut impl FnMut(usize) -> usize) -> Vec<Entry> {
    let (mut entries, mut hash) = (vec![], 0_u32);
    let mut offset = match below(8) {
        0 => of_any_magnitude(1 << 30, below) as u64,
        1 => (of_any_magnitude(1 << 30, below) as u64) << below(33),
        _ => 0,
    };
    if below(8) == 0 {
        // Before the first data block.
        entries.extend((0..20).map(|i| (0, Some(!i))));
    }
    let unhashed_one_in = [0, 0, 0, 2, 50][below(5)];
    for _ in 0..=below(3) {
        let max_len = [100, 2_000, 16 << 20][below(3)];
        let part = Part {
            entry_len: of_any_magnitude(max_len, below),
            num_entries: of_any_magnitude(8_000, below),
            block_len: of_any_magnitude(64 << 10, below).max(16) as u64,
            versions: [1, 1, 1, 2, 5, 100][below(6)],
            num_hashes: (below(3) == 0).then(|| of_any_magnitude(6_000, below)),
        };
        let mut in_block = 0;
        for i in 0..part.num_entries {
            if i % part.versions == 0 {
                let number = part.num_hashes.map_or(10_000 + entries.len(), &mut *below);
                hash = u32::try_from(number).expect("few").wrapping_mul(0x85ebca6b);
            }
            let is_unhashed = unhashed_one_in > 0 && below(unhashed_one_in) == 0;
            entries.push((offset, (!is_unhashed).then_some(hash)));
            in_block += part.entry_len as u64;
            if in_block >= part.block_len {
                offset = offset.saturating_add(in_block + 5);
                in_block = 0;
            }
        }
        offset = offset.saturating_add(in_block);
        if below(3) == 0 {
            offset = offset.saturating_add(of_any_magnitude(1 << 30, below) as u64);
        }
    }
    entries
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

fn expected_block(policy: BloomFilterPolicy, entries: &[Entry], by_hash: bool) -> Vec<u8> {
    let create_filter = |hashes: &[u32], room: u64| {
        let room = usize::try_from(room).expect("few keys");
        let shape = policy.with_min_keys(room).shape(hashes.len());
        reference::create_filter_of_len(shape.filter_len() - 1, shape.num_probes(), hashes)
    };
    reference::long_ranges_block(create_filter, entries, by_hash)
}

#[test]
fn blocks_are_the_oracles_for_tables_of_every_layout_and_lose_no_key() {
    let (mut num_several, mut num_shortened) = (0, 0);
    for seed in 0..u64::from(config().cases) {
        println!("seed {seed}"); // printed if it fails
        let mut below = drawn(seed);
        let entries = any_table(&mut below);
        let bits_per_key = [10, 10, 1, 16, 30][below(5)];
        let policy = BloomFilterPolicy::new(bits_per_key);
        let policy = if below(2) == 0 { policy } else { policy.tuned() };

        let by_hash = of_hashes(policy);
        let mut builder = FilterBlockBuilder::with_long_ranges(&by_hash);
        add(&mut builder, &entries[..below(entries.len() + 1)], false);
        builder.clear();
        for superfluous in [false, true] {
            add(&mut builder, &entries, superfluous);
            assert_eq!(builder.finished_len(), 5);
            let block = builder.finish();
            assert!(block == expected_block(policy, &entries, true));
            let reader = FilterBlockReader::new(&by_hash, block);
            for (offset, hash) in &entries {
                let key = hash.map_or(b"short".to_vec(), |hash| hash.to_le_bytes().into());
                assert!(reader.key_may_match(*offset, &key));
            }
            num_several += usize::from(reader.num_filters() > 1);
            num_shortened += usize::from(is_shortened(&entries));
        }

        // Keys that the policy does not hash are all in filters, and each counts.
        let hashed: Vec<_> = entries.iter().filter(|entry| entry.1.is_some()).copied().collect();
        let of_keys = OfKeys(&by_hash);
        let mut builder = FilterBlockBuilder::with_long_ranges(&of_keys);
        add(&mut builder, &hashed, false);
        assert_eq!(builder.num_pending_keys(), hashed.len());
        assert!(builder.finish() == expected_block(policy, &hashed, false));
    }
    let cases = config().cases as usize;
    assert!(num_several > cases / 3 && num_shortened > cases / 20, "{num_several} {num_shortened}");
}

/// Whether equal hashes make the ranges of a table shorter.
fn is_shortened(entries: &[Entry]) -> bool {
    let different = (0..).zip(entries).map(|(i, &(offset, hash))| (offset, hash.and(Some(i))));
    let different: Vec<_> = different.collect();
    let [with, without] = [entries, &different].map(|e| reference::long_ranges_base_lg(e, true));
    with < without
}

/// The length of LevelDB's own block, with a filter and an offset for each 2 KiB.
fn leveldb_len(policy: BloomFilterPolicy, entries: &[Entry]) -> u64 {
    let ranges = entries.chunk_by(|a, b| a.0 >> 11 == b.0 >> 11);
    let filter_len = |range: &[Entry]| {
        policy.shape(range.iter().filter(|entry| entry.1.is_some()).count()).filter_len() as u64
    };
    let num_offsets = entries.last().map_or(0, |last| (last.0 >> 11) + 1);
    ranges.map(filter_len).sum::<u64>() + num_offsets.saturating_mul(4) + 5
}

/// Above 10 bits per key, room for 3 keys takes more than an offset.
#[test]
fn at_10_bits_blocks_are_hardly_longer_than_leveldbs() {
    let (mut num_shortened, mut below) = (0, drawn(1));
    for i in 0..8 * config().cases {
        let entries = match i % 4 {
            // 2,000 entries a data block, then one.
            0 => {
                let large = of_any_magnitude(64 << 10, &mut below) as u64;
                let of_block = |block: u64| if block < 2 { 2_000 } else { 1 };
                let blocks = 0..2 + of_any_magnitude(400, &mut below) as u64;
                let entry = |block| (0..of_block(block)).map(move |n| (block * large, n));
                let with_hash = |(i, (offset, _)): (u32, (u64, u32))| (offset, Some(i));
                (0..).zip(blocks.flat_map(entry)).map(with_hash).collect()
            }
            _ => any_table(&mut below),
        };
        let shortened = is_shortened(&entries);
        num_shortened += u32::from(shortened);
        for policy in [POLICY, POLICY.tuned()] {
            let of_hashes = of_hashes(policy);
            let mut builder = FilterBlockBuilder::with_long_ranges(&of_hashes);
            add(&mut builder, &entries, false);
            let block = builder.finish();
            let reader = FilterBlockReader::new(POLICY, &block);
            let mut ranges: Vec<_> = entries.iter().map(|e| e.0 >> reader.base_lg()).collect();
            ranges.dedup();
            let small = ranges.iter().filter(|range| {
                let in_range = |e: &&Entry| e.0 >> reader.base_lg() == **range && e.1.is_some();
                (1..40).contains(&entries.iter().filter(in_range).count())
            });
            let room = if policy == POLICY { 0 } else { 42 * small.count() as u64 };
            let most = leveldb_len(POLICY, &entries).saturating_add(2_600 + room);
            assert!(block.len() as u64 <= most, "{i}: {} bytes for {most}", block.len());
        }
    }
    assert!(num_shortened > config().cases / 20, "{num_shortened}");
}

#[test]
fn versions_of_a_key_take_no_bytes_and_shorten_no_range() {
    let filters = |versions: u32, num_of_block: usize| {
        let policy = InternalKeyPolicy::new(POLICY.tuned());
        let mut builder = FilterBlockBuilder::with_long_ranges(policy);
        let entries = (0..20_000_u32).flat_map(|n| (0..versions).map(move |version| (n, version)));
        let entries: Vec<_> = entries.collect();
        for (offset, block) in (0_u64..).step_by(4_101).zip(entries.chunks(num_of_block)) {
            builder.start_block(offset);
            for (n, version) in block {
                let user_key = noise(12, *n);
                builder.add_key(&[&user_key[..], &u64::from(*version).to_le_bytes()].concat());
            }
        }
        let block = builder.finish();
        (*block.last().expect("a footer"), block.len())
    };
    // In as many data blocks each time; with 7 entries a block, most keys are in two.
    for (versions, num_of_block) in [(2, 14), (10, 70), (100, 700), (10, 7), (3, 7)] {
        let once = filters(1, 7);
        let (base_lg, len) = filters(versions, num_of_block);
        let more_blocks = (u64::from(versions) * 7 / num_of_block as u64).ilog2();
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
            assert_eq!(builder.num_pending_keys(), keys.len().div_ceil(2));
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

#[test]
fn huge_offsets_make_ranges_long_up_to_2_to_the_63() {
    for (offset, num_keys, num_filters, base_lg) in [
        (u64::MAX, 2, 2, 63),
        (1 << 63, 50_000, 17, 59),
        (1 << 40, 50_000, 17, 36),
        // One key less than 2,000 for each filter.
        (1 << 40, 33_999, 9, 37),
        (1 << 40, 34_000, 17, 36),
        (1 << 20, 2, 1, 63),
    ] {
        let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
        (1..num_keys).for_each(|n: u32| builder.add_key(&noise(8, n)));
        builder.start_block(offset);
        builder.add_key(b"lime");
        let reader = FilterBlockReader::new(POLICY, builder.finish());
        assert_eq!((reader.base_lg(), reader.num_filters()), (base_lg, num_filters), "{offset}");
        assert!(reader.key_may_match(0, &noise(8, 1)) && reader.key_may_match(offset, b"lime"));
    }
}

#[test]
fn an_offset_below_the_last_data_blocks_panics_until_the_builder_is_cleared() {
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
fn the_room_of_several_filters_takes_what_leveldbs_offsets_take() {
    // Of keys in the second of two ranges, after so many keys in the first.
    for (range_lg, num_keys, room) in
        [(11, 1, "1"), (12, 1, "4"), (13, 1, "8"), (13, 2, "11"), (13, 100, "109"), (21, 20, "160")]
    {
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
    for offset in [0, 1 << 20, 2 << 20] {
        builder.start_block(offset.into());
        builder.add_key(b"fi");
        assert_eq!(builder.num_pending_keys() % 3_000, 0);
        (0..3_000).for_each(|n| builder.add_key(&noise(4, offset + n)));
        builder.add_key(b"");
    }
    let reader = FilterBlockReader::new(&policy, builder.finish());
    assert_eq!((reader.base_lg(), reader.num_filters()), (20, 3));
    for offset in [0, 1 << 20, 2 << 20] {
        for short in [&b"fi"[..], b"", b"x"] {
            assert!(reader.key_may_match(offset, short));
            assert!(reader.may_match(offset, &FilterKey::new(&policy, short)));
        }
        assert!(!reader.key_may_match(offset, b"pear"));
    }
}
