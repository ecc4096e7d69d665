//! Draws the existing keys of a sample, and finds keys in tables.

use std::collections::BTreeSet;
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

    /// Takes a key of a table that lies behind this one.
    fn add_behind(&mut self, key: &[u8]) {
        let is_nearer = self.next.as_ref().is_none_or(|next| key < next);
        if is_nearer && form(key) == form(&self.bytes) {
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

fn find_in(table: &Table<'_>, order: usize, mut keys: &mut [Key], adds_behind: bool) {
    let mut budget = table.key_budget();
    let place_of = |key: &Key| table.place_of(&key.bytes, TRAILER_LEN);
    while let Some(place) = keys.first().and_then(place_of) {
        let num_in_block = keys.partition_point(|key| place_of(key) == Some(place));
        let (in_block, others) = keys.split_at_mut(num_in_block);
        // The key behind the last one may be in the next block.
        let blocks = table.data_blocks()[place..].iter().take(1 + usize::from(adds_behind));
        for block in blocks {
            let outcome = table.visit_keys_of(&mut budget, block, |key| {
                let user_key = &key[..key.len().saturating_sub(TRAILER_LEN)];
                let at = in_block.binary_search_by(|one| one.bytes[..].cmp(user_key));
                let (Ok(i) | Err(i)) = at;
                if i > 0 && adds_behind {
                    in_block[i - 1].add_behind(user_key);
                }
                if at.is_ok() {
                    let found_in = in_block[i].found_in.map_or(order, |other| other.min(order));
                    in_block[i].found_in = Some(found_in);
                }
            });
            if outcome.is_err() {
                return;
            }
        }
        keys = others;
    }
}
