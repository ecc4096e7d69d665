//! Surveys a table's keys, and describes the filter block that was made of them.
//!
//! Four bytes per key, its hash, are enough to make and to ask all filters of a table.

use std::io;

use leveldb_filter::{
    BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash, FilterBlockBuilder,
    FilterBlockReader, HashPolicy, bloom_hash, hash,
};

use crate::random::key_with_hash;
use crate::table::Table;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `LevelDB`'s recommendation.
pub(crate) const USUAL_BITS: usize = 10;
const MAX_BITS: usize = 100;
/// `FilterBlockBuilder::with_long_ranges` makes filters of fewer keys as long as for this many.
const MIN_KEYS: usize = 1_000;

/// An internal key's trailer: sequence number and type.
pub(crate) const TRAILER_LEN: usize = 8;

/// What one pass over all keys tells.
pub(crate) struct KeySurvey {
    blocks: Vec<SurveyedBlock>,
    /// As user keys, and also as internal keys if all could be: only the filters can tell.
    readings: Vec<Keys>,
    /// Meaningful only if the keys are internal keys.
    num_deletions: usize,
}

#[derive(Clone, Copy)]
struct SurveyedBlock {
    offset: u64,
    /// The offset just after the block and its trailer.
    end: u64,
    num_keys: usize,
}

/// The keys of all entries, read as user keys or, with a trailer, as internal keys.
#[derive(Default)]
struct Keys {
    trailer_len: usize,
    hashes: Vec<BloomHash>,
    num_distinct: usize,
}

impl KeySurvey {
    /// Of a table whose keys are known to be internal ones, or may be either.
    pub(crate) fn of(table: &Table<'_>, are_internal: bool) -> io::Result<Self> {
        let no_keys = |&trailer_len: &usize| Keys { trailer_len, ..Keys::default() };
        let trailer_lens = [0, TRAILER_LEN];
        let readings = trailer_lens[usize::from(are_internal)..].iter().map(no_keys).collect();
        let mut survey = Self { blocks: Vec::new(), readings, num_deletions: 0 };
        let mut previous = None;
        table.visit_keys(|block, key| {
            let (offset, end) = (block.offset(), block.end);
            match survey.blocks.last_mut().filter(|last| last.offset == offset) {
                Some(last) => last.num_keys += 1,
                None => survey.blocks.push(SurveyedBlock { offset, end, num_keys: 1 }),
            }
            survey.add(key, &mut previous);
        })?;
        Ok(survey)
    }

    fn add(&mut self, key: &[u8], previous: &mut Option<Vec<u8>>) {
        match key.len().checked_sub(TRAILER_LEN).map(|user_len| key[user_len]) {
            Some(0) => self.num_deletions += 1,
            Some(1) => (),
            _ => self.readings.truncate(1),
        }
        for keys in &mut self.readings {
            keys.add(key, previous.as_deref());
        }
        let previous = previous.get_or_insert_default();
        previous.clear();
        previous.extend_from_slice(key);
    }

    pub(crate) fn num_entries(&self) -> usize {
        self.readings[0].hashes.len()
    }

    /// The keys with what follows them, if known; else in the more likely reading.
    fn keys(&self, trailer_len: Option<usize>) -> &Keys {
        let mut known = self.readings.iter().filter(|keys| Some(keys.trailer_len) == trailer_len);
        known.next().unwrap_or(&self.readings[self.readings.len() - 1])
    }

    pub(crate) fn num_distinct(&self, trailer_len: Option<usize>) -> usize {
        self.keys(trailer_len).num_distinct
    }

    pub(crate) fn num_deletions(&self, trailer_len: Option<usize>) -> usize {
        if self.keys(trailer_len).trailer_len == 0 { 0 } else { self.num_deletions }
    }

    /// The filter block of a table whose keys have these hashes.
    pub(crate) fn filter_block(
        &self,
        mut builder: FilterBlockBuilder<BloomFilterPolicy>,
        trailer_len: usize,
    ) -> Vec<u8> {
        for (block, hashes) in self.with_hashes(self.keys(Some(trailer_len))) {
            builder.start_block(block.offset);
            for hash in hashes {
                builder.add_key(&key_with_hash(hash.to_u32()));
            }
        }
        builder.start_block(self.blocks.last().map_or(0, |block| block.end));
        builder.finish()
    }

