//! Filter blocks: what they are, and whether this crate makes the same ones.
//!
//! All filters of a table can come from four bytes for each of its keys, the key's hash.

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader};

use super::table::{KeySurvey, Keys, SurveyedBlock};
use crate::policy::{Size, policy_of_sizes};
use crate::random::key_with_hash;
use crate::table;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `LevelDB`'s: a filter for each 2 KiB of the file.
pub(crate) const LEVELDB_BASE_LG: u8 = 11;

/// What the filters of a table are.
pub(crate) struct FilterBlock {
    pub(crate) policy_name: String,
    /// Of all filters, and of the array of their offsets.
    pub(crate) num_bytes: usize,
    pub(crate) base_lg: u8,
    pub(crate) num_filters: usize,
    pub(crate) num_empty: usize,
    /// Of all filters, without the bytes that hold the numbers of probes.
    pub(crate) num_bits: usize,
    /// `None` where the filters' sizes fit no policy, or there are none.
    pub(crate) policy: Option<BloomFilterPolicy>,
    pub(crate) num_hidden: usize,
    /// Whether this crate makes the same bytes of the keys.
    pub(crate) is_remade: bool,
}

impl FilterBlock {
    /// And the keys in them.
    pub(crate) fn of<'a>(
        block: &table::FilterBlock<'_>,
        survey: &'a KeySurvey,
        file_len: u64,
    ) -> (Self, &'a Keys) {
        let contents = &block.contents[..];
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let policy = policy_of(&reader, &survey.blocks, contents);
        let fits = survey.candidates.iter().map(|keys| {
            let is_remade = is_made_of(&reader, contents, policy, survey, keys);
            (num_found(&reader, &survey.blocks, keys), is_remade, keys)
        });
        let best =
            fits.max_by_key(|&(found, is_remade, keys)| (found, is_remade, keys.trailer_len));
        let (num_found, is_remade, keys) = best.expect("all keys may be user keys");
        let offsets = (0..reader.num_filters() as u128).map(|i| i << reader.base_lg());
        let offsets = offsets.map_while(|i| u64::try_from(i).ok().filter(|&i| i < file_len));
        let lens: Vec<_> = offsets.filter_map(|i| Some(reader.filter(i)?.len())).collect();
        let num_bits = |len: &usize| len.saturating_sub(1).saturating_mul(8);
        let filters = Self {
            policy_name: block.policy_name.clone(),
            num_bytes: contents.len(),
            // As it stands there, even where it cannot be read by.
            base_lg: contents.last().copied().unwrap_or_default(),
            num_filters: lens.len(),
            num_empty: lens.iter().filter(|&&len| len == 0).count(),
            // Filters that overlap may have more bits than a usize of 32 bits can say.
            num_bits: lens.iter().map(num_bits).fold(0, usize::saturating_add),
            policy,
            num_hidden: survey.num_keys() - num_found,
            is_remade,
        };
        (filters, keys)
    }
}

/// Whether this crate makes the same filter block of the keys.
fn is_made_of(
    reader: &Reader<'_>,
    contents: &[u8],
    policy: Option<BloomFilterPolicy>,
    survey: &KeySurvey,
    keys: &Keys,
) -> bool {
    let policy = match policy {
        Some(policy) => policy,
        // Without keys there are no filters, whatever the policy.
        None if survey.num_keys() == 0 => BloomFilterPolicy::default(),
        None => return false,
    };
    let base_lg = reader.base_lg();
    let end = survey.blocks.last().map_or(0, |block| block.end);
    // Each filter has an offset of four bytes; a false base_lg could ask for billions.
    let has_room = end >> base_lg <= contents.len() as u64 / 4;
    has_room && contents == filter_block(policy, base_lg, &survey.blocks, &keys.hashes)
}

/// How many keys the filters of their blocks find.
fn num_found(reader: &Reader<'_>, blocks: &[SurveyedBlock], keys: &Keys) -> usize {
    let blocks = with_hashes(blocks, &keys.hashes);
    blocks.map(|(block, hashes)| num_matches(reader.filter(block.offset), hashes)).sum()
}

/// Without a filter, all.
pub(crate) fn num_matches(filter: Option<&[u8]>, hashes: &[BloomHash]) -> usize {
    let mut matches = vec![true; hashes.len()];
    if let Some(filter) = filter {
        BloomFilterPolicy::default().hashes_may_match(hashes, filter, &mut matches);
    }
    matches.into_iter().filter(|&matches| matches).count()
}

/// The filter block of a table whose keys have these hashes.
pub(crate) fn filter_block(
    policy: BloomFilterPolicy,
    base_lg: u8,
    blocks: &[SurveyedBlock],
    hashes: &[BloomHash],
) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
    builder.start_block(0);
    for (block, hashes) in with_hashes(blocks, hashes) {
        for hash in hashes {
            builder.add_key(&key_with_hash(hash.to_u32()));
        }
        builder.start_block(block.end);
    }
    builder.finish()
}

/// The blocks, each with the hashes of its keys.
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

/// The blocks, together where they share a filter.
pub(crate) fn sharing_a_filter(
    blocks: &[SurveyedBlock],
    base_lg: u8,
) -> impl Iterator<Item = &[SurveyedBlock]> {
    blocks.chunk_by(move |a, b| a.offset >> base_lg == b.offset >> base_lg)
}

/// A policy that makes filters of these sizes; `None` where none does.
pub(crate) fn policy_of(
    reader: &Reader<'_>,
    blocks: &[SurveyedBlock],
    contents: &[u8],
) -> Option<BloomFilterPolicy> {
    let mut sizes = Vec::new();
    let mut bytes_left = contents.len();
    for sharing in sharing_a_filter(blocks, reader.base_lg()) {
        let keys = sharing.iter().map(|block| block.num_keys).sum();
        if keys == 0 {
            continue;
        }
        let filter = reader.filter(sharing[0].offset)?;
        // Filters that overlap would take more memory to rebuild than the file has.
        bytes_left = bytes_left.checked_sub(filter.len())?;
        let (&probes, bits) = filter.split_last()?;
        if bits.is_empty() || !(1..=30).contains(&probes) {
            return None;
        }
        sizes.push(Size { keys, bytes: bits.len(), probes });
    }
    policy_of_sizes(&sizes)
}
