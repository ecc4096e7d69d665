//! A line for each of several tables, and what they come to together.

use std::error::Error;

use super::database::{Group, Level, ListedTable};
use super::inspection::{Filters, Inspection, KnownFilters};
use super::levels::{self, Run, Totals};
use super::share::ratio;
use super::verdict::{Verdict, counted};
use super::what_if::{self, LEVELDB_BASE_LG, WhatIf};
use crate::terminal::grouped;

/// The tables of a group so far.
pub(crate) struct Listing {
    is_database: bool,
    num_not_in_use: usize,
    pub(crate) runs: Vec<Run>,
    pub(crate) verdict: Verdict,
}

impl Listing {
    pub(crate) fn new(group: &Group) -> Self {
        let mut verdict = Verdict::default();
        if group.is_lost {
            verdict.add_lost();
        }
        Self { is_database: group.is_database, num_not_in_use: 0, runs: Vec::new(), verdict }
    }

    pub(crate) fn header(&self) -> String {
        let columns = ["keys", "bits/key", "filter block", "of file", "false pos."];
        self.line("level", columns.map(Into::into), "rebuilt", "table", "")
    }

    /// The line of a table, which counts from now on.
    pub(crate) fn add(
        &mut self,
        table: ListedTable,
        outcome: &Result<Inspection, Box<dyn Error>>,
    ) -> String {
        let level = level_name(table.level);
        let line = match outcome {
            Ok(inspection) => {
                self.verdict.add(inspection);
                let totals = Totals::of(inspection);
                let [bits, len, of_file, false_positives] = totals.filter_columns();
                let columns = [grouped(totals.num_keys), bits, len, of_file, false_positives];
                let (rebuilt, note) = remarks(&inspection.filters);
                self.line(&level, columns, rebuilt, &table.name, &note)
            }
            Err(error) => {
                self.verdict.add_unread();
                let note = format!(": {error}");
                self.line(&level, ["-"; 5].map(Into::into), "unread", &table.name, &note)
            }
        };
        if let Ok(inspection) = outcome {
            levels::add(&mut self.runs, table, inspection);
        }
        line
    }

    /// The line of a table that does not count.
    pub(crate) fn pass_over(&mut self, table: &ListedTable) -> String {
        self.num_not_in_use += 1;
        let columns = ["-"; 5].map(Into::into);
        self.line("-", columns, "not in use", &table.name, "")
    }

    /// What goes below the tables.
    pub(crate) fn totals(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        lines.extend(levels::lines(&self.runs));
        let totals = levels::totals(&self.runs);
        lines.extend(overwritten(&totals));
        if self.is_database {
            if totals.num_keys > 0 {
                lines.push(reads(&self.runs));
            }
            let beside = match self.num_not_in_use {
                0 => String::new(),
                number => format!(", and {} not in use", counted(number, "table")),
            };
            lines.push(format!("Not counted: keys that are only in the log yet{beside}"));
        }
        lines
    }

    /// Whether a table could have filters, and has none that can be read.
    pub(crate) fn lacks_filters(&self) -> bool {
        let totals = levels::totals(&self.runs);
        totals.filters.map_or(0, |filters| filters.num_keys) < totals.num_keys
    }

    /// What other filters would give to all tables together.
    pub(crate) fn what_if(&self) -> Vec<String> {
        let mut sum = WhatIf::default();
        for run in &self.runs {
            sum += &run.what_if;
        }
        if sum.num_keys == 0 { Vec::new() } else { what_if::lines(&sum) }
    }

    fn line(
        &self,
        level: &str,
        columns: [String; 5],
        rebuilt: &str,
        name: &str,
        note: &str,
    ) -> String {
        let level = if self.is_database { format!("{level:>5}  ") } else { String::new() };
        let [keys, bits_per_key, filter_len, of_file, false_positives] = columns;
        format!(
            "{level}{keys:>11}  {bits_per_key:>8}  {filter_len:>12}  {of_file:>7}  \
             {false_positives:>10}  {rebuilt:<10}  {name}{note}"
        )
    }
}

fn level_name(level: Level) -> String {
    match level {
        Level::At(level) => level.to_string(),
        Level::Unknown | Level::NotInUse => "-".into(),
    }
}

/// Whether the filter block is what this crate makes, and what goes behind the table's name.
fn remarks(filters: &Filters) -> (&'static str, String) {
    match filters {
        Filters::None => ("no filter", String::new()),
        Filters::Unknown { policy_name } => {
            ("unknown", format!(": the filter policy is {policy_name:?}, unknown here"))
        }
        Filters::Known(filters) => {
            let rebuilt = if filters.rebuilt_is_identical { "identical" } else { "different" };
            (rebuilt, notes(filters))
        }
    }
}

fn notes(filters: &KnownFilters) -> String {
    let base_lg = match filters.base_lg {
        LEVELDB_BASE_LG => String::new(),
        base_lg => format!(": base_lg {base_lg}"),
    };
    match filters.num_hidden {
        0 => base_lg,
        num_hidden => format!("{base_lg}: hides {} of its keys", grouped(num_hidden)),
    }
}

/// Why there are fewer false positives than the bits per key promise.
fn overwritten(totals: &Totals) -> Option<String> {
    let filters = totals.filters.filter(|filters| filters.num_user_keys < filters.num_keys)?;
    let bits = ratio(filters.num_bits, filters.num_user_keys)?;
    Some(format!(
        "A table keeps old versions of overwritten keys; for each distinct user key its filters \
         have {bits:.2} bits"
    ))
}

fn reads(runs: &[Run]) -> String {
    let num_tables = runs.iter().filter(|run| run.level == Level::At(0)).count();
    let num_levels = counted(runs.len() - num_tables, "level");
    let asked = match num_tables {
        0 => num_levels,
        num_tables => format!("{} of level 0 and {num_levels} below", counted(num_tables, "table")),
    };
    format!(
        "1,000 look-ups of absent keys, each in {asked}, read {:.1} data blocks",
        1_000.0 * levels::reads(runs)
    )
}
