//! A table's keys: their kind, and keys like them that the table lacks.

use std::hash::{DefaultHasher, Hasher};

use crate::table::{DataBlock, Table, TableError};

/// How many keys, and how many bytes of them, are kept as models for absent keys.
const MAX_MODELS: usize = 100_000;
const MAX_MODEL_BYTES: usize = 16 << 20;

/// Long keys are looked up less often.
const MAX_ABSENT_BYTES: usize = 256 << 20;

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

    pub(crate) fn user_key(self, key: &[u8]) -> &[u8] {
        match self {
            Self::User => key,
            Self::Internal => &key[..key.len().saturating_sub(Self::TRAILER_LEN)],
        }
    }

    fn could_be_internal(key: &[u8]) -> bool {
        // The trailer begins with the value type: 0 for a deletion, 1 for a value.
        key.last_chunk::<{ Self::TRAILER_LEN }>().is_some_and(|trailer| trailer[0] <= 1)
    }
}

/// What a first look at all keys tells.
pub(crate) struct Survey {
    pub(crate) blocks: Vec<SurveyedBlock>,
    pub(crate) num_keys: usize,
    num_bytes: usize,
    could_be_internal: bool,
    /// Whether all keys and index keys are, taken as keys of each kind.
    in_order: [(KeyKind, bool); 2],
}

pub(crate) struct SurveyedBlock {
    pub(crate) offset: u64,
    pub(crate) num_keys: usize,
}

impl Survey {
    pub(crate) fn of(table: &Table<'_>) -> Result<Self, TableError> {
        let mut survey = Self {
            blocks: Vec::with_capacity(table.data_blocks().len()),
            num_keys: 0,
            num_bytes: 0,
            could_be_internal: true,
            in_order: [(KeyKind::User, true), (KeyKind::Internal, true)],
        };
        let mut previous = Vec::new();
        for block in table.data_blocks() {
            let num_keys_before = survey.num_keys;
            table.visit_keys(block, |key| {
                survey.num_keys += 1;
                survey.num_bytes += key.len();
                survey.could_be_internal &= KeyKind::could_be_internal(key);
                survey.compare(&mut previous, key);
            })?;
            survey.compare(&mut previous, &block.index_key);
            let num_keys = survey.num_keys - num_keys_before;
            survey.blocks.push(SurveyedBlock { offset: block.offset(), num_keys });
        }
        Ok(survey)
    }

    fn compare(&mut self, previous: &mut Vec<u8>, key: &[u8]) {
        for (kind, in_order) in &mut self.in_order {
            *in_order &= kind.user_key(previous) <= kind.user_key(key);
        }
        previous.clear();
        previous.extend_from_slice(key);
    }

    /// User keys may end in what could be trailers, so where both kinds are possible the filters
    /// have to tell.
    pub(crate) fn candidates(&self) -> &'static [KeyKind] {
        if self.could_be_internal { &[KeyKind::User, KeyKind::Internal] } else { &[KeyKind::User] }
    }

    /// Where there are no filters to tell.
    pub(crate) fn likeliest_kind(&self) -> KeyKind {
        if self.could_be_internal { KeyKind::Internal } else { KeyKind::User }
    }

    fn is_in_order(&self, kind: KeyKind) -> bool {
        self.in_order.contains(&(kind, true))
    }
}

/// Keys that a table lacks, and where an engine would look for them.
pub(crate) struct AbsentKeys<'a> {
    table: &'a Table<'a>,
    kind: KeyKind,
    /// Some user keys of the table.
    models: Vec<Vec<u8>>,
    /// Of all user keys, in order.
    fingerprints: Vec<u64>,
    num_keys: usize,
}

/// A look-up of an absent user key.
pub(crate) struct AbsentKey {
    pub(crate) key: Vec<u8>,
    /// The data block where the key would be. `None` above the last index key: an engine asks no
    /// filter and reads no data block.
    pub(crate) block_offset: Option<u64>,
}

impl<'a> AbsentKeys<'a> {
    pub(crate) fn of(
        table: &'a Table<'a>,
        survey: &Survey,
        kind: KeyKind,
        num_keys: usize,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        if !survey.is_in_order(kind) {
            return Err("the keys are not in bytewise order, and no other is known here".into());
        }
        // From all over the table.
        let step = survey.num_keys.div_ceil(MAX_MODELS);
        let step = step.max(survey.num_bytes.div_ceil(MAX_MODEL_BYTES)).max(1);
        let mut models: Vec<Vec<u8>> = Vec::new();
        let mut bytes_left = MAX_MODEL_BYTES;
        let mut fingerprints = Vec::with_capacity(survey.num_keys);
        for block in table.data_blocks() {
            table.visit_keys(block, |key| {
                let key = kind.user_key(key);
                // An internal key for each version of it.
                let is_new = models.last().is_none_or(|model| model != key);
                if fingerprints.len() % step == 0 && is_new && key.len() <= bytes_left {
                    bytes_left -= key.len();
                    models.push(key.to_vec());
                }
                fingerprints.push(fingerprint(key));
            })?;
        }
        fingerprints.sort_unstable();
        Ok(Self { table, kind, models, fingerprints, num_keys })
    }

    /// Keys like those of the table: each with one byte changed, and a number appended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = AbsentKey> {
        let mut bytes_left = Some(MAX_ABSENT_BYTES);
        self.models
            .iter()
            .cycle()
            .zip(0usize..)
            .map(|(key, i)| {
                let mut key = key.clone();
                if let Some(place) = i.checked_rem(key.len()) {
                    key[place] ^= i.to_le_bytes()[0] | 1;
                }
                key.extend(format!("{i:06}").bytes());
                key
            })
            .filter(|key| self.fingerprints.binary_search(&fingerprint(key)).is_err())
            .take(self.num_keys)
            .take_while(move |key| {
                bytes_left = bytes_left.and_then(|left| left.checked_sub(key.len()));
                bytes_left.is_some()
            })
            .map(|key| AbsentKey { block_offset: self.block_offset(&key), key })
    }

    fn block_offset(&self, key: &[u8]) -> Option<u64> {
        let blocks = self.table.data_blocks();
        let place = blocks.partition_point(|block| self.kind.user_key(&block.index_key) < key);
        blocks.get(place).map(DataBlock::offset)
    }
}

/// Two keys that share one are so rare that an absent key may be left out for it.
fn fingerprint(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}
