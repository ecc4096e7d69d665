//! The keys to look up: a sample of a database's own, and absent ones between them.
//!
//! However large the database and its keys are, memory holds only the sample, at most 64 MB with
//! all that is made of it, and twice a table's index and a data block. Only the blocks that the
//! sample is drawn from, or that could contain its keys, are read.

use std::collections::BTreeMap;

use leveldb_filter::{BloomHash, bloom_hash};

use super::drawn::{Key, MAX_BYTES, MAX_KEYS, NO_TABLE, Tables, drawn};
use super::neighbours::{Neighbours, form, in_gaps, inside_gaps, longer};
use crate::table::Table;
use crate::text::float;

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
    /// Whether the gaps between keys do not tell which absent ones are asked for.
    pub(crate) is_guess: bool,
}

/// A lookup in a table that does not have the key.
pub(crate) struct Lookup {
    pub(crate) kind: usize,
    /// Its share of all lookups of its kind.
    pub(crate) share: f64,
    pub(crate) block_offset: u64,
    pub(crate) hash: BloomHash,
}

impl<'a> Sample<'a> {
    /// A sample with at most `max_absent` absent keys.
    pub(crate) fn draw(tables: Tables<'a>, max_absent: usize) -> Self {
        let (mut keys, is_all) = drawn(&tables);
        tables.find(&mut keys);
        // A key counts only where `Get` finds it.
        keys.retain(|key| key.found_in == key.drawn_from);
        let (mut absent, is_guess) = absent(&tables, &keys, max_absent.min(MAX_KEYS));
        let numbers = [absent.len(), keys.len()];
        let num_lookups = [absent.iter().map(|key| key.number).sum(), keys.len()];
        keys.append(&mut absent);
        keys.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        Self { tables, keys, numbers, num_lookups, is_all, is_guess }
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
    fn neighbours(&self) -> Neighbours<'_> {
        (&self.bytes, self.next.as_deref())
    }

    fn kind(&self) -> usize {
        if self.found_in == NO_TABLE { BETWEEN } else { OWN }
    }
}

/// Absent keys between the present ones of the same form, in order, and whether they are a guess.
fn absent(tables: &Tables<'_>, present: &[Key], max_keys: usize) -> (Vec<Key>, bool) {
    let num_bytes: usize = present.iter().map(|key| key.bytes.len()).sum();
    let max_keys = max_keys.min(MAX_BYTES.saturating_mul(present.len()) / num_bytes.max(1));
    let mut by_form: Vec<_> = present.iter().map(Key::neighbours).collect();
    by_form.sort_by_cached_key(|(key, _)| form(key));
    // The later ways are for gaps of equal width, in which nothing tells what programs ask for.
    let ways: [(Way, _); 3] = [(in_gaps, max_keys / 4), (inside_gaps, 1), (longer, 1)];
    for (i, (way, least)) in ways.into_iter().enumerate() {
        let alike = by_form.chunk_by(|(a, _), (b, _)| form(a) == form(b));
        let mut numbers = BTreeMap::new();
        for key in alike.flat_map(|alike| way(alike, max_keys * alike.len() / present.len())) {
            *numbers.entry(key).or_insert(0) += 1;
        }
        let keys = numbers.into_iter();
        let keys = keys.map(|(key, number)| Key { number, ..Key::new(key, None, NO_TABLE) });
        let mut keys: Vec<_> = keys.collect();
        tables.find(&mut keys);
        keys.retain(|key| key.kind() == BETWEEN);
        if keys.iter().map(|key| key.number).sum::<usize>() >= least.max(1) {
            return (keys, i > 0);
        }
    }
    (Vec::new(), false)
}

/// Makes absent keys, at most so many.
type Way = fn(&[Neighbours<'_>], usize) -> Vec<Vec<u8>>;
