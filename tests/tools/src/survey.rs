//! What is known about all tables of a group together, what lookups read in them, and what other
//! filters would change.

use std::collections::BTreeMap;
use std::io;

use crate::database::Group;
use crate::database::ranges::Ranges;
use crate::plan::{BELOW, BESIDE, NO_FILTERS, NO_GAIN, NO_ROOM, Plan, Stays, Wish};
use crate::table::directory::open_regular_file;
use crate::terminal::Progress;
use crate::text::{counted, ratio};
use inspection::Inspection;
use lookups::{Cost, Reads};
use sample::Sample;

mod drawn;
pub(crate) mod filters;
pub(crate) mod inspection;
pub(crate) mod lookups;
pub(crate) mod neighbours;
pub(crate) mod sample;

const UNREAD: &str = "as long as others cannot be read";

pub(crate) struct Survey<'a> {
    pub(crate) group: &'a Group,
    pub(crate) tables: Vec<Result<Inspection, Unread>>,
    /// The sampled keys of a database, if the order of its keys is known.
    pub(crate) sample: Option<Sample<'a>>,
}

/// Why a table cannot be read.
pub(crate) struct Unread {
    pub(crate) cause: String,
    /// Whether it is a table of a database and not there.
    pub(crate) is_missing: bool,
}

impl<'a> Survey<'a> {
    pub(crate) fn of(group: &'a Group, wish: &Wish, progress: &Progress) -> Self {
        progress.show("choosing keys to look up");
        let sample = Ranges::of(group).map(Sample::draw);
        let num_tables = group.tables.len();
        let inspected = group.tables.iter().enumerate().map(|(i, listed)| {
            progress.show(&format!("table {} of {num_tables}: {}", i + 1, listed.name));
            let inspection = open_regular_file(&listed.path)
                .and_then(|file| Inspection::of((group, i), &file, sample.as_ref(), wish));
            inspection.map_err(|error| Unread {
                cause: error.to_string(),
                is_missing: listed.place.is_some() && error.kind() == io::ErrorKind::NotFound,
            })
        });
        let mut survey = Self { group, tables: inspected.collect(), sample };
        survey.drop_plans(wish);
        survey
    }

    /// Drops the plans of tables that would not gain, and those that something forbids.
    fn drop_plans(&mut self, wish: &Wish) {
        if self.num_unread() > 0 {
            self.drop_where(UNREAD, |_, _| true);
        }
        // If some filters are not of whole keys, others may not be either, and added ones would
        // hide keys.
        let are_of_others = self.read().any(|table| table.is_wrong() && table.is_foreign());
        if are_of_others || self.read().any(Inspection::is_foreign) {
            self.drop_where(BELOW, |table, _| table.filters.known().is_none() || table.is_wrong());
            if are_of_others {
                self.drop_where(BESIDE, |_, _| true);
            }
        }
        self.drop_without_gain(wish);
        if !wish.adds {
            self.drop_where(NO_FILTERS, |table, plan| {
                plan.growth > 0 && table.filters.known().is_none()
            });
            self.drop_where(NO_ROOM, |_, plan| plan.growth > 0);
            self.drop_without_gain(wish);
        }
    }

    fn drop_without_gain(&mut self, wish: &Wish) {
        if !self.knows_reads() {
            return;
        }
        let all_gain = self.today().falls_to(&self.rewritten());
        self.drop_where(NO_GAIN, |table, plan| {
            let (today, planned) = (&table.today, &plan.cost);
            // Where each table is asked by few lookups, all together tell.
            let gains = today.falls_to(planned) || all_gain && today.sum() >= planned.sum();
            let is_smaller = wish.bits_per_key.is_some() && planned.num_bytes < today.num_bytes;
            !gains && !is_smaller && !table.is_wrong()
        });
    }