    fn with_hashes<'a>(
        &'a self,
        keys: &'a Keys,
    ) -> impl Iterator<Item = (&'a SurveyedBlock, &'a [BloomHash])> {
        let mut hashes = &keys.hashes[..];
        self.blocks.iter().map(move |block| {
            let (of_block, rest) = hashes.split_at(block.num_keys);
            hashes = rest;
            (block, of_block)
        })
    }
}

impl Keys {
    fn add(&mut self, key: &[u8], previous: Option<&[u8]>) {
        let user_len = |key: &[u8]| key.len().saturating_sub(self.trailer_len);
        let user_key = &key[..user_len(key)];
        self.hashes.push(bloom_hash(user_key));
        // In any order of keys, equal ones are adjacent.
        let is_new = previous.is_none_or(|previous| &previous[..user_len(previous)] != user_key);
        self.num_distinct += usize::from(is_new);
    }
}

pub(crate) struct FilterBlock {
    /// The policies' names; two if the table has the block under both.
    pub(crate) policy_names: Vec<String>,
    /// Whether its checksum is wrong, or it cannot be read at all.
    pub(crate) is_damaged: bool,
    pub(crate) base_lg: u8,
    /// Without the empty ones.
    pub(crate) num_filters: usize,
    /// Whether there is one that can reject a key.
    pub(crate) can_reject: bool,
    /// The bits of all filters, without the bytes for the numbers of probes.
    pub(crate) num_bits: usize,
    /// Those of `LevelDB`'s rule, or of this crate's, if it gives filters of these shapes.
    pub(crate) bits_per_key: Option<usize>,
    /// How many of the table's own entries the filters reject.
    pub(crate) num_rejected: usize,
    /// Whether those are all found as `LevelDB` before 1.18 did it.
    pub(crate) is_of_signed_bytes: bool,
    /// Of the keys that the filters are of; `None` if these may be either.
    pub(crate) trailer_len: Option<usize>,
}

impl FilterBlock {
    pub(crate) fn of(
        table: &Table<'_>,
        (contents, is_damaged): (&[u8], bool),
        survey: &KeySurvey,
    ) -> io::Result<Self> {
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let found: Vec<_> =
            survey.readings.iter().map(|keys| survey.num_found(&reader, keys)).collect();
        let best = (0..found.len()).max_by_key(|&i| found[i]).expect("a reading");
        let trailer_len = survey.readings[best].trailer_len;
        let is_ambiguous = found.len() > 1 && found[0] == found[1];
        let num_rejected = survey.num_entries() - found[best];
        let filters = survey.filters(&reader);
        let num_bits = filters.iter().map(|(_, filter)| filter.len().saturating_sub(1) * 8);
        Ok(Self {
            policy_names: table.policy_names().to_vec(),
            is_damaged,
            // As stored, even if it cannot be used for reading.
            base_lg: contents.last().copied().unwrap_or_default(),
            num_filters: filters.len(),
            can_reject: filters.iter().any(|(_, filter)| can_reject(filter)),
            // Overlapping filters may have more bits than a 32-bit usize can count.
            num_bits: num_bits.fold(0, usize::saturating_add),
            bits_per_key: bits_per_key(&filters),
            num_rejected,
            is_of_signed_bytes: num_rejected > 0
                && are_of_signed_bytes(table, &reader, trailer_len)?,
            trailer_len: (!is_ambiguous).then_some(trailer_len),
        })
    }

    /// Whether the filters are whole, and reject none of their table's keys.
    pub(crate) fn is_right(&self) -> bool {
        !self.is_damaged && self.num_rejected == 0
    }

    /// Whether wrong filters can be replaced: nobody else may have made them in a way of its own.
    pub(crate) fn can_be_replaced(&self) -> bool {
        let is_old = self.policy_names == [BloomFilterPolicy::GOLEVELDB_NAME];
        self.is_damaged || self.is_of_signed_bytes && is_old
    }
}

