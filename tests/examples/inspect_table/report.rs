//! Formats the report on one table, or on all tables of a group.

use leveldb_filter::BloomFilterPolicy;

use super::Options;
use super::database::{Database, printable};
use super::filters::{FilterBlock, LEVELDB_BASE_LG};
use super::lookups::{RANDOM, Reads};
use super::sample::{BETWEEN, OWN};
use super::survey::{Survey, Totals};
use super::table::{Filters, Inspection};
use super::what_if::{self, Proposal};
use crate::terminal::{columns, counted, float, grouped, percentage, ratio, share, wrapped};

/// How many tables of a database are listed one by one without `--tables`.
const MAX_LISTED: usize = 20;

const FILTER_TITLES: [&str; 4] = ["bits/key", "bytes", "share", "false pos."];

/// The full report on one table.
pub(crate) fn table(
    name: &str,
    table: &Inspection,
    survey: &Survey<'_>,
    proposals: &[Proposal],
) -> Vec<String> {
    let mut lines = vec![format!("{name}, {} bytes", long(table.file_len))];
    for (label, value) in rows(table) {
        lines.extend(wrapped(&format!("  {label:<20}  {value}"), &" ".repeat(24)));
    }
    lines.extend(other_filters(survey, proposals));
    lines
}

fn rows(table: &Inspection) -> Vec<(&'static str, String)> {
    let (policy, filters) = match &table.filters {
        Filters::None => ("none: the table has no filter".into(), None),
        Filters::OfUnknownPolicy(name) => (format!("{name:?}, unknown to this crate"), None),
        Filters::Known(filters) => {
            let origin = match &filters.policy_name[..] {
                BloomFilterPolicy::NAME => "LevelDB's name",
                _ => "goleveldb's name, and LevelDB's before 1.18",
            };
            (format!("{} ({origin})", filters.policy_name), Some(filters))
        }
    };
    let [keys, distinct] = [table.num_keys, table.num_user_keys].map(grouped);
    let deletions = counted(table.num_deletions, "deletion");
    let mut rows = vec![
        ("filter policy", policy),
        ("data blocks", grouped(table.num_blocks)),
        ("keys", format!("{keys} ({distinct} distinct); {deletions}")),
    ];
    rows.extend(filters.iter().flat_map(|filters| rows_of_filters(table, filters)));
    rows
}

fn rows_of_filters(table: &Inspection, filters: &FilterBlock) -> Vec<(&'static str, String)> {
    let [number, empty] = [filters.num_filters, filters.num_empty].map(grouped);
    let range = range(filters.base_lg);
    let share = share(filters.num_bytes, table.file_len);
    let mut rows = vec![
        ("filters", format!("{number}, one per {range} of the file; {empty} empty")),
        ("filter block", format!("{} bytes, {share} of the file", grouped(filters.num_bytes))),
    ];
    if let Some(bits_per_key) = ratio(filters.num_bits, table.num_keys) {
        rows.push(("bits per key", made_with(bits_per_key, filters.policy)));
        let hidden = || format!("unknown: the filters hide {} keys", grouped(filters.num_hidden));
        let at_random =
            |reads: Reads| percentage(reads[RANDOM]) + " of absent keys with random hashes";
        rows.push(("false-positive rate", table.reads.map_or_else(hidden, at_random)));
        let between =
            |reads: Reads| percentage(reads[BETWEEN]) + " of absent keys between the table's keys";
        rows.extend(table.reads.map(|reads| ("", between(reads))));
    }
    let made =
        if filters.is_remade { "the same filters, byte for byte" } else { "different filters" };
    rows.push(("this crate makes", made.into()));
    rows
}

/// How much of the file one filter covers.
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
    // A tuned policy chooses the number of probes for each length.
    let is_tuned = policy == BloomFilterPolicy::from_millibits_per_key(millibits).tuned();
    let probes = match policy.shape(1).num_probes() {
        _ if is_tuned => "tuned".into(),
        num_probes => format!("{num_probes} probes"),
    };
    let is_padded = 900.0 * bits_per_key > float(millibits);
    let padding = if is_padded { "; a filter has at least 64 bits" } else { "" };
    format!("{bits_per_key:.2}: {set} bits per key, {probes}{padding}")
}

