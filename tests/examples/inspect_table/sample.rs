//! The keys to look up: a sample of a database's own, and absent ones between them.
//!
//! However large the database is, memory holds only the sample, and only the blocks that it is
//! drawn from, or that could contain its keys, are read.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use leveldb_filter::{BloomHash, bloom_hash};

use crate::neighbours::{MAX_STEPS, Wheels, form, rank};
use crate::table::Table;
use crate::table::ranges::Ranges;
use crate::terminal::float;

/// Limits on data blocks, on keys of each kind, and on their bytes.
const MAX_BLOCKS: usize = 2_048;
const MAX_KEYS: usize = 20_000;
const MAX_BYTES: usize = 2 << 20;
/// How many keys are tried first to find out whether keys are dense.
const NUM_TRIED: usize = 1_024;

/// The two kinds of keys that are looked up.
pub(crate) const BETWEEN: usize = 0;
pub(crate) const OWN: usize = 1;

pub(crate) struct Sample {
    /// In bytewise order.
    keys: Vec<Key>,
    /// The number of keys of each kind.
    pub(crate) numbers: [usize; 2],
    /// Whether the sample has all own keys, and all candidates for absent keys between them.
    is_all: bool,
}

struct Key {
    bytes: Vec<u8>,
    /// The first table that it was drawn from, and the first that has it, in `Get`'s order.
    drawn_from: usize,
    found_in: usize,
    is_deleted: bool,
    /// Whether a key outside the sample lies between this key and the one before it.
    is_behind_other: bool,
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
        let (drawn, mut is_all) = drawn(tables);
        let sample = |drawn: &[(Vec<u8>, usize)], wheels| {
            let mut keys = with_neighbours(drawn, wheels);
            tables.find(&mut keys);
            known(keys)
        };
        let few = sample(&drawn[..drawn.len().min(NUM_TRIED)], Wheels::seen);
        let is_dense = few.iter().all(|key| key.kind() == OWN);
        // Between dense numbers no number is absent, but other strings are.
        let wheels = if is_dense { |_: &[&Vec<u8>]| Wheels::all() } else { Wheels::seen };
        let mut keys = sample(&drawn, wheels);
        let between = keys.iter().filter(|key| key.kind() == BETWEEN);
        let mut ranks: Vec<_> = between.map(|key| rank(&key.bytes)).collect();
        ranks.sort_unstable();
        if let Some(&max) = ranks.get(MAX_KEYS) {
            keys.retain(|key| key.kind() == OWN || rank(&key.bytes) < max);
            is_all = false;
        }
        let mut numbers = [0; 2];
        for key in &keys {
            numbers[key.kind()] += 1;
        }
        Self { keys, numbers, is_all }
    }

    /// How many lookups of a kind the sample has; infinite if there are no others.
    pub(crate) fn num_lookups(&self, kind: usize) -> f64 {
        if self.is_all(kind) { f64::INFINITY } else { float(self.numbers[kind]) }
    }

    /// Whether all keys of the kind are looked up.
    pub(crate) fn is_all(&self, kind: usize) -> bool {
        self.is_all && self.numbers[kind] > 0
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
                share: 1.0 / float(self.numbers[kind]),
                block_offset: table.data_blocks()[place].offset(),
                hash: bloom_hash(&key.bytes),
            })
        };
        in_range.iter().filter(|key| order < key.found_in).filter_map(lookup).collect()
    }
}

impl Key {
    fn new(bytes: Vec<u8>, drawn_from: usize) -> Self {
        let (found_in, is_deleted, is_behind_other) = (NO_TABLE, false, false);
        Self { bytes, drawn_from, found_in, is_deleted, is_behind_other }
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
                match keys[..num_in_block].binary_search_by(|one| one.bytes[..].cmp(user_key)) {
                    Ok(i) if order < keys[i].found_in => {
                        keys[i].found_in = order;
                        keys[i].is_deleted = trailer.first() == Some(&0);
                    }
                    Err(i) if i < keys.len() => keys[i].is_behind_other = true,
                    _ => (),
                }
            });
            if outcome.is_err() {
                break;
            }
            keys = &mut keys[num_in_block..];
        }
    }
}