    fn drop_where(&mut self, why: &'static str, is_dropped: impl Fn(&Inspection, &Plan) -> bool) {
        for table in self.tables.iter_mut().flatten() {
            if table.plan.as_ref().is_ok_and(|plan| is_dropped(table, plan)) {
                table.plan = Err(Stays::For(why));
            }
        }
    }

    /// The tables that can be read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Inspection> {
        self.tables.iter().flatten()
    }

    pub(crate) fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.read().filter_map(|table| table.plan.as_ref().ok())
    }

    pub(crate) fn num_unread(&self) -> usize {
        self.tables.iter().filter(|table| table.is_err()).count()
    }

    pub(crate) fn num_missing(&self) -> usize {
        self.tables
            .iter()
            .filter_map(|table| table.as_ref().err())
            .filter(|of| of.is_missing)
            .count()
    }

    /// Whether it is known how many data blocks lookups read.
    pub(crate) fn knows_reads(&self) -> bool {
        self.sample.is_some() && self.num_unread() == 0 && !self.read().any(Inspection::is_foreign)
    }

    /// Whether it can be shown, too: of what `LevelDB` ignores or fails at, figures would say
    /// nothing.
    pub(crate) fn has_figures(&self) -> bool {
        let totals = self.totals();
        self.knows_reads() && totals.entries > 0 && !self.read().any(Inspection::is_wrong)
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals::of(self.read())
    }

    pub(crate) fn today(&self) -> Cost {
        Cost::of_all(self.read().map(|table| &table.today))
    }

    /// The cost if all plans are carried out.
    pub(crate) fn rewritten(&self) -> Cost {
        Cost::of_all(
            self.read().map(|table| table.plan.as_ref().map_or(&table.today, |of| &of.cost)),
        )
    }

    /// How many filters a lookup asks needlessly.
    pub(crate) fn asked(&self) -> Reads {
        self.read().fold(Reads::default(), |sum, table| sum.zip(table.asked).map(|(a, b)| a + b))
    }

    /// What is wrong with each table.
    pub(crate) fn causes(&self) -> Vec<Option<String>> {
        let cause = |table: &Result<Inspection, Unread>| match table {
            Err(unread) => Some(unread.cause.clone()),
            Ok(table) => table.cause(),
        };
        self.tables.iter().map(cause).collect()
    }

    /// A line for each cause, with the first table that has it.
    pub(crate) fn named(&self, causes: Vec<Option<String>>) -> Vec<String> {
        let mut tables_by_cause: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (table, cause) in self.group.tables.iter().zip(causes) {
            let Some(cause) = cause else { continue };
            tables_by_cause.entry(cause).or_default().push(&table.name);
        }
        let named = tables_by_cause.iter().map(|(cause, tables)| {
            let others = match tables.len() - 1 {
                0 => String::new(),
                others => format!(" and {}", counted(others, "other table")),
            };
            let directory = match &self.group.name[..] {
                "" => String::new(),
                name => format!("{name}: "),
            };
            format!("{directory}{}{others}: {cause}", tables[0])
        });
        self.group.lost.iter().cloned().chain(named).collect()
    }
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) entries: usize,
    pub(crate) keys: usize,
    pub(crate) deleted: usize,
    pub(crate) filter_bytes: usize,
    filter_bits: usize,
    /// Entries of tables that have filters of a known policy.
    filter_entries: usize,
}

impl Totals {
    pub(crate) fn of<'a>(tables: impl Iterator<Item = &'a Inspection>) -> Self {
        let mut totals = Self::default();
        for table in tables {
            totals.entries += table.num_entries;
            totals.keys += table.num_keys;
            totals.deleted += table.num_deletions;
            totals.filter_bytes = totals.filter_bytes.saturating_add(table.today.num_bytes);
            let Some(filters) = table.filters.known() else { continue };
            totals.filter_bits = totals.filter_bits.saturating_add(filters.num_bits);
            totals.filter_entries += table.num_entries;
        }
        totals
    }

    pub(crate) fn bits_per_entry(&self) -> Option<f64> {
        ratio(self.filter_bits, self.filter_entries)
    }
}
