//! What is known about all tables of a group together, and what lookups read in them.

use std::collections::BTreeMap;
use std::io;

use crate::command_line::Outcome;
use crate::database::Group;
use crate::database::ranges::Ranges;
use crate::table::directory::open_regular_file;
use crate::table::{Source, Table};
use crate::terminal::grouped;
use crate::text::{counted, float, per_1000, ratio};
use drawn::Tables;
use filters::TRAILER_LEN;
use inspection::{Filters, Inspection};
use lookups::{Lookups, OWN_AT_RANDOM, RANDOM, Reads};
use sample::{BETWEEN, OWN, Sample};

mod drawn;
pub(crate) mod filters;
pub(crate) mod inspection;
pub(crate) mod lookups;
pub(crate) mod neighbours;
pub(crate) mod sample;
pub(crate) mod settings;

pub(crate) struct Survey<'a> {
    pub(crate) group: &'a Group,
    /// The inspection of each table, or why it cannot be read.
    pub(crate) tables: Vec<Result<Inspection, String>>,
    /// The share of lookups of absent keys that consult each table; `None` if unknown.
    pub(crate) shares: Option<Vec<f64>>,
    /// The sampled keys of a database, if the order of its keys is known.
    pub(crate) sample: Option<Sample<'a>>,
    lookups: Lookups,
}

impl<'a> Survey<'a> {
    /// A survey of today's filters, and of others if it `compares`.
    pub(crate) fn of(
        group: &'a Group,
        (num_lookups, compares): (usize, bool),
        progress: impl Fn(&str),
    ) -> Self {
        let num_tables = group.tables.len();
        progress("choosing keys to look up");
        let sample = group.database.as_ref().and_then(|database| {
            let places = group.tables.iter().filter_map(|table| table.place.as_ref());
            let ranges = places.map(|place| (place.level, &place.contents)).collect();
            let ranges = Ranges::new(database.comparator.as_deref(), ranges)?;
            let visit = Box::new(|i: usize, visit: &mut dyn FnMut(&Table<'_>)| {
                let Ok(file) = open_regular_file(&group.tables[i].path) else { return };
                let table = Source::of_file(&file).map(Table::open);
                let _ = table.map(|table| table.map(|table| visit(&table)));
            });
            let trailer_len = TRAILER_LEN;
            let tables = Tables { number: num_tables, ranges: Some(ranges), trailer_len, visit };
            Some(Sample::draw(tables, num_lookups))
        });
        let lookups = Lookups { total: num_lookups, num_tables, ordinal: 0, compares };
        let mut survey = Self { group, tables: Vec::new(), shares: None, sample, lookups };
        for (i, table) in group.tables.iter().enumerate() {
            progress(&format!("table {} of {num_tables}: {}", i + 1, table.name));
            let inspection = open_regular_file(&table.path).and_then(|file| {
                Ok(Inspection::of(
                    Source::of_file(&file)?,
                    survey.lookups(i),
                    survey.sample.as_ref(),
                )?)
            });
            survey.tables.push(inspection.map_err(|error| {
                let kind = error.downcast_ref().map(io::Error::kind);
                let is_gone = table.place.is_some() && kind == Some(io::ErrorKind::NotFound);
                let hint = "; a running database removes tables: close or copy it";
                format!("{error}{}", if is_gone { hint } else { "" })
            }));
        }
        survey.shares = match (&survey.sample, survey.ranges()) {
            (Some(sample), Some(ranges)) => {
                let known = survey.share_known();
                let shares = ranges.shares(sample.live_keys().map(|(key, _)| key));
                Some(shares.into_iter().map(|share| share * known).collect())
            }
            _ if group.database.is_some() => None,
            // Tables without a database get lookups in proportion to their keys.
            _ => {
                let all = survey.totals().keys.max(1);
                let keys = |i| survey.table(i).map_or(0, |table| table.num_keys);
                (0..num_tables).map(|i| ratio(keys(i), all)).collect()
            }
        };
        survey
    }

