//! The keys to look up: a sample of a database's own, and absent ones between them.
//!
//! However large the database is, memory holds only the sample, and only the blocks that it is
//! drawn from, or that could contain its keys, are read.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Range;

use leveldb_filter::{BloomHash, bloom_hash};

use crate::neighbours::{Neighbours, counted_as_seen, counted_by_bytes, form, in_gaps, rank};
use crate::table::Table;
use crate::table::ranges::Ranges;
use crate::terminal::float;

/// Limits on data blocks at first, on keys of each kind and on data blocks, and on keys' bytes.
const FEW_BLOCKS: usize = 2_048;
const MAX_KEYS: usize = 20_000;
const MAX_BYTES: usize = 4 << 20;
/// So many neighbouring blocks are drawn together: those of large values have one key each.
const TOGETHER: usize = 4;

/// The two kinds of keys that are looked up.
pub(crate) const BETWEEN: usize = 0;
pub(crate) const OWN: usize = 1;

pub(crate) struct Sample {
    /// In bytewise order.
    keys: Vec<Key>,
    /// The number of keys of each kind, and of lookups: some absent keys are looked up repeatedly.
    pub(crate) numbers: [usize; 2],
    num_lookups: [usize; 2],
    /// Whether the sample has all own keys.
    is_all: bool,
}

#[derive(Clone)]
struct Key {
    bytes: Vec<u8>,
    /// The next key of the same form, if known.
    next: Option<Vec<u8>>,
    /// The first table that it was drawn from, and the first that has it, in `Get`'s order.
    drawn_from: usize,
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

/// The tables that a sample is drawn from.
pub(crate) struct Tables<'a> {
    pub(crate) number: usize,
    /// `None` for a single table without a database.
    pub(crate) ranges: Option<Ranges<'a>>,
    /// The length of the trailers of their keys.
    pub(crate) trailer_len: usize,
    pub(crate) visit: Visit<'a>,
}

/// Visits a table if it can be read; errors are reported elsewhere.
type Visit<'a> = Box<dyn Fn(usize, &mut dyn FnMut(&Table<'_>)) + 'a>;

impl Sample {
    pub(crate) fn draw(tables: &Tables<'_>) -> Self {
        let (mut keys, is_all) = drawn(tables);
        tables.find(&mut keys);
        // A key counts only where `Get` finds it.
        keys.retain(|key| key.found_in == key.drawn_from);
        let mut absent = absent(tables, &keys);
        let numbers = [absent.len(), keys.len()];
        let num_lookups = [absent.iter().map(|key| key.number).sum(), keys.len()];
        keys.append(&mut absent);
        keys.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        Self { keys, numbers, num_lookups, is_all }
    }

    /// How many lookups of a kind the sample has; infinite if there are no others.
    pub(crate) fn num_lookups(&self, kind: usize) -> f64 {
        if self.is_all(kind) { f64::INFINITY } else { float(self.numbers[kind]) }
    }

    /// Whether all keys of the kind are looked up.
    pub(crate) fn is_all(&self, kind: usize) -> bool {
        self.is_all && kind == OWN
    }

    pub(crate) fn num_deleted(&self) -> usize {
        self.keys.iter().filter(|key| key.is_deleted).count()
    }

    /// The own keys that are not deleted, or all own keys if all are deleted.
    pub(crate) fn live_keys(&self) -> impl Iterator<Item = &[u8]> {
        let any_is_live = self.num_deleted() < self.numbers[OWN];
        let own = self.keys.iter().filter(|key| key.kind() == OWN);
        own.filter(move |key| !any_is_live || !key.is_deleted).map(|key| &key.bytes[..])
    }