/// The own keys that were drawn from the table where `Get` finds them, each followed by its absent
/// neighbours, so that none counts twice.
fn known(keys: Vec<Key>) -> Vec<Key> {
    let mut known: Vec<Key> = Vec::new();
    let mut gap = None;
    for key in keys {
        let is_absent = key.found_in == NO_TABLE && key.drawn_from == NO_TABLE;
        if key.is_behind_other || !is_absent {
            close(&mut known, gap.take());
        }
        if is_absent && gap.is_some() {
            known.push(key);
        } else if !is_absent && key.found_in == key.drawn_from {
            known.push(key);
            gap = Some(known.len());
        }
    }
    close(&mut known, gap);
    known
}

/// Replaces the neighbours in a gap too wide to count through by one key: between two bursts lie
/// more keys than anywhere else, but hardly anybody asks for them.
fn close(known: &mut Vec<Key>, gap: Option<usize>) {
    if let Some(start) = gap.filter(|start| known.len() - start > MAX_STEPS) {
        known.drain(start..known.len() - 1);
    }
}

/// Keys of random blocks, each with the first table it was drawn from, and whether these are all.
fn drawn(tables: &Tables<'_>) -> (Vec<(Vec<u8>, usize)>, bool) {
    let (blocks, mut is_all) = random_blocks(tables);
    let mut drawn = BTreeMap::new();
    let (mut num_bytes, mut max_rank) = (0, u64::MAX);
    for (i, places) in blocks {
        let order = tables.order(i);
        let mut add = |key: &[u8]| {
            let user_key = &key[..key.len().saturating_sub(tables.trailer_len)];
            let rank = rank(user_key);
            if rank > max_rank {
                return;
            }
            let first = drawn.entry((rank, user_key.to_vec())).or_insert_with(|| {
                num_bytes += user_key.len();
                order
            });
            *first = order.min(*first);
            while drawn.len() > MAX_KEYS || num_bytes > MAX_BYTES {
                let Some(((highest, key), _)) = drawn.pop_last() else { break };
                num_bytes -= key.len();
                (max_rank, is_all) = (highest, false);
            }
        };
        (tables.visit)(i, &mut |table| {
            let mut budget = table.key_budget();
            for block in places.iter().filter_map(|&place| table.data_blocks().get(place)) {
                // The error is reported when the whole table is read.
                let _ = table.visit_keys_within(&mut budget, block, &mut add);
            }
        });
    }
    (drawn.into_iter().map(|((_, key), from)| (key, from)).collect(), is_all)
}

/// The places of random blocks, by table, and whether these are all.
fn random_blocks(tables: &Tables<'_>) -> (BTreeMap<usize, Vec<usize>>, bool) {
    let mut blocks = BTreeSet::new();
    let mut is_all = true;
    for i in 0..tables.number {
        (tables.visit)(i, &mut |table| {
            for place in 0..table.data_blocks().len() {
                let numbers = [i, place].map(|number| (number as u64).to_le_bytes()).concat();
                blocks.insert((rank(&numbers), i, place));
                is_all &= blocks.len() <= MAX_BLOCKS || blocks.pop_last().is_none();
            }
        });
    }
    let mut by_table: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (_, i, place) in blocks {
        by_table.entry(i).or_default().push(place);
    }
    (by_table, is_all)
}

/// The drawn keys and their neighbours, some of which may be absent, in order.
fn with_neighbours(drawn: &[(Vec<u8>, usize)], wheels: fn(&[&Vec<u8>]) -> Wheels) -> Vec<Key> {
    let mut by_form: Vec<_> = drawn.iter().map(|(key, _)| key).collect();
    let greatest = by_form.iter().copied().max();
    by_form.sort_by_cached_key(|key| form(key));
    let mut keys: Vec<_> = drawn.iter().map(|(key, from)| Key::new(key.clone(), *from)).collect();
    for alike in by_form.chunk_by(|a, b| form(a) == form(b)) {
        let wheels = wheels(alike);
        let neighbours = alike.iter().flat_map(|key| wheels.neighbours(key));
        let between = neighbours.filter(|key| Some(key) < greatest);
        keys.extend(between.map(|key| Key::new(key, NO_TABLE)));
    }
    // Of equal keys, keep the one that was drawn.
    keys.sort_unstable_by(|a, b| (&a.bytes, a.drawn_from).cmp(&(&b.bytes, b.drawn_from)));
    keys.dedup_by(|a, b| a.bytes == b.bytes);
    keys
}
