//! What other filters would read and take.

use std::error::Error;

use leveldb_filter::{BloomFilterPolicy, BloomHash, SortedRun};

use super::database::{ListedTable, open_regular_file};
use super::filters::{LEVELDB_BASE_LG, Lookups, Reader, filter_block, float, sharing_a_filter};
use super::survey::{Survey, reads};
use super::table::{KeySurvey, SurveyedBlock};
use crate::table::{Source, Table};
use crate::terminal::{columns, grouped, wrapped};

/// A filter for each 512 KiB of the file, of some thousands of keys: for so many, this format is at
/// its best.
pub(crate) const TUNED_BASE_LG: u8 = 19;

const BITS_PER_KEY: [usize; 7] = [6, 8, 10, 12, 14, 16, 20];
/// `LevelDB`'s recommendation.
const USUAL_ROW: usize = 2;

/// What saves less than a twentieth is not worth a change.
const WORTH_IT: f64 = 0.95;

/// The candidates for one table.
pub(crate) struct OtherFilters {
    /// `LevelDB`'s with each number of bits per key, and this crate's.
    rows: [[Candidate; 2]; BITS_PER_KEY.len()],
    /// As many as the filters have today, or `LevelDB`'s of 10 bits per key would.
    budget: usize,
    /// This crate's of so many bytes.
    of_budget: Candidate,
    num_filters: usize,
    /// What this crate's filter block has besides the filters: the offsets, and the byte that a
    /// filter may take more where they have unequal numbers of keys.
    overhead: usize,
}

/// A filter block that could be, or those of several tables.
#[derive(Clone, Copy, Default)]
pub(crate) struct Candidate {
    pub(crate) num_bytes: usize,
    /// Data blocks that a lookup of an absent key reads.
    pub(crate) reads: f64,
}

impl OtherFilters {
    pub(crate) fn measure(
        blocks: &[SurveyedBlock],
        hashes: &[BloomHash],
        bytes_today: Option<usize>,
        lookups: Lookups,
    ) -> Self {
        let candidate =
            |policy, base_lg| Candidate::measure(policy, base_lg, blocks, hashes, lookups);
        let rows = BITS_PER_KEY.map(BloomFilterPolicy::new).map(|policy| {
            [candidate(policy, LEVELDB_BASE_LG), candidate(policy.tuned(), TUNED_BASE_LG)]
        });
        let budget = bytes_today.unwrap_or(rows[USUAL_ROW][0].num_bytes);
        let num_filters = sharing_a_filter(blocks, TUNED_BASE_LG).count();
        // An offset for each filter and each range without keys, that of the array, and base_lg.
        let end = blocks.last().map_or(0, |block| block.offset);
        let num_ranges = usize::try_from(end >> TUNED_BASE_LG).unwrap_or(usize::MAX) + 1;
        let overhead = num_ranges * 4 + 5 + num_filters;
        let mut others =
            Self { rows, budget, of_budget: Candidate::default(), num_filters, overhead };
        others.of_budget = candidate(others.policy_of_budget(hashes.len()), TUNED_BASE_LG);
        others
    }

    /// For filters of this crate.
    pub(crate) fn policy_of_budget(&self, num_keys: usize) -> BloomFilterPolicy {
        // Each filter has a byte for its number of probes, too. More than 64 bits help no key.
        let num_bytes = self.budget.saturating_sub(self.overhead + self.num_filters);
        let millibits = (num_bytes.saturating_mul(8_000) / num_keys).min(64_000);
        BloomFilterPolicy::from_millibits_per_key(millibits).tuned()
    }
}

impl Candidate {
    fn measure(
        policy: BloomFilterPolicy,
        base_lg: u8,
        blocks: &[SurveyedBlock],
        hashes: &[BloomHash],
        lookups: Lookups,
    ) -> Self {
        let contents = filter_block(policy, base_lg, blocks, hashes);
        let reads = lookups.rate(&Reader::new(policy, &contents), blocks);
        Self { num_bytes: contents.len(), reads }
    }

    /// Those of all tables together.
    fn sum(survey: &Survey<'_>, of_table: impl Fn(usize, &OtherFilters) -> Self) -> Self {
        let of_table = |i| Some(of_table(i, survey.table(i)?.others.as_ref()?));
        let tables = (0..survey.tables.len()).filter_map(of_table);
        Self {
            num_bytes: tables.map(|table| table.num_bytes).sum(),
            reads: survey.reads(|i, _| Some(of_table(i)?.reads)),
        }
    }
}

