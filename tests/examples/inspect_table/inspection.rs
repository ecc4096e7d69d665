//! What a table's filters are, find, and save.

use std::error::Error;

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy,
};

use super::absent::{AbsentKeys, AbsentLookups};
use super::keys::{KeyKind, Survey};
use super::shape::{FilterShape, FilterTotals, Reader};
use super::what_if::WhatIf;
use crate::table::{FilterBlock, Table, TableError};

/// What to look at.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) num_absent_keys: usize,
    pub(crate) what_if: Tables,
}

/// Tables of which it is measured what filters would give.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    None,
    WithoutFilters,
    All,
}

pub(crate) struct Inspection {
    pub(crate) file_len: usize,
    pub(crate) num_blocks: usize,
    pub(crate) num_keys: usize,
    pub(crate) key_kind: KeyKind,
    pub(crate) absent: AbsentLookups,
    /// `None` where the table has none.
    pub(crate) filters: Option<Filters>,
    /// `None` where there are no keys, or it is not asked for.
    pub(crate) what_if: Option<WhatIf>,
}

pub(crate) struct Filters {
    pub(crate) policy_name: String,
    /// Whose name for the policy it is.
    pub(crate) name_origin: &'static str,
    pub(crate) num_found: usize,
    pub(crate) totals: FilterTotals,
    /// `None` where the filters' sizes fit no policy, or there are none.
    pub(crate) shape: Option<FilterShape>,
    pub(crate) rebuilt_is_identical: bool,
}

impl Inspection {
    /// Shows what it is about to do with `progress`.
    pub(crate) fn of(
        file: &[u8],
        scope: Scope,
        progress: impl Fn(&str),
    ) -> Result<Self, Box<dyn Error>> {
        let table = Table::open(file)?;
        let filter_block = table.filter_block()?;
        progress("reading the keys");
        let survey = Survey::of(&table)?;
        let (filters, key_kind) = match &filter_block {
            Some(filter_block) => {
                progress("rebuilding the filters");
                let (filters, kind) = Filters::of(&table, &survey, filter_block, file.len())?;
                (Some(filters), kind)
            }
            None => (None, survey.likeliest_kind()),
        };
        progress("looking up absent keys");
        let reader = filter_block.as_ref().map(reader);
        let absent = AbsentLookups::of(
            reader.as_ref(),
            &AbsentKeys::of(&table, &survey, key_kind, scope.num_absent_keys)?,
        );
        let is_asked_for = match scope.what_if {
            Tables::None => false,
            Tables::WithoutFilters => filters.is_none(),
            Tables::All => true,
        };
        let what_if = if is_asked_for && survey.num_keys > 0 {
            progress("making other filters");
            Some(WhatIf::measure(&table, key_kind, &absent.asked)?)
        } else {
            None
        };
        Ok(Self {
            file_len: file.len(),
            num_blocks: survey.blocks.len(),
            num_keys: survey.num_keys,
            key_kind,
            absent,
            filters,
            what_if,
        })
    }

    /// How many keys an engine would not find that trusts the filters.
    pub(crate) fn num_hidden(&self) -> usize {
        self.filters.as_ref().map_or(0, |filters| self.num_keys - filters.num_found)
    }
}

impl Filters {
    /// And the kind of the keys in them.
    fn of(
        table: &Table<'_>,
        survey: &Survey,
        filter_block: &FilterBlock<'_>,
        file_len: usize,
    ) -> Result<(Self, KeyKind), Box<dyn Error>> {
        let FilterBlock { policy_name, contents } = filter_block;
        let name_origin = match &policy_name[..] {
            BloomFilterPolicy::NAME => "LevelDB's name",
            BloomFilterPolicy::GOLEVELDB_NAME => "goleveldb's name, LevelDB's before 1.18",
            _ => return Err(unknown_policy(policy_name).into()),
        };
        let reader = reader(filter_block);
        let shape = FilterShape::of(&reader, &survey.blocks, contents);
        let bloom = shape.as_ref().map_or_else(Default::default, FilterShape::policy);
        let mut best = (0, false, KeyKind::User);
        for &kind in survey.candidates() {
            let (num_found, rebuilt) = rebuild(table, kind, bloom, contents)?;
            best = best.max((num_found, *contents == rebuilt, kind));
        }
        let (num_found, rebuilt_is_identical, kind) = best;
        let filters = Self {
            policy_name: policy_name.clone(),
            name_origin,
            num_found,
            totals: FilterTotals::of(&reader, contents, file_len),
            shape,
            rebuilt_is_identical,
        };
        Ok((filters, kind))
    }
}

/// A reader for user keys.
fn reader<'a>(filter_block: &'a FilterBlock<'_>) -> Reader<'a> {
    Reader::new(BloomFilterPolicy::default(), &filter_block.contents)
}

fn unknown_policy(name: &str) -> String {
    let known = [BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME].join(" and ");
    // Quoted, with escapes: a name from a file may hold anything.
    format!("the filter policy {name:?} is unknown; known are {known}")
}

/// How many keys the filters find, and the filter block that this crate makes of them.
fn rebuild(
    table: &Table<'_>,
    kind: KeyKind,
    bloom: BloomFilterPolicy,
    contents: &[u8],
) -> Result<(usize, Vec<u8>), TableError> {
    let policy: &dyn FilterPolicy = match kind {
        KeyKind::User => &bloom,
        KeyKind::Internal => &InternalKeyPolicy::new(bloom),
    };
    let reader = FilterBlockReader::new(policy, contents);
    let mut builder = FilterBlockBuilder::new(policy);
    let mut num_found = 0;
    builder.start_block(0);
    for block in table.data_blocks() {
        table.visit_keys(block, |key| {
            num_found += usize::from(reader.key_may_match(block.offset(), key));
            builder.add_key(key);
        })?;
        builder.start_block(block.end);
    }
    Ok((num_found, builder.finish()))
}
