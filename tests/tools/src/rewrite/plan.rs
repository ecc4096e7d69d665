//! Chooses the filters of each table, and makes the new file.

use std::error::Error;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterPolicy};

use super::Options;
use crate::database::ranges::BYTEWISE;
use crate::survey::filters::{KeySurvey, TRAILER_LEN, filter_block};
use crate::survey::inspection::{Filters, Inspection};
use crate::survey::lookups::{Asked, Candidate, RANDOM};
use crate::survey::sample::{BETWEEN, OWN};
use crate::survey::settings::{BASE_LG, MIN_FILTER_LEN};
use crate::survey::{Survey, judge};
use crate::table::Table;
use crate::table::replace::{self, NAMES, read};
use crate::terminal::Progress;

/// The best first: filters of few keys are the better the longer they are, if there is room.
const MIN_FILTER_LENS: [usize; 4] = [MIN_FILTER_LEN, 1_024, 512, 0];
/// Bits per key are raised in steps until keys with random hashes waste fewer reads than before (a
/// bit fewer: rates are measured), and by some more steps if other keys need them.
const MILLIBITS_PER_STEP: usize = 250;
const USUAL_BITS: usize = 10;
/// Filters of fewer bits per key are replaced; tuned ones have somewhat fewer than are asked for.
const ENOUGH: usize = 9;
const MAX_STEPS: usize = 40;
const MAX_MORE: usize = 8;
const FEWER: f64 = 0.95;

/// The filters that a table gets, or has.
pub(crate) struct Plan {
    policy: BloomFilterPolicy,
    pub(crate) place: replace::Filters,
    candidate: Candidate,
    is_todays: bool,
}

