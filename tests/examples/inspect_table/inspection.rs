//! What a table's filters are, find, and save.

use std::collections::BTreeSet;
use std::error::Error;
use std::ops::RangeInclusive;

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy,
};

use crate::table::{FilterBlock, Table, TableError};

const NUM_ABSENT_KEYS: usize = 100_000;

type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

pub(crate) struct Inspection {
    pub(crate) policy_name: String,
    /// Whose name for the policy it is.
    pub(crate) name_origin: &'static str,
    pub(crate) key_kind: KeyKind,
    pub(crate) num_blocks: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_found: usize,
    pub(crate) filters: FilterTotals,
    /// `None` where the filters' sizes fit no policy, or there are none.
    pub(crate) shape: Option<FilterShape>,
    pub(crate) absent: AbsentLookups,
    pub(crate) rebuilt_is_identical: bool,
}

impl Inspection {
    pub(crate) fn of(file: &[u8]) -> Result<Self, Box<dyn Error>> {
        let table = Table::open(file)?;
        let FilterBlock { policy_name, contents } =
            table.filter_block()?.ok_or("the table has no filter")?;
        let contents = &contents[..];
        let name_origin = match &policy_name[..] {
            BloomFilterPolicy::NAME => "LevelDB's name",
            BloomFilterPolicy::GOLEVELDB_NAME => "goleveldb's name, LevelDB's before 1.18",
            _ => return Err(unknown_policy(&policy_name).into()),
        };
        let blocks = read_blocks(&table)?;
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), contents);

        let shape = FilterShape::of(&reader, &blocks, contents);
        let bloom = shape.as_ref().map_or_else(Default::default, FilterShape::policy);
        let (num_found, rebuilt_is_identical, key_kind) = KeyKind::candidates(&blocks)
            .map(|kind| {
                let policy = kind.policy(bloom);
                let num_found = count_found(&policy, &blocks, contents);
                (num_found, rebuild(&policy, &blocks) == contents, kind)
            })
            .max()
            .ok_or("no kind of key fits")?;

        Ok(Self {
            policy_name,
            name_origin,
            key_kind,
            num_blocks: blocks.len(),
            num_keys: blocks.iter().map(|block| block.keys.len()).sum(),
            num_found,
            filters: FilterTotals::of(&reader, contents, file.len()),
            shape,
            absent: AbsentLookups::of(&reader, &blocks, key_kind)?,
            rebuilt_is_identical,
        })
    }
}

struct DataBlock {
    offset: u64,
    end: u64,
    index_key: Vec<u8>,
    keys: Vec<Vec<u8>>,
}

fn read_blocks(table: &Table<'_>) -> Result<Vec<DataBlock>, TableError> {
    table
        .data_blocks()
        .iter()
        .map(|block| {
            let mut keys = Vec::new();
            table.visit_keys(block, |key| keys.push(key.to_vec()))?;
            let (offset, end) = (block.offset(), block.end);
            Ok(DataBlock { offset, end, index_key: block.index_key.clone(), keys })
        })
        .collect()
}

fn unknown_policy(name: &str) -> String {
    let known = [BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME].join(" and ");
    // Quoted, with escapes: a name from a file may hold anything.
    format!("the filter policy {name:?} is unknown; known are {known}")
}

/// Which part of a table's keys its filters hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyKind {
    /// All of each key.
    User,
    /// Each key without its trailer.
    Internal,
}

impl KeyKind {
    const TRAILER_LEN: usize = 8;

    /// User keys may end in what could be trailers, so where both kinds are possible the filters
    /// have to tell.
    fn candidates(blocks: &[DataBlock]) -> impl Iterator<Item = Self> {
        let could_be_internal = blocks.iter().flat_map(|block| &block.keys).all(|key| {
            // The trailer begins with the value type: 0 for a deletion, 1 for a value.
            key.last_chunk::<{ Self::TRAILER_LEN }>().is_some_and(|trailer| trailer[0] <= 1)
        });
        let num_candidates = if could_be_internal { 2 } else { 1 };
        [Self::User, Self::Internal].into_iter().take(num_candidates)
    }

    fn policy(self, bloom: BloomFilterPolicy) -> Box<dyn FilterPolicy> {
        match self {
            Self::User => Box::new(bloom),
            Self::Internal => Box::new(InternalKeyPolicy::new(bloom)),
        }
    }

    fn user_key(self, key: &[u8]) -> &[u8] {
        match self {
            Self::User => key,
            Self::Internal => &key[..key.len().saturating_sub(Self::TRAILER_LEN)],
        }
    }
}

fn count_found(policy: &dyn FilterPolicy, blocks: &[DataBlock], contents: &[u8]) -> usize {
    let reader = FilterBlockReader::new(policy, contents);
    let found_in = |block: &DataBlock| {
        block.keys.iter().filter(|key| reader.key_may_match(block.offset, key)).count()
    };
    blocks.iter().map(found_in).sum()
}

/// The filter block that this crate makes of the table's keys.
fn rebuild(policy: &dyn FilterPolicy, blocks: &[DataBlock]) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::new(policy);
    builder.start_block(0);
    for block in blocks {
        for key in &block.keys {
            builder.add_key(key);
        }
        builder.start_block(block.end);
    }
    builder.finish()
}

#[derive(Default)]
pub(crate) struct FilterTotals {
    pub(crate) filters: usize,
    pub(crate) empty: usize,
    pub(crate) bytes: usize,
    /// Of all filters, without the bytes that hold the numbers of probes.
    pub(crate) bits: usize,
}

