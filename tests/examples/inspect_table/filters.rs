//! Describes filter blocks, and checks whether this crate makes the same ones.
//!
//! Four bytes per key, its hash, are enough to remake all filters of a table.

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader};

use super::table::{KeySurvey, Keys, SurveyedBlock};
use crate::policy::{Size, policy_of_sizes};
use crate::random::key_with_hash;
use crate::table;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `LevelDB`'s: one filter per 2 KiB of the file.
pub(crate) const LEVELDB_BASE_LG: u8 = 11;

#[allow(dead_code, reason = "not every example remakes filters")]
pub(crate) struct FilterBlock {
    pub(crate) policy_name: String,
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
            let builder = FilterBlockBuilder::with_base_lg(policy, reader.base_lg());
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
            policy_name: block.policy_name.clone(),
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
