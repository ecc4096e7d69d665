//! Tables together: by level, and all of them.

use super::database::{Level, ListedTable};
use super::inspection::{Filters, Inspection};
use super::share::{Share, percentage, ratio};
use super::what_if::WhatIf;
use crate::terminal::grouped;

/// Tables of which a look-up asks one at most: a table of level 0, or all of another level.
pub(crate) struct Run {
    pub(crate) level: Level,
    pub(crate) totals: Totals,
    /// Of absent keys, those that read a data block.
    pub(crate) still_read: Share,
    pub(crate) tables: Vec<ListedTable>,
    pub(crate) what_if: WhatIf,
}

/// What tables have together.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) num_tables: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_user_keys: usize,
    num_deletions: usize,
    file_len: u64,
    /// `None` where no table has any that can be read.
    pub(crate) filters: Option<FilterSums>,
}

/// Of the tables that have filters.
#[derive(Clone, Copy)]
pub(crate) struct FilterSums {
    /// Filters and the offsets of all.
    pub(crate) num_bytes: usize,
    pub(crate) num_bits: usize,
    pub(crate) num_keys: usize,
    pub(crate) num_user_keys: usize,
    pub(crate) false_positives: Share,
}

impl Totals {
    pub(crate) fn of(inspection: &Inspection) -> Self {
        let Inspection { num_keys, num_user_keys, num_deletions, file_len, .. } = *inspection;
        let filters = match &inspection.filters {
            Filters::Known(filters) => Some(FilterSums {
                num_bytes: filters.block_len,
                num_bits: filters.totals.bits,
                num_keys,
                num_user_keys,
                false_positives: filters.false_positives,
            }),
            Filters::None | Filters::Unknown { .. } => None,
        };
        Self { num_tables: 1, num_keys, num_user_keys, num_deletions, file_len, filters }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            num_tables: self.num_tables + other.num_tables,
            num_keys: self.num_keys + other.num_keys,
            num_user_keys: self.num_user_keys + other.num_user_keys,
            num_deletions: self.num_deletions + other.num_deletions,
            file_len: self.file_len.saturating_add(other.file_len),
            filters: match (self.filters, other.filters) {
                (Some(filters), Some(more)) => Some(filters.and(more)),
                (filters, None) | (None, filters) => filters,
            },
        }
    }

    /// Bits per key, bytes, share of the files, and false positives.
    pub(crate) fn filter_columns(&self) -> [String; 4] {
        let Some(filters) = &self.filters else { return ["-"; 4].map(Into::into) };
        let bits_per_key = ratio(filters.num_bits, filters.num_keys);
        [
            bits_per_key.map_or("-".into(), |bits| format!("{bits:.2}")),
            grouped(filters.num_bytes),
            percentage(filters.num_bytes, self.file_len),
            filters.false_positives.to_string(),
        ]
    }
}

impl FilterSums {
    fn and(self, other: Self) -> Self {
        Self {
            num_bytes: self.num_bytes.saturating_add(other.num_bytes),
            num_bits: self.num_bits.saturating_add(other.num_bits),
            num_keys: self.num_keys + other.num_keys,
            num_user_keys: self.num_user_keys + other.num_user_keys,
            false_positives: self.false_positives.and(other.false_positives),
        }
    }
}

/// Adds a table to its run, which is the last one: tables come level by level.
pub(crate) fn add(runs: &mut Vec<Run>, table: ListedTable, inspection: &Inspection) {
    let totals = Totals::of(inspection);
    let num_keys = totals.num_keys;
    let still_read = match totals.filters {
        Some(filters) => filters.false_positives,
        None => Share::new(num_keys, num_keys),
    };
    let is_same_run = |run: &Run| run.level == table.level && run.level != Level::At(0);
    let mut run = match runs.pop() {
        Some(run) if is_same_run(&run) => run,
        others => {
            runs.extend(others);
            Run::empty(table.level)
        }
    };
    run.totals = run.totals.and(totals);
    run.still_read = run.still_read.and(still_read);
    run.tables.push(table);
    if let Some(what_if) = &inspection.what_if {
        run.what_if += what_if;
    }
    runs.push(run);
}

impl Run {
    fn empty(level: Level) -> Self {
        Self {
            level,
            totals: Totals::default(),
            still_read: Share::default(),
            tables: Vec::new(),
            what_if: WhatIf::default(),
        }
    }
}

pub(crate) fn totals(runs: &[Run]) -> Totals {
    runs.iter().map(|run| run.totals).fold(Totals::default(), Totals::and)
}

/// Of each look-up of an absent key in all runs, the data blocks that are read.
pub(crate) fn reads<'a>(runs: impl IntoIterator<Item = &'a Run>) -> f64 {
    runs.into_iter().filter_map(|run| run.still_read.ratio()).sum()
}

/// The runs of each level, which follow one another.
pub(crate) fn by_level(runs: &[Run]) -> impl Iterator<Item = (Level, &[Run])> {
    runs.chunk_by(|a, b| a.level == b.level).map(|runs| (runs[0].level, runs))
}

/// A line for each level, and one for all where there are several.
pub(crate) fn lines(runs: &[Run]) -> Vec<String> {
    let levels: Vec<_> = by_level(runs).collect();
    let names = levels.iter().map(|(level, _)| match level {
        Level::At(level) => level.to_string(),
        Level::Unknown | Level::NotInUse => "all".into(),
    });
    let all = (levels.len() != 1).then(|| row("all", &totals(runs)));
    [header()]
        .into_iter()
        .chain(names.zip(&levels).map(|(name, (_, runs))| row(&name, &totals(runs))))
        .chain(all)
        .collect()
}

fn header() -> String {
    line(
        "level",
        ["tables", "keys", "user keys", "deletions"].map(Into::into),
        ["bits/key", "filter blocks", "of files", "false pos."].map(Into::into),
    )
}

fn row(name: &str, totals: &Totals) -> String {
    let Totals { num_tables, num_keys, num_user_keys, num_deletions, .. } = *totals;
    let counts = [num_tables, num_keys, num_user_keys, num_deletions].map(grouped);
    line(name, counts, totals.filter_columns())
}

fn line(level: &str, counts: [String; 4], filters: [String; 4]) -> String {
    let [num_tables, num_keys, num_user_keys, num_deletions] = counts;
    let [bits_per_key, num_bytes, of_files, false_positives] = filters;
    format!(
        "{level:>5}  {num_tables:>6}  {num_keys:>11}  {num_user_keys:>11}  {num_deletions:>9}  \
         {bits_per_key:>8}  {num_bytes:>13}  {of_files:>8}  {false_positives:>10}"
    )
}
