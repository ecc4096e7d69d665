//! Draws the existing keys of a sample from random data blocks, and finds keys in tables.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Range;

use super::filters::TRAILER_LEN;
use super::neighbours::{Neighbours, form, rank};
use crate::database::ranges::Ranges;
use crate::table::Table;
use crate::table::manifest::Contents;

/// How many keys of each kind a sample may have.
pub(super) const MAX_KEYS: usize = 20_000;
/// Limits on data blocks: at first, and where these have few keys.
const FEW_BLOCKS: usize = 2_048;
const MAX_BLOCKS: usize = MAX_KEYS;
/// This many neighbouring blocks are drawn together: those of large values have one key each.
const TOGETHER: usize = 4;
/// Where keys are long, a sample has fewer: this many bytes of existing ones, with the keys behind
/// them, and of missing ones.
pub(super) const MAX_BYTES: usize = 8 << 20;

pub(super) struct Key {
    pub(super) bytes: Vec<u8>,
    /// The next key of the same form, if known.
    pub(super) next: Option<Vec<u8>>,
    /// The first table that it was drawn from, if it was, and the first that has it, in `Get`'s
    /// order.
    pub(super) drawn_from: Option<usize>,
    pub(super) found_in: Option<usize>,
    pub(super) is_deleted: bool,
    /// How often it is looked up.
    pub(super) number: usize,
}

/// Keys of random blocks in order, and whether these are all.
pub(super) fn drawn(ranges: &Ranges<'_>) -> (Vec<Key>, bool) {
    let mut drawn = Drawn::of(ranges, FEW_BLOCKS);
    if !drawn.is_all && drawn.max_rank == u64::MAX {
        let num_blocks = MAX_KEYS * FEW_BLOCKS / mem::take(&mut drawn.keys).len().max(1);
        drawn = Drawn::of(ranges, num_blocks.min(MAX_BLOCKS));
    }
    let mut keys: Vec<_> = drawn.keys.into_values().collect();
    keys.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
    (keys, drawn.is_all)
}

struct Drawn {
    /// By their ranks.
    keys: BTreeMap<(u64, Vec<u8>), Key>,
    num_bytes: usize,
    /// The rank of the least key that there was no room for.
    max_rank: u64,
    is_all: bool,
}

impl Drawn {
    fn of(ranges: &Ranges<'_>, max_blocks: usize) -> Self {
        let (blocks, is_all) = random_blocks(ranges, max_blocks);
        let mut drawn = Self { keys: BTreeMap::new(), num_bytes: 0, max_rank: u64::MAX, is_all };
        for blocks in blocks.chunk_by(|(a, _), (b, _)| a == b) {
            let order = ranges.order(blocks[0].0);
            ranges.visit(blocks[0].0, |table| drawn.add_blocks(order, table, blocks));
        }
        drawn
    }

    fn add_blocks(&mut self, order: usize, table: &Table<'_>, blocks: &[(usize, usize)]) {
        let mut budget = table.key_budget();
        // The last key of each form, until there is a gap between the blocks, or many bytes.
        let (mut last, mut num_bytes): (BTreeMap<Vec<u8>, Vec<u8>>, _) = (BTreeMap::new(), 0);
        for adjacent in blocks.chunk_by(|(_, a), (_, b)| a + 1 == *b) {
            for block in adjacent.iter().filter_map(|&(_, place)| table.data_blocks().get(place)) {
                // The error is reported when the whole table is read.
                let _ = table.visit_keys_within(&mut budget, block, |key| {
                    let key = &key[..key.len().saturating_sub(TRAILER_LEN)];
                    match last.insert(form(key), key.to_vec()) {
                        Some(last) if last != key => self.add(order, last, Some(key)),
                        _ => (),
                    }
                    num_bytes += key.len();
                    if num_bytes > MAX_BYTES {
                        num_bytes = 0;
                        self.add_last(order, &mut last);
                    }
                });
            }
            self.add_last(order, &mut last);
        }
    }

    fn add_last(&mut self, order: usize, last: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
        for last in mem::take(last).into_values() {
            self.add(order, last, None);
        }
    }

