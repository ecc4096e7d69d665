//! The sizes of a table's filters, and what they tell.

use std::ops::RangeInclusive;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::keys::SurveyedBlock;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// Of the bits of a filter, however few keys it has.
const MIN_BYTES: usize = 8;
/// By so many bytes at most, tuned filters are shorter than LevelDB's.
const MOST_LEFT_BY_TUNING: usize = 11;
/// More thousandths of a bit come into question only where a table has very few keys.
const MAX_CANDIDATES: usize = 10_000;

#[derive(Default)]
pub(crate) struct FilterTotals {
    pub(crate) filters: usize,
    pub(crate) empty: usize,
    /// Of all filters, without the bytes that hold the numbers of probes.
    pub(crate) bits: usize,
}

impl FilterTotals {
    pub(crate) fn of(reader: &Reader<'_>, contents: &[u8], file_len: u64) -> Self {
        let mut totals = Self::default();
        // Each filter has an offset of four bytes.
        for index in 0..contents.len() as u64 / 4 {
            let offset = u128::from(index) << base_lg(contents).min(64);
            let Some(offset) = u64::try_from(offset).ok().filter(|&offset| offset < file_len)
            else {
                break;
            };
            let Some(filter) = reader.filter(offset) else { continue };
            totals.filters += 1;
            totals.empty += usize::from(filter.is_empty());
            // Filters that overlap may have more bits than a usize of 32 bits can say.
            let num_bits = filter.len().saturating_sub(1).saturating_mul(8);
            totals.bits = totals.bits.saturating_add(num_bits);
        }
        totals
    }
}

/// The binary logarithm of the length of file that a filter is for; LevelDB always writes 11.
pub(crate) fn base_lg(contents: &[u8]) -> u8 {
    contents.last().copied().unwrap_or_default()
}

/// The blocks, together where they share a filter.
pub(crate) fn sharing_a_filter(
    blocks: &[SurveyedBlock],
    base_lg: u8,
) -> impl Iterator<Item = &[SurveyedBlock]> {
    let index_of = move |block: &SurveyedBlock| block.offset.checked_shr(base_lg.into());
    blocks.chunk_by(move |a, b| index_of(a) == index_of(b))
}

/// What the filters' sizes tell about the policy that made them.
pub(crate) struct FilterShape {
    /// `None` where they are tuned.
    pub(crate) num_probes: Option<u8>,
    /// Any of these makes the same filters: thousandths of a bit, whole bits where they can be.
    pub(crate) millibits_per_key: RangeInclusive<usize>,
}

/// The size of one filter.
struct Size {
    keys: usize,
    bytes: usize,
    probes: u8,
}

impl FilterShape {
    pub(crate) fn of(
        reader: &Reader<'_>,
        blocks: &[SurveyedBlock],
        contents: &[u8],
    ) -> Option<Self> {
        let sizes = sizes(reader, blocks, contents)?;
        Self::untuned(&sizes).or_else(|| Self::tuned(&sizes))
    }

    fn untuned(sizes: &[Size]) -> Option<Self> {
        let num_probes = sizes.first()?.probes;
        if sizes.iter().any(|size| size.probes != num_probes) {
            return None;
        }
        let possible = common_millibits(sizes, 0)?;
        // To where LevelDB takes this number of probes, unless the writer chose another.
        let is_usual = |millibits: &usize| {
            let policy = BloomFilterPolicy::from_millibits_per_key(*millibits);
            policy.shape(0).num_probes() == num_probes
        };
        let (fewest, most) =
            (whole_bits(&possible).find(is_usual), whole_bits(&possible).rfind(is_usual));
        let usual = fewest.zip(most).map(|(fewest, most)| fewest..=most);
        Some(Self { num_probes: Some(num_probes), millibits_per_key: usual.unwrap_or(possible) })
    }

    fn tuned(sizes: &[Size]) -> Option<Self> {
        let fits = |millibits: &usize| {
            let policy = BloomFilterPolicy::from_millibits_per_key(*millibits).tuned();
            sizes.iter().all(|size| {
                let shape = policy.shape(size.keys);
                shape.filter_len() == size.bytes + 1 && shape.num_probes() == size.probes
            })
        };
        let possible = common_millibits(sizes, MOST_LEFT_BY_TUNING)?;
        let candidates = whole_bits(&possible).chain(possible.take(MAX_CANDIDATES));
        let millibits = candidates.into_iter().find(fits)?;
        Some(Self { num_probes: None, millibits_per_key: millibits..=millibits })
    }

    pub(crate) fn policy(&self) -> BloomFilterPolicy {
        let policy = BloomFilterPolicy::from_millibits_per_key(*self.millibits_per_key.start());
        self.num_probes.map_or(policy.tuned(), |num_probes| policy.with_num_probes(num_probes))
    }
}

/// `None` where they are no sizes of filters that a policy makes.
fn sizes(reader: &Reader<'_>, blocks: &[SurveyedBlock], contents: &[u8]) -> Option<Vec<Size>> {
    let mut sizes = Vec::new();
    let mut bytes_left = contents.len();
    for sharing in sharing_a_filter(blocks, base_lg(contents)) {
        let keys = sharing.iter().map(|block| block.num_keys).sum();
        if keys == 0 {
            continue;
        }
        let filter = reader.filter(sharing[0].offset)?;
        // Filters that overlap would take more memory to rebuild than the file has.
        bytes_left = bytes_left.checked_sub(filter.len())?;
        let (&probes, bits) = filter.split_last()?;
        if bits.len() < MIN_BYTES || !(1..=30).contains(&probes) {
            return None;
        }
        sizes.push(Size { keys, bytes: bits.len(), probes });
    }
    Some(sizes)
}

/// The thousandths of a bit per key that all filters may have, if they are shorter than LevelDB's
/// by so many bytes at most.
fn common_millibits(sizes: &[Size], max_left: usize) -> Option<RangeInclusive<usize>> {
    let per_key = |bytes: usize, keys| bytes as u64 * 8_000 / keys as u64;
    let (mut fewest, mut most) = (0, u64::MAX);
    for &Size { keys, bytes, .. } in sizes {
        if bytes > MIN_BYTES {
            fewest = fewest.max(per_key(bytes - 1, keys) + 1);
        }
        most = most.min(per_key(bytes + max_left, keys));
    }
    let range = usize::try_from(fewest).ok()?..=usize::try_from(most).ok()?;
    (!range.is_empty() && !sizes.is_empty()).then_some(range)
}

fn whole_bits(millibits: &RangeInclusive<usize>) -> impl DoubleEndedIterator<Item = usize> + use<> {
    (millibits.start().div_ceil(1_000)..=millibits.end() / 1_000).map(|bits| bits * 1_000)
}
