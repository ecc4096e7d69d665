//! Which tables a lookup consults: those whose ranges contain its key.
//!
//! Mirrors `Version::ForEachOverlapping` in `db/version_set.cc`.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use crate::table::manifest::Contents;

pub(crate) const BYTEWISE: &str = "leveldb.BytewiseComparator";

/// How many tables have a range that meets another's, in bytewise order.
pub(crate) fn num_meeting<'a>(tables: impl Iterator<Item = &'a Contents>) -> usize {
    let mut tables: Vec<_> = tables.map(|table| (&table.smallest, &table.largest)).collect();
    tables.sort_unstable();
    let mut meets = vec![false; tables.len()];
    // The table whose range reaches furthest so far.
    let mut furthest = 0;
    for (i, (smallest, largest)) in tables.iter().enumerate().skip(1) {
        if *smallest <= tables[furthest].1 {
            (meets[i], meets[furthest]) = (true, true);
        }
        if *largest > tables[furthest].1 {
            furthest = i;
        }
    }
    meets.into_iter().filter(|&meets| meets).count()
}

/// The ranges of a database's tables, in bytewise order or its reverse.
pub(crate) struct Ranges<'a> {
    /// Sorted by level; in level 0 the newest is last.
    tables: Vec<(u32, &'a Contents)>,
    /// The ends of all ranges, in order.
    ends: Vec<&'a [u8]>,
    /// Whether the order of the keys is known, not guessed from the ranges.
    pub(crate) is_certain: bool,
}

/// A table's range: absent keys just after the keys at these places are in it.
pub(crate) type Span = std::ops::Range<usize>;

impl<'a> Ranges<'a> {
    /// `None` if the order of the keys is unclear. A key and the same key with more bytes appended
    /// are neighbours both in bytewise order and in its reverse.
    pub(crate) fn new(comparator: Option<&str>, tables: Vec<(u32, &'a Contents)>) -> Option<Self> {
        let order = |table: &Contents| table.smallest.cmp(&table.largest);
        let has = |ordering| tables.iter().any(|(_, table)| order(table) == ordering);
        let is_bytewise = comparator == Some(BYTEWISE);
        if !is_bytewise && has(Ordering::Less) && has(Ordering::Greater) {
            return None;
        }
        let is_certain = is_bytewise || tables.len() <= 1;
        let ends = tables.iter().flat_map(|(_, table)| [&table.smallest[..], &table.largest]);
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        Some(Self { tables, ends, is_certain })
    }

    /// The place of a table in the order in which `Get` consults them: the newest of level 0 first.
    pub(crate) fn order(&self, i: usize) -> usize {
        let num_in_level_0 = self.tables.partition_point(|(level, _)| *level == 0);
        if i < num_in_level_0 { num_in_level_0 - 1 - i } else { i }
    }

    /// The lowest key of a table and the highest, in bytewise order.
    pub(crate) fn bounds(&self, i: usize) -> (&[u8], &[u8]) {
        let (_, Contents { smallest, largest, .. }) = self.tables[i];
        (smallest.min(largest), smallest.max(largest))
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let bounds = (0..self.tables.len()).map(|i| self.bounds(i));
        bounds.map(|(lowest, highest)| self.place(lowest)..self.place(highest)).collect()
    }

    /// How many ends are at or before the key.
    fn place(&self, key: &[u8]) -> usize {
        let key = Contents::shortened(key);
        self.ends.partition_point(|&end| *end <= *key)
    }

    /// The share of absent keys that fall into each range, if as many follow each of these keys.
    pub(crate) fn shares<'b>(&self, keys: impl Iterator<Item = &'b [u8]>) -> Vec<f64> {
        let mut num_before = vec![0usize; self.ends.len() + 2];
        for key in keys {
            num_before[self.place(key) + 1] += 1;
        }
        let mut sum = 0;
        for number in &mut num_before {
            sum += *number;
            *number = sum;
        }
        let sum = sum.max(1);
        #[expect(clippy::cast_precision_loss, reason = "few digits are shown")]
        let share =
            |span: Span| (num_before[span.end] - num_before[span.start]) as f64 / sum as f64;
        self.spans().into_iter().map(share).collect()
    }

    /// Groups of tables of which a lookup consults at most one: a level, or tables of level 0 whose
    /// ranges do not overlap.
    pub(crate) fn sorted_runs(&self) -> Vec<Vec<usize>> {
        let spans = self.spans();
        let mut runs: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
        let mut in_order: Vec<_> = (0..spans.len()).collect();
        in_order.sort_by_key(|&i| (spans[i].start, spans[i].end));
        // A table of level 0 follows the one that ends first, if it can.
        let mut ends = BinaryHeap::new();
        for i in in_order {
            let (level, span) = (self.tables[i].0, &spans[i]);
            let mut run = 0;
            if level == 0 {
                run = ends.len();
                if let Some(&Reverse((end, first))) = ends.peek() {
                    if end <= span.start {
                        ends.pop();
                        run = first;
                    }
                }
                ends.push(Reverse((span.end, run)));
            }
            runs.entry((level, run)).or_default().push(i);
        }
        runs.into_values().collect()
    }
}
