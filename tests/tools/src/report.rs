//! What both commands say of a database, and of what its lookups read, today and rewritten.

use std::collections::BTreeMap;

use crate::database::{Database, printable};
use crate::survey::cost::{Cost, FEWEST};
use crate::survey::filters::Filters;
use crate::survey::{Inspection, Survey};
use crate::terminal::grouped;
use crate::text::{counted, part, rounded, share, wrapped};

/// What is printed, and whether something is wrong.
pub(crate) struct Report {
    pub(crate) lines: Vec<String>,
    pub(crate) is_bad: bool,
}

/// Reads what is known of the database without its tables, each time anew.
pub(crate) type Open<'a> = dyn Fn() -> Result<Database, String> + 'a;

const TABLES: [&str; 2] = ["table", "tables"];
/// Of a database that changes between the two times that its MANIFEST is read.
pub(crate) const WRITTEN: &str = "written to while it was read: close it and run again";

/// The database's name, and facts of its tables.
pub(crate) fn title(survey: &Survey<'_>) -> String {
    let mut names: Vec<_> =
        survey.read().filter_map(|table| table.filters.policy_name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    let names = if names.is_empty() { "no filters".into() } else { names.join(", ") };
    let is_measured = |of: &Filters| of.num_bits > 0 && !of.are_damaged;
    let measured = survey.read().filter(|table| is_measured(&table.filters));
    let (num_bits, num_entries) = measured.fold((0_usize, 0), |(bits, entries), table| {
        (bits.saturating_add(table.filters.num_bits), entries + table.num_entries)
    });
    let bits = rounded(share(1.0, num_bits, num_entries));
    let bits = if num_entries > 0 { format!(", {bits} bits per entry") } else { String::new() };
    format!(
        "{}: {} in use, {}; {:.200}{bits}",
        survey.database.name,
        counted(survey.tables.len(), TABLES),
        counted(survey.sum(|table| table.num_entries), ["entry", "entries"]),
        printable(&names),
    )
}

/// Why the first tables cannot be read that cannot.
pub(crate) fn unread(survey: &Survey<'_>) -> Vec<String> {
    let tables = survey.database.tables.iter().zip(&survey.tables);
    let unread = tables.filter_map(|(listed, table)| Some((listed.name(), table.as_ref().err()?)));
    unread.take(3).flat_map(|(name, why)| wrapped(&format!("{name}: {why}"))).collect()
}

/// Whether it is known what lookups read.
pub(crate) fn has_figures(survey: &Survey<'_>) -> bool {
    let is_unknown = |table: &Inspection| table.filters.are_foreign || table.filters.are_damaged;
    survey.sample.is_some() && survey.num_unread() == 0 && !survey.read().any(is_unknown)
}

/// Of 1,000 lookups of missing and of existing keys, how many read a data block needlessly; no
/// number if too few ask a filter.
pub(crate) fn reads_of_1000(survey: &Survey<'_>, cost: Cost) -> [f64; 2] {
    let Some(sample) = &survey.sample else { return [f64::NAN; 2] };
    let (asked, number) = (survey.asked(), sample.number());
    [0, 1].map(|kind| {
        // Where no filter is asked, none can let a key pass.
        let is_telling = sample.is_all || asked[kind] == 0 || asked[kind] >= FEWEST;
        if is_telling { share(1_000.0, cost.reads[kind], number[kind]) } else { f64::NAN }
    })
}

/// What lookups read today, beside what they read if all plans are carried out; nothing if that is
/// not known.
pub(crate) fn figures(survey: &Survey<'_>) -> Vec<String> {
    let Some(sample) = survey.sample.as_ref().filter(|_| has_figures(survey)) else {
        return Vec::new();
    };
    let columns = [("today", survey.today()), ("rewritten", survey.rewritten())];
    let columns = &columns[..=usize::from(survey.num_plans() > 0)];
    let row = |cell: &dyn Fn(&(&str, Cost)) -> String| {
        columns.iter().fold(String::new(), |row, column| format!("{row}{:>12}", cell(column)))
    };
    let reads = |kind: usize| row(&|(_, cost)| rounded(reads_of_1000(survey, *cost)[kind]));
    let missing = if sample.has_longer { "with bytes behind" } else { "one step behind" };
    let bytes = columns.iter().map(|(name, cost)| format!("{} {name}", grouped(cost.num_bytes)));
    vec![
        "Data blocks read needlessly per 1,000 lookups:".into(),
        row(&|(name, _)| (*name).into()),
        format!("{}  of missing keys, {missing} existing ones", reads(0)),
        format!("{}  of existing keys", reads(1)),
        format!("Bytes of filters in memory: {}.", bytes.collect::<Vec<_>>().join(", ")),
    ]
}

/// How many tables stay as they are, and why.
pub(crate) fn staying(survey: &Survey<'_>) -> Option<String> {
    let mut number_by_reason: BTreeMap<&str, usize> = BTreeMap::new();
    for table in survey.read() {
        if let Err(why) = table.plan {
            *number_by_reason.entry(why).or_default() += 1;
        }
    }
    let reasons = number_by_reason.iter().map(|(why, &n)| format!("{} {why}", counted(n, TABLES)));
    let reasons: Vec<_> = reasons.collect();
    (!reasons.is_empty()).then(|| format!("Left as they are: {}.", reasons.join(", ")))
}

/// How many tables overlap others, if these are most: `LevelDB` will soon compact them.
pub(crate) fn compactions(survey: &Survey<'_>) -> Option<String> {
    let (num_meeting, all) = (survey.database.num_meeting(), survey.tables.len());
    (2 * num_meeting > all).then(|| {
        let tables = part(num_meeting, all, "tables");
        format!("{tables} overlap: LevelDB compacts them after some reads, with its own filters.")
    })
}