    pub(crate) fn lookups(&self, i: usize) -> Lookups {
        Lookups { ordinal: i, ..self.lookups }
    }

    /// The share of lookups to count: a table that cannot be read may cover a range of its own.
    fn share_known(&self) -> f64 {
        let known = self.totals().file_len;
        let unread = self.group.tables.iter().zip(&self.tables).filter(|(_, table)| table.is_err());
        let lens = unread.filter_map(|(listed, _)| Some(listed.place.as_ref()?.contents.len));
        let all = lens.fold(known, u64::saturating_add);
        let [known, all] = [known, all].map(|len| usize::try_from(len).unwrap_or(usize::MAX));
        ratio(known, all).unwrap_or_default()
    }

    pub(crate) fn ranges(&self) -> Option<&Ranges<'a>> {
        self.sample.as_ref()?.tables.ranges.as_ref()
    }

    /// `None` if the table cannot be read.
    pub(crate) fn table(&self, i: usize) -> Option<&Inspection> {
        self.tables[i].as_ref().ok()
    }

    /// The wasted data block reads of 1,000 lookups of each kind, given those in each table.
    pub(crate) fn reads(&self, of_table: impl Fn(usize) -> Option<Reads>) -> Reads {
        let mut sum = Reads::default();
        for (i, &share) in self.shares.iter().flatten().enumerate() {
            let Some(reads) = of_table(i) else { continue };
            // A database's sample is already divided between its tables.
            let sampled = if self.sample.is_some() { 1.0 } else { share };
            let weights = [sampled, sampled, share, sampled];
            for ((sum, reads), weight) in sum.iter_mut().zip(reads).zip(weights) {
                *sum += 1_000.0 * reads * weight;
            }
        }
        sum
    }

    /// The standard errors of today's reads, `BETWEEN` and `OWN`: even if all own keys are looked
    /// up, which of them match is chance.
    pub(crate) fn errors_today(&self) -> [f64; 2] {
        let shares = self.shares.as_ref().filter(|_| self.sample.is_none());
        [BETWEEN, OWN].map(|kind| {
            let error =
                |i| Some(self.table(i)?.variances[kind].sqrt() * shares.map_or(1.0, |of| of[i]));
            let errors = (0..self.tables.len()).filter_map(error);
            1_000.0 * errors.map(|error| error * error).sum::<f64>().sqrt()
        })
    }

    /// Formats only the digits that are significant, and a bound if no sampled lookup reads.
    pub(crate) fn shown(&self, reads: Reads) -> [String; 4] {
        if self.shares.is_none() {
            return [(); 4].map(|()| "?".into());
        }
        let sampled = |kind: usize| match &self.sample {
            Some(sample) if sample.numbers[kind] == 0 => 0.0,
            // Where no filter is asked, none can match.
            _ if !self.tables.iter().flatten().any(|table| table.consulted[kind] > 0.0) => {
                f64::INFINITY
            }
            None => 1e4,
            Some(sample) => sample.num_lookups(kind),
        };
        let at_random = float(self.lookups.total) / float(self.tables.len());
        let lookups = [sampled(BETWEEN), sampled(OWN), at_random, at_random];
        [BETWEEN, OWN, RANDOM, OWN_AT_RANDOM].map(|kind| per_1000(reads[kind], lookups[kind]))
    }

    pub(crate) fn title_of_reads(&self) -> String {
        let is_certain = self.ranges().is_none_or(|ranges| ranges.is_certain);
        let bound = match (self.unjudged().0, &self.sample) {
            (1.., _) => ", at least",
            _ if !is_certain => " (the order of keys is guessed)",
            (_, Some(sample)) if sample.is_guess => " (missing keys are guessed)",
            _ => "",
        };
        format!("Data blocks read needlessly per 1,000 lookups{bound}")
    }

    /// How many tables are not counted, and why.
    pub(crate) fn unjudged(&self) -> (usize, Vec<String>) {
        if self.shares.is_none() {
            return (self.tables.len(), vec!["the order of the keys is unknown".into()]);
        }
        let num_unread = self.tables.iter().filter(|table| table.is_err()).count();
        let (mut num_unknown, mut hides, mut policy) = (num_unread, false, None);
        for table in self.tables.iter().flatten().filter(|table| table.reads.is_none()) {
            num_unknown += 1;
            match &table.filters {
                Filters::OfUnknownPolicy(name) => policy = Some(name),
                _ => hides = true,
            }
        }
        let tables = counted(self.tables.len(), "table");
        let unread = (num_unread > 0).then(|| format!("{num_unread} of {tables} cannot be read"));
        let hides = hides.then(|| "today's filters hide keys".into());
        let policy = policy.map(|name| format!("the policy is {name:?}"));
        (num_unknown, [unread, hides, policy].into_iter().flatten().collect())
    }

    pub(crate) fn is_comparable(&self) -> bool {
        self.unjudged().0 == 0 && self.totals().keys > 0
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals::of(self.tables.iter().flatten())
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let mut outcome = self.group.lost.clone().map_or_else(Outcome::default, Outcome::failure);
        let mut tables_by_cause: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (i, table) in self.tables.iter().enumerate() {
            let Some((exit_status, cause)) = judge(table) else { continue };
            outcome.fail(exit_status);
            tables_by_cause.entry(cause).or_default().push(i);
        }
        for (cause, tables) in tables_by_cause {
            let first = &self.group.tables[tables[0]].name;
            let others = format!(" and {}", counted(tables.len() - 1, "other table"));
            let others = if tables.len() == 1 { "" } else { &others };
            let directory = format!("{}: ", self.group.name);
            let directory = if self.group.name.is_empty() { "" } else { &directory };
            outcome.causes.push(format!("{directory}{first}{others}: {cause}"));
        }
        outcome
    }
}

