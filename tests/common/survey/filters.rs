//! Surveys a table's keys, and describes the filter block that was made of them.
//!
//! Four bytes per key, its hash, are enough to remake all filters of a table.

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, bloom_hash,
};

use super::policy::{Size, policy_of_sizes};
use crate::common::random::key_with_hash;
use crate::common::table::{self, Table, TableError};

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `LevelDB`'s: one filter per 2 KiB of the file.
pub(crate) const LEVELDB_BASE_LG: u8 = 11;

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
        let of = |trailer_len| Keys { trailer_len, ..Keys::default() };
        let candidates = [0, TRAILER_LEN].map(of).into();
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
    /// `None` if no policy makes filters of these sizes, or if there are none.
    pub(crate) policy: Option<BloomFilterPolicy>,
    pub(crate) num_hidden: usize,
    /// Of the keys, as internal keys or user keys.
    pub(crate) trailer_len: usize,
    /// Whether this crate makes the same bytes from the keys.
    pub(crate) is_remade: bool,
}

impl FilterBlock {
    /// Returns the filters, and the keys that they were made from.
    pub(crate) fn of<'a>(
        block: &table::FilterBlock<'_>,
        survey: &'a KeySurvey,
        file_len: u64,
    ) -> (Self, &'a Keys) {
        let contents = &block.contents[..];
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let policy = policy_of(contents, &survey.blocks);
        // Without keys, every policy makes no filters.
        let any_policy = (survey.num_keys() == 0).then(BloomFilterPolicy::default);
        // Each filter has an offset of four bytes; a corrupt base_lg could demand billions.
        let end = survey.blocks.last().map_or(0, |block| block.end);
        let has_room = end >> reader.base_lg() <= contents.len() as u64 / 4;
        let remakes = |policy, keys: &Keys| {
            let builder = FilterBlockBuilder::new(policy).with_base_lg(reader.base_lg());
            contents == filter_block(builder, &survey.blocks, &keys.hashes)
        };
        let fits = survey.candidates.iter().map(|keys| {
            let policy = policy.or(any_policy).filter(|_| has_room);
            let is_remade = policy.is_some_and(|policy| remakes(policy, keys));
            (num_found(&reader, &survey.blocks, keys), is_remade, keys)
        });
        let best = fits.max_by_key(|&(found, remade, keys)| (found, remade, keys.trailer_len));
        let (num_found, is_remade, keys) = best.expect("all keys may be user keys");
        let offsets = (0..reader.num_filters() as u128).map(|i| i << reader.base_lg());
        let offsets = offsets.map_while(|i| u64::try_from(i).ok().filter(|&i| i < file_len));
        let lens: Vec<_> = offsets.filter_map(|i| Some(reader.filter(i)?.len())).collect();
        let num_bits = |len: &usize| len.saturating_sub(1).saturating_mul(8);
        let filters = Self {
            policy,
            num_bytes: contents.len(),
            // As stored, even if it cannot be used for reading.
            base_lg: contents.last().copied().unwrap_or_default(),
            num_filters: lens.iter().filter(|&&len| len > 0).count(),
            // Overlapping filters may have more bits than a 32-bit usize can count.
            num_bits: lens.iter().map(num_bits).fold(0, usize::saturating_add),
            num_hidden: survey.num_keys() - num_found,
            trailer_len: keys.trailer_len,
            is_remade,
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
    mut builder: FilterBlockBuilder<BloomFilterPolicy>,
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
        let (of_block, rest) = hashes.split_at(block.num_keys);
        hashes = rest;
        (block, of_block)
    })
}

/// The blocks, grouped by the filter that they share.
pub(crate) fn sharing_a_filter(
    blocks: &[SurveyedBlock],
    base_lg: u8,
) -> impl Iterator<Item = &[SurveyedBlock]> {
    blocks.chunk_by(move |a, b| a.offset >> base_lg == b.offset >> base_lg)
}

/// A policy that makes filters of these sizes; `None` if none does.
pub(crate) fn policy_of(contents: &[u8], blocks: &[SurveyedBlock]) -> Option<BloomFilterPolicy> {
    let reader = Reader::new(BloomFilterPolicy::default(), contents);
    let mut sizes = Vec::new();
    let mut bytes_left = contents.len();
    for sharing in sharing_a_filter(blocks, reader.base_lg()) {
        let keys = sharing.iter().map(|block| block.num_keys).sum();
        if keys == 0 {
            continue;
        }
        let filter = reader.filter(sharing[0].offset)?;
        // Overlapping filters would take more memory to rebuild than the file has bytes.
        bytes_left = bytes_left.checked_sub(filter.len())?;
        let (&probes, bits) = filter.split_last()?;
        if bits.is_empty() || !(1..=30).contains(&probes) {
            return None;
        }
        sizes.push(Size { keys, bytes: bits.len(), probes });
    }
    policy_of_sizes(&sizes)
}