/// Why a table stays as it is.
pub(crate) enum Left {
    Alone(&'static str),
    Failed(String),
}

/// Those that the survey's outcome has.
pub(crate) const BELOW: &str = "for the reasons below";
const ALREADY: &str = "with such filters already";
const UNLISTED: &str = "it has added filters; only a MANIFEST tells its length: name the database";

const ALONE: &str = "without usable filters; added ones need a MANIFEST: name the directory";
const NO_ORDER: &str = "without usable filters and without a known order";
const REPAIRED: &str =
    "with added filters that a repair counts to the table: compact it before it gets others";

impl<E: ToString> From<E> for Left {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Raises the bits per key of all tables alike until no kind of lookups loses, or of each alone.
pub(crate) fn choose(
    survey: &Survey<'_>,
    options: &Options,
    progress: &Progress,
) -> Vec<Result<Plan, Left>> {
    let num_tables = survey.tables.len();
    let plan = |i, more| {
        progress.show(&format!("choosing filters: table {} of {num_tables}", i + 1));
        plan(survey, i, options, more)
    };
    let of_all = |more| -> Vec<_> { (0..num_tables).map(|i| plan(i, more)).collect() };
    let before = Candidate::today(survey);
    let is_asked = options.bits_per_key.is_some();
    let wins = |plans: &Vec<_>| is_asked || !loses(after(survey, plans), before);
    (0..=MAX_MORE).map(Some).map(of_all).find(wins).unwrap_or_else(|| of_all(None))
}

fn loses(after: Candidate, before: Candidate) -> bool {
    [BETWEEN, OWN].iter().any(|&kind| after.reads[kind] > before.reads[kind])
}

/// The sum over all tables, those that stay as they are included.
pub(crate) fn after(survey: &Survey<'_>, plans: &[Result<Plan, Left>]) -> Candidate {
    let planned = |i: usize| plans[i].as_ref().ok().map(|plan| plan.candidate);
    Candidate::sum(survey, |i| planned(i).or_else(|| Some(survey.table(i)?.today())))
}

/// The first filters that suffice for random hashes, and so many steps `more`; for `None`, the
/// first with which no kind of the table's lookups loses.
fn plan(
    survey: &Survey<'_>,
    i: usize,
    options: &Options,
    more: Option<usize>,
) -> Result<Plan, Left> {
    let today = today(survey, i, options).map_err(Left::Alone)?;
    let listed = &survey.group.tables[i];
    let (file, _) = read(&listed.path)?;
    let table = Table::open(&file)?;
    let layout = table.layout(&file)?.ok_or("bytes that LevelDB does not write")?;
    let file_len = file.len() as u64;
    match listed.place.as_ref().map(|place| place.contents.len) {
        of_manifest if of_manifest.unwrap_or(file_len) == layout.len as u64 => (),
        None => return Err(UNLISTED.into()),
        Some(len) if len == file_len => return Err(Left::Alone(REPAIRED)),
        Some(_) => return Err("its length differs from the MANIFEST's".into()),
    }
    let names = table.policy_names();
    let contents = table.filter_block().ok().flatten().unwrap_or_default();
    let keys = KeySurvey::of(&table)?;
    let (sample, trailer_len) = (survey.sample.as_ref(), today.place.trailer_len);
    let asked = Asked::of(sample, (&table, trailer_len), &keys.blocks, survey.lookups(i));
    // Both names, or those of today's filters, which the database's programs read.
    let ways = [&NAMES[..], &NAMES[..1], &NAMES[1..]];
    let ways = ways.into_iter().filter(|way| way.len() == 2 || names == *way);
    let room = |of: &[u8]| ways.clone().find(|way| layout.has_room(way, of.len()));
    let of_step = |step| {
        let millibits = today.policy.millibits_per_key() + step * MILLIBITS_PER_STEP;
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits).tuned();
        let policies = MIN_FILTER_LENS.map(|len| policy.with_min_filter_len(len)).into_iter();
        let mut choices = policies.map(|policy| (policy, made(policy, &keys, trailer_len)));
        let (policy, filters) = choices.find(|(_, of)| options.add || room(of).is_some())?;
        let room = room(&filters);
        let policy_names = room.unwrap_or(&NAMES);
        let place = replace::Filters { policy_names, is_appended: room.is_none(), ..today.place };
        let candidate = Candidate { num_bytes: filters.len(), reads: asked.reads(&filters) };
        let is_todays = filters[..] == contents[..] && names == policy_names;
        Some(Plan { policy, place, candidate, is_todays })
    };
    let is_asked = options.bits_per_key.is_some();
    let suffices = |Plan { candidate, .. }: &Plan| {
        is_asked
            || candidate.reads[RANDOM] <= FEWER * today.candidate.reads[RANDOM]
                && (more.is_some() || !loses(*candidate, today.candidate))
    };
    let plans = (0..=MAX_STEPS).map_while(of_step).filter(suffices);
    match plans.take(more.unwrap_or(0) + 1).last() {
        Some(plan) if plan.is_todays => Err(Left::Alone(ALREADY)),
        Some(plan) => Ok(plan),
        None if options.add => Err(Left::Alone("for which no better filters were found")),
        None => Err(Left::Alone("without room for better filters (--add makes it)")),
    }
}

/// Today's filters; where there are none, those of other tables, or `LevelDB`'s.
fn today(survey: &Survey<'_>, i: usize, options: &Options) -> Result<Plan, &'static str> {
    let table = survey.table(i).ok_or(BELOW)?;
    // Only a database's keys are known to be internal ones, and equal if their bytes are.
    let comparator = survey.group.database.as_ref().and_then(|of| of.comparator.as_deref());
    let is_bytewise = comparator == Some(BYTEWISE);
    let has_none = |of: &Inspection| matches!(of.filters, Filters::None | Filters::Damaged);
    let is_wrong = |table: &Result<_, _>| {
        judge(table).is_some() && table.as_ref().is_ok_and(|table| !has_none(table))
    };
    let asked = options.bits_per_key.map(BloomFilterPolicy::new);
    let todays = table.filters.known();
    let is_rewritten = todays.is_some_and(|of| of.base_lg >= BASE_LG);
    let has_enough = todays.is_some_and(|of| of.num_bits >= ENOUGH * table.num_keys);
    match &table.filters {
        _ if table.num_keys == 0 => return Err("without keys"),
        Filters::None if !options.add => return Err("without filters (--add adds them)"),
        _ if has_none(table) && comparator.is_none() => return Err(ALONE),
        _ if has_none(table) && !is_bytewise => return Err(NO_ORDER),
        // If others are not of whole keys, added ones would hide keys.
        _ if has_none(table) && survey.tables.iter().any(is_wrong) => return Err(BELOW),
        _ if is_wrong(&survey.tables[i]) => return Err(BELOW),
        _ if is_rewritten && has_enough && asked.is_none() => return Err(ALREADY),
        _ => (),
    }
    let mut others = survey.tables.iter().flatten().map(|table| &table.filters);
    let model = todays.or_else(|| others.find_map(Filters::known));
    let trailer_len = model.map_or(TRAILER_LEN, |of| of.trailer_len);
    let place = replace::Filters { policy_names: &NAMES, is_appended: false, trailer_len };
    // Fewer bits than usual are kept only where the room is of as few.
    let least = if options.add || is_rewritten { USUAL_BITS } else { 0 };
    let bits_per_key = model.map_or(USUAL_BITS, |of| of.bits_per_key.max(least));
    let policy = asked.unwrap_or(BloomFilterPolicy::new(bits_per_key));
    Ok(Plan { policy, place, candidate: table.today(), is_todays: true })
}

/// A policy that gives no hashes, so that each key counts once.
struct Once(BloomFilterPolicy);

impl FilterPolicy for Once {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.0.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
}

fn made(policy: BloomFilterPolicy, keys: &KeySurvey, trailer_len: usize) -> Vec<u8> {
    let builder = FilterBlockBuilder::with_long_ranges(Once(policy));
    let known = keys.candidates.iter().find(|keys| keys.trailer_len == trailer_len);
    filter_block(builder, &keys.blocks, &known.unwrap_or(keys.likeliest()).hashes)
}

impl Plan {
    pub(crate) fn carry_out(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let Self { policy, place, .. } = self;
        place.put(path, |table| Ok(made(*policy, &KeySurvey::of(table)?, place.trailer_len)))
    }
}