/// Filters of this crate, today's bytes shared between the sorted runs; `None` where there is
/// nothing to share.
///
/// Reads the tables once more, since all of them have to be known before each gets its share.
pub(crate) fn share(
    survey: &Survey<'_>,
    num_lookups: usize,
    progress: impl Fn(&str),
) -> Result<Option<Candidate>, String> {
    let num_tables = survey.tables.len();
    if !(2..=MAX_RUNS).contains(&survey.runs().len()) {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    for (i, policy) in policies_of_runs(survey).into_iter().enumerate() {
        progress(&format!("sharing the bytes: {} of {num_tables}", i + 1));
        let table = &survey.group.tables[i];
        let candidate = policy.map_or(Ok(Candidate { num_bytes: 0, reads: 1.0 }), |policy| {
            measure(table, policy, Lookups::of_table(num_lookups, num_tables, i))
        });
        candidates.push(candidate.map_err(|error| format!("{}: {error}", table.name))?);
    }
    Ok(Some(Candidate::sum(survey, |i, _| candidates[i])))
}

/// A database that anyone can use has fewer.
const MAX_RUNS: usize = 1_000;

/// For each table.
pub(crate) fn policies_of_runs(survey: &Survey<'_>) -> Vec<Option<BloomFilterPolicy>> {
    let runs = survey.runs();
    let mut total_len = 0;
    let sorted_run = |run: &Vec<usize>| {
        let (mut num_filters, mut num_keys) = (0, 0);
        for table in run.iter().filter_map(|&i| survey.table(i)) {
            let Some(others) = &table.others else { continue };
            total_len += others.budget.saturating_sub(others.overhead);
            num_filters += others.num_filters;
            num_keys += table.num_keys;
        }
        SortedRun::new(num_filters, num_keys.div_ceil(num_filters.max(1)))
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
    table: &ListedTable,
    policy: BloomFilterPolicy,
    lookups: Lookups,
) -> Result<Candidate, Box<dyn Error>> {
    let file = open_regular_file(&table.path)?;
    let keys = KeySurvey::of(&Table::open(Source::of_file(&file)?)?, None)?;
    let hashes = &keys.likeliest().hashes;
    Ok(Candidate::measure(policy, TUNED_BASE_LG, &keys.blocks, hashes, lookups))
}

/// What would help most, and what it costs.
pub(crate) fn changes(survey: &Survey<'_>, shared: Option<Candidate>) -> Vec<String> {
    let today = Candidate { num_bytes: survey.totals().filter_bytes, reads: survey.reads_today() };
    let mut changes = Vec::new();
    if let Some(row) = next_row(survey) {
        let name = format!("{} bits per key, which any LevelDB library can set", BITS_PER_KEY[row]);
        changes.push((name, Candidate::sum(survey, |_, others| others.rows[row][0])));
    }
    changes.push(match shared {
        Some(shared) if shared.reads < WORTH_IT * even(survey).reads => {
            ("this crate's filters, with bytes shared by for_runs()".into(), shared)
        }
        _ => ("this crate's filters".into(), even(survey)),
    });
    changes.retain(|(_, change)| change.reads < WORTH_IT * today.reads);
    if changes.is_empty() {
        return vec!["Other filters would not help much.".into()];
    }
    changes.insert(0, ("today".into(), today));
    let rows = changes
        .iter()
        .map(|(name, change)| [reads(change.reads), grouped(change.num_bytes), name.clone()]);
    let mut lines = vec![String::new()];
    lines.extend(columns(["data blocks", "filter bytes", ""], rows));
    lines.push("Tables get other filters when they are written anew, as by a compaction.".into());
    lines
}

/// This crate's filters with equal bits for all keys.
fn even(survey: &Survey<'_>) -> Candidate {
    Candidate::sum(survey, |_, others| others.of_budget)
}

/// A few bits more than today, or `LevelDB`'s recommendation where a table has no filters.
fn next_row(survey: &Survey<'_>) -> Option<usize> {
    let today = survey.totals().bits_per_key().unwrap_or(0.0);
    let fewest = if survey.lacks_filters() { today - 0.5 } else { today + 3.5 };
    (USUAL_ROW..BITS_PER_KEY.len()).find(|&row| float(BITS_PER_KEY[row]) >= fewest)
}

/// Other filters for a table by itself.
pub(crate) fn of_table(others: &OtherFilters) -> Vec<String> {
    rows(|row, maker| {
        let Candidate { num_bytes, reads } = others.rows[row][maker];
        Candidate { num_bytes, reads: 1_000.0 * reads }
    })
}

/// Other filters for all tables, as far as all are known.
pub(crate) fn of_group(survey: &Survey<'_>, shared: Option<Candidate>) -> Vec<String> {
    let mut lines = Vec::new();
    let all_are_read = survey.tables.iter().all(Result::is_ok);
    if all_are_read && survey.shares.is_some() && survey.totals().keys > 0 {
        let sum = |row: usize, i: usize| Candidate::sum(survey, |_, others| others.rows[row][i]);
        lines.extend(rows(sum));
    }
    let about_sharing = match shared {
        _ if survey.group.database.is_none() || survey.totals().keys == 0 => return lines,
        _ if !survey.is_comparable() => {
            format!("No comparison: {}.", survey.unjudged().1.join("; "))
        }
        Some(shared) if shared.reads < WORTH_IT * even(survey).reads => return lines,
        Some(shared) => format!(
            "Sharing bytes between the levels by this crate's for_runs() brings nothing: {} reads.",
            reads(shared.reads)
        ),
        None if survey.runs().len() > 1 => "Too many tables overlap to share the bytes.".into(),
        None => "A lookup asks one table at most: there are no bytes to share.".into(),
    };
    lines.extend(wrapped(&about_sharing, ""));
    lines
}

fn rows(candidate: impl Fn(usize, usize) -> Candidate) -> Vec<String> {
    let titles = ["bits/key", "LevelDB's bytes", "reads", "this crate's bytes", "reads"];
    let rows = BITS_PER_KEY.iter().enumerate().map(|(row, bits_per_key)| {
        let cells = [0, 1].map(|maker| {
            let Candidate { num_bytes, reads: num_reads } = candidate(row, maker);
            [grouped(num_bytes), reads(num_reads)]
        });
        let [[bytes, read], [our_bytes, our_read]] = cells;
        [bits_per_key.to_string(), bytes, read, our_bytes, our_read]
    });
    let title = "Other filters: bytes, and data blocks read by 1,000 lookups of absent keys";
    let mut lines = vec![String::new(), title.into()];
    lines.extend(columns(titles, rows));
    lines.extend(wrapped(
        "Every LevelDB reads both. This crate's have a filter for each 512 KiB of a file: \
         FilterBlockBuilder::with_base_lg(policy.tuned(), 19)",
        "",
    ));
    lines
}
