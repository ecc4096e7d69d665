//! The keys to look up: a sample of a database's own, and absent ones between them.
//!
//! However large the database is, memory holds only the sample, and only the blocks that it is
//! drawn from, or that could contain its keys, are read.

use std::collections::BTreeMap;
use std::ops::Range;

use leveldb_filter::{BloomHash, bloom_hash};

use super::drawn::drawn;
use crate::neighbours::{Neighbours, counted_as_seen, counted_by_bytes, form, in_gaps};
use crate::table::Table;
use crate::table::ranges::Ranges;
use crate::terminal::float;

/// How many keys of each kind a sample may have.
pub(super) const MAX_KEYS: usize = 20_000;

/// The two kinds of keys that are looked up.
pub(crate) const BETWEEN: usize = 0;
pub(crate) const OWN: usize = 1;

pub(crate) struct Sample<'a> {
    pub(crate) tables: Tables<'a>,
    /// In bytewise order.
    keys: Vec<Key>,
    /// The number of keys of each kind, and of lookups: some absent keys are looked up repeatedly.
    pub(crate) numbers: [usize; 2],
    num_lookups: [usize; 2],
    /// Whether the sample has all own keys.
    is_all: bool,
}

pub(super) struct Key {
    pub(super) bytes: Vec<u8>,
    /// The next key of the same form, if known.
    pub(super) next: Option<Vec<u8>>,
    /// The first table that it was drawn from, and the first that has it, in `Get`'s order.
    pub(super) drawn_from: usize,
    found_in: usize,
    is_deleted: bool,
    /// How often it is looked up.
    number: usize,
}

const NO_TABLE: usize = usize::MAX;

/// A lookup in a table that does not have the key.
pub(crate) struct Lookup {
    pub(crate) kind: usize,
    /// Its share of all lookups of its kind.
    pub(crate) share: f64,
    pub(crate) block_offset: u64,
    pub(crate) hash: BloomHash,
}

pub(crate) struct Tables<'a> {
    pub(crate) number: usize,
    /// `None` for a single table without a database.
    pub(crate) ranges: Option<Ranges<'a>>,
    pub(crate) trailer_len: usize,
    pub(crate) visit: Visit<'a>,
}

/// Visits a table if it can be read; errors are reported elsewhere.
type Visit<'a> = Box<dyn Fn(usize, &mut dyn FnMut(&Table<'_>)) + 'a>;

impl<'a> Sample<'a> {
    /// A sample with at most `max_absent` absent keys.
    pub(crate) fn draw(tables: Tables<'a>, max_absent: usize) -> Self {
        let (mut keys, is_all) = drawn(&tables);
        tables.find(&mut keys);
        // A key counts only where `Get` finds it.
        keys.retain(|key| key.found_in == key.drawn_from);
        let mut absent = absent(&tables, &keys, max_absent.min(MAX_KEYS));
        let numbers = [absent.len(), keys.len()];
        let num_lookups = [absent.iter().map(|key| key.number).sum(), keys.len()];
        keys.append(&mut absent);
        keys.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        Self { tables, keys, numbers, num_lookups, is_all }
    }

    /// How many lookups of a kind the sample has; infinite if there are no others.
    pub(crate) fn num_lookups(&self, kind: usize) -> f64 {
        if self.is_all && kind == OWN { f64::INFINITY } else { float(self.numbers[kind]) }
    }

    /// The own keys that are not deleted, or all own keys if all are deleted.
    pub(crate) fn live_keys(&self) -> impl Iterator<Item = Neighbours<'_>> {
        let own = || self.keys.iter().filter(|key| key.kind() == OWN);
        let all_are_deleted = own().all(|key| key.is_deleted);
        let live = own().filter(move |key| all_are_deleted || !key.is_deleted);
        live.map(Key::neighbours)
    }

    /// The lookups that consult a table although it does not have the key.
    pub(crate) fn lookups(&self, i: usize, table: &Table<'_>) -> Vec<Lookup> {
        let order = self.tables.order(i);
        let in_range = &self.keys[self.tables.in_range(i, &self.keys)];
        let lookup = |key: &Key| {
            let kind = key.kind();
            let place = table.place_of(&key.bytes, self.tables.trailer_len)?;
            Some(Lookup {
                kind,
                share: float(key.number) / float(self.num_lookups[kind]),
                block_offset: table.data_blocks()[place].offset(),
                hash: bloom_hash(&key.bytes),
            })
        };
        in_range.iter().filter(|key| order < key.found_in).filter_map(lookup).collect()
    }
}

