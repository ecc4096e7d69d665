//! A table's keys: how many, of what kind, and their hashes.

use leveldb_filter::{BloomHash, bloom_hash};

use crate::table::{Table, TableError};

/// Which part of a table's keys its filters hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyKind {
    /// All of each key.
    User,
    /// Each key without its trailer.
    Internal,
}

impl KeyKind {
    const TRAILER_LEN: usize = 8;

    fn user_key(self, key: &[u8]) -> &[u8] {
        match self {
            Self::User => key,
            Self::Internal => &key[..key.len().saturating_sub(Self::TRAILER_LEN)],
        }
    }
}

/// The first byte of an internal key's trailer: 0 for a deletion, 1 for a value.
fn value_type(key: &[u8]) -> Option<u8> {
    key.last_chunk::<{ KeyKind::TRAILER_LEN }>().map(|trailer| trailer[0])
}

/// What one look at all keys tells.
pub(crate) struct Survey {
    pub(crate) blocks: Vec<SurveyedBlock>,
    /// As user keys, and as internal keys where all could be: user keys may end in what could be
    /// trailers, so the filters have to tell.
    pub(crate) candidates: Vec<Keys>,
    /// As far as they are internal keys.
    pub(crate) num_deletions: usize,
}

pub(crate) struct SurveyedBlock {
    pub(crate) offset: u64,
    /// The offset behind the block and its trailer.
    pub(crate) end: u64,
    pub(crate) num_keys: usize,
}

/// All keys, taken as keys of one kind.
pub(crate) struct Keys {
    pub(crate) kind: KeyKind,
    pub(crate) hashes: Vec<BloomHash>,
    pub(crate) num_distinct: usize,
}

impl Survey {
    pub(crate) fn of(table: &Table<'_>) -> Result<Self, TableError> {
        let candidates = [KeyKind::User, KeyKind::Internal].map(Keys::new).into();
        let mut survey = Self { blocks: Vec::new(), candidates, num_deletions: 0 };
        let mut previous = None;
        let mut budget = table.key_budget();
        for block in table.data_blocks() {
            let num_keys_before = survey.num_keys();
            table.visit_keys_within(&mut budget, block, |key| survey.add(key, &mut previous))?;
            let num_keys = survey.num_keys() - num_keys_before;
            let (offset, end) = (block.offset(), block.end);
            survey.blocks.push(SurveyedBlock { offset, end, num_keys });
        }
        Ok(survey)
    }

    fn add(&mut self, key: &[u8], previous: &mut Option<Vec<u8>>) {
        match value_type(key) {
            Some(0) => self.num_deletions += 1,
            Some(1) => (),
            _ => self.candidates.truncate(1),
        }
        for keys in &mut self.candidates {
            keys.add(key, previous.as_deref());
        }
        let previous = previous.get_or_insert_default();
        previous.clear();
        previous.extend_from_slice(key);
    }

    pub(crate) fn num_keys(&self) -> usize {
        self.candidates[0].hashes.len()
    }

    /// The keys as what they mostly are, where there are no filters to tell.
    pub(crate) fn likeliest(&self) -> &Keys {
        &self.candidates[self.candidates.len() - 1]
    }
}

impl Keys {
    fn new(kind: KeyKind) -> Self {
        Self { kind, hashes: Vec::new(), num_distinct: 0 }
    }

    fn add(&mut self, key: &[u8], previous: Option<&[u8]>) {
        let user_key = self.kind.user_key(key);
        self.hashes.push(bloom_hash(user_key));
        // Whatever their order, equal keys are neighbours.
        let is_new = previous.is_none_or(|previous| self.kind.user_key(previous) != user_key);
        self.num_distinct += usize::from(is_new);
    }
}
