//! Which tables a lookup asks: those whose ranges of keys contain its key.
//!
//! Mirrors `Version::ForEachOverlapping` in `db/version_set.cc`.

use super::{Group, Place};
use crate::table::directory::open_regular_file;
use crate::table::manifest::Contents;
use crate::table::{Source, Table};

/// The only comparator whose order is known: that of the keys' bytes.
pub(crate) const BYTEWISE: &str = "leveldb.BytewiseComparator";

/// The tables of a database whose keys are in bytewise order.
pub(crate) struct Ranges<'a> {
    group: &'a Group,
    places: Vec<&'a Place>,
}

impl<'a> Ranges<'a> {
    /// `None` if it is not known in which order the keys are, or which tables are in use.
    pub(crate) fn of(group: &'a Group) -> Option<Self> {
        let is_bytewise = group.comparator() == Some(BYTEWISE);
        let places = group.tables.iter().filter_map(|table| table.place.as_ref()).collect();
        is_bytewise.then_some(Self { group, places })
    }

    pub(crate) fn num_tables(&self) -> usize {
        self.places.len()
    }

    /// The place of a table in the order in which `Get` asks them: the newest of level 0 first.
    pub(crate) fn order(&self, i: usize) -> usize {
        let num_in_level_0 = self.num_in_level_0();
        if i < num_in_level_0 { num_in_level_0 - 1 - i } else { i }
    }

    pub(crate) fn num_in_level_0(&self) -> usize {
        self.places.partition_point(|place| place.level == 0)
    }

    pub(crate) fn contents(&self, i: usize) -> &'a Contents {
        &self.places[i].contents
    }

    /// Visits a table if it can be read; errors are reported elsewhere.
    pub(crate) fn visit(&self, i: usize, visit: impl FnOnce(&Table<'_>)) {
        let Ok(file) = open_regular_file(&self.group.tables[i].path) else { return };
        let _ = Source::of_file(&file).and_then(Table::open).map(|table| visit(&table));
    }

    /// How many tables have a range that meets another's.
    pub(crate) fn num_meeting(&self) -> usize {
        let mut ranges: Vec<_> = self
            .places
            .iter()
            .map(|place| (&place.contents.smallest, &place.contents.largest))
            .collect();
        ranges.sort_unstable();
        let mut meets = vec![false; ranges.len()];
        // The table whose range reaches furthest so far.
        let mut furthest = 0;
        for (i, (smallest, largest)) in ranges.iter().enumerate().skip(1) {
            if *smallest <= ranges[furthest].1 {
                (meets[i], meets[furthest]) = (true, true);
            }
            if *largest > ranges[furthest].1 {
                furthest = i;
            }
        }
        meets.into_iter().filter(|&meets| meets).count()
    }
}
