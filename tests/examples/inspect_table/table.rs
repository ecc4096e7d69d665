//! Inspects one table: its keys and its filters.

use leveldb_filter::{BloomFilterPolicy, BloomHash, bloom_hash};

use super::filters::FilterBlock;
use super::lookups::{Asked, Lookups, Reads};
use super::sample::{BETWEEN, OWN, Sample};
use super::what_if::{Candidate, other_filters};
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
        let filter_block = table.filter_block()?;
        let survey = KeySurvey::of(&table)?;
        let (filters, keys, today) = match &filter_block {
            None => (Filters::None, survey.likeliest(), Some(&[][..])),
            Some(block) if KNOWN.contains(&&block.policy_name[..]) => {
                let (filters, keys) = FilterBlock::of(block, &survey, source.len());
                let today = (filters.num_hidden == 0).then_some(&block.contents[..]);
                (Filters::Known(filters), keys, today)
            }
            Some(block) => {
                (Filters::OfUnknownPolicy(block.policy_name.clone()), survey.likeliest(), None)
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

const KNOWN: [&str; 2] = [BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME];

/// An internal key's trailer: sequence number and type.
pub(crate) const TRAILER_LEN: usize = 8;

/// `LevelDB`'s default: so many entries of a block share bytes with the one before them, but for
/// the first.
pub(crate) const RESTART_INTERVAL: usize = 16;

/// The array of a block's restart points, and its length.
pub(crate) fn len_of_restarts(num_keys: usize) -> u64 {
    4 * num_keys.div_ceil(RESTART_INTERVAL) as u64 + 4
}

/// What one pass over all keys tells.
pub(crate) struct KeySurvey {
    pub(crate) blocks: Vec<SurveyedBlock>,
    /// As user keys, and also as internal keys if all could be: only the filters can tell.
    pub(crate) candidates: Vec<Keys>,
    /// Meaningful only if the keys are internal keys.
    num_deletions: usize,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct SurveyedBlock {
    pub(crate) offset: u64,
    /// The offset just after the block and its trailer.
    pub(crate) end: u64,
    /// The bytes of all entries if none shared those of the key before it.
    pub(crate) len: u64,
    /// The bytes that all entries could share with the key before them.
    pub(crate) shared: u64,
    pub(crate) num_keys: usize,
}

/// All keys, read as user keys or, with a trailer, as internal keys.
pub(crate) struct Keys {
    pub(crate) trailer_len: usize,
    pub(crate) hashes: Vec<BloomHash>,
    num_distinct: usize,
}

impl KeySurvey {
    pub(crate) fn of(table: &Table<'_>) -> Result<Self, TableError> {
        let candidates = [0, TRAILER_LEN].map(Keys::new).into();
        let mut survey = Self { blocks: Vec::new(), candidates, num_deletions: 0 };
        let (mut previous, mut budget) = (None, table.key_budget());
        for block in table.data_blocks() {
            let mut of_block =
                SurveyedBlock { offset: block.offset(), end: block.end, ..Default::default() };
            let add = |key: &[u8]| {
                let shared = survey.add(key, &mut previous) as u64;
                of_block.shared += shared;
                of_block.len += if of_block.num_keys % RESTART_INTERVAL == 0 { 0 } else { shared };
                of_block.num_keys += 1;
            };
            let len = table.visit_keys_within(&mut budget, block, add)? as u64;
            of_block.len += len.saturating_sub(len_of_restarts(of_block.num_keys));
            survey.blocks.push(of_block);
        }
        Ok(survey)
    }

    /// Returns how many bytes the key shares with the previous one.
    fn add(&mut self, key: &[u8], previous: &mut Option<Vec<u8>>) -> usize {
        match key.len().checked_sub(TRAILER_LEN).map(|user_len| key[user_len]) {
            Some(0) => self.num_deletions += 1,
            Some(1) => (),
            _ => self.candidates.truncate(1),
        }
        for keys in &mut self.candidates {
            keys.add(key, previous.as_deref());
        }
        let previous = previous.get_or_insert_default();
        let shared = previous.iter().zip(key).take_while(|(a, b)| a == b).count();
        previous.truncate(shared);
        previous.extend_from_slice(&key[shared..]);
        shared
    }

    pub(crate) fn num_keys(&self) -> usize {
        self.candidates[0].hashes.len()
    }

    /// The more likely reading of the keys, if there are no filters to tell.
    pub(crate) fn likeliest(&self) -> &Keys {
        &self.candidates[self.candidates.len() - 1]
    }
}

impl Keys {
    fn new(trailer_len: usize) -> Self {
        Self { trailer_len, hashes: Vec::new(), num_distinct: 0 }
    }

    fn add(&mut self, key: &[u8], previous: Option<&[u8]>) {
        let trailer_len = self.trailer_len;
        let user_len = |key: &[u8]| key.len().saturating_sub(trailer_len);
        let user_key = &key[..user_len(key)];
        self.hashes.push(bloom_hash(user_key));
        // In any order of keys, equal ones are adjacent.
        let is_new = previous.is_none_or(|previous| &previous[..user_len(previous)] != user_key);
        self.num_distinct += usize::from(is_new);
    }
}
