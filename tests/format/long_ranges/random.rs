//! Random tables in long ranges: the oracle's blocks, no key lost, hardly longer than LevelDB's.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use super::{POLICY, add, build, expected_block, of_hashes, spread};
use crate::common::long_ranges::Comparison::{self, OfAll, OfPlaces};
use crate::common::long_ranges::{self as oracle, Entry};
use crate::common::strategies::config;
use crate::common::{OfKeys, drawn, of_any_magnitude};

/// Entries of one kind, one after another in a table.
struct Part {
    num_entries: usize,
    /// In bytes of the file.
    entry_len: usize,
    block_len: usize,
    /// How often each key comes, in succession.
    versions: usize,
    /// How many hashes the keys have, in a random order; `None` if no two are equal.
    num_hashes: Option<usize>,
    /// One key in so many has no hash, if not 0.
    unhashed_one_in: usize,
}

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    /// Of the next data block.
    offset: u64,
}

impl Table {
    fn add(&mut self, part: &Part, below: &mut impl FnMut(usize) -> usize) {
        let (mut in_block, mut hash) = (0, 0);
        for i in 0..part.num_entries {
            if i % part.versions == 0 {
                let number = part.num_hashes.map_or(10_000 + self.entries.len(), &mut *below);
                hash = spread(u32::try_from(number).expect("few"));
            }
            let is_unhashed = part.unhashed_one_in > 0 && below(part.unhashed_one_in) == 0;
            self.entries.push((self.offset, (!is_unhashed).then_some(hash)));
            in_block += part.entry_len;
            if in_block >= part.block_len {
                self.skip(in_block + 5);
                in_block = 0;
            }
        }
        self.skip(in_block);
    }

    fn skip(&mut self, bytes: usize) {
        self.offset = self.offset.saturating_add(bytes as u64);
    }
}

/// One to three parts: small entries before large ones or after them, gaps, a first block anywhere,
/// versions within data blocks and across them, keys without a hash, many equal hashes.
fn of_any_layout(below: &mut impl FnMut(usize) -> usize) -> Vec<Entry> {
    let mut table = Table::default();
    match below(8) {
        0 => table.offset = of_any_magnitude(1 << 30, below) as u64,
        1 => table.offset = (of_any_magnitude(1 << 30, below) as u64) << below(33),
        // Before the first data block.
        2 => table.entries.extend((0..20).map(|i| (0, Some(!i)))),
        _ => {}
    }
    let unhashed_one_in = [0, 0, 0, 2, 50][below(5)];
    for _ in 0..=below(3) {
        let max_len = [100, 2_000, 16 << 20][below(3)];
        let part = Part {
            num_entries: of_any_magnitude(8_000, below),
            entry_len: of_any_magnitude(max_len, below),
            block_len: of_any_magnitude(64 << 10, below).max(16),
            versions: [1, 1, 1, 2, 5, 100][below(6)],
            num_hashes: (below(3) == 0).then(|| of_any_magnitude(6_000, below)),
            unhashed_one_in,
        };
        table.add(&part, below);
        if below(3) == 0 {
            table.skip(of_any_magnitude(1 << 30, below));
        }
    }
    table.entries
}

const PART: Part = Part {
    num_entries: 0,
    entry_len: 30,
    block_len: 4_096,
    versions: 1,
    num_hashes: None,
    unhashed_one_in: 0,
};

/// An index of small entries, which may compress to a tenth, beside large objects.
fn of_index_and_objects(below: &mut impl FnMut(usize) -> usize) -> Vec<Entry> {
    let num_entries = 99 + of_any_magnitude(9_901, below);
    let num_hashes = (below(2) == 0).then(|| num_entries + below(20 * num_entries));
    let entry_len = [3, 10, 30, 60][below(4)];
    let index = Part { num_entries, entry_len, num_hashes, ..PART };
    let entry_len = 99 + of_any_magnitude(19_901, below);
    let objects = Part { num_entries: 1 + (2 << 20) / entry_len, entry_len, ..PART };
    let mut table = Table::default();
    for part in if below(2) == 0 { [&index, &objects] } else { [&objects, &index] } {
        table.add(part, below);
    }
    table.entries
}

/// Up to 100,000 keys, among which 500 to 5,000 in succession may have equal hashes.
fn with_a_bad_part(below: &mut impl FnMut(usize) -> usize) -> Vec<Entry> {
    let mut table = Table::default();
    let num_bad = 499 + of_any_magnitude(4_501, below);
    let bad =
        Part { num_entries: num_bad, num_hashes: Some(num_bad + below(50 * num_bad)), ..PART };
    for part in 0..3 {
        let entry_len = of_any_magnitude(1_000, below).max(10);
        let good = Part { num_entries: of_any_magnitude(47_500, below), entry_len, ..PART };
        table.add(if part == 1 { &bad } else { &good }, below);
    }
    table.entries
}

fn any_table(seed: u64, below: &mut impl FnMut(usize) -> usize) -> Vec<Entry> {
    match seed % 8 {
        0 => with_a_bad_part(below),
        1 | 2 => of_index_and_objects(below),
        _ => of_any_layout(below),
    }
}