    fn add(&mut self, order: usize, key: Vec<u8>, next: Option<&[u8]>) {
        let rank = rank(&key);
        if rank > self.max_rank {
            return;
        }
        let first = self.keys.entry((rank, key.clone())).or_insert_with(|| {
            self.num_bytes += 2 * key.len();
            Key::new(key, next.map(<[u8]>::to_vec), Some(order))
        });
        first.drawn_from = first.drawn_from.min(Some(order));
        while self.keys.len() > MAX_KEYS || self.num_bytes > MAX_BYTES {
            let Some(((highest, _), key)) = self.keys.pop_last() else { break };
            self.num_bytes -= 2 * key.bytes.len();
            (self.max_rank, self.is_all) = (highest, false);
        }
    }
}

/// Random blocks in order, each as its table and its place there, and whether these are all.
fn random_blocks(ranges: &Ranges<'_>, max_blocks: usize) -> (Vec<(usize, usize)>, bool) {
    let mut blocks = BTreeSet::new();
    let mut is_all = true;
    for i in 0..ranges.num_tables() {
        ranges.visit(i, |table| {
            for place in 0..table.data_blocks().len() {
                let numbers = [i, place / TOGETHER].map(|number| (number as u64).to_le_bytes());
                blocks.insert((rank(&numbers.concat()), (i, place)));
                is_all &= blocks.len() <= max_blocks || blocks.pop_last().is_none();
            }
        });
    }
    let mut blocks: Vec<_> = blocks.into_iter().map(|(_, block)| block).collect();
    blocks.sort_unstable();
    (blocks, is_all)
}

impl Key {
    pub(super) fn new(bytes: Vec<u8>, next: Option<Vec<u8>>, drawn_from: Option<usize>) -> Self {
        Self { bytes, next, drawn_from, found_in: None, is_deleted: false, number: 1 }
    }

    pub(super) fn neighbours(&self) -> Neighbours<'_> {
        (&self.bytes, self.next.as_deref())
    }

    /// Takes a key of the table that lies behind this one.
    fn add_behind(&mut self, key: &[u8]) {
        let is_nearer = || self.next.as_ref().is_none_or(|next| key < next);
        if self.drawn_from.is_some() && is_nearer() && form(key) == form(&self.bytes) {
            self.next = Some(key.to_vec());
        }
    }
}

/// The sorted keys that are in a table's range.
pub(super) fn in_range(ranges: &Ranges<'_>, i: usize, keys: &[Key]) -> Range<usize> {
    let Contents { smallest, largest, .. } = ranges.contents(i);
    let start = keys.partition_point(|key| *Contents::shortened(&key.bytes) < smallest[..]);
    let end = keys.partition_point(|key| *Contents::shortened(&key.bytes) <= largest[..]);
    start..end.max(start)
}

/// Finds the first table that has each of the sorted keys.
pub(super) fn find(ranges: &Ranges<'_>, keys: &mut [Key]) {
    for i in 0..ranges.num_tables() {
        let in_range = in_range(ranges, i, keys);
        let keys = &mut keys[in_range];
        if !keys.is_empty() {
            ranges.visit(i, |table| find_in(table, ranges.order(i), keys));
        }
    }
}

fn find_in(table: &Table<'_>, order: usize, mut keys: &mut [Key]) {
    let mut budget = table.key_budget();
    let place_of = |key: &Key| table.place_of(&key.bytes, TRAILER_LEN);
    while let Some(place) = keys.first().and_then(place_of) {
        let num_in_block = keys.partition_point(|key| place_of(key) == Some(place));
        let block = &table.data_blocks()[place];
        let outcome = table.visit_keys_within(&mut budget, block, |key| {
            let (user_key, trailer) = key.split_at(key.len().saturating_sub(TRAILER_LEN));
            let at = keys[..num_in_block].binary_search_by(|one| one.bytes[..].cmp(user_key));
            let (Ok(i) | Err(i)) = at;
            if i > 0 {
                keys[i - 1].add_behind(user_key);
            }
            if at.is_ok() && keys[i].found_in.is_none_or(|found_in| order < found_in) {
                keys[i].found_in = Some(order);
                keys[i].is_deleted = trailer.first() == Some(&0);
            }
        });
        if outcome.is_err() {
            break;
        }
        keys = &mut keys[num_in_block..];
    }
}
