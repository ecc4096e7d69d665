//! Surveys a table's keys, and describes the filter block that was made of them.
//!
//! Four bytes per key, its hash, are enough to remake all filters of a table.

use leveldb_filter::{
    BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash, FilterBlockBuilder,
    FilterBlockReader, FilterPolicy, bloom_hash,
};

use crate::random::key_with_hash;
use crate::table::{Table, TableError};

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `LevelDB`'s: one filter per 2 KiB of the file.
pub(crate) const LEVELDB_BASE_LG: u8 = 11;

const DEFAULT_BITS: usize = 10;
const MAX_BITS: usize = 100;

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
    pub(super) num_deletions: usize,
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
#[derive(Default)]
pub(crate) struct Keys {
    pub(crate) trailer_len: usize,
    pub(crate) hashes: Vec<BloomHash>,
    pub(super) num_distinct: usize,
}

impl KeySurvey {
    pub(crate) fn of(table: &Table<'_>) -> Result<Self, TableError> {
        let no_keys = |trailer_len| Keys { trailer_len, ..Keys::default() };
        let candidates = [0, TRAILER_LEN].map(no_keys).into();
        let mut survey = Self { blocks: Vec::new(), candidates, num_deletions: 0 };
        let (mut previous, mut budget) = (None, table.key_budget());
        for block in table.data_blocks() {
            let mut surveyed =
                SurveyedBlock { offset: block.offset(), end: block.end, ..Default::default() };
            let add = |key: &[u8]| {
                let shared = survey.add(key, &mut previous) as u64;
                surveyed.shared += shared;
                surveyed.len += if surveyed.num_keys % RESTART_INTERVAL == 0 { 0 } else { shared };
                surveyed.num_keys += 1;
            };
            let len = table.visit_keys_within(&mut budget, block, add)? as u64;
            surveyed.len += len.saturating_sub(len_of_restarts(surveyed.num_keys));
            survey.blocks.push(surveyed);
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
    /// The bytes of all filters and of the array of their offsets.
    pub(crate) num_bytes: usize,
    pub(crate) base_lg: u8,
    /// Without the empty ones.
    pub(crate) num_filters: usize,
    /// The bits of all filters, without the bytes for the numbers of probes.
    pub(crate) num_bits: usize,
    /// `LevelDB`'s number if its rule gives filters of these sizes, else at most its default.
    pub(crate) bits_per_key: usize,
    pub(crate) num_hidden: usize,
    /// Of the keys, as internal keys or user keys.
    pub(crate) trailer_len: usize,
    /// Whether this crate makes the same bytes from the keys, at each filter's length and probes.
    pub(crate) is_remade: bool,
}

impl FilterBlock {
    /// Returns the filters, and the keys that they were made from.
    pub(crate) fn of<'a>(
        contents: &[u8],
        survey: &'a KeySurvey,
        file_len: u64,
    ) -> (Self, &'a Keys) {
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let fits = survey.candidates.iter().map(|keys| {
            let shapes = shapes_if_remade(contents, &survey.blocks, &keys.hashes);
            (num_found(&reader, &survey.blocks, keys), shapes, keys)
        });
        let best =
            fits.max_by_key(|(found, shapes, keys)| (*found, shapes.is_some(), keys.trailer_len));
        let (num_found, shapes, keys) = best.expect("all keys may be user keys");
        let offsets = (0..reader.num_filters() as u128).map(|i| i << reader.base_lg());
        let offsets = offsets.map_while(|i| u64::try_from(i).ok().filter(|&i| i < file_len));
        let lens: Vec<_> = offsets.filter_map(|i| Some(reader.filter(i)?.len())).collect();
        let num_bits = |len: &usize| len.saturating_sub(1).saturating_mul(8);
        let filters = Self {
            bits_per_key: bits_per_key(shapes.as_deref().unwrap_or_default()),
            num_bytes: contents.len(),
            // As stored, even if it cannot be used for reading.
            base_lg: contents.last().copied().unwrap_or_default(),
            num_filters: lens.iter().filter(|&&len| len > 0).count(),
            // Overlapping filters may have more bits than a 32-bit usize can count.
            num_bits: lens.iter().map(num_bits).fold(0, usize::saturating_add),
            num_hidden: survey.num_keys() - num_found,
            trailer_len: keys.trailer_len,
            is_remade: shapes.is_some(),
        };
        (filters, keys)
    }
}

/// How many keys the filters of their blocks find.
fn num_found(reader: &Reader<'_>, blocks: &[SurveyedBlock], keys: &Keys) -> usize {
    let blocks = with_hashes(blocks, &keys.hashes);
    blocks.map(|(block, hashes)| num_matches(reader.filter(block.offset), hashes)).sum()
}

/// How many of the hashes match; all, if there is no filter.
pub(crate) fn num_matches(filter: Option<&[u8]>, hashes: &[BloomHash]) -> usize {
    let mut matches = vec![true; hashes.len()];
    if let Some(filter) = filter {
        BloomFilterPolicy::default().hashes_may_match(hashes, filter, &mut matches);
    }
    matches.into_iter().filter(|&matches| matches).count()
}

/// The filter block of a table whose keys have these hashes.
pub(crate) fn filter_block(
    mut builder: FilterBlockBuilder<impl FilterPolicy>,
    blocks: &[SurveyedBlock],
    hashes: &[BloomHash],
) -> Vec<u8> {
    builder.start_block(0);
    for (block, hashes) in with_hashes(blocks, hashes) {
        for hash in hashes {
            builder.add_key(&key_with_hash(hash.to_u32()));
        }
        builder.start_block(block.end);
    }
    builder.finish()
}

fn with_hashes<'a>(
    blocks: &'a [SurveyedBlock],
    mut hashes: &'a [BloomHash],
) -> impl Iterator<Item = (&'a SurveyedBlock, &'a [BloomHash])> {
    blocks.iter().map(move |block| {
        let (surveyed, rest) = hashes.split_at(block.num_keys);
        hashes = rest;
        (block, surveyed)
    })
}

