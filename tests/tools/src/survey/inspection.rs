//! Inspects one table: its keys and its filters.

use super::filters::{FilterBlock, KeySurvey};
use super::lookups::{Asked, Candidate, Lookups, Reads, other_filters};
use super::sample::{BETWEEN, OWN, Sample};
use crate::table::replace::NAMES;
use crate::table::{Source, Table, TableError};

pub(crate) struct Inspection {
    pub(crate) file_len: u64,
    pub(crate) num_blocks: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_user_keys: usize,
    pub(crate) num_deletions: usize,
    pub(crate) filters: Filters,
    /// Wasted reads with today's filters; `None` if unknown.
    pub(crate) reads: Option<Reads>,
    /// The variances of the reads of the sampled kinds, `BETWEEN` and `OWN`.
    pub(crate) variances: [f64; 2],
    /// The share of these kinds' lookups that consult this table although it lacks the key.
    pub(crate) consulted: [f64; 2],
    /// By each of [`Setting::all`](super::settings::Setting::all); empty if nothing is compared.
    pub(crate) others: Vec<Candidate>,
}

pub(crate) enum Filters {
    None,
    /// Filters whose bytes this crate cannot interpret.
    OfUnknownPolicy(String),
    /// As if there were none: `LevelDB` takes them only if it is not told to check.
    Damaged,
    Known(FilterBlock),
}

impl Filters {
    pub(crate) fn known(&self) -> Option<&FilterBlock> {
        if let Self::Known(filters) = self { Some(filters) } else { None }
    }
}

impl Inspection {
    /// Measures with a sample of the whole database, or else with a sample of this table.
    pub(crate) fn of<'a>(
        source: impl Into<Source<'a>>,
        lookups: Lookups,
        sample: Option<&Sample<'_>>,
    ) -> Result<Self, TableError> {
        let source = source.into();
        let table = Table::open(source)?;
        let (names, filter_block) = (table.policy_names(), table.filter_block());
        let survey = KeySurvey::of(&table)?;
        let (filters, keys, today) = match &filter_block {
            _ if names.iter().any(|name| !NAMES.contains(&&name[..])) => {
                (Filters::OfUnknownPolicy(names.join(", ")), survey.likeliest(), None)
            }
            Err(_) => (Filters::Damaged, survey.likeliest(), Some(&[][..])),
            Ok(None) => (Filters::None, survey.likeliest(), Some(&[][..])),
            Ok(Some(contents)) => {
                let (filters, keys) = FilterBlock::of(contents, &survey, source.len());
                let today = (filters.num_hidden == 0).then_some(&contents[..]);
                (Filters::Known(filters), keys, today)
            }
        };
        let asked = Asked::of(sample, (&table, keys.trailer_len), &survey.blocks, lookups);
        let num_keys = survey.num_keys();
        let reads = today.map(|contents| asked.reads(contents));
        let variances = today.zip(reads).map(|(contents, reads)| asked.variances(contents, reads));
        let compares = num_keys > 0 && lookups.compares;
        Ok(Self {
            file_len: source.len(),
            num_blocks: survey.blocks.len(),
            num_keys,
            num_user_keys: keys.num_distinct,
            num_deletions: if keys.trailer_len == 0 { 0 } else { survey.num_deletions },
            reads,
            variances: variances.unwrap_or_default(),
            consulted: [BETWEEN, OWN].map(|kind| asked.consulted(kind)),
            others: if compares { other_filters(&asked, &keys.hashes) } else { Vec::new() },
            filters,
        })
    }

    pub(crate) fn today(&self) -> Candidate {
        let num_bytes = self.filters.known().map_or(0, |filters| filters.num_bytes);
        Candidate { num_bytes, reads: self.reads.unwrap_or_default() }
    }
}
