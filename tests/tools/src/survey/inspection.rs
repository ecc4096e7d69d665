//! Inspects one table: its keys, its filters, and those that it may get.

use std::fs::File;
use std::io;

use super::filters::{FilterBlock, KeySurvey};
use super::lookups::{Cost, Reads, share};
use super::sample::Sample;
use crate::database::Group;
use crate::plan::{Candidate, Plan, Stays, Wish};
use crate::table::replace::NAMES;
use crate::table::{Source, Table};

pub(crate) struct Inspection {
    pub(crate) num_entries: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_deletions: usize,
    pub(crate) filters: Filters,
    /// The share of lookups that ask the table although it does not have their key.
    pub(crate) asked: Reads,
    pub(crate) today: Cost,
    pub(crate) plan: Result<Plan, Stays>,
}

pub(crate) enum Filters {
    None,
    /// Filters whose bytes this crate cannot interpret.
    OfUnknownPolicy(String),
    Known(FilterBlock),
}

impl Filters {
    pub(crate) fn known(&self) -> Option<&FilterBlock> {
        if let Self::Known(filters) = self { Some(filters) } else { None }
    }
}

impl Inspection {
    /// Of the `i`-th table of a group.
    pub(crate) fn of(
        (group, i): (&Group, usize),
        file: &File,
        sample: Option<&Sample<'_>>,
        wish: &Wish,
    ) -> io::Result<Self> {
        let source = Source::of_file(file)?;
        let table = Table::open(source)?;
        let keys = KeySurvey::of(&table, group.database.is_some())?;
        let checked = table.filter_block();
        let is_damaged = checked.is_err();
        let filter_block = checked.unwrap_or_else(|_| table.unchecked_filter_block());
        let filter_block = filter_block.unwrap_or_default();
        let filters = match table.policy_names() {
            [] => Filters::None,
            names if names.iter().any(|name| !NAMES.contains(&&name[..])) => {
                Filters::OfUnknownPolicy(names.join(", "))
            }
            _ => Filters::Known(FilterBlock::of(&table, (&filter_block, is_damaged), &keys)?),
        };
        let asked = sample.map(|sample| sample.asking(i, &table)).unwrap_or_default();
        let candidate = Candidate {
            group,
            listed: &group.tables[i],
            table: &table,
            file_len: source.len(),
            keys: &keys,
            filters: &filters,
            filter_block: &filter_block,
            asked: &asked,
        };
        let plan = candidate.plan(wish);
        let trailer_len = filters.known().and_then(|filters| filters.trailer_len);
        Ok(Self {
            num_entries: keys.num_entries(),
            num_keys: keys.num_distinct(trailer_len),
            num_deletions: keys.num_deletions(trailer_len),
            asked: asked.each_ref().map(|lookups| share(lookups)),
            today: Cost::of(&filter_block, &asked),
            filters,
            plan,
        })
    }

    pub(crate) fn lacks_filters(&self) -> bool {
        self.num_entries > 0 && matches!(self.filters, Filters::None)
    }

    /// Whether today's filters are damaged, or reject keys of their own table.
    pub(crate) fn is_wrong(&self) -> bool {
        self.filters.known().is_some_and(|filters| !filters.is_right())
    }

    /// Whether the filters are of something else than whole keys, as far as is known.
    pub(crate) fn is_foreign(&self) -> bool {
        match &self.filters {
            Filters::None => false,
            Filters::OfUnknownPolicy(_) => true,
            Filters::Known(filters) => !filters.is_right() && !filters.can_be_replaced(),
        }
    }

    /// What is wrong with the filters.
    pub(crate) fn cause(&self) -> Option<String> {
        match &self.filters {
            // Quoted and escaped: a name from a file may contain anything.
            Filters::OfUnknownPolicy(name) => {
                Some(format!("filters of an unknown policy, {name:?}"))
            }
            Filters::Known(filters) if filters.is_damaged => Some("damaged filters".into()),
            Filters::Known(filters) if filters.num_rejected > 0 => {
                Some("the filters reject keys of their own table".into())
            }
            Filters::None | Filters::Known(_) => None,
        }
    }
}
