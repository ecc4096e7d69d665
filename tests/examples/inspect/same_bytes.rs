//! Which policies of the crate make the filter block of a table.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::table::Keys;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

/// `BloomFilterPolicy::new(n)` in ranges of any length, or `new(n).tuned()` in long ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Choice {
    Leveldb(usize),
    Tuned(usize),
}

/// No larger n is tried.
const MAX_BITS_PER_KEY: usize = 1_000;

/// Makes 8 bytes for each key, so a filter's length tells for how many keys it is sized.
const COUNTING: BloomFilterPolicy = BloomFilterPolicy::new(64).with_num_probes(1);

/// A filter, and for how many keys it is sized: 0 for the empty filter of a range without keys.
type SizedFilter<'a> = (&'a [u8], usize);

impl Choice {
    pub(crate) fn policy(self) -> BloomFilterPolicy {
        match self {
            Self::Leveldb(bits_per_key) => BloomFilterPolicy::new(bits_per_key),
            Self::Tuned(bits_per_key) => BloomFilterPolicy::new(bits_per_key).tuned(),
        }
    }

    fn fits(self, (filter, num_keys): SizedFilter<'_>) -> bool {
        if num_keys == 0 {
            return filter.is_empty();
        }
        let shape = self.policy().shape(num_keys);
        filter.len() == shape.filter_len() && filter.last() == Some(&shape.num_probes())
    }

    /// The filter block that a policy makes in the ranges of this choice.
    fn filter_block(self, policy: BloomFilterPolicy, keys: &Keys, base_lg: u8) -> Vec<u8> {
        keys.filter_block(match self {
            Self::Leveldb(_) => FilterBlockBuilder::with_base_lg(policy, base_lg),
            Self::Tuned(_) => FilterBlockBuilder::with_long_ranges(policy),
        })
    }
}

/// All choices that make the filter block of a reader of these keys.
///
/// A policy is tried only if its filters are as long as the reader's, because damage can ask for any
/// memory.
pub(crate) fn choices(keys: &Keys, reader: &Reader<'_>) -> Vec<Choice> {
    [Choice::Leveldb, Choice::Tuned]
        .map(|choice: fn(usize) -> Choice| with_all(choice, keys, reader))
        .concat()
}

fn with_all(choice: fn(usize) -> Choice, keys: &Keys, reader: &Reader<'_>) -> Vec<Choice> {
    let Some(filters) = sized(choice(0), keys, reader) else { return Vec::new() };
    let fits = |choice: &Choice| filters.iter().all(|&filter| choice.fits(filter));
    let makes_the_block = |choice: &Choice| {
        choice.filter_block(choice.policy(), keys, reader.base_lg()) == *reader.contents()
    };
    (0..=MAX_BITS_PER_KEY).map(choice).filter(fits).filter(makes_the_block).collect()
}

/// The filters of a reader, if they are of the ranges of a choice.
fn sized<'a>(choice: Choice, keys: &Keys, reader: &'a Reader<'_>) -> Option<Vec<SizedFilter<'a>>> {
    let (base_lg, num_filters) = (reader.base_lg(), reader.num_filters());
    // A block has an offset for each range. Far more ranges would need far more memory.
    if keys.data_end() >> base_lg > num_filters as u64 {
        return None;
    }
    let counted = choice.filter_block(COUNTING, keys, base_lg);
    let counted = FilterBlockReader::new(COUNTING, counted);
    if (counted.base_lg(), counted.num_filters()) != (base_lg, num_filters) {
        return None;
    }
    let offsets = (0..num_filters as u64).map(|index| index << base_lg);
    offsets
        .map(|offset| Some((reader.filter(offset)?, counted.filter(offset)?.len() / 8)))
        .collect()
}