/// What is wrong with a table, and the exit status.
pub(crate) fn judge(table: &Result<Inspection, String>) -> Option<(u8, String)> {
    Some(match table.as_ref().map(|table| &table.filters) {
        Err(cause) => (1, cause.clone()),
        // Quoted and escaped: a name from a file may contain anything.
        Ok(Filters::OfUnknownPolicy(name)) => {
            (1, format!("filters of an unknown policy, {name:?}"))
        }
        Ok(Filters::Known(filters)) if filters.num_hidden > 0 => {
            (1, "the filters hide keys: LevelDB does not find them".into())
        }
        Ok(Filters::Known(filters)) if !filters.is_remade => {
            (3, "the filters differ from their policy's".into())
        }
        Ok(Filters::Damaged) => {
            (1, "the filters are damaged: rewrite_filters rebuilds them".into())
        }
        Ok(Filters::None | Filters::Known(_)) => return None,
    })
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) keys: usize,
    pub(crate) distinct: usize,
    pub(crate) deleted: usize,
    pub(crate) file_len: u64,
    pub(crate) filter_bytes: usize,
    filter_bits: usize,
    /// Keys in tables that have filters.
    filter_keys: usize,
}

impl Totals {
    pub(crate) fn of<'a>(tables: impl Iterator<Item = &'a Inspection>) -> Self {
        let mut totals = Self::default();
        for table in tables {
            totals.keys += table.num_keys;
            totals.distinct += table.num_user_keys;
            totals.deleted += table.num_deletions;
            totals.file_len = totals.file_len.saturating_add(table.file_len);
            let Some(filters) = table.filters.known() else { continue };
            totals.filter_bytes = totals.filter_bytes.saturating_add(filters.num_bytes);
            totals.filter_bits = totals.filter_bits.saturating_add(filters.num_bits);
            totals.filter_keys += table.num_keys;
        }
        totals
    }

    pub(crate) fn bits_per_key(&self) -> Option<f64> {
        ratio(self.filter_bits, self.filter_keys)
    }

    pub(crate) fn filter_cells(&self) -> [String; 2] {
        if self.filter_bytes == 0 {
            return ["-"; 2].map(Into::into);
        }
        let bits = self.bits_per_key().map_or("-".into(), |bits| format!("{bits:.2}"));
        [bits, grouped(self.filter_bytes)]
    }
}
