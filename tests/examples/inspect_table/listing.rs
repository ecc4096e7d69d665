//! A line for each of several tables, and one for all of them.

use std::error::Error;

use super::inspection::{Filters, Inspection};
use super::share::{Share, ratio};
use super::what_if::{self, WhatIf};
use crate::terminal::grouped;

/// A longer name puts the columns of its line out of place.
const MAX_NAME_LEN: usize = 40;

/// The lines so far, together.
pub(crate) struct Listing {
    name_len: usize,
    num_tables: usize,
    num_unread: usize,
    num_hiding: usize,
    num_keys: usize,
    filters: Option<Summary>,
    some_lack_filters: bool,
    what_if: Option<WhatIf>,
}

/// The filters of a table, or of several.
#[derive(Clone, Copy)]
struct Summary {
    /// In tables with filters.
    num_keys: usize,
    num_filters: usize,
    num_bits: usize,
    false_positives: Share,
    rebuilt_is_identical: bool,
    num_hidden: usize,
}

impl Listing {
    pub(crate) fn new<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let total = name_of_total(names.len(), names.len()).len();
        let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
        Self {
            name_len: longest.clamp(total, MAX_NAME_LEN),
            num_tables: 0,
            num_unread: 0,
            num_hiding: 0,
            num_keys: 0,
            filters: None,
            some_lack_filters: false,
            what_if: None,
        }
    }

    pub(crate) fn header(&self) -> String {
        self.columns("table", ["keys", "filters", "bits/key", "false positives", "rebuilt"])
    }

    /// The line of a table, which counts from now on.
    pub(crate) fn line(
        &mut self,
        name: &str,
        outcome: &Result<Inspection, Box<dyn Error>>,
    ) -> String {
        self.num_tables += 1;
        match outcome {
            Ok(inspection) => self.line_of(name, inspection),
            Err(error) => {
                self.num_unread += 1;
                format!("{name:width$}  {error}", width = self.name_len)
            }
        }
    }

    fn line_of(&mut self, name: &str, inspection: &Inspection) -> String {
        self.num_keys += inspection.num_keys;
        let summary = inspection.filters.as_ref().map(|filters| Summary::of(inspection, filters));
        match &summary {
            None => self.some_lack_filters = true,
            Some(summary) => {
                self.num_hiding += usize::from(summary.num_hidden > 0);
                self.filters = Some(self.filters.map_or(*summary, |all| all.and(summary)));
            }
        }
        if let Some(what_if) = &inspection.what_if {
            *self.what_if.get_or_insert_default() += what_if;
        }
        self.row(name, inspection.num_keys, summary.as_ref())
    }

    /// The line of all tables, and what goes below it.
    pub(crate) fn total(&self) -> Vec<String> {
        let name = name_of_total(self.num_tables - self.num_unread, self.num_tables);
        let mut lines = vec![self.row(&name, self.num_keys, self.filters.as_ref())];
        match &self.what_if {
            Some(what_if) => lines.extend(what_if::lines(what_if)),
            None if self.some_lack_filters => {
                lines.push("--what-if shows what filters would give".into());
            }
            None => (),
        }
        lines
    }

    /// Whether all tables were read, and their filters find all keys.
    pub(crate) fn verdict(&self) -> Result<(), Box<dyn Error>> {
        let of_all = format!("of {} tables", grouped(self.num_tables));
        match (grouped(self.num_unread), grouped(self.num_hiding)) {
            _ if self.num_unread + self.num_hiding == 0 => Ok(()),
            (unread, _) if self.num_hiding == 0 => {
                Err(format!("{unread} {of_all} could not be read").into())
            }
            (_, hiding) if self.num_unread == 0 => {
                Err(format!("the filters of {hiding} {of_all} hide keys").into())
            }
            (unread, hiding) => Err(format!(
                "{unread} {of_all} could not be read, and the filters of {hiding} hide keys"
            )
            .into()),
        }
    }

    fn row(&self, name: &str, num_keys: usize, filters: Option<&Summary>) -> String {
        let keys = grouped(num_keys);
        let Some(filters) = filters else {
            return self.columns(name, [&keys, "none", "-", "-", "-"]);
        };
        let bits_per_key = match filters.num_keys {
            0 => "-".into(),
            num_keys => format!("{:.2}", ratio(filters.num_bits, num_keys)),
        };
        let rebuilt = if filters.rebuilt_is_identical { "identical" } else { "different" };
        let hidden = match filters.num_hidden {
            0 => String::new(),
            num_hidden => format!(", hides {} keys", grouped(num_hidden)),
        };
        self.columns(
            name,
            [
                &keys,
                &grouped(filters.num_filters),
                &bits_per_key,
                &filters.false_positives.to_string(),
                &format!("{rebuilt}{hidden}"),
            ],
        )
    }

    fn columns(&self, name: &str, columns: [&str; 5]) -> String {
        let [keys, filters, bits_per_key, false_positives, rebuilt] = columns;
        format!(
            "{name:width$}  {keys:>11}  {filters:>9}  {bits_per_key:>8}  {false_positives:>15}  \
             {rebuilt}",
            width = self.name_len
        )
    }
}

fn name_of_total(num_read: usize, num_tables: usize) -> String {
    format!("{} of {} tables", grouped(num_read), grouped(num_tables))
}

impl Summary {
    fn of(inspection: &Inspection, filters: &Filters) -> Self {
        let num_keys = inspection.num_keys;
        let absent = &inspection.absent;
        Self {
            num_keys,
            num_filters: filters.totals.filters,
            num_bits: filters.totals.bits,
            // Counts as much as the table has keys.
            false_positives: Share::new(absent.matched, absent.asked.len()).of_whole(num_keys),
            rebuilt_is_identical: filters.rebuilt_is_identical,
            num_hidden: inspection.num_hidden(),
        }
    }

    fn and(mut self, other: &Self) -> Self {
        self.num_keys += other.num_keys;
        self.num_filters += other.num_filters;
        self.num_bits = self.num_bits.saturating_add(other.num_bits);
        self.false_positives += other.false_positives;
        self.rebuilt_is_identical &= other.rebuilt_is_identical;
        self.num_hidden += other.num_hidden;
        self
    }
}