/// The blocks, grouped by the filter that they share.
pub(crate) fn sharing_a_filter(
    blocks: &[SurveyedBlock],
    base_lg: u8,
) -> impl Iterator<Item = &[SurveyedBlock]> {
    blocks.chunk_by(move |a, b| a.offset >> base_lg == b.offset >> base_lg)
}

/// The number of keys and the shape of each filter, if `LevelDB`'s builder makes the same block
/// from the keys where each filter has its own length and number of probes.
fn shapes_if_remade(
    contents: &[u8],
    blocks: &[SurveyedBlock],
    mut hashes: &[BloomHash],
) -> Option<Vec<(usize, BloomFilterShape)>> {
    let reader = Reader::new(BloomFilterPolicy::default(), contents);
    let base_lg = reader.base_lg();
    let (mut shapes, mut num_ranges, mut len) = (Vec::new(), 0, 0);
    for sharing in sharing_a_filter(blocks, base_lg) {
        let (keys, others) = hashes.split_at(sharing.iter().map(|block| block.num_keys).sum());
        hashes = others;
        let SurveyedBlock { offset, end, .. } = sharing[sharing.len() - 1];
        num_ranges = end >> base_lg;
        if keys.is_empty() {
            continue;
        }
        num_ranges = num_ranges.max((offset >> base_lg) + 1);
        let filter = BloomFilter::new(reader.filter(offset)?).ok()?;
        // Filters that overlap would take more time than their length is worth.
        len += filter.as_bytes().len();
        if len > contents.len() {
            return None;
        }
        let mut remade = BloomFilter::empty(filter.shape());
        for &hash in keys {
            remade.insert_hash(hash);
        }
        if remade.as_bytes() != filter.as_bytes() {
            return None;
        }
        shapes.push((keys.len(), filter.shape()));
    }
    // An offset for each range, the array's offset, and base_lg: nothing else is in the block.
    (contents.len() as u64 == len as u64 + 4 * num_ranges + 5).then_some(shapes)
}

/// The bits per key to begin with where filters of these shapes are to be replaced.
fn bits_per_key(shapes: &[(usize, BloomFilterShape)]) -> usize {
    let is_leveldbs = |&bits: &usize| {
        let policy = BloomFilterPolicy::new(bits);
        shapes.iter().all(|&(num_keys, shape)| policy.shape(num_keys) == shape)
    };
    let num_keys: usize = shapes.iter().map(|(num_keys, _)| num_keys).sum();
    let num_bits: u64 = shapes.iter().map(|(_, shape)| shape.num_bits()).sum();
    let mean = usize::try_from(num_bits / num_keys.max(1) as u64).unwrap_or(DEFAULT_BITS);
    // If several fit, LevelDB's recommendation.
    let mut candidates = [DEFAULT_BITS].into_iter().chain(1..=MAX_BITS);
    candidates.find(is_leveldbs).unwrap_or(mean.clamp(1, DEFAULT_BITS))
}
