//! What both commands say of a group: what it is, and what its lookups read, today and rewritten.

use crate::database::printable;
use crate::survey::Survey;
use crate::survey::inspection::Filters;
use crate::survey::lookups::{Cost, Kinds};
use crate::terminal::grouped;
use crate::text::{counted, entries, part, per_1000, wrapped};

/// The group's name, and facts of its tables.
pub(crate) fn title(survey: &Survey<'_>) -> Vec<String> {
    let group = survey.group;
    let state = match &group.database {
        Some(_) => " in use",
        None if group.name.is_empty() => "",
        None => " (no MANIFEST says which are in use)",
    };
    let tables = format!("{}: {}{state}", group.title(), counted(survey.tables.len(), "table"));
    if survey.read().next().is_none() {
        return vec![tables];
    }
    let totals = survey.totals();
    let mut names: Vec<_> = survey.read().flat_map(|table| names(&table.filters)).collect();
    names.sort_unstable();
    names.dedup();
    let names = if names.is_empty() { "no filters".into() } else { printable(&names.join(", ")) };
    let all = survey.read().filter(|table| table.num_entries > 0).count();
    let lacking = survey.read().filter(|table| table.lacks_filters()).count();
    let names = match lacking {
        0 => names,
        _ if lacking == all => names,
        _ => format!("{names:.200} in {}", part(all - lacking, all, "tables")),
    };
    let bits = totals.bits_per_entry();
    let bits = bits.map_or(String::new(), |bits| format!(", {bits:.1} bits per entry"));
    let unread = if survey.num_unread() > 0 { " in those that can be read" } else { "" };
    let tables = format!("{tables}, {}{unread};", entries(totals.entries));
    let filters = format!("{names:.300}{bits}");
    match tables.chars().count() + filters.chars().count() {
        ..100 => vec![format!("{tables} {filters}")],
        _ => [wrapped(&tables), wrapped(&format!("  {filters}"))].concat(),
    }
}

fn names(filters: &Filters) -> Vec<&str> {
    match filters {
        Filters::None => Vec::new(),
        Filters::OfUnknownPolicy(name) => vec![name],
        Filters::Known(filters) => filters.policy_names.iter().map(String::as_str).collect(),
    }
}

/// What lookups read today, beside what they read if all plans are carried out; nothing if that is
/// not known.
pub(crate) fn figures(survey: &Survey<'_>) -> Vec<String> {
    let Some(sample) = survey.sample.as_ref().filter(|_| survey.has_figures()) else {
        return Vec::new();
    };
    let telling = survey.asked().zip(sample.num_telling());
    // Where no filter is asked, none can let a key pass.
    let telling = telling.map(|(asked, telling)| if asked > 0.0 { telling } else { f64::INFINITY });
    let column = |cost: Cost| {
        let reads = cost.reads.zip(telling);
        let Kinds { missing, existing } =
            reads.map(|(reads, keys)| per_1000(1_000.0 * reads, keys));
        [missing, existing, grouped(cost.num_bytes)]
    };
    let guess = if sample.is_guess { " (missing keys are guessed)" } else { "" };
    let mut lines = vec![format!("Data blocks read needlessly per 1,000 lookups{guess}:")];
    let mut columns = vec![("today", column(survey.today()))];
    if survey.plans().next().is_some() {
        columns.push(("rewritten", column(survey.rewritten())));
    }
    let row = |cells: Vec<&str>| {
        cells.into_iter().fold(String::new(), |line, cell| format!("{line}{cell:>12}"))
    };
    lines.push(row(columns.iter().map(|(title, _)| *title).collect()));
    let labels = ["of keys that do not exist", "of keys that exist", "bytes of filters in memory"];
    for (i, label) in labels.into_iter().enumerate() {
        let cells = columns.iter().map(|(_, cells)| &cells[i][..]).collect();
        lines.push(format!("{}  {label}", row(cells)));
    }
    lines
}

/// What to know of the filters that `rewrite` makes or has made.
pub(crate) fn notes(survey: &Survey<'_>, are_written: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if survey.plans().next().is_none() {
        return lines;
    }
    if survey.plans().any(|plan| plan.place.is_appended) {
        lines.push(ADDED.into());
    }
    if survey.has_figures() {
        match survey.group.compactions() {
            Some(compactions) => {
                lines.push(compactions);
                lines.extend((!are_written).then(|| COMPACT.into()));
            }
            None => lines.push(LASTS.into()),
        }
    }
    lines
}

/// Of a database that changes between the two times that its MANIFEST is read.
pub(crate) const WRITTEN: &str = "written to while it was read: close it and run again";

pub(crate) const ADDED: &str =
    "Added filters work if the program sets a Bloom filter policy, in plyvel bloom_filter_bits=10.";
const LASTS: &str =
    "Tables that LevelDB writes later get its own filters again, and their reads come back.";
/// Its plain `compact_range()` leaves the levels as they are.
const COMPACT: &str =
    "  Compact them before, in plyvel: db.compact_range(start=b'', stop=b'\\xff' * 9)";
