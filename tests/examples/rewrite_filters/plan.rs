//! Chooses the filters of each table, and makes the new file.

use std::error::Error;
use std::fs;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::Options;
use crate::inspect_table::filters::{FilterBlock, filter_block};
use crate::inspect_table::lookups::{Asked, RANDOM, Reads};
use crate::inspect_table::sample::{BETWEEN, OWN};
use crate::inspect_table::settings::{BASE_LG, MIN_FILTER_LEN, MIN_KEYS};
use crate::inspect_table::survey::Survey;
use crate::inspect_table::table::{Filters, KeySurvey, Keys, TRAILER_LEN};
use crate::table::Table;
use crate::table::replace::Filters as Place;
use crate::table::writer::with_filters_in_place;

/// The best first: filters of few keys are the better the longer they are, if there is room.
const MIN_FILTER_LENS: [usize; 4] = [MIN_FILTER_LEN, 1_024, 512, 0];
/// Bits per key are raised in steps until keys with random hashes waste fewer reads than before (a
/// bit fewer: rates are measured), and by some more steps if other keys need them.
const MILLIBITS_PER_STEP: usize = 250;
const MAX_STEPS: usize = 40;
const MAX_MORE: usize = 8;
const FEWER: f64 = 0.95;
/// The lookups of random hashes are divided between so many tables at most.
const MAX_DIVIDED: usize = 8;

const ALREADY: Left = Left::Alone("with such filters already");

/// The filters that a table gets.
#[derive(Clone)]
pub(crate) struct Plan {
    policy: BloomFilterPolicy,
    pub(crate) place: Place,
    pub(crate) num_bytes: usize,
    pub(crate) reads_before: Reads,
    pub(crate) reads: Reads,
}

