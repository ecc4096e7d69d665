//! The filters that `rewrite` gives a table, and where they go: what `inspect` compares with
//! today's.

use std::error::Error;
use std::fs;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::database::{Group, ListedTable, ranges::BYTEWISE};
use crate::survey::filters::{KeySurvey, TRAILER_LEN, USUAL_BITS};
use crate::survey::inspection::Filters;
use crate::survey::lookups::{Asked, Cost};
use crate::table::Table;
use crate::table::replace::{self, LINK, NAMES};
use crate::table::writer::Layout;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Today's or 10, whichever is more, if not said.
    pub(crate) bits_per_key: Option<usize>,
    /// Whether filters may go to the ends of files.
    pub(crate) adds: bool,
}

pub(crate) struct Plan {
    policy: BloomFilterPolicy,
    /// Whether it is a single filter, no longer than its keys need.
    is_single: bool,
    pub(crate) place: replace::Filters,
    pub(crate) cost: Cost,
    /// The bytes by which the file grows.
    pub(crate) growth: u64,
}

/// Why a table stays as it is.
#[derive(Clone, Debug)]
pub(crate) enum Stays {
    For(&'static str),
    Failed(String),
}

pub(crate) const NO_GAIN: &str = "would not gain";
/// Those that are printed on stderr.
pub(crate) const BELOW: &str = "for the reasons below";
pub(crate) const BESIDE: &str = "since theirs may not be of whole keys, either";
pub(crate) const NO_FILTERS: &str = "without filters (--add adds them)";
pub(crate) const NO_ROOM: &str = "without room for better filters (--add makes it)";
const ALREADY: &str = "with such filters already";
const ALONE: &str = "without usable filters; added ones need a MANIFEST: name the directory";
const NO_ORDER: &str = "without usable filters, in an order that only their program knows";
const AMBIGUOUS: &str = "with keys that may be internal or not: name the database's directory";
const REPAIRED: &str =
    "with added filters that a repair counts to the table: compact it before it gets others";
const UNLISTED: &str = "it has added filters; only a MANIFEST tells its length: name the database";

impl<E: ToString> From<E> for Stays {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A table that may get other filters, and what is known of it.
pub(crate) struct Candidate<'a> {
    pub(crate) group: &'a Group,
    pub(crate) listed: &'a ListedTable,
    pub(crate) table: &'a Table<'a>,
    pub(crate) file_len: u64,
    pub(crate) keys: &'a KeySurvey,
    pub(crate) filters: &'a Filters,
    pub(crate) filter_block: &'a [u8],
    pub(crate) asked: &'a Asked,
}

impl Candidate<'_> {
    /// In place, as long as is best; in place, no longer than the keys need; or at the end.
    pub(crate) fn plan(&self, wish: &Wish) -> Result<Plan, Stays> {
        let trailer_len = self.trailer_len().map_err(Stays::For)?;
        let layout = self.layout()?;
        let names = self.table.policy_names();
        // Both names, or those of today's filters, which the database's programs read.
        let ways = [&NAMES[..], &NAMES[..1], &NAMES[1..]];
        let ways = ways.into_iter().filter(|way| way.len() == 2 || names == *way);
        let way_with_room =
            |filters: &[u8]| ways.clone().find(|way| layout.has_room(way, filters.len()));

        let policy = self.policy(wish);
        let make = |is_single| make(policy, is_single, self.keys, trailer_len);
        let (mut is_single, mut filters) = (false, make(false));
        let mut way = way_with_room(&filters);
        if way.is_none() {
            let single = make(true);
            way = way_with_room(&single);
            if way.is_some() {
                (is_single, filters) = (true, single);
            }
        }
        let is_appended = layout.is_appended || way.is_none();
        let policy_names = way.unwrap_or(&NAMES);
        if filters == self.filter_block && names == policy_names {
            return Err(Stays::For(ALREADY));
        }
        let len = layout.len_if_appended(policy_names, filters.len());
        let growth = if is_appended { (len as u64).saturating_sub(self.file_len) } else { 0 };
        let cost = Cost::of(&filters, self.asked);
        let place = replace::Filters { policy_names, is_appended, trailer_len };
        Ok(Plan { policy, is_single, place, cost, growth })
    }

    fn policy(&self, wish: &Wish) -> BloomFilterPolicy {
        let todays = self.filters.known().and_then(|of| of.bits_per_key);
        let bits = wish.bits_per_key.unwrap_or(todays.unwrap_or_default().max(USUAL_BITS));
        BloomFilterPolicy::new(bits).tuned()
    }

    /// The length of what follows a key that the filters are of, if the table may get filters.
    fn trailer_len(&self) -> Result<usize, &'static str> {
        let is_database = self.group.database.is_some();
        match self.filters {
            _ if self.keys.num_entries() == 0 => Err("without keys"),
            Filters::OfUnknownPolicy(_) => Err(BELOW),
            Filters::Known(of) if of.is_right() => of.trailer_len.ok_or(AMBIGUOUS),
            Filters::Known(of) if !of.can_be_replaced() => Err(BELOW),
            // Of whole keys, if equal keys are equal bytes.
            _ if !is_database => Err(ALONE),
            _ if self.group.comparator() != Some(BYTEWISE) => Err(NO_ORDER),
            _ => Ok(TRAILER_LEN),
        }
    }

    fn layout(&self) -> Result<Layout, Stays> {
        if fs::symlink_metadata(&self.listed.path)?.is_symlink() {
            return Err(LINK.into());
        }
        let layout = self.table.layout()?.ok_or("bytes that LevelDB does not write")?;
        match self.listed.place.as_ref().map(|place| place.contents.len) {
            None if self.file_len != layout.len as u64 => Err(UNLISTED.into()),
            Some(len) if len == layout.len as u64 => Ok(layout),
            Some(len) if len == self.file_len => Err(Stays::For(REPAIRED)),
            Some(_) => Err("its length differs from the MANIFEST's".into()),
            None => Ok(layout),
        }
    }
}

fn make(
    policy: BloomFilterPolicy,
    is_single: bool,
    keys: &KeySurvey,
    trailer_len: usize,
) -> Vec<u8> {
    let builder = if is_single {
        FilterBlockBuilder::with_base_lg(policy, 63)
    } else {
        FilterBlockBuilder::with_long_ranges(policy)
    };
    keys.filter_block(builder, trailer_len)
}

impl Plan {
    pub(crate) fn carry_out(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let trailer_len = self.place.trailer_len;
        self.place.put(path, |table| {
            let keys = KeySurvey::of(table, trailer_len > 0)?;
            Ok(make(self.policy, self.is_single, &keys, trailer_len))
        })
    }
}
