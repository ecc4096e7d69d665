//! Chooses the filters of each table, and makes the new file.

use std::error::Error;
use std::fs;

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader};

use super::Options;
use crate::inspect_table::filters::FilterBlock;
use crate::inspect_table::lookups::{Asked, Lookups, RANDOM, Reads};
use crate::inspect_table::sample::{BETWEEN, OWN, Sample, Tables};
use crate::inspect_table::survey::Survey;
use crate::inspect_table::table::{Filters, KeySurvey, SurveyedBlock, TRAILER_LEN};
use crate::random::key_with_hash;
use crate::table::Table;
use crate::table::writer::{with_filters_appended, with_filters_in_place};

/// A filter covers 512 KiB of the file and 4,000 keys, or more.
const BASE_LG: u8 = 19;
const MIN_KEYS: usize = 4_000;
/// The best first: filters of few keys are the better the longer they are, if there is room.
const MIN_FILTER_LENS: [usize; 4] = [2_048, 1_024, 512, 0];
/// How bits per key are raised until random hashes waste fewer reads than before, and further.
const MILLIBITS_PER_STEP: usize = 250;
const MAX_STEPS: usize = 40;
const MAX_MORE: usize = 8;
/// Rates are measured.
const FEWER: f64 = 0.95;
/// Lookups in so many tables measure them together.
const TABLES_TOGETHER: usize = 8;

const NO_ROOM: Left = Left::Alone("without room for better filters (--add makes it)");
const ALREADY: Left = Left::Alone("with such filters already");
const CHANGED: &str = "it has changed meanwhile: close the database";
const WRONG: &str = "the new file proved wrong, so the old one stays";

/// The filters that a table gets.
#[derive(Clone)]
pub(crate) struct Plan {
    policy_name: String,
    policy: BloomFilterPolicy,
    trailer_len: usize,
    pub(crate) is_appended: bool,
    pub(crate) num_bytes: usize,
    pub(crate) reads_before: Reads,
    pub(crate) reads: Reads,
}

