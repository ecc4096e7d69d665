//! What other filters would read, and how many bytes they would take.

use std::error::Error;

use leveldb_filter::{BloomFilterPolicy, BloomHash, SortedRun};

use super::filters::{LEVELDB_BASE_LG, filter_block, sharing_a_filter};
use super::lookups::{Asked, RANDOM, Reads};
use super::sample::{BETWEEN, OWN};
use super::survey::Survey;
use super::table::KeySurvey;
use crate::table::directory::open_regular_file;
use crate::table::{Source, Table};
use crate::terminal::{columns, grouped, wrapped};

/// One filter per 512 KiB of the file has some thousands of keys, the number at which this format
/// works best.
pub(crate) const TUNED_BASE_LG: u8 = 19;

const BITS_PER_KEY: [usize; 7] = [6, 8, 10, 12, 14, 16, 20];
/// `LevelDB`'s recommendation.
const USUAL_ROW: usize = 2;

/// A saving of less than a twentieth is not worth a change.
const WORTH_IT: f64 = 0.95;

/// A usable database has fewer sorted runs.
const MAX_RUNS: usize = 1_000;
const MAX_SHOWN: usize = 12;

const LEVELDBS: &str = "LevelDB's with 14 bits per key: NewBloomFilterPolicy(14), in plyvel \
    bloom_filter_bits=14, in goleveldb filter.NewBloomFilter(14).";
const OURS: &str = "This crate's with N bits per key, at all levels: \
    FilterBlockBuilder::with_base_lg(policy, 19), one filter per 512 KiB of a file, where \
    policy is BloomFilterPolicy::from_millibits_per_key(N_000).tuned().";

/// The candidates for one table.
pub(crate) struct OtherFilters {
    /// `LevelDB`'s with each number of bits per key, and this crate's.
    rows: [[Candidate; 2]; BITS_PER_KEY.len()],
    /// The bytes of today's filters, or of `LevelDB`'s with 10 bits per key if there are none.
    budget: usize,
    num_filters: usize,
    /// The bytes of this crate's filter block besides the filters: the offsets, and one byte per
    /// filter, since filters with unequal numbers of keys may take one more.
    overhead: usize,
}

/// The filter block that a table could have, or the sum over several tables.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    num_bytes: usize,
    reads: Reads,
}

impl OtherFilters {
    pub(crate) fn measure(
        asked: &Asked<'_>,
        hashes: &[BloomHash],
        bytes_today: Option<usize>,
    ) -> Self {
        let rows = BITS_PER_KEY.map(BloomFilterPolicy::new).map(|policy| {
            [(policy, LEVELDB_BASE_LG), (policy.tuned(), TUNED_BASE_LG)]
                .map(|(policy, base_lg)| Candidate::measure(policy, base_lg, asked, hashes))
        });
        let num_filters = sharing_a_filter(asked.blocks, TUNED_BASE_LG).count();
        // An offset for each filter and each range without keys, the array's offset, and base_lg.
        let end = asked.blocks.last().map_or(0, |block| block.offset);
        let num_ranges = usize::try_from(end >> TUNED_BASE_LG).unwrap_or(usize::MAX) + 1;
        let budget = bytes_today.unwrap_or(rows[USUAL_ROW][0].num_bytes);
        Self { rows, budget, num_filters, overhead: num_ranges * 4 + 5 + num_filters }
    }
}

impl Candidate {
    fn measure(
        policy: BloomFilterPolicy,
        base_lg: u8,
        asked: &Asked<'_>,
        hashes: &[BloomHash],
    ) -> Self {
        let contents = filter_block(policy, base_lg, asked.blocks, hashes);
        Self { num_bytes: contents.len(), reads: asked.reads(&contents) }
    }

    /// The sum over all tables.
    fn sum(survey: &Survey<'_>, of_table: impl Fn(usize, &OtherFilters) -> Self) -> Self {
        let of_table = |i| Some(of_table(i, survey.table(i)?.others.as_ref()?));
        let tables = (0..survey.tables.len()).filter_map(of_table);
        let num_bytes = tables.map(|table| table.num_bytes).sum();
        Self { num_bytes, reads: survey.reads(|i| Some(of_table(i)?.reads)) }
    }

    /// The most important number comes first.
    fn cost(&self) -> [f64; 2] {
        [self.reads[BETWEEN] + self.reads[OWN], self.reads[RANDOM]]
    }
}

/// Filters for all tables of a group, and how to get them.
pub(crate) struct Proposal {
    what: String,
    setting: String,
    candidate: Candidate,
}

/// All proposals, with today's filters first if they are known; none if a table cannot be read.
pub(crate) fn proposals(survey: &Survey<'_>, shared: Option<Proposal>) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let mut add = |what: &str, setting: &str, candidate| {
        proposals.push(Proposal { what: what.into(), setting: setting.into(), candidate });
    };
    if survey.is_comparable() {
        let num_bytes = survey.totals().filter_bytes;
        add("today", "", Candidate { num_bytes, reads: survey.reads_today() });
    }
    if survey.tables.iter().all(Result::is_ok) && survey.totals().keys > 0 {
        let sum = |row: usize, i: usize| Candidate::sum(survey, |_, others| others.rows[row][i]);
        for (row, bits) in BITS_PER_KEY.into_iter().enumerate() {
            add(&format!("LevelDB's NewBloomFilterPolicy({bits})"), LEVELDBS, sum(row, 0));
        }
        for (row, bits) in BITS_PER_KEY.into_iter().enumerate() {
            add(&format!("this crate's filters, {bits} bits per key"), OURS, sum(row, 1));
        }
    }
    proposals.extend(shared);
    proposals
}

