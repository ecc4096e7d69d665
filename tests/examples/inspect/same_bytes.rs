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

/// A filter, and for how many keys its length is chosen.
type Sized<'a> = (&'a [u8], usize);

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

    fn fits(self, (filter, num_keys): Sized<'_>) -> bool {
        let shape = self.policy().shape(num_keys);
        filter.len() == shape.filter_len() && filter.last() == Some(&shape.num_probes())
    }
}

/// All choices that make the filter block of a reader of these keys.
pub(crate) fn choices(keys: &Keys, reader: &Reader<'_>) -> Vec<Choice> {
    let Some(filters) = filters(keys, reader) else { return Vec::new() };
    // The first filter is enough here, because how far long ranges reach follows from the keys.
    let first = filters.first().map(|&(filter, _)| (filter, first_in_long_ranges(keys, reader)));
    let leveldb = with_all(Choice::Leveldb, &filters);
    let tuned = with_all(Choice::Tuned, first.as_slice());
    let makes_the_block =
        |of: &Choice| keys.filter_block(of.builder(reader.base_lg())) == *reader.contents();
    leveldb.chain(tuned).filter(makes_the_block).collect()
}

/// The choices whose filters of so many keys have these lengths and numbers of probes. No other is
/// built, because damaged offsets can ask for any memory.
fn with_all(choice: fn(usize) -> Choice, filters: &[Sized<'_>]) -> impl Iterator<Item = Choice> {
    let fits = |choice: &Choice| filters.iter().all(|&filter| choice.fits(filter));
    (0..=MAX_BITS_PER_KEY).map(choice).filter(fits)
}

/// The filters of the ranges with keys; `None` if such a range has no filter.
fn filters<'a>(keys: &Keys, reader: &'a Reader<'_>) -> Option<Vec<Sized<'a>>> {
    let (mut filters, mut last) = (Vec::<Sized<'a>>::new(), None);
    for (offset, _) in keys.iter() {
        let index = Some(offset >> reader.base_lg());
        if last != index {
            filters.push((reader.filter(offset).filter(|filter| !filter.is_empty())?, 0));
        }
        filters.last_mut().expect("pushed above").1 += 1;
        last = index;
    }
    Some(filters)
}

/// For how many keys long ranges choose the length of the first filter, if it has these keys.
fn first_in_long_ranges(keys: &Keys, reader: &Reader<'_>) -> usize {
    let mut builder = FilterBlockBuilder::with_long_ranges(BloomFilterPolicy::default());
    let first = keys.iter().take_while(|(offset, _)| offset >> reader.base_lg() == 0);
    first.for_each(|(_, key)| builder.add_key(key));
    builder.next_filter_num_keys()
}
