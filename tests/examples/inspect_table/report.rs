//! What is printed of one table, or of all tables of a group.

use leveldb_filter::BloomFilterPolicy;

use super::database::{Database, printable};
use super::filters::{FilterBlock, LEVELDB_BASE_LG, float};
use super::survey::{Survey, Totals, percentage, ratio, reads, share};
use super::table::{Filters, Inspection};
use super::what_if::{self, Candidate};
use crate::terminal::{columns, counted, grouped, wrapped};

/// All about one table.
pub(crate) fn table(name: &str, table: &Inspection, asks_what_if: bool) -> Vec<String> {
    let mut lines = wrapped(&format!("{name}, {} bytes", long(table.file_len)), "");
    for (label, value) in rows(table) {
        lines.extend(wrapped(&format!("  {label:<20}  {value}"), &" ".repeat(24)));
    }
    if asks_what_if || matches!(table.filters, Filters::None) {
        lines.extend(table.others.iter().flat_map(what_if::of_table));
    }
    lines
}

fn rows(table: &Inspection) -> Vec<(&'static str, String)> {
    let (policy, filters) = match &table.filters {
        Filters::None => ("none: the table has no filter".into(), None),
        Filters::OfUnknownPolicy(name) => (format!("{name:?}, which is unknown here"), None),
        Filters::Known(filters) => {
            let origin = match &filters.policy_name[..] {
                BloomFilterPolicy::NAME => "LevelDB's name",
                _ => "goleveldb's name, LevelDB's before 1.18",
            };
            (format!("{} ({origin})", filters.policy_name), Some(filters))
        }
    };
    let [keys, distinct] = [table.num_keys, table.num_user_keys].map(grouped);
    let deletions = counted(table.num_deletions, "deletion");
    let mut rows = vec![
        ("filter policy", policy),
        ("data blocks", grouped(table.num_blocks)),
        ("keys", format!("{keys}, of which {distinct} distinct; {deletions}")),
    ];
    rows.extend(filters.iter().flat_map(|filters| rows_of_filters(table, filters)));
    rows
}

fn rows_of_filters(table: &Inspection, filters: &FilterBlock) -> Vec<(&'static str, String)> {
    let [number, empty] = [filters.num_filters, filters.num_empty].map(grouped);
    let range = range(filters.base_lg);
    let share = share(filters.num_bytes, table.file_len);
    let mut rows = vec![
        ("filters", format!("{number}, one for each {range} of the file; {empty} of them empty")),
        ("filter block", format!("{} bytes, {share} of the file", grouped(filters.num_bytes))),
    ];
    if let Some(bits_per_key) = ratio(filters.num_bits, table.num_keys) {
        let rate = match filters.num_hidden {
            0 => percentage(filters.rate) + " of absent keys read a data block",
            number => format!("unknown: the filters hide {} keys", grouped(number)),
        };
        rows.extend([
            ("bits per key", made_with(bits_per_key, filters.policy)),
            ("false-positive rate", rate),
        ]);
    }
    let made = if filters.is_remade { "the same filters, byte for byte" } else { "other filters" };
    rows.push(("this crate makes", made.into()));
    rows
}

/// What one filter is for.
fn range(base_lg: u8) -> String {
    match 1u64.checked_shl(base_lg.into()) {
        Some(len @ 0..1_024) => format!("{len} bytes"),
        Some(len) => format!("{} KiB", long(len >> 10)),
        None => "2^64 bytes".into(),
    }
}

fn made_with(bits_per_key: f64, policy: Option<BloomFilterPolicy>) -> String {
    let Some(policy) = policy else {
        return format!("{bits_per_key:.2}; no policy makes such filters");
    };
    let millibits = policy.millibits_per_key();
    let set = format!("{}.{:03}", millibits / 1_000, millibits % 1_000);
    let set = set.trim_end_matches('0').trim_end_matches('.');
    // Of a tuned policy each length has its own number.
    let is_tuned = policy == BloomFilterPolicy::from_millibits_per_key(millibits).tuned();
    let probes = match policy.shape(1).num_probes() {
        _ if is_tuned => "tuned".into(),
        num_probes => format!("{num_probes} probes"),
    };
    let is_padded = 900.0 * bits_per_key > float(millibits);
    let padding = if is_padded { "; a filter has 64 bits at least" } else { "" };
    format!("{bits_per_key:.2}, as made with {set} and {probes}{padding}")
}

/// All about the tables of a group, the answer first.
pub(crate) fn group(
    survey: &Survey<'_>,
    asks_what_if: bool,
    shared: Option<Candidate>,
) -> Vec<String> {
    let name = &survey.group.name;
    let num_tables = counted(survey.tables.len(), "table");
    let mut lines = match &survey.group.database {
        Some(database) if survey.tables.is_empty() => {
            let len = long(database.log_len);
            let line = format!("{name}: no tables yet, {len} bytes in the log");
            return [vec![line], not_in_use(survey)].concat();
        }
        Some(_) => {
            let mut lines = wrapped(&format!("{name}: {num_tables} in use"), "");
            lines.extend(answer(survey));
            if survey.is_comparable() {
                lines.extend(what_if::changes(survey, shared));
            }
            lines
        }
        None if name.is_empty() => Vec::new(),
        None => wrapped(&format!("{name}: {num_tables}, all counted: no MANIFEST tells"), ""),
    };
    lines.extend(levels(survey));
    if asks_what_if {
        lines.extend(what_if::of_group(survey, shared));
    }
    lines.extend(tables(survey));
    lines.extend(survey.group.database.iter().flat_map(notes));
    lines.extend(not_in_use(survey));
    if !asks_what_if && survey.group.database.is_none() && survey.lacks_filters() {
        lines.push("--what-if shows what filters would give to the tables without".into());
    }
    lines
}