impl KeySurvey {
    /// How many keys the filters of their blocks do not reject.
    fn num_found(&self, reader: &Reader<'_>, keys: &Keys) -> usize {
        let num_matches = |(block, hashes): (&SurveyedBlock, &[BloomHash])| {
            let mut matches = vec![true; hashes.len()];
            if let Some(filter) = reader.filter(block.offset) {
                BloomFilterPolicy::default().hashes_may_match(hashes, filter, &mut matches);
            }
            matches.into_iter().filter(|&matches| matches).count()
        };
        self.with_hashes(keys).map(num_matches).sum()
    }

    /// The filters that are not empty, each with the number of its keys.
    fn filters<'a>(&self, reader: &'a Reader<'_>) -> Vec<(usize, &'a [u8])> {
        let range = |block: &SurveyedBlock| block.offset >> reader.base_lg();
        let sharing = self.blocks.chunk_by(|a, b| range(a) == range(b));
        let filter = |blocks: &[SurveyedBlock]| {
            let filter = reader.filter(blocks[0].offset).filter(|filter| !filter.is_empty())?;
            Some((blocks.iter().map(|block| block.num_keys).sum(), filter))
        };
        sharing.filter_map(filter).collect()
    }
}

/// A filter of no probes, or of reserved ones, matches everything.
fn can_reject(filter: &[u8]) -> bool {
    filter.len() < 2 || BloomFilter::new(filter).is_ok_and(|of| of.shape().num_probes() > 0)
}

/// Of a filter's bits, whatever policy of one bit per key or more made it, fewer are set.
const OVERFULL: f64 = 0.9;

/// The bits per key of the policy that makes filters of these shapes: of `LevelDB`'s rule, with its
/// recommendation first, or of the rule that `rewrite` takes.
fn bits_per_key(filters: &[(usize, &[u8])]) -> Option<usize> {
    let shapes = filters.iter().map(|&(num_keys, filter)| {
        let filter = BloomFilter::new(filter).ok().filter(|of| of.fill_ratio() < OVERFULL)?;
        Some((num_keys, filter.shape()))
    });
    let shapes: Vec<_> = shapes.collect::<Option<_>>()?;
    let is_of = |shape: &dyn Fn(BloomFilterPolicy, usize) -> BloomFilterShape| {
        let fits = |&bits: &usize| {
            let policy = BloomFilterPolicy::new(bits);
            shapes.iter().all(|&(num_keys, of_filter)| shape(policy, num_keys) == of_filter)
        };
        [USUAL_BITS].into_iter().chain(1..=MAX_BITS).find(fits)
    };
    is_of(&|policy, num_keys| policy.shape(num_keys))
        .or_else(|| is_of(&|policy, num_keys| policy.tuned().shape(num_keys)))
        .or_else(|| is_of(&|policy, num_keys| policy.tuned().shape(num_keys.max(MIN_KEYS))))
}

/// Whether all keys are found with the hashes of `LevelDB` before 1.18 on x86.
fn are_of_signed_bytes(
    table: &Table<'_>,
    reader: &Reader<'_>,
    trailer_len: usize,
) -> io::Result<bool> {
    let mut are = true;
    table.visit_keys(|block, key| {
        let user_key = &key[..key.len().saturating_sub(trailer_len)];
        are &= reader.filter(block.offset()).is_none_or(|filter| {
            BloomFilterPolicy::default().hash_may_match(signed_hash(user_key), filter)
        });
    })?;
    Ok(are)
}

/// `LevelDB`'s hash of filters before 1.18: a key's last one to three bytes, which do not fill a
/// word, were signed.
fn signed_hash(key: &[u8]) -> BloomHash {
    let m: u32 = 0xc6a4a793;
    let (words, tail) = key.split_at(key.len() / 4 * 4);
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32, as in LevelDB")]
    let of_len = |bytes: &[u8]| (bytes.len() as u32).wrapping_mul(m);
    // The hash of the words, as it is before the tail.
    let mut h = hash(words, 0xbc9f1d34 ^ of_len(key) ^ of_len(words));
    for (i, &byte) in tail.iter().enumerate().rev() {
        h = h.wrapping_add_signed(i32::from(i8::from_le_bytes([byte])) << (8 * i));
    }
    if !tail.is_empty() {
        h = h.wrapping_mul(m);
        h ^= h >> 24;
    }
    BloomHash::from_u32(h)
}
