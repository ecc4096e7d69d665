//! Formats the report on one table, or on all tables of a group.

use super::Options;
use super::advice;
use super::database::printable;
use super::filters::LEVELDB_BASE_LG;
use super::sample::{BETWEEN, OWN};
use super::survey::{Survey, Totals};
use super::table::{Filters, Inspection};
use crate::terminal::{columns, counted, float, grouped, long, percentage, wrapped};

/// The report on a group of tables, the answer first.
pub(crate) fn group(survey: &Survey<'_>, options: &Options) -> Vec<String> {
    let tables = counted(survey.tables.len(), "table");
    let keys = known(survey.totals().keys, survey.tables.iter());
    let name = match (&survey.group.name[..], &survey.group.tables[..]) {
        ("", [table]) => table.name.clone(),
        ("", [table, ..]) => format!("{} and others", table.name),
        (name, _) => name.into(),
    };
    let (state, log_len) = match &survey.group.database {
        Some(database) => (" in use", database.log_len),
        None if survey.group.name.is_empty() => ("", 0),
        None => (" (no MANIFEST says which are in use)", 0),
    };
    let mut lines = match (survey.tables.len(), log_len) {
        (0, 0) => vec![format!("{name}: no tables, and no keys in a log")],
        (0, _) => {
            let log = format!("All keys are still in the log ({} bytes).", long(log_len));
            vec![format!("{name}: no tables yet"), log]
        }
        _ => {
            let title = format!("{name}: {tables}{state}, {keys} keys");
            [vec![title], advice::on_filters(survey, log_len)].concat()
        }
    };
    if options.what_if {
        lines.extend(advice::other_filters(survey));
    }
    if options.tables || survey.group.database.is_none() {
        lines.extend(levels_and_tables(survey));
    }
    if options.tables {
        lines.extend(survey.group.database.iter().flat_map(|database| {
            let comparator = database.comparator.as_deref().unwrap_or("without a name");
            wrapped(&format!("Comparator: {:.100}", printable(comparator)), "  ")
        }));
        lines.extend(not_in_use(survey));
    }
    lines
}

/// A sum over tables, if all of them can be read.
fn known<'a>(
    sum: usize,
    mut tables: impl Iterator<Item = &'a Result<Inspection, String>>,
) -> String {
    if tables.any(Result::is_err) { "?".into() } else { grouped(sum) }
}

const TITLES: [&str; 9] =
    ["level", "entries", "keys", "deleted", "bits/key", "bytes", "missing", "existing", ""];

/// A line for each level, for all if there are several, and for each table.
fn levels_and_tables(survey: &Survey<'_>) -> Vec<String> {
    let tables = &survey.group.tables;
    let level = |i: usize| tables[i].place.as_ref().map(|place| place.level);
    let all: Vec<_> = (0..tables.len()).collect();
    let levels: Vec<_> = all.chunk_by(|&a, &b| level(a) == level(b)).collect();
    let total = (levels.len() > 1).then_some(&all[..]);
    let sums = levels.into_iter().chain(total).map(|of| (of, counted(of.len(), "table")));
    let each = all.iter().map(|&i| {
        let note = note(&survey.tables[i]).map_or(String::new(), |note| format!(": {note}"));
        (&all[i..=i], tables[i].name.clone() + &note)
    });
    let rows = sums.chain(each).map(|(of, name)| {
        let mut totals = Totals::default();
        for &i in of {
            totals.add(&survey.tables[i]);
        }
        let [entries, keys, deleted] = [totals.keys, totals.distinct, totals.deleted]
            .map(|sum| known(sum, of.iter().map(|&i| &survey.tables[i])));
        let [bits, bytes] = totals.filter_cells();
        let [missing, existing] = rates(survey, of);
        let is_one = level(of[0]) == level(of[of.len() - 1]);
        let level = level(of[0]).filter(|_| is_one).map_or("-".into(), |level| level.to_string());
        [level, entries, keys, deleted, bits, bytes, missing, existing, name]
    });
    let rows: Vec<_> = rows.collect();
    let mut lines = vec![String::new()];
    lines.extend(columns(TITLES, rows.into_iter()));
    lines.push("Keys: different ones in a table. Bytes: filters and their offsets.".into());
    lines.push(
        "Missing, existing: lookups that match, of those that ask for keys not there.".into(),
    );
    let filters = survey.tables.iter().flatten().map(|table| &table.filters);
    let remade = filters.filter(|of| matches!(of, Filters::Known(block) if block.is_remade));
    let num_remade = remade.count();
    if num_remade > 0 {
        let tables = counted(num_remade, "table") + ", byte for byte.";
        lines.push(format!("This crate makes the same filters for {tables}"));
    }
    lines
}

/// How many of the lookups of missing and of existing keys that ask these tables in vain match.
fn rates(survey: &Survey<'_>, tables: &[usize]) -> [String; 2] {
    [BETWEEN, OWN].map(|kind| {
        let (mut read, mut asked) = (0.0, 0.0);
        for table in tables.iter().filter_map(|&i| survey.table(i)) {
            let weight = if survey.sampled.is_some() { 1.0 } else { float(table.num_keys) };
            let Some(reads) = table.reads else { continue };
            read += weight * reads[kind];
            asked += weight * table.consulted[kind];
        }
        if asked > 0.0 { percentage(read / asked) } else { "-".into() }
    })
}

/// How much of the file one filter covers.
fn range(base_lg: u8) -> String {
    match 1u64.checked_shl(base_lg.into()) {
        Some(len @ 0..1_024) => format!("{len} bytes"),
        Some(len) => format!("{} KiB", long(len >> 10)),
        None => "2^64 bytes".into(),
    }
}

fn note(table: &Result<Inspection, String>) -> Option<String> {
    Some(match table.as_ref().map(|table| &table.filters) {
        Err(_) => "unread".into(),
        Ok(Filters::None) => "no filters".into(),
        Ok(Filters::OfUnknownPolicy(_)) => "unknown".into(),
        Ok(Filters::Known(filters)) => match (filters.num_hidden, filters.base_lg) {
            (1.., _) => format!("hides {} keys", grouped(filters.num_hidden)),
            _ if !filters.is_remade => "different".into(),
            (_, LEVELDB_BASE_LG) => return None,
            (_, base_lg) => format!("one per {}", range(base_lg)),
        },
    })
}

fn not_in_use(survey: &Survey<'_>) -> Vec<String> {
    match &survey.group.not_in_use[..] {
        [] => Vec::new(),
        names => wrapped(&format!("Not in use: {}", names.join(", ")), "  "),
    }
}
