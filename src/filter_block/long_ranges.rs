//! How far each filter of a table reaches, chosen from all keys of the table. LevelDB has nothing
//! like it.
//!
//! Two flaws of LevelDB's hash pull in opposite directions: filters of few keys are bad for keys that
//! count up, and filters of many keys are bad where keys have equal hashes, as in grids of small
//! integers. So filters have many keys, unless too many of them would share a hash. At worst, ranges
//! are LevelDB's and filters as long as LevelDB's, and whatever longer ranges save in offsets is room.

use alloc::{vec, vec::Vec};
use core::mem;
use core::ops::Range;

use super::BASE_LG;
use crate::BloomHash;
use crate::hash::GOOD_NUM_KEYS;

// tests/README.md tells what gets worse with half or double of each.

/// Ranges become shorter if more than 1 in 128 of any [`GOOD_NUM_KEYS`] successive keys have the hash
/// of another key, because about as large a share of absent keys has it, too.
const MAX_EQUAL_ONE_IN: usize = 128;

/// Ranges become no shorter where that takes more than 64 offsets for each filter, so that a data
/// block far into the file exhausts no memory. Values of 128 KiB have 64 of LevelDB's ranges.
const MAX_RANGES_OF_A_FILTER: u64 = 64;

/// A filter has room for eight times its keys, up to [`GOOD_NUM_KEYS`]: filters of 2 to 100 counters
/// need as much to be as good as filters of many.
const ROOM_FACTOR: usize = 8;

/// A filter has room for 40 keys at least, because filters of one or two keys are the worst.
const MIN_ROOM: usize = 40;

/// At LevelDB's 10 bits per key, room for three keys takes the four bytes of an offset.
const KEYS_OF_AN_OFFSET: u64 = 3;

/// The data blocks of a table.
#[derive(Clone)]
pub(super) struct DataBlocks {
    /// Of the current data block, which may have no entries yet.
    offset: u64,
    with_entries: Vec<DataBlock>,
}

/// A data block with entries.
#[derive(Clone)]
pub(super) struct DataBlock {
    pub(super) offset: u64,
    /// The first may be the last key of the data block before.
    keys: Range<usize>,
}

impl DataBlocks {
    pub(super) const fn new() -> Self {
        Self { offset: 0, with_entries: Vec::new() }
    }

    pub(super) fn start(&mut self, offset: u64) {
        let last = self.offset;
        assert!(
            offset >= last,
            "FilterBlockBuilder::start_block: block offset {offset} is below the last data \
             block's, {last}"
        );
        self.offset = offset;
    }

    /// Adds an entry to the current data block. `keys` tells where its key is.
    #[inline]
    pub(super) fn add_entry(&mut self, keys: Range<usize>) {
        match self.with_entries.last_mut() {
            Some(block) if block.offset == self.offset => {
                block.keys = block.keys.start.min(keys.start)..keys.end;
            }
            _ => self.add_block(keys),
        }
    }

    #[inline(never)] // Inlined, it makes `add_key` slower for every key.
    fn add_block(&mut self, keys: Range<usize>) {
        self.with_entries.push(DataBlock { offset: self.offset, keys });
    }

    /// The data blocks of each range that has any.
    pub(super) fn ranges(&self, base_lg: u8) -> impl Iterator<Item = &[DataBlock]> {
        self.with_entries.chunk_by(move |a, b| a.offset >> base_lg == b.offset >> base_lg)
    }

    /// About how many filters the table gets, and for how many keys they are made in all.
    pub(super) fn estimate(&self, num_keys: usize, hashes: &[BloomHash]) -> (usize, usize) {
        let num_filters = usize::from(!self.with_entries.is_empty()) + num_keys / GOOD_NUM_KEYS;
        // Keys without hashes have no room.
        (num_filters, if hashes.is_empty() { num_keys } else { num_keys.max(room(num_keys, 63)) })
    }

