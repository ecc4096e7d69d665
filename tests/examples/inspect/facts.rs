//! What is known of one table.

use std::io;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::table::{Filters, Keys, Table};
use crate::figures::Figures;
use crate::same_bytes::{Choice, Reader, choices};

/// LevelDB reads filters of the first name, and goleveldb reads filters of the second.
const NAMES: [&str; 2] = [BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME];

pub(crate) struct Facts {
    pub(crate) num_entries: usize,
    pub(crate) filters: TableFilters,
}

pub(crate) enum TableFilters {
    /// The figures are of long ranges.
    None(Figures),
    /// What is wrong with them.
    Damaged(String),
    /// The name of a policy that only its program knows.
    Foreign(String),
    Bloom(BloomFilters),
}

/// The filters of a table under a known name.
pub(crate) struct BloomFilters {
    pub(crate) policy_name: String,
    /// How many are not empty.
    pub(crate) num_filters: usize,
    pub(crate) num_bits: u64,
    /// How many entries do not pass their filters.
    pub(crate) num_rejected: usize,
    /// The policies that make the same bytes.
    pub(crate) choices: Vec<Choice>,
    /// Of these filters, and of long ranges.
    pub(crate) figures: [Figures; 2],
}

impl Facts {
    pub(crate) fn of(file: &[u8]) -> io::Result<Self> {
        let table = Table::open(file)?;
        let keys = Keys::of(&table)?;
        let num_entries = keys.len();
        let filters = match table.filters() {
            Err(why) => TableFilters::Damaged(why.to_string()),
            Ok(None) => TableFilters::None(of_table_without_filters(keys)),
            Ok(Some(filters)) => TableFilters::of(filters, keys),
        };
        Ok(Self { num_entries, filters })
    }
}

impl TableFilters {
    fn of(Filters { policy_name, contents }: Filters<'_>, keys: Keys) -> Self {
        if !NAMES.contains(&&*policy_name) {
            return Self::Foreign(policy_name);
        }
        let reader = Reader::new(BloomFilterPolicy::default(), &contents);
        if reader.is_malformed() {
            return Self::Damaged("the block is malformed".into());
        }
        if keys.len() > 0 && filters(&reader).next().is_none() {
            return Self::Damaged("the block has none".into());
        }
        Self::Bloom(BloomFilters::of(policy_name, &reader, keys))
    }
}

impl BloomFilters {
    fn of(policy_name: String, reader: &Reader<'_>, keys: Keys) -> Self {
        let (keys, num_rejected) = without_trailers(reader, keys);
        let (mut num_filters, mut num_bits) = (0, 0_u64);
        for filter in filters(reader) {
            num_filters += 1;
            // Damaged offsets may let filters overlap.
            num_bits = num_bits.saturating_add(8 * (filter.len() as u64 - 1));
        }
        let has_filter = |offset| reader.filter(offset).is_some_and(|filter| !filter.is_empty());
        let blocks = [reader.contents(), &long_ranges(&keys)[..]];
        Self {
            policy_name,
            num_filters,
            num_bits,
            num_rejected,
            choices: choices(&keys, reader),
            figures: Figures::of(blocks, &keys, reader.base_lg(), has_filter),
        }
    }
}

/// The filters that are not empty.
fn filters<'a>(reader: &'a Reader<'_>) -> impl Iterator<Item = &'a [u8]> {
    let last = u64::MAX >> reader.base_lg();
    let indices = (0..reader.num_filters() as u64).take_while(move |&index| index <= last);
    let filters = indices.filter_map(|index| reader.filter(index << reader.base_lg()));
    filters.filter(|filter| !filter.is_empty())
}

fn of_table_without_filters(keys: Keys) -> Figures {
    let keys = if keys.look_internal() { keys.into_user_keys() } else { keys };
    // One range for the whole table.
    let [figures] = Figures::of([&long_ranges(&keys)], &keys, 63, |_| true);
    figures
}

fn long_ranges(keys: &Keys) -> Vec<u8> {
    keys.filter_block(FilterBlockBuilder::with_long_ranges(Choice::Tuned(10).policy()))
}

/// The keys without trailers, unless more whole keys pass their filters, and how many do not pass.
fn without_trailers(reader: &Reader<'_>, whole: Keys) -> (Keys, usize) {
    let rejected = |keys: &Keys| {
        keys.iter().filter(|(offset, key)| !reader.key_may_match(*offset, key)).count()
    };
    let of_whole = rejected(&whole);
    if !whole.can_be_internal() {
        return (whole, of_whole);
    }
    let mut keys = whole.into_user_keys();
    let of_user_keys = rejected(&keys);
    if of_user_keys > of_whole {
        keys.trailer_len = 0;
    }
    (keys, of_user_keys.min(of_whole))
}