/// Why a table stays as it is.
pub(crate) enum Left {
    Alone(&'static str),
    Failed(String),
}

impl<E: ToString> From<E> for Left {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Raises the bits per key of all tables alike, until no kind of lookups loses.
pub(crate) fn choose(
    survey: &Survey<'_>,
    options: &Options,
    progress: impl Fn(usize),
) -> Vec<Result<Plan, Left>> {
    let plans = (0..survey.tables.len()).map(|i| {
        progress(i);
        possible(survey, i, options)
    });
    let tables: Vec<_> = plans.collect();
    let nth = |plans: &[Plan], n: usize| plans[n.min(plans.len() - 1)].clone();
    let sum = |of: &dyn Fn(&[Plan]) -> Reads| {
        survey.reads(|i| tables[i].as_ref().ok().map(|plans| of(plans)))
    };
    let loses = |reads: Reads, before: Reads| [BETWEEN, OWN].iter().any(|&i| reads[i] > before[i]);
    let before = sum(&|plans| plans[0].reads_before);
    let is_asked = options.bits_per_key.is_some();
    let n = (0..=MAX_MORE).find(|&n| is_asked || !loses(sum(&|plans| nth(plans, n).reads), before));
    let choose = |plans: Vec<Plan>| match n {
        Some(n) => Ok(nth(&plans, n)),
        None => plans.into_iter().find(|plan| !loses(plan.reads, plan.reads_before)).ok_or(NO_ROOM),
    };
    tables.into_iter().map(|plans| plans.and_then(choose)).collect()
}

/// The filters that a table could have, in the order of their bits per key.
fn possible(survey: &Survey<'_>, i: usize, options: &Options) -> Result<Vec<Plan>, Left> {
    let listed = &survey.group.tables[i];
    let (policy_name, millibits) = wanted(survey, i, options)?;
    if fs::symlink_metadata(&listed.path)?.is_symlink() {
        return Err("a symbolic link: name the directory that it leads to".into());
    }
    let file = fs::read(&listed.path)?;
    let table = Table::open(&file)?;
    let layout = table.layout(&file)?.ok_or("bytes that LevelDB does not write")?;
    if listed.place.as_ref().map_or(file.len() as u64, |of| of.contents.len) != layout.len as u64 {
        return Err("its length differs from the MANIFEST's".into());
    }
    let block = table.filter_block()?;
    let today = block.as_ref().map_or(&[][..], |block| &block.contents);
    let is_asked = options.bits_per_key.is_some();
    if !is_asked && today.last().is_some_and(|&base_lg| base_lg >= BASE_LG) {
        return Err(ALREADY);
    }
    let key_survey = KeySurvey::of(&table)?;
    let of_block = block.as_ref().map(|of| FilterBlock::of(of, &key_survey, file.len() as u64).1);
    let keys = of_block.unwrap_or(key_survey.likeliest());
    let trailer_len = keys.trailer_len;
    if block.is_none() && trailer_len != TRAILER_LEN {
        return Err("its keys are no internal keys".into());
    }
    let visit = Box::new(|_, visit: &mut dyn FnMut(&Table<'_>)| visit(&table));
    let alone = Tables { number: 1, ranges: None, trailer_len, visit };
    let own = survey.sampled.is_none().then(|| Sample::draw(&alone));
    let sample = survey.sampled.as_ref().map(|(sample, tables)| (sample, tables, i));
    let sample = sample.or(own.as_ref().map(|own| (own, &alone, 0))).expect("one of both");
    let lookups = survey.lookups(i);
    let lookups = Lookups { num_tables: lookups.num_tables.min(TABLES_TOGETHER), ..lookups };
    let asked = Asked::of(sample, &table, &key_survey.blocks, lookups);
    let reads_before = asked.reads(today);
    let mut plans = Vec::new();
    for step in 0..=MAX_STEPS {
        let policy =
            BloomFilterPolicy::from_millibits_per_key(millibits + step * MILLIBITS_PER_STEP);
        let make = |min_len: usize| {
            let policy = policy.tuned().with_min_filter_len(min_len);
            (policy, filter_block(policy, &key_survey.blocks, &keys.hashes))
        };
        let fits = |(_, new): &(_, Vec<u8>)| {
            matches!(with_filters_in_place(&table, &file, &policy_name, new), Ok(Some(_)))
        };
        let in_place = MIN_FILTER_LENS.into_iter().map(make).find(fits);
        let is_appended = in_place.is_none();
        let chosen = in_place.or_else(|| options.add.then(|| make(MIN_FILTER_LENS[0])));
        let Some((policy, new)) = chosen else { break };
        if new == today {
            return Err(ALREADY);
        }
        let reads = asked.reads(&new);
        if is_asked || reads[RANDOM] <= FEWER * reads_before[RANDOM] {
            let (policy_name, num_bytes) = (policy_name.clone(), new.len());
            plans.push(Plan {
                policy_name,
                policy,
                trailer_len,
                is_appended,
                num_bytes,
                reads_before,
                reads,
            });
        }
        if is_asked || plans.len() > MAX_MORE {
            break;
        }
    }
    if plans.is_empty() { Err(NO_ROOM) } else { Ok(plans) }
}

/// The name and the least millibits per key of the filters that a table should have.
fn wanted(survey: &Survey<'_>, i: usize, options: &Options) -> Result<(String, usize), Left> {
    let table = survey.table(i).ok_or(Left::Alone("that cannot be read"))?;
    let known = |filters: &FilterBlock| {
        let policy = filters.policy.filter(|_| filters.is_remade && filters.num_hidden == 0)?;
        Some((filters.policy_name.clone(), policy.millibits_per_key()))
    };
    let (name, millibits) = match &table.filters {
        _ if table.num_keys == 0 => return Err(Left::Alone("without keys")),
        Filters::OfUnknownPolicy(_) => return Err(Left::Alone("with filters of another policy")),
        Filters::Known(filters) => match known(filters) {
            None if filters.num_hidden > 0 => {
                return Err(Left::Alone("with filters that hide keys"));
            }
            None => return Err(Left::Alone("with filters that differ from their policy's")),
            Some(known) => known,
        },
        Filters::None if !options.add => {
            return Err(Left::Alone("without filters (--add adds them)"));
        }
        Filters::None => {
            let filters = survey.tables.iter().flatten().map(|table| &table.filters);
            let mut others = filters.filter_map(|filters| match filters {
                Filters::Known(filters) => known(filters),
                _ => None,
            });
            let name = options.name.unwrap_or(BloomFilterPolicy::NAME);
            // Only equal bytes are equal keys.
            let comparator = survey.group.database.as_ref().map(|of| of.comparator.as_deref());
            let is_bytewise = comparator == Some(Some("leveldb.BytewiseComparator"));
            let usual =
                comparator.and(others.next()).or(is_bytewise.then(|| (name.into(), 10_000)));
            usual.ok_or(Left::Alone("without filters and without a known order"))?
        }
    };
    Ok((name, options.bits_per_key.map_or(millibits, |bits| 1_000 * bits)))
}

/// The filter block of a table whose keys have these hashes.
fn filter_block(
    policy: BloomFilterPolicy,
    blocks: &[SurveyedBlock],
    mut hashes: &[BloomHash],
) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_base_lg(policy, BASE_LG).with_min_keys(MIN_KEYS);
    builder.start_block(0);
    for block in blocks {
        builder.start_block(block.offset);
        let (of_block, rest) = hashes.split_at(block.num_keys);
        for hash in of_block {
            builder.add_key(&key_with_hash(hash.to_u32()));
        }
        hashes = rest;
    }
    builder.start_block(blocks.last().map_or(0, |block| block.end));
    builder.finish()
}

impl Plan {
    /// The table's file with the filters, made from its keys.
    pub(crate) fn apply(&self, file: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        let table = Table::open(file)?;
        let survey = KeySurvey::of(&table)?;
        let keys = survey.candidates.iter().find(|keys| keys.trailer_len == self.trailer_len);
        let filters = filter_block(self.policy, &survey.blocks, &keys.ok_or(CHANGED)?.hashes);
        let put = if self.is_appended { with_filters_appended } else { with_filters_in_place };
        Ok(put(&table, file, &self.policy_name, &filters)?.ok_or(CHANGED)?)
    }

    /// Whether the new file has all keys and values where they were, and filters that match each.
    pub(crate) fn check(&self, old: &[u8], new: &[u8]) -> Result<(), Box<dyn Error>> {
        let [old_table, table] = [Table::open(old)?, Table::open(new)?];
        let before = old_table.layout(old)?.ok_or(WRONG)?;
        let after = table.layout(new)?.ok_or(WRONG)?;
        let filters = table.filter_block()?.ok_or(WRONG)?;
        let mut is_right = (&before.index, before.len) == (&after.index, after.len)
            && (self.is_appended || new.len() == old.len())
            && old[..before.data_end] == new[..before.data_end]
            && old[before.index.clone()] == new[before.index]
            && filters.policy_name == self.policy_name;
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters.contents[..]);
        for block in table.data_blocks() {
            table.visit_keys(block, |key| {
                let user_key = &key[..key.len().saturating_sub(self.trailer_len)];
                is_right &= reader.key_may_match(block.offset(), user_key);
            })?;
        }
        if is_right { Ok(()) } else { Err(WRONG.into()) }
    }
}