    /// The base-2 logarithm of the range for each filter of a table; 63 for one filter.
    ///
    /// `hashes` are those of the `num_keys` keys, or none if the policy has no hashes.
    pub(super) fn choose_base_lg(&self, num_keys: usize, hashes: &[BloomHash]) -> u8 {
        let last = self.with_entries.last().map_or(0, |block| block.offset);
        // Ranges without keys count, because each takes an offset.
        let num_ranges = |lg: u8| (last >> lg) + 1;
        let has_many_keys = |lg: &u8| num_keys as u64 / num_ranges(*lg) >= GOOD_NUM_KEYS as u64;
        let has_few_gaps =
            |lg: &u8| num_ranges(*lg) / (self.ranges(*lg).count() as u64) < MAX_RANGES_OF_A_FILTER;
        let good = (BASE_LG..63).find(has_many_keys).unwrap_or(63);
        let base_lg = self
            .shortest_bad(good, hashes)
            .map_or(good, |bad| (BASE_LG.max(bad - 1)..good).find(has_few_gaps).unwrap_or(good));
        // The only filter answers for every offset, also for an engine that knows none.
        if last >> base_lg == 0 { 63 } else { base_lg }
    }

    /// The shortest range, if it is at most `good`, in which too many keys have equal hashes.
    fn shortest_bad(&self, good: u8, hashes: &[BloomHash]) -> Option<u8> {
        let window = hashes.len().min(GOOD_NUM_KEYS);
        // Of each meeting, two keys have equal hashes.
        let most_meetings = window / MAX_EQUAL_ONE_IN / 2;
        let mut bad = None;
        let mut meetings = Vec::new();
        self.for_each_meeting(good, hashes, |key, shared| {
            if shared >= bad.unwrap_or(good + 1) {
                return;
            }
            meetings.push((key, shared));
            meetings.retain(|(earlier, _)| key - earlier < window);
            if meetings.len() > most_meetings {
                bad = meetings.iter().map(|&(_, shared)| shared).max();
                meetings.retain(|&(_, shared)| Some(shared) < bad);
            }
        });
        bad
    }

    /// Compares each key with the keys before it. Calls `f` with the index of each that has the
    /// hash of a key of another data block, and with the base-2 logarithm of the shortest range
    /// that the two share.
    ///
    /// Each hash has a place, which remembers the last hash that came there. With twice as many
    /// places as the fullest range has keys, hardly any key of a range is forgotten. Keys of one data
    /// block are in one range anyway, so these need no comparison.
    fn for_each_meeting(&self, good: u8, hashes: &[BloomHash], mut f: impl FnMut(usize, u8)) {
        if hashes.is_empty() || self.with_entries.len() < 2 {
            return;
        }
        let most_keys = self.ranges(good).map(|range| keys_of(range).len()).max().unwrap_or(0);
        // At most 128 MiB.
        let log2_places = (2 * most_keys).next_power_of_two().ilog2().clamp(1, 24);
        // With the number of the hash's data block, from 1.
        let mut places = vec![(BloomHash::default(), 0_u32); 1 << log2_places];
        let mut key = 0;
        for (number, block) in (1..).zip(&self.with_entries) {
            for &hash in &hashes[key..block.keys.end] {
                // Mixed, because hashes of similar keys differ in few bits.
                let place = hash.0.wrapping_mul(0x9e3779b9) >> (32 - log2_places);
                let last = mem::replace(&mut places[place as usize], (hash, number));
                if last.0 == hash && last.1 != 0 && last.1 != number {
                    let earlier = &self.with_entries[last.1 as usize - 1];
                    let differing_bits = earlier.offset ^ block.offset;
                    #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
                    f(key, (u64::BITS - differing_bits.leading_zeros()) as u8);
                }
                key += 1;
            }
        }
    }
}

/// The keys of a range of data blocks.
pub(super) fn keys_of(range: &[DataBlock]) -> Range<usize> {
    // The first data blocks may have no keys, and another one then repeats the key before.
    let start = range.iter().map(|block| block.keys.start).min();
    start.unwrap_or(0)..range.last().map_or(0, |block| block.keys.end)
}

/// For how many keys the filter of a range is made, at least.
pub(super) fn room(num_keys: usize, base_lg: u8) -> usize {
    // LevelDB writes an offset for each 2 KiB of the range, and here one is left. If all room takes
    // no more, the table's filters are no longer than LevelDB's.
    let saved_offsets = (1_u64 << (base_lg - BASE_LG)) - 1;
    let paid = usize::try_from(KEYS_OF_AN_OFFSET * saved_offsets).unwrap_or(usize::MAX);
    let wanted = num_keys.saturating_mul(ROOM_FACTOR).clamp(MIN_ROOM, GOOD_NUM_KEYS);
    wanted.min(num_keys.saturating_add(paid))
}
