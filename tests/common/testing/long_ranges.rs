//! This crate's own rule for long ranges, step by step, with no code of the library.

use std::collections::HashMap;

use super::reference::finish;

/// An entry of a table: its data block's offset, and its hash if the policy has one for it.
pub type Entry = (u64, Option<u32>);

/// How keys are compared with the keys before them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// With the one that came last to its place, as the library does it.
    OfPlaces,
    /// With all keys.
    OfAll,
    /// Not at all, because the policy has no hashes.
    None,
}

/// The range of a table.
pub fn base_lg(entries: &[Entry], comparison: Comparison) -> u8 {
    let keys = keys_that_count(entries, comparison);
    let last = entries.last().map_or(0, |entry| entry.0);
    let num_ranges = |lg: u8| last / (1 << lg) + 1;
    let mut good = 11;
    while good < 63 && keys.len() as u64 / num_ranges(good) < 2_000 {
        good += 1;
    }
    let mut base_lg = good;
    if comparison != Comparison::None {
        let most_keys = ranges(entries, good).map(|range| keys_that_count(range, comparison).len());
        let meetings = meetings(&keys, most_keys.max().unwrap_or(0), comparison);
        // Not so short that most ranges are empty.
        for lg in (11..good).rev() {
            if is_bad(&keys, &meetings, lg + 1)
                && num_ranges(lg) < 64 * ranges(entries, lg).count() as u64
            {
                base_lg = lg;
            }
        }
    }
    if last / (1 << base_lg) == 0 { 63 } else { base_lg }
}

/// Whether more than 1 in 128 of 2,000 successive keys have the hash of another key of their range.
fn is_bad(keys: &[(u64, u32)], meetings: &[(usize, u64, u64)], lg: u8) -> bool {
    let shares_range = |(_, a, b): &&(usize, u64, u64)| a / (1 << lg) == b / (1 << lg);
    let meetings: Vec<usize> = meetings.iter().filter(shares_range).map(|m| m.0).collect();
    // The first key of the 2,000 is one that meets another.
    meetings.iter().enumerate().any(|(i, first)| {
        let in_window = meetings[i..].iter().filter(|key| *key - first < 2_000).count();
        // Of each meeting, two keys have equal hashes.
        2 * in_window > keys.len().min(2_000) / 128
    })
}

/// The keys that have the hash of a key before them in another data block: their indices, and the
/// offsets of both blocks. `most_keys` is the number of keys of the fullest good range.
fn meetings(
    keys: &[(u64, u32)],
    most_keys: usize,
    comparison: Comparison,
) -> Vec<(usize, u64, u64)> {
    let mut num_places = 2;
    while num_places < 2 * most_keys as u64 {
        num_places *= 2;
    }
    let (mut places, mut meetings) = (HashMap::new(), vec![]);
    for (i, &(offset, hash)) in keys.iter().enumerate() {
        let mixed = u64::from(hash.wrapping_mul(0x9e3779b9));
        let place = match comparison {
            Comparison::OfPlaces => mixed / ((1 << 32) / num_places),
            _ => mixed,
        };
        if let Some((earlier, last)) = places.insert(place, (offset, hash)) {
            if last == hash && earlier != offset {
                meetings.push((i, earlier, offset));
            }
        }
    }
    meetings
}

/// The keys that count: successive equal hashes once, in the first data block that has them.
fn keys_that_count(entries: &[Entry], comparison: Comparison) -> Vec<(u64, u32)> {
    let hashed = entries.iter().filter_map(|&(offset, hash)| Some((offset, hash?)));
    let mut keys: Vec<(u64, u32)> = hashed.collect();
    if comparison != Comparison::None {
        keys.dedup_by_key(|key| key.1);
    }
    keys
}

fn ranges(entries: &[Entry], lg: u8) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(move |a, b| a.0 / (1 << lg) == b.0 / (1 << lg))
}

/// The block of a table. `create_filter` gets the hashes of a filter, and how many keys it is made
/// for at least; `None` if the policy has no hashes.
pub fn block(
    create_filter: impl Fn(&[u32], Option<u64>) -> Vec<u8>,
    entries: &[Entry],
    comparison: Comparison,
) -> Vec<u8> {
    let base_lg = base_lg(entries, comparison);
    let (mut filters, mut offsets) = (vec![], vec![]);
    for range in ranges(entries, base_lg) {
        while (offsets.len() as u64) < range[0].0 / (1 << base_lg) {
            offsets.push(filters.len());
        }
        let keys = keys_that_count(range, comparison);
        let n = keys.len() as u64;
        let mut room = (8 * n).clamp(40, 2_000);
        if base_lg < 63 {
            room = room.min(n + 3 * ((1 << (base_lg - 11)) - 1));
        }
        let hashes: Vec<u32> = keys.iter().map(|key| key.1).collect();
        offsets.push(filters.len());
        filters.extend(create_filter(&hashes, (comparison != Comparison::None).then_some(room)));
    }
    let offsets: Vec<u32> = offsets.into_iter().map(|n| n.try_into().expect("short")).collect();
    finish(filters, &offsets, base_lg)
}
