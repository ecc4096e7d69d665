//! How far each filter of a table reaches, chosen from all keys of the table. LevelDB has nothing
//! like it.
//!
//! Two flaws of LevelDB's hash pull in opposite directions. Filters of few keys are bad for keys that
//! count up, and filters of many keys are bad where keys have equal hashes, as in grids of small
//! integers. So filters have many keys, unless a sample of the keys has too many equal hashes.
//!
//! The constants were fitted to 25 kinds of keys, with a half or nine tenths of them present and
//! values of 0 to 1,000 bytes. Most kinds are as good with the other values that the comments name.
//! These tell what the kind that suffers most then has: the share of absent keys that match, in per
//! cent.

use alloc::vec::Vec;

use super::BASE_LG;
use crate::BloomHash;

/// A data block with entries.
#[derive(Clone, Copy)]
pub(super) struct DataBlock {
    pub(super) offset: u64,
    /// How many keys come before it, not counting successive keys with the same hash.
    pub(super) num_before: usize,
    /// Whether its first key has the hash of the last key before it.
    pub(super) repeats_last: bool,
}

/// Notes that the last of so many keys came again.
pub(super) fn repeat_last_key(blocks: &mut [DataBlock], num_keys: usize) {
    if let Some(block) = blocks.last_mut() {
        block.repeats_last |= block.num_before == num_keys;
    }
}

/// How many keys a good filter has, on average: LevelDB's hash makes smaller filters bad for keys
/// that count up. With 1,000, counters of which nine in ten are present have 2.4 instead of 1.2.
const GOOD_NUM_KEYS: usize = 2_000;

/// How many keys filters keep, on average, where equal hashes ask for fewer. Room mends filters of
/// so few counters, but nothing mends equal hashes: with 400, UTF-16 digits have 2.1 instead of 0.7.
const FEWEST_KEYS: usize = 100;

/// Half to all of about so many keys are compared, or all of fewer. Few enough that sorting them
/// takes microseconds. With 256, days have 1.6 instead of 1.2.
const SAMPLE_LEN: usize = 512;

/// Ranges become shorter if more than one key in so many has the hash of another key of its range,
/// because as many absent keys match. With 128, UTF-16 digits have 1.6 instead of 0.7.
const ONE_IN: usize = 256;

/// The base-2 logarithm of the range for each filter of a table: the shortest with which filters
/// have [`GOOD_NUM_KEYS`] on average, or a shorter one if it has too many equal hashes, because
/// no filter can tell keys with equal hashes apart. 63 for one filter.
///
/// `hashes` are those of the `num_keys` keys, or none if the policy has no hashes.
pub(super) fn choose_base_lg(blocks: &[DataBlock], num_keys: usize, hashes: &[BloomHash]) -> u8 {
    let last = blocks.last().map_or(0, |block| block.offset);
    // Ranges without keys count, because each takes an offset. So a data block far into the file
    // makes ranges long, and exhausts no memory.
    let range_of = |keys_of_filter: usize| {
        let is_enough = |lg: &u8| num_keys as u64 / ((last >> lg) + 1) >= keys_of_filter as u64;
        (BASE_LG..63).find(is_enough).unwrap_or(63)
    };
    let good = range_of(GOOD_NUM_KEYS);
    let base_lg = match first_bad_range(blocks, hashes) {
        Some(bad) if bad <= good => range_of(FEWEST_KEYS).max(bad - 1),
        _ => good,
    };
    // The only filter answers for every offset, also for an engine that knows none.
    if last >> base_lg == 0 { 63 } else { base_lg }
}

/// The index of the first key of a range, which has at least one data block.
pub(super) fn first_key(range: &[DataBlock]) -> usize {
    let num_before = range[0].num_before;
    // The first data blocks may have no hashes, and another one then repeats the key before.
    let mut at_start = range.iter().take_while(|block| block.num_before == num_before);
    num_before - usize::from(at_start.any(|block| block.repeats_last))
}

/// For how many keys the filter of a range has room, at least.
pub(super) fn min_keys(num_keys: usize, base_lg: u8) -> usize {
    // With 4 times as many, five times as many absent counters match filters of 2 to 100 keys.
    let min_keys = num_keys.saturating_mul(8).min(GOOD_NUM_KEYS);
    // Room for 3 keys takes 4 bytes at 10 bits per key, as does an offset. LevelDB writes one for each
    // 2 KiB of a range. So the room of many filters hardly makes the block longer.
    let saved_offsets = (1_u64 << (base_lg - BASE_LG)) - 1;
    let room = usize::try_from(3 * saved_offsets).unwrap_or(usize::MAX);
    min_keys.min(num_keys.saturating_add(room))
}

/// The base-2 logarithm of the shortest range in which too many keys of a sample have equal hashes.
fn first_bad_range(blocks: &[DataBlock], hashes: &[BloomHash]) -> Option<u8> {
    let sample = sample(blocks, hashes);
    // The shortest range that two keys share. No range parts keys of one data block.
    let shared_range = |(a, b): (&(BloomHash, u64), &(BloomHash, u64))| {
        let is_equal = a.0 == b.0 && a.1 != b.1;
        if is_equal { (BASE_LG..64).find(|lg| a.1 >> lg == b.1 >> lg) } else { None }
    };
    let pairs = sample.iter().zip(sample.iter().skip(1));
    let mut ranges: Vec<u8> = pairs.filter_map(shared_range).collect();
    ranges.sort_unstable();
    // Each pair is two keys.
    ranges.get(sample.len() / ONE_IN / 2).copied()
}

/// Some hashes, each with its data block's offset, in order.
fn sample(blocks: &[DataBlock], hashes: &[BloomHash]) -> Vec<(BloomHash, u64)> {
    // By value, so that equal hashes are both in the sample or both out. Mixed first, because hashes
    // of the very keys that collide are no sample: they differ in few bits.
    let log2 = hashes.len().div_ceil(SAMPLE_LEN).next_power_of_two().ilog2();
    let most = u32::MAX.checked_shr(log2).unwrap_or(0);
    let is_chosen = |(_, hash): &(_, &BloomHash)| hash.0.wrapping_mul(0x9e3779b9) <= most;
    let (mut blocks, mut offset) = (blocks.iter().peekable(), 0);
    let with_offset = |(i, &hash): (usize, _)| {
        while let Some(block) = blocks.next_if(|block| block.num_before <= i) {
            offset = block.offset;
        }
        (hash, offset)
    };
    // Not more, should a policy have one hash for all keys.
    let chosen = (0..).zip(hashes).filter(is_chosen).take(1_000);
    let mut sample = Vec::with_capacity(SAMPLE_LEN);
    sample.extend(chosen.map(with_offset));
    sample.sort_unstable();
    sample
}
