//! Formats the report on one table, or on all tables of a group.

use super::Options;
use super::advice;
use crate::database::printable;
use crate::survey::filters::LEVELDB_BASE_LG;
use crate::survey::inspection::{Filters, Inspection};
use crate::survey::sample::{BETWEEN, OWN};
use crate::survey::{Survey, Totals};
use crate::terminal::grouped;
use crate::text::{columns, counted, float, long, percentage, wrapped};

/// The report on a group of tables, the answer first.
pub(crate) fn group(survey: &Survey<'_>, options: &Options) -> Vec<String> {
    let tables = counted(survey.tables.len(), "table");
    let is_read = survey.tables.iter().all(Result::is_ok);
    let keys = if is_read { grouped(survey.totals().keys) } else { "?".into() };
    let name = survey.group.title();
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
        let comparator =
            survey.group.database.iter().filter_map(|database| database.comparator.as_deref());
        let comparator = comparator.map(|name| format!("Comparator: {:.100}", printable(name)));
        let others = survey.group.not_in_use.join(", ");
        let others = (!others.is_empty()).then(|| format!("Not in use: {others}"));
        lines.extend(comparator.chain(others).flat_map(|line| wrapped(&line, "  ")));
    }
    lines
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
    let sums =
        levels.into_iter().chain(total).map(|tables| (tables, counted(tables.len(), "table")));
    let each = all.iter().map(|&i| {
        let note = note(&survey.tables[i]).map_or(String::new(), |note| format!(": {note}"));
        (&all[i..=i], tables[i].name.clone() + &note)
    });
    let rows = sums.chain(each).map(|(tables, name)| {
        let totals = Totals::of(tables.iter().filter_map(|&i| survey.table(i)));
        let is_read = tables.iter().all(|&i| survey.table(i).is_some());
        let [entries, keys, deleted] = [totals.keys, totals.distinct, totals.deleted]
            .map(|sum| if is_read { grouped(sum) } else { "?".into() });
        let [bits, bytes] = totals.filter_cells();
        let [missing, existing] = rates(survey, tables);
        let is_one = level(tables[0]) == level(tables[tables.len() - 1]);
        let level =
            level(tables[0]).filter(|_| is_one).map_or("-".into(), |level| level.to_string());
        [level, entries, keys, deleted, bits, bytes, missing, existing, name]
    });
    let rows: Vec<_> = rows.collect();
    let mut lines = vec![String::new()];
    lines.extend(columns(TITLES, rows.into_iter()));
    let note = "Keys: each counted once per table. Bytes: filters and their offsets. Missing, \
        existing: lookups that match, of those that ask for keys not there.";
    lines.extend(wrapped(note, ""));
    lines
}

/// How many of the lookups of missing and of existing keys that ask these tables needlessly match.
fn rates(survey: &Survey<'_>, tables: &[usize]) -> [String; 2] {
    [BETWEEN, OWN].map(|kind| {
        let (mut read, mut asked) = (0.0, 0.0);
        for table in tables.iter().filter_map(|&i| survey.table(i)) {
            let weight = if survey.sample.is_some() { 1.0 } else { float(table.num_keys) };
            let Some(reads) = table.reads else { continue };
            read += weight * reads[kind];
            asked += weight * table.consulted[kind];
        }
        if asked > 0.0 { percentage(read / asked) } else { "-".into() }
    })
}

fn note(table: &Result<Inspection, String>) -> Option<String> {
    Some(match table.as_ref().map(|table| &table.filters) {
        Err(_) => "unread".into(),
        Ok(Filters::None) => "no filters".into(),
        Ok(Filters::OfUnknownPolicy(_)) => "unknown".into(),
        Ok(Filters::Damaged) => "damaged".into(),
        Ok(Filters::Known(filters)) => match (filters.num_hidden, filters.base_lg) {
            (1.., _) => format!("hides {} keys", grouped(filters.num_hidden)),
            _ if !filters.is_remade => "different".into(),
            (_, LEVELDB_BASE_LG) => return None,
            (_, base_lg) => format!("base_lg {base_lg}"),
        },
    })
}
