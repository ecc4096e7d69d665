//! A line for each level, for all if there are several, and for each table.

use crate::database::printable;
use crate::survey::inspection::{Filters, Inspection};
use crate::survey::lookups::Kinds;
use crate::survey::{Survey, Totals, Unread};
use crate::terminal::grouped;
use crate::text::{columns, counted, percent, wrapped};

/// `LevelDB`'s: one filter for 2 KiB of the file.
const LEVELDB_BASE_LG: u8 = 11;

const TITLES: [&str; 9] =
    ["level", "entries", "keys", "deleted", "bits/entry", "bytes", "missing", "existing", ""];

pub(super) fn lines(survey: &Survey<'_>) -> Vec<String> {
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
        let is_one = level(tables[0]) == level(tables[tables.len() - 1]);
        let level = level(tables[0]).filter(|_| is_one);
        let level = level.map_or("-".into(), |level| level.to_string());
        let [entries, keys, deleted, bits, bytes, missing, existing] = cells(survey, tables);
        [level, entries, keys, deleted, bits, bytes, missing, existing, name]
    });
    let rows: Vec<_> = rows.collect();
    let mut lines = vec![String::new()];
    lines.extend(columns(TITLES, rows.into_iter()));
    let note = "Keys: each counted once per table. Bytes: filters and their offsets. Missing, \
        existing: of the filters asked for such keys, how many let them pass.";
    lines.extend(wrapped(note));
    let comparator = survey.group.comparator();
    let comparator = comparator.map(|name| format!("Comparator: {:.100}", printable(name)));
    let others = survey.group.not_in_use.join(", ");
    let others = (!others.is_empty()).then(|| format!("Not in use: {others}"));
    lines.extend(comparator.iter().chain(&others).flat_map(|line| wrapped(line)));
    lines
}

/// Of these tables together.
fn cells(survey: &Survey<'_>, tables: &[usize]) -> [String; 7] {
    let read = || tables.iter().filter_map(|&i| survey.tables[i].as_ref().ok());
    let totals = Totals::of(read());
    let is_read = read().count() == tables.len();
    let [entries, keys, deleted] = [totals.entries, totals.keys, totals.deleted]
        .map(|sum| if is_read { grouped(sum) } else { "?".into() });
    let bits = totals.bits_per_entry().map_or("-".into(), |bits| format!("{bits:.2}"));
    let bytes = if totals.filter_bytes > 0 { grouped(totals.filter_bytes) } else { "-".into() };
    let sum = |of: &dyn Fn(&Inspection) -> f64| -> f64 { read().map(of).sum() };
    let asked = Kinds {
        missing: sum(&|table| table.asked.missing),
        existing: sum(&|table| table.asked.existing),
    };
    let read = Kinds {
        missing: sum(&|table| table.today.reads.missing),
        existing: sum(&|table| table.today.reads.existing),
    };
    let Kinds { missing, existing } = read.zip(asked).map(|(read, asked)| {
        let is_known = asked > 0.0 && survey.has_figures();
        if is_known { percent(read / asked) } else { "-".into() }
    });
    [entries, keys, deleted, bits, bytes, missing, existing]
}

fn note(table: &Result<Inspection, Unread>) -> Option<String> {
    Some(match table.as_ref().map(|table| &table.filters) {
        Err(unread) if unread.is_missing => "missing".into(),
        Err(_) => "unread".into(),
        Ok(Filters::None) => "no filters".into(),
        Ok(Filters::OfUnknownPolicy(_)) => "unknown".into(),
        Ok(Filters::Known(filters)) if filters.is_damaged => "damaged".into(),
        Ok(Filters::Known(filters)) => match (filters.num_rejected, filters.base_lg) {
            (0, LEVELDB_BASE_LG) => return None,
            (0, base_lg) => format!("base_lg {base_lg}"),
            (rejected, _) => format!("rejects {}", grouped(rejected)),
        },
    })
}