impl Key {
    pub(super) fn new(bytes: Vec<u8>, next: Option<Vec<u8>>, drawn_from: usize) -> Self {
        let (found_in, is_deleted, number) = (NO_TABLE, false, 1);
        Self { bytes, next, drawn_from, found_in, is_deleted, number }
    }

    /// Takes a key of the table that lies behind this one.
    fn add_behind(&mut self, key: &[u8]) {
        let is_nearer = self.next.as_ref().is_none_or(|next| key < next);
        if is_nearer && form(key) == form(&self.bytes) {
            self.next = Some(key.to_vec());
        }
    }

    fn neighbours(&self) -> Neighbours<'_> {
        (&self.bytes, self.next.as_deref())
    }

    fn kind(&self) -> usize {
        if self.found_in == NO_TABLE { BETWEEN } else { OWN }
    }
}

impl Tables<'_> {
    /// The table's place in the order in which `Get` consults them.
    pub(super) fn order(&self, i: usize) -> usize {
        self.ranges.as_ref().map_or(0, |ranges| ranges.order(i))
    }

    fn in_range(&self, i: usize, keys: &[Key]) -> Range<usize> {
        let Some(ranges) = &self.ranges else { return 0..keys.len() };
        let (lowest, highest) = ranges.bounds(i);
        let start = keys.partition_point(|key| &key.bytes[..] < lowest);
        start..keys.partition_point(|key| &key.bytes[..] <= highest).max(start)
    }

    fn find(&self, keys: &mut [Key]) {
        for i in 0..self.number {
            let in_range = self.in_range(i, keys);
            let keys = &mut keys[in_range];
            if !keys.is_empty() {
                (self.visit)(i, &mut |table| self.find_in(table, self.order(i), keys));
            }
        }
    }

    fn find_in(&self, table: &Table<'_>, order: usize, mut keys: &mut [Key]) {
        let mut budget = table.key_budget();
        let place_of = |key: &Key| table.place_of(&key.bytes, self.trailer_len);
        while let Some(place) = keys.first().and_then(place_of) {
            let num_in_block = keys.partition_point(|key| place_of(key) == Some(place));
            let block = &table.data_blocks()[place];
            let outcome = table.visit_keys_within(&mut budget, block, |key| {
                let (user_key, trailer) = key.split_at(key.len().saturating_sub(self.trailer_len));
                let at = keys[..num_in_block].binary_search_by(|one| one.bytes[..].cmp(user_key));
                let (Ok(i) | Err(i)) = at;
                if i > 0 {
                    keys[i - 1].add_behind(user_key);
                }
                if at.is_ok() && order < keys[i].found_in {
                    keys[i].found_in = order;
                    keys[i].is_deleted = trailer.first() == Some(&0);
                }
            });
            if outcome.is_err() {
                break;
            }
            keys = &mut keys[num_in_block..];
        }
    }
}

/// Absent keys between the present ones of the same form, in order.
fn absent(tables: &Tables<'_>, present: &[Key], max_keys: usize) -> Vec<Key> {
    let mut by_form: Vec<_> = present.iter().map(Key::neighbours).collect();
    by_form.sort_by_cached_key(|(key, _)| form(key));
    // The later ways are for gaps of equal width, and for keys without gaps.
    for between in [in_gaps, counted_as_seen, counted_by_bytes] {
        let alike = by_form.chunk_by(|(a, _), (b, _)| form(a) == form(b));
        let mut numbers = BTreeMap::new();
        for key in alike.flat_map(|alike| between(alike, max_keys * alike.len() / present.len())) {
            *numbers.entry(key).or_insert(0) += 1;
        }
        let keys = numbers.into_iter();
        let keys = keys.map(|(key, number)| Key { number, ..Key::new(key, None, NO_TABLE) });
        let mut keys: Vec<_> = keys.collect();
        tables.find(&mut keys);
        keys.retain(|key| key.kind() == BETWEEN);
        if !keys.is_empty() {
            return keys;
        }
    }
    Vec::new()
}
