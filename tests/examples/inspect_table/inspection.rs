//! What a table's filters are, find, and save.

use std::error::Error;

use leveldb_filter::BloomFilterPolicy;

use super::hashes;
use super::keys::{KeyKind, Keys, Survey};
use super::lookups::{false_positives, num_found};
use super::shape::{FilterShape, FilterTotals, Reader, base_lg};
use super::share::Share;
use super::what_if::WhatIf;
use crate::table::{FilterBlock, Source, Table};

/// What to look at.
#[derive(Clone, Copy)]
pub(crate) struct Scope {
    /// About so many absent keys are looked up in all filters of a table.
    pub(crate) num_lookups: usize,
    pub(crate) what_if: Tables,
}

impl Scope {
    /// Fewer look-ups where there are many tables: together they measure as well.
    pub(crate) fn for_each_of(self, num_tables: usize) -> Self {
        const NUM_MEASURED_WELL: usize = 10;
        let divisor = (num_tables / NUM_MEASURED_WELL).clamp(1, NUM_MEASURED_WELL);
        Self { num_lookups: self.num_lookups / divisor, ..self }
    }
}

/// Tables of which it is measured what filters would give.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tables {
    None,
    WithoutFilters,
    All,
}

pub(crate) struct Inspection {
    pub(crate) file_len: u64,
    pub(crate) num_blocks: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_user_keys: usize,
    pub(crate) num_deletions: usize,
    pub(crate) key_kind: KeyKind,
    pub(crate) filters: Filters,
    /// `None` where there are no keys, or it is not asked for.
    pub(crate) what_if: Option<WhatIf>,
}

pub(crate) enum Filters {
    None,
    /// Of a policy that is not known here.
    Unknown {
        policy_name: String,
    },
    Known(KnownFilters),
}

pub(crate) struct KnownFilters {
    pub(crate) policy_name: String,
    /// Whose name for the policy it is.
    pub(crate) name_origin: &'static str,
    /// All filters, and the array of their offsets.
    pub(crate) block_len: usize,
    pub(crate) base_lg: u8,
    pub(crate) totals: FilterTotals,
    /// `None` where the filters' sizes fit no policy, or there are none.
    pub(crate) shape: Option<FilterShape>,
    pub(crate) num_hidden: usize,
    pub(crate) false_positives: Share,
    pub(crate) rebuilt_is_identical: bool,
}

impl Inspection {
    /// Shows what it is about to do with `progress`.
    pub(crate) fn of<'a>(
        source: impl Into<Source<'a>>,
        scope: Scope,
        progress: impl Fn(&str),
    ) -> Result<Self, Box<dyn Error>> {
        let source = source.into();
        let table = Table::open(source)?;
        let filter_block = table.filter_block()?;
        progress("reading the keys");
        let survey = Survey::of(&table)?;
        progress("rebuilding the filters");
        let (filters, keys) = Filters::of(filter_block.as_ref(), &survey, source.len(), scope);
        let is_asked_for = match scope.what_if {
            Tables::None => false,
            Tables::WithoutFilters => matches!(filters, Filters::None),
            Tables::All => true,
        };
        let what_if = (is_asked_for && survey.num_keys() > 0).then(|| {
            progress("making other filters");
            WhatIf::measure(&survey.blocks, &keys.hashes, scope.num_lookups)
        });
        Ok(Self {
            file_len: source.len(),
            num_blocks: survey.blocks.len(),
            num_keys: survey.num_keys(),
            num_user_keys: keys.num_distinct,
            num_deletions: if keys.kind == KeyKind::User { 0 } else { survey.num_deletions },
            key_kind: keys.kind,
            filters,
            what_if,
        })
    }
}

impl Filters {
    /// And the keys in them.
    fn of<'a>(
        filter_block: Option<&FilterBlock<'_>>,
        survey: &'a Survey,
        file_len: u64,
        scope: Scope,
    ) -> (Self, &'a Keys) {
        let Some(FilterBlock { policy_name, contents }) = filter_block else {
            return (Self::None, survey.likeliest());
        };
        let name_origin = match &policy_name[..] {
            BloomFilterPolicy::NAME => "LevelDB's name",
            BloomFilterPolicy::GOLEVELDB_NAME => "goleveldb's name, LevelDB's before 1.18",
            _ => {
                let policy_name = policy_name.clone();
                return (Self::Unknown { policy_name }, survey.likeliest());
            }
        };
        let base_lg = base_lg(contents);
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let shape = FilterShape::of(&reader, &survey.blocks, contents);
        let rebuilt = Rebuilt::best(&reader, contents, shape.as_ref(), survey);
        let filters = KnownFilters {
            policy_name: policy_name.clone(),
            name_origin,
            block_len: contents.len(),
            base_lg,
            totals: FilterTotals::of(&reader, contents, file_len),
            shape,
            num_hidden: survey.num_keys() - rebuilt.num_found,
            false_positives: false_positives(&reader, &survey.blocks, scope.num_lookups),
            rebuilt_is_identical: rebuilt.is_identical,
        };
        (Self::Known(filters), rebuilt.keys)
    }
}

/// How well keys of one kind fit the filters.
struct Rebuilt<'a> {
    keys: &'a Keys,
    num_found: usize,
    is_identical: bool,
}

impl<'a> Rebuilt<'a> {
    fn best(
        reader: &Reader<'_>,
        contents: &[u8],
        shape: Option<&FilterShape>,
        survey: &'a Survey,
    ) -> Self {
        let fits = survey.candidates.iter().map(|keys| Self {
            keys,
            num_found: num_found(reader, &survey.blocks, keys),
            is_identical: is_made_of(contents, shape, survey, keys),
        });
        fits.max_by_key(|fit| (fit.num_found, fit.is_identical, fit.keys.kind))
            .expect("all keys may be user keys")
    }
}

/// Whether this crate makes the same filter block of the keys.
fn is_made_of(contents: &[u8], shape: Option<&FilterShape>, survey: &Survey, keys: &Keys) -> bool {
    let policy = match shape {
        Some(shape) => shape.policy(),
        // Without keys there are no filters, whatever the policy.
        None if survey.num_keys() == 0 => BloomFilterPolicy::default(),
        None => return false,
    };
    let base_lg = base_lg(contents);
    let end = survey.blocks.last().map_or(0, |block| block.end);
    // Each filter has an offset of four bytes; a false base_lg could ask for billions.
    let has_room = end.checked_shr(base_lg.into()).is_some_and(|n| n <= contents.len() as u64 / 4);
    has_room && contents == hashes::filter_block(policy, base_lg, &survey.blocks, &keys.hashes)
}
