//! Which policies of the crate make the filter block of a table.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, bloom_hash};

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

/// A filter in a long range is as long as if it had this many keys, or longer.
const LONG_MIN_ROOM: usize = 2_000;

/// What is known of a range with keys.
struct Range<'a> {
    filter: &'a [u8],
    num_keys: usize,
    /// How many keys there are if versions of a key, whose hashes are equal, count once.
    num_distinct: usize,
}

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

    fn fits(self, range: &Range<'_>) -> bool {
        // The number of keys that the filter's length is chosen for.
        let num_keys = match self {
            Self::Leveldb(_) => range.num_keys,
            Self::Tuned(_) => range.num_distinct.max(LONG_MIN_ROOM),
        };
        let (filter, shape) = (range.filter, self.policy().shape(num_keys));
        filter.len() == shape.filter_len() && filter.last() == Some(&shape.num_probes())
    }
}

/// All choices that make the filter block of a reader of these keys.
pub(crate) fn choices(keys: &Keys, reader: &Reader<'_>) -> Vec<Choice> {
    let Some(ranges) = ranges(keys, reader) else { return Vec::new() };
    let mut choices = Vec::new();
    for choice in [Choice::Leveldb, Choice::Tuned] {
        // Nothing is built before all shapes fit, since damaged offsets can ask for any memory.
        let fits = |choice: &Choice| ranges.iter().all(|range| choice.fits(range));
        let fitting: Vec<_> = (0..=MAX_BITS_PER_KEY).map(choice).filter(fits).collect();
        // Filters of the same shapes have the same bytes, so one choice tells of all.
        let block = fitting.first().map(|of| keys.filter_block(of.builder(reader.base_lg())));
        if block.is_some_and(|block| block == *reader.contents()) {
            choices.extend(fitting);
        }
    }
    choices
}

/// The ranges with keys; `None` if one has no filter.
fn ranges<'a>(keys: &Keys, reader: &'a Reader<'_>) -> Option<Vec<Range<'a>>> {
    let (mut ranges, mut last) = (Vec::<Range<'a>>::new(), None);
    for (offset, key) in keys.iter() {
        let (index, hash) = (offset >> reader.base_lg(), bloom_hash(key));
        if last.is_none_or(|(last, _)| last != index) {
            let filter = reader.filter(offset).filter(|filter| !filter.is_empty())?;
            ranges.push(Range { filter, num_keys: 0, num_distinct: 0 });
        }
        let range = ranges.last_mut().expect("pushed above");
        range.num_keys += 1;
        range.num_distinct += usize::from(last != Some((index, hash)));
        last = Some((index, hash));
    }
    Some(ranges)
}