    /// The lookups that consult a table although it does not have the key.
    pub(crate) fn lookups(
        &self,
        (tables, i): (&Tables<'_>, usize),
        table: &Table<'_>,
    ) -> Vec<Lookup> {
        let order = tables.order(i);
        let in_range = &self.keys[tables.in_range(i, &self.keys)];
        let lookup = |key: &Key| {
            let kind = key.kind();
            let place = table.place_of(&key.bytes, tables.trailer_len)?;
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
    fn new(bytes: Vec<u8>, next: Option<Vec<u8>>, drawn_from: usize) -> Self {
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

    fn kind(&self) -> usize {
        if self.found_in == NO_TABLE { BETWEEN } else { OWN }
    }
}

impl Tables<'_> {
    /// The table's place in the order in which `Get` consults them.
    fn order(&self, i: usize) -> usize {
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
                match at {
                    Ok(i) if order < keys[i].found_in => {
                        keys[i].found_in = order;
                        keys[i].is_deleted = trailer.first() == Some(&0);
                    }
                    _ => (),
                }
                let (Ok(i) | Err(i)) = at;
                if let Some(before) = i.checked_sub(1) {
                    keys[before].add_behind(user_key);
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
fn absent(tables: &Tables<'_>, present: &[Key]) -> Vec<Key> {
    let mut by_form: Vec<Neighbours<'_>> =
        present.iter().map(|key| (&key.bytes[..], key.next.as_deref())).collect();
    by_form.sort_by_cached_key(|(key, _)| form(key));
    let mut absent: Vec<Key> = Vec::new();
    // The later ways are for gaps of equal width, and for keys without gaps.
    for between in [in_gaps, counted_as_seen, counted_by_bytes] {
        let alike = by_form.chunk_by(|(a, _), (b, _)| form(a) == form(b));
        let keys = alike.flat_map(|alike| between(alike, MAX_KEYS * alike.len() / present.len()));
        absent = keys.map(|key| Key::new(key, None, NO_TABLE)).collect();
        absent.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        absent.dedup_by(|a, b| {
            let is_equal = a.bytes == b.bytes;
            b.number += if is_equal { a.number } else { 0 };
            is_equal
        });
        tables.find(&mut absent);
        absent.retain(|key| key.kind() == BETWEEN);
        if !absent.is_empty() {
            break;
        }
    }
    if absent.len() > MAX_KEYS {
        absent.sort_by_cached_key(|key| rank(&key.bytes));
        absent.truncate(MAX_KEYS);
    }
    absent
}

/// Keys of random blocks in order, each with the first table that it was drawn from, and whether
/// these are all.
fn drawn(tables: &Tables<'_>) -> (Vec<Key>, bool) {
    let few = Drawn::of(tables, FEW_BLOCKS);
    let num_blocks = MAX_KEYS * FEW_BLOCKS / few.keys.len().max(1);
    let is_enough = few.is_all || few.max_rank < u64::MAX;
    let drawn = if is_enough { few } else { Drawn::of(tables, num_blocks.min(MAX_KEYS)) };
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
    fn of(tables: &Tables<'_>, max_blocks: usize) -> Self {
        let (blocks, is_all) = random_blocks(tables, max_blocks);
        let mut drawn = Self { keys: BTreeMap::new(), num_bytes: 0, max_rank: u64::MAX, is_all };
        for (i, places) in blocks {
            (tables.visit)(i, &mut |table| drawn.add_blocks((tables, i), table, &places));
        }
        drawn
    }

    fn add_blocks(
        &mut self,
        (tables, i): (&Tables<'_>, usize),
        table: &Table<'_>,
        places: &[usize],
    ) {
        let order = tables.order(i);
        let mut budget = table.key_budget();
        // The last key of each form, until there is a gap between the blocks.
        let mut last: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for together in places.chunk_by(|a, b| a + 1 == *b) {
            for block in together.iter().filter_map(|&place| table.data_blocks().get(place)) {
                // The error is reported when the whole table is read.
                let _ = table.visit_keys_within(&mut budget, block, |key| {
                    let key = &key[..key.len().saturating_sub(tables.trailer_len)];
                    match last.insert(form(key), key.to_vec()) {
                        Some(last) if last != key => self.add(order, last, Some(key)),
                        _ => (),
                    }
                });
            }
            for last in mem::take(&mut last).into_values() {
                self.add(order, last, None);
            }
        }
    }

    fn add(&mut self, order: usize, key: Vec<u8>, next: Option<&[u8]>) {
        let rank = rank(&key);
        if rank > self.max_rank {
            return;
        }
        let first = self.keys.entry((rank, key.clone())).or_insert_with(|| {
            self.num_bytes += key.len() + next.map_or(0, <[u8]>::len);
            Key::new(key, next.map(<[u8]>::to_vec), order)
        });
        first.drawn_from = order.min(first.drawn_from);
        while self.keys.len() > MAX_KEYS || self.num_bytes > MAX_BYTES {
            let Some(((highest, _), key)) = self.keys.pop_last() else { break };
            self.num_bytes -= key.bytes.len() + key.next.map_or(0, |next| next.len());
            (self.max_rank, self.is_all) = (highest, false);
        }
    }
}

/// The places of random blocks in order, by table, and whether these are all.
fn random_blocks(tables: &Tables<'_>, max_blocks: usize) -> (BTreeMap<usize, Vec<usize>>, bool) {
    let mut blocks = BTreeSet::new();
    let mut is_all = true;
    for i in 0..tables.number {
        (tables.visit)(i, &mut |table| {
            for place in 0..table.data_blocks().len() {
                let numbers = [i, place / TOGETHER].map(|number| (number as u64).to_le_bytes());
                blocks.insert((rank(&numbers.concat()), i, place));
                is_all &= blocks.len() <= max_blocks || blocks.pop_last().is_none();
            }
        });
    }
    let mut by_table: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (_, i, place) in blocks {
        by_table.entry(i).or_default().push(place);
    }
    for places in by_table.values_mut() {
        places.sort_unstable();
    }
    (by_table, is_all)
}
