//! The keys to look up: a sample of a database's own, and missing ones between them.
//!
//! However large the database and its keys are, memory holds only the sample, at most 64 MB with
//! all that is made of it, and twice a table's index and a data block.

use std::collections::BTreeMap;

use leveldb_filter::bloom_hash;

use super::drawn::{Key, MAX_BYTES, MAX_KEYS, drawn, find, in_range};
use super::filters::TRAILER_LEN;
use super::lookups::{Asked, Kinds, Lookup};
use super::neighbours::{Neighbours, form, in_gaps, inside_gaps, longer};
use crate::database::ranges::Ranges;
use crate::table::Table;
use crate::text::float;

pub(crate) struct Sample<'a> {
    pub(crate) ranges: Ranges<'a>,
    /// In bytewise order.
    keys: Kinds<Vec<Key>>,
    /// The number of lookups of each kind: some missing keys are looked up repeatedly.
    num_lookups: Kinds<f64>,
    /// Whether the sample has all existing keys.
    is_all: bool,
    /// Whether the gaps between keys do not tell which missing ones are asked for.
    pub(crate) is_guess: bool,
}

impl<'a> Sample<'a> {
    pub(crate) fn draw(ranges: Ranges<'a>) -> Self {
        let (existing, is_all) = drawn(&ranges);
        let (missing, is_guess) = missing(&ranges, &existing);
        let keys = Kinds { missing, existing };
        let num_lookups = keys.each_ref().map(|keys| float(num_lookups(keys)));
        Self { ranges, keys, num_lookups, is_all, is_guess }
    }

    /// How many keys of each kind tell how many lookups read; infinite if there are no others.
    pub(crate) fn num_telling(&self) -> Kinds<f64> {
        let Kinds { missing, existing } = self.keys.each_ref().map(|keys| float(keys.len()));
        Kinds { missing, existing: if self.is_all { f64::INFINITY } else { existing } }
    }

    pub(crate) fn existing_keys(&self) -> impl Iterator<Item = Neighbours<'_>> {
        self.keys.existing.iter().map(Key::neighbours)
    }

    /// The lookups that ask a table although it does not have the key.
    pub(crate) fn asking(&self, i: usize, table: &Table<'_>) -> Asked {
        let order = self.ranges.order(i);
        self.keys.each_ref().zip(self.num_lookups).map(|(keys, num_lookups)| {
            let lookup = |key: &Key| {
                let place = table.place_of(&key.bytes, TRAILER_LEN)?;
                Some(Lookup {
                    share: float(key.number) / num_lookups,
                    block_offset: table.data_blocks()[place].offset(),
                    hash: bloom_hash(&key.bytes),
                })
            };
            let in_range = &keys[in_range(&self.ranges, i, keys)];
            let asking = in_range.iter().filter(|key| key.found_in.is_none_or(|at| order < at));
            asking.filter_map(lookup).collect()
        })
    }
}

fn num_lookups(keys: &[Key]) -> usize {
    keys.iter().map(|key| key.number).sum()
}

/// Missing keys between the present ones of the same form, in order, and whether they are a guess.
fn missing(ranges: &Ranges<'_>, present: &[Key]) -> (Vec<Key>, bool) {
    let num_bytes: usize = present.iter().map(|key| key.bytes.len()).sum();
    let max_keys = MAX_KEYS.min(MAX_BYTES.saturating_mul(present.len()) / num_bytes.max(1));
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
        let mut keys: Vec<_> = keys.map(|(key, number)| Key::new(key, number)).collect();
        find(ranges, &mut keys, false);
        keys.retain(|key| key.found_in.is_none());
        if num_lookups(&keys) >= least.max(1) {
            return (keys, i > 0);
        }
    }
    (Vec::new(), false)
}

/// Makes keys that may be missing, at most this many.
type Way = fn(&[Neighbours<'_>], usize) -> Vec<Vec<u8>>;
