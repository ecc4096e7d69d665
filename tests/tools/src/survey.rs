//! What is known of a database's tables, what lookups read in them, and what other filters change.

use std::io;

use crate::database::{Database, ListedTable};
use crate::table::Table;
use crate::terminal::Progress;
use cost::{Cost, Counts, FEWEST, Reads, add};
use filters::{Filters, Keys};
use plan::Plan;
use sample::Sample;

pub(crate) mod cost;
pub(crate) mod filters;
mod plan;
pub(crate) mod sample;

pub(crate) struct Survey<'a> {
    pub(crate) database: &'a Database,
    /// Of each table, or why it cannot be read.
    pub(crate) tables: Vec<Result<Inspection, String>>,
    /// The lookups, if the order of keys is known.
    pub(crate) sample: Option<Sample>,
}

pub(crate) struct Inspection {
    pub(crate) num_entries: usize,
    pub(crate) num_deletions: usize,
    pub(crate) filters: Filters,
    /// The lookups that ask the table, which lacks their key.
    pub(crate) asked: Counts,
    pub(crate) today: Cost,
    /// Or why the table stays as it is.
    pub(crate) plan: Result<Plan, &'static str>,
}

impl<'a> Survey<'a> {
    pub(crate) fn of(database: &'a Database, progress: &Progress) -> Self {
        progress.show("choosing keys to look up");
        let sample = database.is_bytewise().then(|| Sample::draw(database));
        let inspect = |(i, listed): (usize, &ListedTable)| {
            progress.show(&format!("table {} of {}", i + 1, database.tables.len()));
            let file = listed.read()?;
            let table = Table::open(&file)?;
            let reads = |filter_block: Option<&[u8]>| match &sample {
                Some(sample) => sample.reads((database, i), &table, filter_block),
                None => [0; 2],
            };
            Inspection::of(listed, &table, &reads)
        };
        let tables = database.tables.iter().enumerate();
        let tables = tables.map(|of| inspect(of).map_err(|error: io::Error| error.to_string()));
        let mut survey = Self { tables: tables.collect(), database, sample };
        survey.drop_plans();
        survey
    }

    /// Drops the plans of tables that would not gain, and those that something forbids.
    fn drop_plans(&mut self) {
        if self.num_unread() > 0 {
            return self.drop_where("as long as others cannot be read", |_, _| true);
        }
        // Others may not be of whole keys, either.
        if self.read().any(|table| table.filters.are_foreign) {
            return self.drop_where("since only their program knows its filters", |_, _| true);
        }
        let Some(sample) = &self.sample else {
            return self.drop_where("in an order that only their program knows", |_, _| true);
        };
        // Where a table is asked by few lookups, all tables together tell.
        let (is_all, all_fall) = (sample.is_all, self.today().falls_to(&self.rewritten()));
        self.drop_where("that would not gain", |table, plan| {
            let is_telling = is_all || table.asked[0] + table.asked[1] >= FEWEST;
            let falls = if is_telling { table.today.falls_to(&plan.cost) } else { all_fall };
            !falls && !table.filters.are_damaged
        });
    }

    fn drop_where(&mut self, why: &'static str, is_dropped: impl Fn(&Inspection, &Plan) -> bool) {
        for table in self.tables.iter_mut().flatten() {
            if table.plan.as_ref().is_ok_and(|plan| is_dropped(table, plan)) {
                table.plan = Err(why);
            }
        }
    }

    /// The tables that can be read.
    pub(crate) fn read(&self) -> impl Iterator<Item = &Inspection> {
        self.tables.iter().flatten()
    }

    pub(crate) fn num_unread(&self) -> usize {
        self.tables.iter().filter(|table| table.is_err()).count()
    }

    pub(crate) fn num_plans(&self) -> usize {
        self.read().filter(|table| table.plan.is_ok()).count()
    }

    pub(crate) fn sum(&self, of: impl Fn(&Inspection) -> usize) -> usize {
        self.read().map(of).fold(0, usize::saturating_add)
    }

    pub(crate) fn today(&self) -> Cost {
        Cost::of_all(self.read().map(|table| table.today))
    }

    /// The cost if all plans are carried out.
    pub(crate) fn rewritten(&self) -> Cost {
        Cost::of_all(self.read().map(|table| table.plan.as_ref().map_or(table.today, |of| of.cost)))
    }

    /// How many times lookups ask a table that lacks their key.
    pub(crate) fn asked(&self) -> Counts {
        self.read().fold([0; 2], |sum, table| add(sum, table.asked))
    }
}

impl Inspection {
    fn of(listed: &ListedTable, table: &Table<'_>, reads: &Reads<'_>) -> io::Result<Self> {
        let keys = Keys::of(table)?;
        let stored = table.filters();
        let filters = stored.as_ref().map(|stored| Filters::of(stored, &keys));
        let plan = match &filters {
            _ if keys.num_entries == 0 => Err("without keys"),
            None => Err("without filters"),
            Some(filters) => Plan::of(listed, table, filters.bits_per_key, reads),
        };
        let today = Cost::of(stored.as_ref().map(|stored| &stored.contents[..]), reads);
        Ok(Self {
            num_entries: keys.num_entries,
            num_deletions: keys.num_deletions,
            filters: filters.unwrap_or_default(),
            asked: reads(None),
            today,
            plan,
        })
    }
}
