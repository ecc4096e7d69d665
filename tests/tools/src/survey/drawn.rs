//! Draws the existing keys of a sample, and finds keys in tables.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::filters::TRAILER_LEN;
use super::neighbours::{Neighbours, form, rank};
use crate::database::ranges::Ranges;
use crate::table::Table;
use crate::table::manifest::Contents;

/// How many keys of each kind a sample may have.
pub(super) const MAX_KEYS: usize = 20_000;
/// Where keys are long, a sample has fewer: this many bytes of existing ones, with the keys behind
/// them, and of missing ones.
pub(super) const MAX_BYTES: usize = 8 << 20;

pub(super) struct Key {
    pub(super) bytes: Vec<u8>,
    /// The next key of the same form, if it is known.
    next: Option<Vec<u8>>,
    /// The first table that has it, in `Get`'s order.
    pub(super) found_in: Option<usize>,
    /// How often it is looked up.
    pub(super) number: usize,
}

impl Key {
    pub(super) fn new(bytes: Vec<u8>, number: usize) -> Self {
        Self { bytes, next: None, found_in: None, number }
    }

    pub(super) fn neighbours(&self) -> Neighbours<'_> {
        (&self.bytes, self.next.as_deref())
    }

    /// Takes a key of the same form that lies behind this one, if no table has a nearer one.
    fn add_behind(&mut self, key: &[u8]) {
        if self.next.as_ref().is_none_or(|next| key < next) {
            self.next = Some(key.to_vec());
        }
    }
}

/// The keys of the least ranks in order, with the keys behind them, and whether these are all.
pub(super) fn drawn(ranges: &Ranges<'_>) -> (Vec<Key>, bool) {
    let (mut drawn, mut num_bytes, mut max_rank) = (BTreeSet::new(), 0, None);
    let mut add = |key: &[u8]| {
        let rank = rank(key);
        if max_rank.is_some_and(|max| rank > max) {
            return;
        }
        if drawn.insert((rank, key.to_vec())) {
            num_bytes += 2 * key.len();
        }
        while drawn.len() > MAX_KEYS || num_bytes > MAX_BYTES {
            let Some((highest, key)) = drawn.pop_last() else { break };
            num_bytes -= 2 * key.len();
            max_rank = Some(highest);
        }
    };
    for i in 0..ranges.num_tables() {
        // The error is reported when the table is inspected.
        ranges.visit(i, |table| {
            let user_len = |key: &[u8]| key.len().saturating_sub(TRAILER_LEN);
            let _ = table.visit_keys(|_, key| add(&key[..user_len(key)]));
        });
    }
    let mut keys: Vec<_> = drawn.into_iter().map(|(_, key)| Key::new(key, 1)).collect();
    keys.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
    find(ranges, &mut keys, true);
    (keys, max_rank.is_none())
}

/// The sorted keys that are in a table's range.
pub(super) fn in_range(ranges: &Ranges<'_>, i: usize, keys: &[Key]) -> Range<usize> {
    let Contents { smallest, largest, .. } = ranges.contents(i);
    let start = keys.partition_point(|key| *Contents::shortened(&key.bytes) < smallest[..]);
    let end = keys.partition_point(|key| *Contents::shortened(&key.bytes) <= largest[..]);
    start..end.max(start)
}

/// Finds the first table that has each of the sorted keys, and the keys behind them if asked.
pub(super) fn find(ranges: &Ranges<'_>, keys: &mut [Key], adds_behind: bool) {
    for i in 0..ranges.num_tables() {
        let in_range = in_range(ranges, i, keys);
        let keys = &mut keys[in_range];
        if !keys.is_empty() {
            ranges.visit(i, |table| find_in(table, ranges.order(i), keys, adds_behind));
        }
    }
}

fn find_in(table: &Table<'_>, order: usize, keys: &mut [Key], adds_behind: bool) {
    let place_of = |key: &Key| table.place_of(&key.bytes, TRAILER_LEN);
    let mut places: Vec<_> = keys.iter().filter_map(place_of).collect();
    if adds_behind {
        // The key behind may be in the next block.
        places.extend(places.clone().iter().map(|place| place + 1));
        places.sort_unstable();
    }
    places.dedup();
    let mut budget = table.key_budget();
    for adjacent in places.chunk_by(|a, b| a + 1 == *b) {
        let mut i = keys.partition_point(|key| place_of(key) < adjacent.first().copied());
        // The last key of each form so far, until the table has one of that form behind it.
        let mut last = BTreeMap::new();
        for block in adjacent.iter().filter_map(|&place| table.data_blocks().get(place)) {
            let outcome = table.visit_keys_of(&mut budget, block, |key| {
                let user_key = &key[..key.len().saturating_sub(TRAILER_LEN)];
                while let Some(before) = keys.get(i).filter(|one| one.bytes[..] < *user_key) {
                    if adds_behind {
                        last.insert(form(&before.bytes), i);
                    }
                    i += 1;
                }
                if let Some(before) = last.remove(&form(user_key)) {
                    keys[before].add_behind(user_key);
                }
                if let Some(found) = keys.get_mut(i).filter(|one| one.bytes == user_key) {
                    found.found_in = Some(found.found_in.map_or(order, |at| at.min(order)));
                }
            });
            if outcome.is_err() {
                return;
            }
        }
    }
}