/// Why a table stays as it is.
pub(crate) enum Left {
    Alone(&'static str),
    Failed(String),
    /// As the survey says.
    Unfit,
}

impl<E: ToString> From<E> for Left {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

fn none_better(options: &Options) -> Left {
    Left::Alone(if options.add {
        "for which no better filters were found"
    } else {
        "without room for better filters (--add makes it)"
    })
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
    let choose = |plans: Vec<Plan>| {
        let of_all = n.map(|n| nth(&plans, n));
        let of_table = || plans.into_iter().find(|plan| !loses(plan.reads, plan.reads_before));
        of_all.or_else(of_table).ok_or(none_better(options))
    };
    tables.into_iter().map(|plans| plans.and_then(choose)).collect()
}

/// The filters that a table could have, in the order of their bits per key.
fn possible(survey: &Survey<'_>, i: usize, options: &Options) -> Result<Vec<Plan>, Left> {
    let listed = &survey.group.tables[i];
    let (policy_name, millibits) = usual(survey, i, options)?;
    if fs::symlink_metadata(&listed.path)?.is_symlink() {
        return Err("a symbolic link: name the directory that it leads to".into());
    }
    let file = fs::read(&listed.path)?;
    let table = Table::open(&file)?;
    let layout = table.layout(&file)?.ok_or("bytes that LevelDB does not write")?;
    let len = listed.place.as_ref().map_or(file.len() as u64, |place| place.contents.len);
    if len != layout.len as u64 {
        return Err("its length differs from the MANIFEST's".into());
    }
    let block = table.filter_block()?;
    let today = block.as_ref().map_or(&[][..], |block| &block.contents);
    if options.bits_per_key.is_none() && today.last().is_some_and(|&lg| lg >= BASE_LG) {
        return Err(ALREADY);
    }
    let keys = KeySurvey::of(&table)?;
    let of_block = block.as_ref().map(|block| FilterBlock::of(block, &keys, len).1);
    let (blocks, keys) = (&keys.blocks, of_block.unwrap_or(keys.likeliest()));
    let trailer_len = keys.trailer_len;
    if block.is_none() && trailer_len != TRAILER_LEN {
        return Err("its keys are no internal keys".into());
    }
    let mut lookups = survey.lookups(i);
    lookups.num_tables = lookups.num_tables.min(MAX_DIVIDED);
    let asked = Asked::of(survey.sample.as_ref(), (&table, trailer_len), blocks, lookups);
    let reads_before = asked.reads(today);

    let fits = |(_, filters): &(_, Vec<u8>)| {
        matches!(with_filters_in_place(&table, &file, &policy_name, filters), Ok(Some(_)))
    };
    let mut plans = Vec::new();
    for step in 0..=MAX_STEPS {
        let millibits =
            options.bits_per_key.map_or(millibits + step * MILLIBITS_PER_STEP, |bits| 1_000 * bits);
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits).tuned();
        let make = |min_len| {
            let policy = policy.with_min_filter_len(min_len);
            (policy, filter_block(builder(policy), blocks, &keys.hashes))
        };
        // With both options, the filters that `inspect_table` has compared.
        let is_exact = options.add && options.bits_per_key.is_some();
        let num_lens = if is_exact { 1 } else { MIN_FILTER_LENS.len() };
        let in_place = MIN_FILTER_LENS.into_iter().take(num_lens).map(make).find(fits);
        let is_appended = in_place.is_none();
        let chosen = in_place.or_else(|| options.add.then(|| make(MIN_FILTER_LEN)));
        let Some((policy, filters)) = chosen else { break };
        if filters == today {
            return Err(ALREADY);
        }
        let place = Place { policy_name: policy_name.clone(), is_appended, trailer_len };
        let (num_bytes, reads) = (filters.len(), asked.reads(&filters));
        let plan = Plan { policy, place, num_bytes, reads_before, reads };
        if options.bits_per_key.is_some() {
            return Ok(vec![plan]);
        }
        if reads[RANDOM] <= FEWER * reads_before[RANDOM] {
            plans.push(plan);
        }
        if plans.len() > MAX_MORE {
            break;
        }
    }
    if plans.is_empty() { Err(none_better(options)) } else { Ok(plans) }
}

/// The name and the millibits per key of a table's filters; without any, those of other tables, or
/// `LevelDB`'s.
fn usual(survey: &Survey<'_>, i: usize, options: &Options) -> Result<(String, usize), Left> {
    let remade = |filters: &Filters| match filters {
        Filters::Known(of) if of.is_remade && of.num_hidden == 0 => {
            Some((of.policy_name.clone(), of.policy?.millibits_per_key()))
        }
        _ => None,
    };
    let table = survey.table(i).ok_or(Left::Unfit)?;
    match &table.filters {
        _ if table.num_keys == 0 => Err(Left::Alone("without keys")),
        Filters::None if !options.add => Err(Left::Alone("without filters (--add adds them)")),
        Filters::None => {
            // Only a database's keys are known to be internal ones, and equal if their bytes are.
            let comparator = survey.group.database.as_ref().map(|of| of.comparator.as_deref());
            let is_bytewise = comparator == Some(Some("leveldb.BytewiseComparator"));
            let name = options.name.unwrap_or(BloomFilterPolicy::NAME);
            let mut others = survey.tables.iter().flatten().map(|table| &table.filters);
            let usual = comparator.and(others.find_map(remade));
            let usual = usual.or(is_bytewise.then(|| (name.into(), 10_000)));
            usual.ok_or(Left::Alone("without filters and without a known order"))
        }
        filters => remade(filters).ok_or(Left::Unfit),
    }
}

fn builder(policy: BloomFilterPolicy) -> FilterBlockBuilder<BloomFilterPolicy> {
    FilterBlockBuilder::with_base_lg(policy, BASE_LG).with_min_keys(MIN_KEYS)
}

impl Plan {
    pub(crate) fn carry_out(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        self.place.put(path, |table| {
            let survey = KeySurvey::of(table)?;
            let of_kind = |keys: &&Keys| keys.trailer_len == self.place.trailer_len;
            let keys = survey.candidates.iter().find(of_kind).ok_or("other keys than before")?;
            Ok(filter_block(builder(self.policy), &survey.blocks, &keys.hashes))
        })
    }
}
