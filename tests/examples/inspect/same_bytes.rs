//! Which policies of the crate make the filter block of a table.

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, bloom_hash,
};

use crate::common::table::Keys;

/// `BloomFilterPolicy::new(n)` in ranges of any length, or `new(n).tuned()` in long ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Choice {
    Leveldb(usize),
    Tuned(usize),
}

/// No larger n is tried.
const MAX_BITS_PER_KEY: usize = 1_000;

/// A filter in a long range is as long as if it had this many keys, or longer.
const LONG_MIN_KEYS: usize = 2_000;

/// A filter, and the hashes of the keys of its range.
type Range<'a> = (&'a [u8], Vec<BloomHash>);

impl Choice {
    pub(crate) fn policy(self) -> BloomFilterPolicy {
        match self {
            Self::Leveldb(bits_per_key) => BloomFilterPolicy::new(bits_per_key),
            Self::Tuned(bits_per_key) => BloomFilterPolicy::new(bits_per_key).tuned(),
        }
    }

    fn builder(self, base_lg: u8) -> FilterBlockBuilder<BloomFilterPolicy> {
        match self {
            Self::Leveldb(_) => FilterBlockBuilder::with_base_lg(self.policy(), base_lg),
            Self::Tuned(_) => FilterBlockBuilder::with_long_ranges(self.policy()),
        }
    }

    /// The number of keys that the length of a range's filter is chosen for.
    fn num_keys(self, hashes: &[BloomHash]) -> usize {
        match self {
            Self::Leveldb(_) => hashes.len(),
            // There, versions of a key count once.
            Self::Tuned(_) => hashes.chunk_by(|a, b| a == b).count().max(LONG_MIN_KEYS),
        }
    }

    fn fits(self, (filter, hashes): &Range<'_>) -> bool {
        let shape = self.policy().shape(self.num_keys(hashes));
        filter.len() == shape.filter_len() && filter.last() == Some(&shape.num_probes())
    }
}

/// All choices that make this filter block of these keys.
pub(crate) fn choices(keys: &Keys, filter_block: &[u8]) -> Vec<Choice> {
    let reader = FilterBlockReader::new(BloomFilterPolicy::default(), filter_block);
    let Some(ranges) = ranges(keys, &reader) else { return Vec::new() };
    let mut choices = Vec::new();
    for choice in [Choice::Leveldb, Choice::Tuned] {
        // Nothing is built before all shapes fit, since damaged offsets can ask for any memory.
        let fits = |choice: &Choice| ranges.iter().all(|range| choice.fits(range));
        let fitting: Vec<_> = (0..=MAX_BITS_PER_KEY).map(choice).filter(fits).collect();
        // Filters of the same shapes have the same bytes, so one choice tells of all.
        let block = fitting.first().map(|of| keys.filter_block(of.builder(reader.base_lg())));
        if block.is_some_and(|block| block == filter_block) {
            choices.extend(fitting);
        }
    }
    choices
}

/// The ranges with keys; `None` if one has no filter.
fn ranges<'a>(
    keys: &Keys,
    reader: &'a FilterBlockReader<BloomFilterPolicy, &[u8]>,
) -> Option<Vec<Range<'a>>> {
    let mut ranges: Vec<(u64, Range<'a>)> = Vec::new();
    for (offset, key) in keys.iter() {
        let index = offset >> reader.base_lg();
        if ranges.last().is_none_or(|(last, _)| *last != index) {
            let filter = reader.filter(offset).filter(|filter| !filter.is_empty())?;
            ranges.push((index, (filter, Vec::new())));
        }
        let (_, (_, hashes)) = ranges.last_mut().expect("pushed above");
        hashes.push(bloom_hash(key));
    }
    Some(ranges.into_iter().map(|(_, range)| range).collect())
}
