//! The bytes of a database's filters, shared by its levels as `for_runs` would.

use std::error::Error;

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use super::database::{Level, ListedTable};
use super::files::open_regular_file;
use super::inspection::Scope;
use super::keys::Survey;
use super::levels::{self, Run};
use super::share::{Share, ratio};
use super::verdict::counted;
use super::what_if::{Candidate, TUNED_BASE_LG};
use crate::table::{Source, Table};
use crate::terminal::grouped;

/// The bytes that may be shared, and what they are.
struct Budget {
    num_bytes: usize,
    origin: &'static str,
}

/// What a run would have.
struct Shared {
    policy: Option<BloomFilterPolicy>,
    filter_blocks: Candidate,
}

pub(crate) fn lines(runs: &[Run], scope: Scope, progress: impl Fn(&str)) -> Vec<String> {
    if levels::totals(runs).num_keys == 0 {
        return Vec::new();
    }
    let budget = Budget::of(runs);
    match share(&budget, runs, scope, progress) {
        Ok(shared) => table(&budget, runs, &shared),
        Err(error) => {
            vec![String::new(), format!("What for_runs() would give is unknown: {error}")]
        }
    }
}

impl Budget {
    fn of(runs: &[Run]) -> Self {
        let totals = levels::totals(runs);
        match totals.filters {
            Some(filters) if filters.num_keys == totals.num_keys => {
                Self { num_bytes: filters.num_bytes, origin: "of today's filter blocks" }
            }
            _ => Self {
                num_bytes: runs.iter().map(|run| run.what_if.usual_len()).sum(),
                origin: "that LevelDB's filter blocks take with 10 bits per key",
            },
        }
    }

    /// Without the offsets, which each table's filter block has besides, and without the byte that
    /// a filter may take more where they have unequal numbers of keys.
    fn for_filters(&self, runs: &[Run]) -> usize {
        let others = |run: &Run| run.what_if.num_bytes_of_offsets + run.what_if.num_filters;
        self.num_bytes.saturating_sub(runs.iter().map(others).sum())
    }
}

/// Reads the tables once more, since all of them have to be known before each gets its share.
fn share(
    budget: &Budget,
    runs: &[Run],
    scope: Scope,
    progress: impl Fn(&str),
) -> Result<Vec<Shared>, Box<dyn Error>> {
    let sorted_runs: Vec<_> = runs
        .iter()
        .map(|run| {
            let num_filters = run.what_if.num_filters;
            let keys_per_filter = run.totals.num_keys.div_ceil(num_filters.max(1));
            SortedRun { num_filters, keys_per_filter }
        })
        .collect();
    let policies = BloomFilterPolicy::for_runs(budget.for_filters(runs), &sorted_runs);
    let num_tables: usize = runs.iter().map(|run| run.tables.len()).sum();
    let mut num_measured = 0;
    runs.iter()
        .zip(policies)
        .map(|(run, policy)| {
            let mut filter_blocks = Candidate::default();
            for table in &run.tables {
                num_measured += 1;
                progress(&format!("sharing the bytes: {num_measured} of {num_tables}"));
                filter_blocks += measure(table, policy, scope)
                    .map_err(|error| format!("{}: {error}", table.name))?;
            }
            Ok(Shared { policy, filter_blocks })
        })
        .collect()
}

fn measure(
    table: &ListedTable,
    policy: Option<BloomFilterPolicy>,
    scope: Scope,
) -> Result<Candidate, Box<dyn Error>> {
    let file = open_regular_file(&table.path)?;
    let survey = Survey::of(&Table::open(Source::of_file(&file)?)?)?;
    let Some(policy) = policy else {
        let still_read = Share::new(survey.num_keys(), survey.num_keys());
        return Ok(Candidate { num_bytes: 0, still_read });
    };
    let hashes = &survey.likeliest().hashes;
    let mut candidate =
        Candidate::measure(policy, TUNED_BASE_LG, &survey.blocks, hashes, scope.num_lookups);
    // As much as the table has keys, so that tables of a run can be added.
    candidate.still_read = candidate.still_read.of_whole(survey.num_keys());
    Ok(candidate)
}

fn table(budget: &Budget, runs: &[Run], shared: &[Shared]) -> Vec<String> {
    let Budget { num_bytes, origin } = budget;
    let columns = format!("{:>11}  {:>8}  {:>7}", "bytes", "bits/key", "reads");
    let mut lines = vec![
        String::new(),
        format!(
            "Data blocks that 1,000 look-ups of absent keys read, with the {} bytes {origin}",
            grouped(*num_bytes)
        ),
        format!("{:33}  {:-^30}  {:-^30}", "", " today ", " shared by for_runs() "),
        format!("{:20}  {:>11}  {columns}  {columns}", "", "keys"),
    ];
    let mut rest = shared;
    for (level, runs) in levels::by_level(runs) {
        let (shared, others) = rest.split_at(runs.len());
        rest = others;
        lines.push(row(&name(level, runs), runs, shared));
    }
    lines.push(row("all", runs, shared));
    let fewer = levels::reads(runs) / reads(shared);
    if fewer.is_finite() {
        lines.push(format!("{fewer:.1} times fewer reads; any LevelDB reads these filters"));
    }
    lines
}

/// Of each look-up of an absent key in all runs, the data blocks that are read.
fn reads(shared: &[Shared]) -> f64 {
    shared.iter().filter_map(|shared| shared.filter_blocks.still_read.ratio()).sum()
}

fn name(level: Level, runs: &[Run]) -> String {
    match level {
        Level::At(0) => format!("level 0, {}", counted(runs.len(), "table")),
        Level::At(level) => format!("level {level}"),
        Level::Unknown | Level::NotInUse => "all".into(),
    }
}

fn row(name: &str, runs: &[Run], shared: &[Shared]) -> String {
    let totals = levels::totals(runs);
    let [bits_today, bytes_today, ..] = totals.filter_columns();
    let bits = runs.iter().zip(shared).map(|(run, shared)| {
        let millibits = shared.policy.map_or(0, |policy| policy.millibits_per_key());
        millibits.saturating_mul(run.totals.num_keys) / 1_000
    });
    let bits = ratio(bits.sum(), totals.num_keys).unwrap_or_default();
    let num_bytes = shared.iter().map(|shared| shared.filter_blocks.num_bytes).sum();
    let [reads_today, reads] = [levels::reads(runs), reads(shared)].map(|reads| 1_000.0 * reads);
    format!(
        "{name:20}  {:>11}  {bytes_today:>11}  {bits_today:>8}  {reads_today:>7.1}  {:>11}  \
         {bits:>8.2}  {reads:>7.1}",
        grouped(totals.num_keys),
        grouped(num_bytes)
    )
}