impl FilterTotals {
    fn of(reader: &Reader<'_>, contents: &[u8], file_len: usize) -> Self {
        let mut totals = Self::default();
        let range_len = 1usize.checked_shl(base_lg(contents)).unwrap_or(usize::MAX);
        for offset in (0..file_len).step_by(range_len) {
            let Some(filter) = reader.filter(offset as u64) else { continue };
            totals.filters += 1;
            totals.empty += usize::from(filter.is_empty());
            totals.bytes += filter.len();
            totals.bits += filter.len().saturating_sub(1) * 8;
        }
        totals
    }
}

/// The binary logarithm of the length of file that a filter is for; LevelDB always writes 11.
fn base_lg(contents: &[u8]) -> u32 {
    contents.last().copied().unwrap_or_default().into()
}

/// What the filters' sizes tell about the policy that made them.
pub(crate) struct FilterShape {
    pub(crate) num_probes: u8,
    /// Any of these makes the same filters.
    pub(crate) bits_per_key: RangeInclusive<usize>,
}

impl FilterShape {
    fn of(reader: &Reader<'_>, blocks: &[DataBlock], contents: &[u8]) -> Option<Self> {
        let range_of = |block: &DataBlock| block.offset.checked_shr(base_lg(contents));
        let mut shape: Option<Self> = None;
        let mut num_bytes = 0;
        for sharing in blocks.chunk_by(|a, b| range_of(a) == range_of(b)) {
            let num_keys = sharing.iter().map(|block| block.keys.len()).sum();
            let filter = reader.filter(sharing[0].offset)?;
            // Filters that overlap would take more memory to rebuild than the file has.
            num_bytes += filter.len();
            if num_bytes > contents.len() {
                return None;
            }
            let one = Self::of_filter(filter, num_keys)?;
            shape = Some(match shape {
                None => one,
                Some(all) => all.intersection(&one)?,
            });
        }
        shape.map(Self::narrowed)
    }

    fn of_filter(filter: &[u8], num_keys: usize) -> Option<Self> {
        let (&num_probes, bits) = filter.split_last()?;
        let most = (bits.len() * 8).checked_div(num_keys)?;
        let fewest = match bits.len() {
            0..8 => return None,
            8 => 0,
            len => (len - 1) * 8 / num_keys + 1,
        };
        let possible = (1..=30).contains(&num_probes) && fewest <= most;
        possible.then_some(Self { num_probes, bits_per_key: fewest..=most })
    }

    fn intersection(&self, other: &Self) -> Option<Self> {
        let fewest = *self.bits_per_key.start().max(other.bits_per_key.start());
        let most = *self.bits_per_key.end().min(other.bits_per_key.end());
        let possible = self.num_probes == other.num_probes && fewest <= most;
        possible.then_some(Self { num_probes: self.num_probes, bits_per_key: fewest..=most })
    }

    /// To where LevelDB takes this number of probes, unless the writer chose another.
    fn narrowed(self) -> Self {
        let usual = |bits: &usize| BloomFilterPolicy::new(*bits).num_probes() == self.num_probes;
        let fewest = self.bits_per_key.clone().find(usual);
        let most = self.bits_per_key.clone().rfind(usual);
        match (fewest, most) {
            (Some(fewest), Some(most)) => Self { bits_per_key: fewest..=most, ..self },
            _ => self,
        }
    }

    fn policy(&self) -> BloomFilterPolicy {
        BloomFilterPolicy::new(*self.bits_per_key.start()).with_num_probes(self.num_probes)
    }
}

/// What look-ups of keys that the table lacks would meet.
#[derive(Default)]
pub(crate) struct AbsentLookups {
    /// Above the last index key: an engine asks no filter and reads no data block.
    pub(crate) above: usize,
    /// Keys for which one filter was asked: that of the data block where the key would be.
    pub(crate) asked: usize,
    pub(crate) matched: usize,
}

impl AbsentLookups {
    fn of(reader: &Reader<'_>, blocks: &[DataBlock], kind: KeyKind) -> Result<Self, &'static str> {
        let in_order = blocks
            .iter()
            .flat_map(|block| block.keys.iter().chain([&block.index_key]))
            .is_sorted_by_key(|key| kind.user_key(key));
        if !in_order {
            return Err("the keys are not in bytewise order, and no other is known here");
        }
        let user_keys =
            blocks.iter().flat_map(|block| &block.keys).map(|key| kind.user_key(key)).collect();

        let mut lookups = Self::default();
        for key in absent_keys(&user_keys) {
            let place = blocks.partition_point(|block| kind.user_key(&block.index_key) < &key[..]);
            match blocks.get(place) {
                None => lookups.above += 1,
                Some(block) => {
                    lookups.asked += 1;
                    lookups.matched += usize::from(reader.key_may_match(block.offset, &key));
                }
            }
        }
        Ok(lookups)
    }
}

/// Keys like those of the table: each with one byte changed, and a number appended.
fn absent_keys(user_keys: &BTreeSet<&[u8]>) -> impl Iterator<Item = Vec<u8>> {
    user_keys
        .iter()
        .cycle()
        .zip(0usize..)
        .map(|(key, i)| {
            let mut key = key.to_vec();
            if let Some(place) = i.checked_rem(key.len()) {
                key[place] ^= i.to_le_bytes()[0] | 1;
            }
            key.extend(format!("{i:06}").bytes());
            key
        })
        .filter(|key| !user_keys.contains(&key[..]))
        .take(NUM_ABSENT_KEYS)
}