/// The report on a group of tables, the answer first.
pub(crate) fn group(survey: &Survey<'_>, options: &Options, proposals: &[Proposal]) -> Vec<String> {
    let name = &survey.group.name;
    let num_tables = counted(survey.tables.len(), "table");
    let mut lines = match &survey.group.database {
        Some(database) if survey.tables.is_empty() => {
            let len = long(database.log_len);
            let line = format!("{name}: no tables yet, {len} bytes in the log");
            return [vec![line], not_in_use(survey)].concat();
        }
        Some(database) => {
            let mut lines = vec![format!("{name}: {num_tables} in use")];
            lines.extend(answer(survey, database));
            if survey.is_comparable() {
                lines.extend(changes(survey, proposals));
                let more = "--what-if may find better ones: it divides the bytes between levels.";
                lines.extend((!options.what_if).then(|| more.to_string()));
            }
            lines
        }
        None if name.is_empty() => Vec::new(),
        None => {
            let note = "No MANIFEST: obsolete tables may be counted.";
            vec![format!("{name}: {num_tables}"), note.into()]
        }
    };
    lines.extend(levels(survey));
    if options.what_if {
        lines.extend(other_filters(survey, proposals));
    }
    lines.extend(tables(survey, options));
    lines.extend(survey.group.database.iter().flat_map(|database| {
        let comparator = database.comparator.as_deref().unwrap_or("without a name");
        wrapped(&format!("Comparator: {:.100}", printable(comparator)), "  ")
    }));
    lines.extend(not_in_use(survey));
    let mut tables = survey.tables.iter().flatten();
    let lacks_filters =
        tables.any(|table| matches!(table.filters, Filters::None) && table.num_keys > 0);
    if !options.what_if && survey.group.database.is_none() && lacks_filters {
        lines.push("--what-if shows what filters would do for the tables without any.".into());
    }
    lines
}

fn answer(survey: &Survey<'_>, database: &Database) -> Vec<String> {
    let (num_unjudged, why) = survey.unjudged();
    let why = why.join("; ");
    if num_unjudged == survey.tables.len() {
        return wrapped(&format!("Wasted reads are unknown: {why}"), "");
    }
    let bound = match (num_unjudged, survey.is_certain()) {
        (0, true) => "",
        (0, false) => ", about",
        _ => ", at least",
    };
    let mut lines = vec![format!("Wasted data block reads per 1,000 lookups{bound}:")];
    let reads = survey.reads_today();
    let kinds = [
        "of absent keys between the database's keys",
        "of the database's own keys, before they are found",
        "of absent keys with random hashes",
    ];
    lines.extend(survey.shown(reads).iter().zip(kinds).map(|(n, kind)| format!("{n:>9}  {kind}")));
    let consulted: f64 = survey.shares.iter().flatten().sum();
    let tables = counted(survey.tables.len(), "table");
    let mut notes = Vec::new();
    if num_unjudged > 0 {
        notes.push(format!("Further wasted reads are unknown: {why}."));
    }
    if database.log_len > 0 {
        notes.push(format!(
            "Not counted: keys only in the log ({} bytes), which LevelDB writes to tables of level \
             0 when it opens the database.",
            long(database.log_len)
        ));
    }
    if num_unjudged == 0 {
        let assumed =
            if survey.is_certain() { "" } else { ", assuming keys sort bytewise or in reverse" };
        notes.push(format!("A lookup consults {consulted:.1} of {tables} on average{assumed}."));
    }
    if let Some((sample, _)) = &survey.sampled {
        if sample.numbers[BETWEEN] == 0 {
            notes.push("No absent key of the same length lies between the database's keys.".into());
        } else if !(0.67..1.5).contains(&(reads[BETWEEN] / reads[RANDOM])) {
            let why =
                "LevelDB's hash is not random for keys of 4n bytes that differ only at the end.";
            notes.push(why.into());
        }
        if sample.num_deleted() > 0 {
            let [deleted, own] = [sample.num_deleted(), sample.numbers[OWN]].map(grouped);
            notes.push(format!(
                "{deleted} of {own} own keys looked up are deleted: lookups end at the deletion."
            ));
        }
    }
    lines.extend(notes.iter().flat_map(|note| wrapped(note, "")));
    lines
}