/// Today's filters, the best with as many bytes, and the best with half as many bytes again.
pub(crate) fn recommended<'a>(survey: &Survey<'_>, proposals: &'a [Proposal]) -> Vec<&'a Proposal> {
    let tables = survey.tables.iter().flatten().filter_map(|table| table.others.as_ref());
    let budget: usize = tables.map(|others| others.budget).sum();
    let mut recommended: Vec<_> = proposals.first().into_iter().collect();
    for max in [budget, budget + budget / 2] {
        let affordable = proposals.iter().filter(|one| one.candidate.num_bytes <= max);
        let costs = |one: &Proposal| (one.candidate.cost(), one.candidate.num_bytes);
        let best = affordable.min_by(|a, b| costs(a).partial_cmp(&costs(b)).expect("numbers"));
        let [last, last_at_random] = recommended[recommended.len() - 1].candidate.cost();
        recommended.extend(best.filter(|best| {
            let [reads, at_random] = best.candidate.cost();
            reads < WORTH_IT * last || reads <= last && at_random < WORTH_IT * last_at_random
        }));
    }
    recommended
}

/// The proposals in a table, and how to get them.
pub(crate) fn rows<'a>(
    survey: &Survey<'_>,
    proposals: impl Iterator<Item = &'a Proposal> + Clone,
) -> Vec<String> {
    let titles = ["between", "own", "random", "filter bytes", ""];
    let cells = proposals.clone().map(|Proposal { what, candidate, .. }| {
        let [between, own, at_random, _] = survey.shown(candidate.reads);
        [between, own, at_random, grouped(candidate.num_bytes), what.clone()]
    });
    let mut lines = columns(titles, cells);
    let mut settings: Vec<_> = proposals.map(|proposal| &proposal.setting[..]).collect();
    settings.dedup();
    settings.retain(|setting| !setting.is_empty());
    lines.extend(settings.into_iter().flat_map(|setting| wrapped(setting, "")));
    lines
}

/// This crate's filters with today's bytes divided between the sorted runs.
///
/// Reads the tables once more: a table's share depends on all of them.
pub(crate) fn share(
    survey: &Survey<'_>,
    progress: impl Fn(&str),
) -> Result<Option<Proposal>, String> {
    let runs = survey.runs();
    if runs.len() > MAX_RUNS {
        return Ok(None);
    }
    let policies = policies_of_runs(survey);
    let tables = &survey.group.tables;
    let mut candidates = Vec::new();
    for (i, &policy) in policies.iter().enumerate() {
        progress(&format!("sharing the bytes: {} of {}", i + 1, tables.len()));
        let candidate = measure(survey, i, policy);
        candidates.push(candidate.map_err(|error| format!("{}: {error}", tables[i].name))?);
    }
    let level = |i: usize| tables[i].place.as_ref().map_or(0, |place| place.level);
    let bits = |i: usize| grouped(policies[i].map_or(0, |policy| policy.millibits_per_key()));
    let of_run = |run: &Vec<usize>| format!("{} at level {}", bits(run[0]), level(run[0]));
    let mut levels: Vec<_> = runs.iter().map(of_run).collect();
    levels.dedup();
    if levels.len() > MAX_SHOWN {
        levels.splice(MAX_SHOWN - 1..levels.len() - 1, ["...".into()]);
    }
    let setting = format!(
        "By for_runs(), in millibits per key: {}; with_base_lg(policy, 19).",
        levels.join(", ")
    );
    let candidate = Candidate::sum(survey, |i, _| candidates[i]);
    Ok(Some(Proposal { what: "this crate's filters, by for_runs()".into(), setting, candidate }))
}

/// The policy that `for_runs` chooses for each table.
pub(crate) fn policies_of_runs(survey: &Survey<'_>) -> Vec<Option<BloomFilterPolicy>> {
    let runs = survey.runs();
    let mut total_len = 0;
    let sorted_run = |run: &Vec<usize>| {
        let (mut num_filters, mut num_keys, mut share) = (0, 0, 0.0);
        for &i in run {
            let Some(table) = survey.table(i) else { continue };
            let Some(others) = &table.others else { continue };
            total_len += others.budget.saturating_sub(others.overhead);
            num_filters += others.num_filters;
            num_keys += table.num_keys;
            share += survey.shares.as_ref().map_or(0.0, |shares| shares[i]);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
        let weight = (1_000_000.0 * share) as u32;
        let keys_per_filter = num_keys.div_ceil(num_filters.max(1));
        SortedRun::new(num_filters, keys_per_filter).with_weight(weight.max(1))
    };
    let sorted_runs: Vec<_> = runs.iter().map(sorted_run).collect();
    let mut policies = vec![None; survey.tables.len()];
    for (run, policy) in runs.iter().zip(BloomFilterPolicy::for_runs(total_len, &sorted_runs)) {
        for &table in run {
            policies[table] = policy;
        }
    }
    policies
}

fn measure(
    survey: &Survey<'_>,
    i: usize,
    policy: Option<BloomFilterPolicy>,
) -> Result<Candidate, Box<dyn Error>> {
    let file = open_regular_file(&survey.group.tables[i].path)?;
    let table = Table::open(Source::of_file(&file)?)?;
    let keys = KeySurvey::of(&table)?;
    let (sample, tables) = survey.sampled.as_ref().ok_or("no order of keys")?;
    let asked = Asked::of((sample, tables, i), &table, &keys.blocks, survey.lookups(i));
    let hashes = &keys.likeliest().hashes;
    let measure = |policy| Candidate::measure(policy, TUNED_BASE_LG, &asked, hashes);
    Ok(policy.map_or_else(|| Candidate { num_bytes: 0, reads: asked.reads(&[]) }, measure))
}
