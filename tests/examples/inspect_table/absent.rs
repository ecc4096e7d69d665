//! Keys like a table's that it lacks, and what look-ups of them meet.

use std::error::Error;
use std::hash::{DefaultHasher, Hasher};

use leveldb_filter::{BloomHash, bloom_hash};

use super::keys::{KeyKind, Survey};
use super::shape::Reader;
use crate::table::{DataBlock, Table};

/// How many keys, and how many bytes of them, are kept as models for absent keys.
const MAX_MODELS: usize = 100_000;
const MAX_MODEL_BYTES: usize = 16 << 20;

/// Long keys are looked up less often.
const MAX_ABSENT_BYTES: usize = 256 << 20;

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
struct AbsentKey {
    key: Vec<u8>,
    /// The data block where the key would be. `None` above the last index key: an engine asks no
    /// filter and reads no data block.
    block_offset: Option<u64>,
}

impl<'a> AbsentKeys<'a> {
    pub(crate) fn of(
        table: &'a Table<'a>,
        survey: &Survey,
        kind: KeyKind,
        num_keys: usize,
    ) -> Result<Self, Box<dyn Error>> {
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
    fn iter(&self) -> impl Iterator<Item = AbsentKey> {
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

/// What look-ups of absent keys meet.
#[derive(Default)]
pub(crate) struct AbsentLookups {
    /// Keys that need no read, with filters or without.
    pub(crate) above: usize,
    /// Keys for which one filter is asked: that of the data block where the key would be.
    pub(crate) asked: Vec<Lookup>,
    pub(crate) matched: usize,
}

/// A look-up as far as filters need to know it.
pub(crate) struct Lookup {
    pub(crate) block_offset: u64,
    pub(crate) hash: BloomHash,
}

impl AbsentLookups {
    pub(crate) fn of(reader: Option<&Reader<'_>>, absent: &AbsentKeys<'_>) -> Self {
        let mut lookups = Self::default();
        for AbsentKey { key, block_offset } in absent.iter() {
            let Some(block_offset) = block_offset else {
                lookups.above += 1;
                continue;
            };
            lookups.asked.push(Lookup { block_offset, hash: bloom_hash(&key) });
            let may_match = reader.is_none_or(|reader| reader.key_may_match(block_offset, &key));
            lookups.matched += usize::from(may_match);
        }
        lookups
    }
}
