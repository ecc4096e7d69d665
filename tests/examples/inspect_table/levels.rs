//! Which tables a lookup asks, as `LevelDB`'s `Get` does: those whose ranges hold its key.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use leveldb_filter::BloomHash;

use super::filters::float;
use crate::table::manifest::Contents;

/// An even sample of a database's keys, and where each lies among the ends of the tables' ranges.
///
/// Absent keys are taken to lie right behind the keys that are live, as many behind each.
pub(crate) struct KeySample {
    /// Of all ranges, in order.
    ends: Vec<Vec<u8>>,
    /// By the rank of the key's hash. All versions of a key have one rank, so the lowest ranks are
    /// drawn whatever tables have them.
    newest: BTreeMap<u32, Version>,
    max_rank: u32,
    /// Whether the order of the keys is known, and not only told from the ranges.
    pub(crate) is_certain: bool,
}

struct Version {
    /// Sequence number and type.
    trailer: u64,
    place: usize,
}

/// A table's range: the places of the keys behind which absent ones are in it.
pub(crate) type Span = std::ops::Range<usize>;

impl KeySample {
    const MAX_LEN: usize = 1 << 15;

    /// `None` where the order of the keys cannot be told. A key with more bytes behind it comes
    /// next to it in bytewise order and in its reverse.
    pub(crate) fn new(comparator: Option<&str>, tables: &[&Contents]) -> Option<Self> {
        let order = |table: &&Contents| table.smallest.cmp(&table.largest);
        let has = |ordering| tables.iter().any(|table| order(table) == ordering);
        let is_bytewise = comparator == Some("leveldb.BytewiseComparator");
        if !is_bytewise && has(Ordering::Less) && has(Ordering::Greater) {
            return None;
        }
        let both = tables.iter().flat_map(|table| [&table.smallest, &table.largest]);
        let mut ends: Vec<_> = both.cloned().collect();
        ends.sort_unstable();
        let is_certain = is_bytewise || tables.len() <= 1;
        Some(Self { ends, newest: BTreeMap::new(), max_rank: u32::MAX, is_certain })
    }

    pub(crate) fn span(&self, table: &Contents) -> Span {
        let [a, b] = [&table.smallest, &table.largest].map(|key| self.place(key));
        a.min(b)..a.max(b)
    }

    /// How many ends are at or before the key.
    fn place(&self, key: &[u8]) -> usize {
        self.ends.partition_point(|end| &end[..] <= key)
    }

    pub(crate) fn add(&mut self, user_key: &[u8], trailer: u64, hash: BloomHash) {
        let rank = rank(hash);
        if rank > self.max_rank || self.newest.get(&rank).is_some_and(|one| one.trailer > trailer) {
            return;
        }
        self.newest.insert(rank, Version { trailer, place: self.place(user_key) });
        if self.newest.len() > Self::MAX_LEN {
            let highest = self.newest.pop_last();
            self.max_rank = highest.map_or(0, |(rank, _)| rank - 1);
        }
    }

    /// Of all absent keys, the share in each range.
    pub(crate) fn shares(&self, spans: &[Span]) -> Vec<f64> {
        let is_live = |version: &Version| version.trailer & 0xff == 1;
        // Where all keys are deleted, lookups go where they were.
        let any_is_live = self.newest.values().any(is_live);
        let mut num_before = vec![0usize; self.ends.len() + 2];
        for version in self.newest.values().filter(|version| !any_is_live || is_live(version)) {
            num_before[version.place + 1] += 1;
        }
        let mut sum = 0;
        for number in &mut num_before {
            sum += *number;
            *number = sum;
        }
        let share = |span: &Span| num_before[span.end] - num_before[span.start];
        spans.iter().map(|span| float(share(span)) / float(sum.max(1))).collect()
    }
}

/// Another for each hash, whatever keys have it.
fn rank(hash: BloomHash) -> u32 {
    let h = hash.to_u32();
    let h = (h ^ h >> 16).wrapping_mul(0x85ebca6b);
    let h = (h ^ h >> 13).wrapping_mul(0xc2b2ae35);
    h ^ h >> 16
}

/// The tables in runs of which a lookup asks one table at most: a level, or tables of level 0 whose
/// ranges do not overlap.
pub(crate) fn sorted_runs(tables: &[(u32, Span)]) -> Vec<Vec<usize>> {
    let mut runs: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    let mut in_order: Vec<_> = (0..tables.len()).collect();
    in_order.sort_by_key(|&i| (tables[i].1.start, tables[i].1.end));
    // A table of level 0 goes behind the one that ends first, where it can.
    let mut ends = BinaryHeap::new();
    for i in in_order {
        let (level, span) = &tables[i];
        let mut run = 0;
        if *level == 0 {
            run = ends.len();
            if let Some(&Reverse((end, first))) = ends.peek() {
                if end <= span.start {
                    ends.pop();
                    run = first;
                }
            }
            ends.push(Reverse((span.end, run)));
        }
        runs.entry((*level, run)).or_default().push(i);
    }
    runs.into_values().collect()
}