/// What would help most, and how many bytes it takes.
fn changes(survey: &Survey<'_>, proposals: &[Proposal]) -> Vec<String> {
    let recommended = what_if::recommended(survey, proposals);
    if recommended.len() < 2 {
        return vec!["Other filters would not help much.".into()];
    }
    let rows = what_if::rows(survey, recommended.into_iter());
    let note = "Existing tables keep their filters until compaction rewrites them.";
    [vec![String::new()], rows, vec![note.into()]].concat()
}

fn other_filters(survey: &Survey<'_>, proposals: &[Proposal]) -> Vec<String> {
    let title = "Other filters: wasted reads per 1,000 lookups, and bytes";
    let rows = what_if::rows(survey, proposals.iter());
    let lines = [vec![String::new(), title.into()], rows].concat();
    if proposals.is_empty() { Vec::new() } else { lines }
}

/// A line for each level, and a total if there are several.
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
    let rows = levels.iter().map(|(name, totals)| {
        let Totals { tables, keys, distinct, deleted, .. } = *totals;
        let [tables, keys, distinct, deleted] = [tables, keys, distinct, deleted].map(grouped);
        let [bits, bytes, of_files, rate] = totals.filter_cells();
        [name.clone(), tables, keys, distinct, deleted, bits, bytes, of_files, rate]
    });
    let mut lines = vec![String::new()];
    let [bits, bytes, share, rate] = FILTER_TITLES;
    let titles = ["level", "tables", "keys", "distinct", "deleted", bits, bytes, share, rate];
    lines.extend(columns(titles, rows));
    lines.push(
        "Bytes: filters and offsets; share: of the files. Filters have at least 64 bits.".into(),
    );
    lines.push("Distinct: within each table; false positives: for random hashes.".into());
    lines
}

/// A line for each table, or for those with the most wasted reads.
fn tables(survey: &Survey<'_>, options: &Options) -> Vec<String> {
    let [bits, bytes, share, rate] = FILTER_TITLES;
    let mut listed: Vec<_> = (0..survey.tables.len()).collect();
    let mut lines = vec![String::new()];
    if survey.group.database.is_some() && !options.tables && listed.len() > MAX_LISTED {
        let of = |i: usize| survey.table(i).and_then(|table| table.reads).unwrap_or_default();
        let reads = |i| of(i)[BETWEEN] + of(i)[OWN];
        listed.sort_by(|&a, &b| reads(b).total_cmp(&reads(a)));
        listed.truncate(MAX_LISTED);
        listed.sort_unstable();
        let others = grouped(survey.tables.len() - MAX_LISTED);
        lines.push(format!("Tables with the most wasted reads; --tables adds the other {others}"));
    }
    let tables = listed.iter().map(|&i| (&survey.group.tables[i], &survey.tables[i]));
    let rows = tables.map(|(listed, table)| {
        let mut totals = Totals::default();
        totals.add(table);
        let keys = if table.is_ok() { grouped(totals.keys) } else { "-".into() };
        let [bits, bytes, of_file, rate] = totals.filter_cells();
        let level = listed.place.as_ref().map_or("-".into(), |place| place.level.to_string());
        let note = note(table).map_or(String::new(), |note| format!(": {note}"));
        [level, keys, bits, bytes, of_file, rate, format!("{}{note}", listed.name)]
    });
    lines.extend(columns(["level", "keys", bits, bytes, share, rate, ""], rows));
    let filters = survey.tables.iter().flatten().map(|table| &table.filters);
    let remade = filters.filter(|of| matches!(of, Filters::Known(block) if block.is_remade));
    let num_remade = remade.count();
    if num_remade > 0 {
        let tables = counted(num_remade, "table") + ", byte for byte.";
        lines.push(format!("This crate makes the same filters for {tables}"));
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

fn not_in_use(survey: &Survey<'_>) -> Vec<String> {
    match &survey.group.not_in_use[..] {
        [] => Vec::new(),
        names => wrapped(&format!("Not in use: {}", names.join(", ")), "  "),
    }
}

fn long(len: u64) -> String {
    usize::try_from(len).map_or_else(|_| len.to_string(), grouped)
}