fn answer(survey: &Survey<'_>) -> Vec<String> {
    let (num_unjudged, why) = survey.unjudged();
    let why = why.join("; ");
    if num_unjudged == survey.tables.len() {
        return wrapped(&format!("What lookups of absent keys read is unknown: {why}"), "");
    }
    let asked: f64 = survey.shares.iter().flatten().sum();
    let tables = counted(survey.tables.len(), "table");
    let asks = format!("{asked:.1} of {tables}: those whose range of keys holds its key");
    let (bound, note) = match (num_unjudged, survey.is_certain) {
        (0, true) => ("", format!("Each asks {asks}.")),
        (0, false) => ("about ", format!("Each asks {asks}, told without the comparator.")),
        _ => ("at least ", format!("What more they read is unknown: {why}.")),
    };
    let read = reads(survey.reads_today());
    let mut lines = vec![format!("1,000 lookups of absent keys read {bound}{read} data blocks")];
    lines.extend(wrapped(&note, ""));
    lines
}

/// A line for each level, and one for all where there are several.
fn levels(survey: &Survey<'_>) -> Vec<String> {
    let mut levels: Vec<(String, Totals)> = Vec::new();
    for (listed, table) in survey.group.tables.iter().zip(&survey.tables) {
        let name = listed.place.as_ref().map_or("all".into(), |place| place.level.to_string());
        if levels.last().is_none_or(|(last, _)| *last != name) {
            levels.push((name, Totals::default()));
        }
        levels.last_mut().expect("one was pushed").1.add(table);
    }
    if levels.len() > 1 {
        levels.push(("all".into(), survey.totals()));
    }
    let titles = [
        "level",
        "tables",
        "keys",
        "distinct",
        "deleted",
        "bits/key",
        "bytes",
        "share",
        "false pos.",
    ];
    let rows = levels.iter().map(|(name, totals)| {
        let Totals { tables, keys, distinct, deleted, .. } = *totals;
        let [tables, keys, distinct, deleted] = [tables, keys, distinct, deleted].map(grouped);
        let [bits, bytes, of_files, rate] = totals.filter_cells();
        [name.clone(), tables, keys, distinct, deleted, bits, bytes, of_files, rate]
    });
    let mut lines = vec![String::new()];
    lines.extend(columns(titles, rows));
    lines.push(
        "Bytes: of filters and offsets; share: of files. A filter has at least 64 bits.".into(),
    );
    lines
}

/// A line for each table.
fn tables(survey: &Survey<'_>) -> Vec<String> {
    let titles = ["level", "keys", "bits/key", "bytes", "share", "false pos.", ""];
    let tables = survey.group.tables.iter().zip(&survey.tables);
    let rows = tables.map(|(listed, table)| {
        let mut totals = Totals::default();
        totals.add(table);
        let keys = if table.is_ok() { grouped(totals.keys) } else { "-".into() };
        let [bits, bytes, of_file, rate] = totals.filter_cells();
        let level = listed.place.as_ref().map_or("-".into(), |place| place.level.to_string());
        let note = note(table).map_or(String::new(), |note| format!(": {note}"));
        [level, keys, bits, bytes, of_file, rate, format!("{}{note}", listed.name)]
    });
    let mut lines = vec![String::new()];
    lines.extend(columns(titles, rows));
    let is_remade =
        |filters: &&Filters| matches!(filters, Filters::Known(block) if block.is_remade);
    let filters = survey.tables.iter().flatten().map(|table| &table.filters);
    let num_remade = filters.filter(is_remade).count();
    if num_remade > 0 {
        let tables = counted(num_remade, "table") + ", byte for byte.";
        lines.push(format!("This crate makes the same filters of the keys of {tables}"));
    }
    lines
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

fn notes(database: &Database) -> Vec<String> {
    let comparator = database.comparator.as_deref().unwrap_or("without a name");
    let mut lines = wrapped(&format!("Comparator: {:.100}", printable(comparator)), "  ");
    if database.log_len > 0 {
        let len = long(database.log_len);
        lines.push(format!("Not counted: keys that are only in the log, which has {len} bytes."));
    }
    lines
}

fn not_in_use(survey: &Survey<'_>) -> Vec<String> {
    match &survey.group.not_in_use[..] {
        [] => Vec::new(),
        names => wrapped(&format!("Not in use: {}", names.join(", ")), "  "),
    }
}

fn long(len: u64) -> String {
    usize::try_from(len).map_or_else(|_| len.to_string(), grouped)
}