#[test]
fn blocks_are_the_oracles_for_tables_of_every_layout_and_lose_no_key() {
    let (mut num_several, mut num_shortened, mut seed) = (0, 0, 0);
    while seed < u64::from(config().cases) || num_several < 8 || num_shortened < 4 {
        println!("seed {seed}"); // printed if it fails
        let mut below = drawn(seed);
        let entries = any_table(seed, &mut below);
        seed += 1;
        let bits_per_key = [10, 10, 1, 16, 30][below(5)];
        let policy = BloomFilterPolicy::new(bits_per_key);
        let policy = if below(2) == 0 { policy } else { policy.tuned() };
        num_shortened += usize::from(is_shortened(&entries));

        let by_hash = of_hashes(policy);
        let mut builder = FilterBlockBuilder::with_long_ranges(&by_hash);
        add(&mut builder, &entries[..below(entries.len() + 1)], false);
        builder.clear();
        for superfluous in [false, true] {
            add(&mut builder, &entries, superfluous);
            let block = builder.finish();
            assert!(block == expected_block(policy, &entries, OfPlaces));
            let reader = FilterBlockReader::new(&by_hash, block);
            for (offset, hash) in &entries {
                let key = hash.map_or(b"short".to_vec(), |hash| hash.to_le_bytes().into());
                assert!(reader.key_may_match(*offset, &key));
            }
            num_several += usize::from(reader.num_filters() > 1);
        }

        // Keys that the policy does not hash are all in filters, and each counts.
        let hashed: Vec<_> = entries.iter().filter(|entry| entry.1.is_some()).copied().collect();
        let of_keys = OfKeys(&by_hash);
        let mut builder = FilterBlockBuilder::with_long_ranges(&of_keys);
        add(&mut builder, &hashed, false);
        assert!(builder.finish() == expected_block(policy, &hashed, Comparison::None));
    }
}

/// Whether equal hashes make the ranges of a table shorter.
fn is_shortened(entries: &[Entry]) -> bool {
    let different = (0..).zip(entries).map(|(i, &(offset, hash))| (offset, hash.and(Some(i))));
    let different: Vec<_> = different.collect();
    let [with, without] = [entries, &different].map(|e| oracle::base_lg(e, OfPlaces));
    with < without
}

/// A hash that another key has displaced from its place is not compared.
#[test]
fn all_pairs_choose_another_range_in_at_most_1_of_100_random_tables() {
    let chooses_another = |seed: &u64| {
        let entries = any_table(*seed, &mut drawn(*seed));
        build(POLICY, &entries).last() != Some(&oracle::base_lg(&entries, OfAll))
    };
    let others = (0..400).filter(chooses_another).count();
    assert!(others <= 4, "{others} of 400");
}

/// The length of LevelDB's own block, with a filter and an offset for each 2 KiB.
fn leveldb_len(policy: BloomFilterPolicy, entries: &[Entry]) -> u64 {
    let ranges = entries.chunk_by(|a, b| a.0 >> 11 == b.0 >> 11);
    let num_hashed = |range: &[Entry]| range.iter().filter(|entry| entry.1.is_some()).count();
    let filter_len = |range| policy.shape(num_hashed(range)).filter_len() as u64;
    let num_offsets = entries.last().map_or(0, |last| (last.0 >> 11) + 1);
    ranges.map(filter_len).sum::<u64>() + num_offsets.saturating_mul(4) + 5
}

/// A table's only filter is made for 2,000 keys, which takes 2,500 bytes. Above 10 bits per key, room
/// for 3 keys takes more than an offset.
#[test]
fn at_10_bits_blocks_are_hardly_longer_than_leveldbs() {
    for seed in 0..u64::from(4 * config().cases) {
        let mut below = drawn(seed);
        let entries = match seed % 4 {
            // 2,000 entries in each of two data blocks, then one in each.
            0 => {
                let large = of_any_magnitude(64 << 10, &mut below) as u64;
                let num_entries = 4_000 + u32::try_from(of_any_magnitude(400, &mut below)).unwrap();
                let block = |i: u32| u64::from(if i < 4_000 { i / 2_000 } else { i - 3_998 });
                (0..num_entries).map(|i| (block(i) * large, Some(i))).collect()
            }
            1 => of_index_and_objects(&mut below),
            _ => any_table(seed / 2, &mut below),
        };
        for policy in [POLICY, POLICY.tuned()] {
            let len = build(policy, &entries).len() as u64;
            let most = leveldb_len(POLICY, &entries).saturating_add(2_600);
            assert!(len <= most, "seed {seed}: {len} bytes for {most}");
        }
    }
}

/// Filters of few keys have room, if a table has small entries and large ones.
#[test]
fn estimates_are_hardly_above_a_block_unless_equal_hashes_shorten_its_ranges() {
    for seed in 0..u64::from(2 * config().cases) {
        let entries = any_table(seed, &mut drawn(seed));
        for bits_per_key in [4, 10] {
            let policy = BloomFilterPolicy::new(bits_per_key);
            for policy in [policy, policy.tuned()] {
                let mut builder = FilterBlockBuilder::with_long_ranges(of_hashes(policy));
                add(&mut builder, &entries, false);
                let estimated_len = builder.estimated_len(bits_per_key) as u64;
                let len = builder.finish().len() as u64;
                if is_shortened(&entries) {
                    let most = leveldb_len(policy, &entries).max(estimated_len);
                    let room = 500 * u64::from(bits_per_key);
                    assert!(len <= most.saturating_add(room), "seed {seed}: {len}");
                } else {
                    assert!(estimated_len <= len + len / 20 + 3, "seed {seed}: {len}");
                    let most = estimated_len + estimated_len / 2;
                    assert!(len <= most, "seed {seed}: {len} bytes instead of {estimated_len}");
                }
            }
        }
    }
}
