//! The verdict on a database's filters: the first that holds.

use crate::survey::Survey;
use crate::survey::cost::FEWEST;
use crate::survey::filters::Filters;
use crate::table::NAMES;
use crate::text::{part, rounded, share};

/// Filters are a problem if more of those that are asked let keys pass.
const MAX_PERCENT: f64 = 3.0;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Empty,
    Unreadable,
    Damaged,
    Wrong,
    Unknown,
    NoFilters,
    Problem,
    Ok,
}

/// The verdict, with the sentence that says it.
pub(crate) fn verdict(survey: &Survey<'_>) -> (Verdict, String) {
    let unread = (survey.num_unread() > 0).then(|| {
        let tables = part(survey.num_unread(), survey.tables.len(), "tables");
        format!("UNREADABLE: {tables}. LevelDB does not open such a database, or fails there.")
    });
    let bad = unread.map(|words| (Verdict::Unreadable, words));
    bad.or_else(|| Some((Verdict::Damaged, of_damaged(survey)?)))
        .or_else(|| Some((Verdict::Wrong, of_wrong(survey)?)))
        .or_else(|| Some((Verdict::Unknown, of_unknown(survey)?)))
        .or_else(|| of_lacking(survey))
        .unwrap_or_else(|| of_rates(survey))
}

/// The tables that are meant, how many entries their filters reject, and whether the filters are
/// goleveldb's.
fn rejecting(
    survey: &Survey<'_>,
    are_meant: impl Fn(&Filters) -> bool,
) -> Option<(String, String, bool)> {
    let meant: Vec<_> = survey.read().filter(|table| are_meant(&table.filters)).collect();
    let entries = meant.iter().map(|table| table.num_entries).sum();
    let rejected = meant.iter().map(|table| table.filters.num_rejected).sum();
    let tables = part(meant.len(), survey.tables.len(), "tables");
    let are_goleveldbs =
        meant.iter().all(|table| table.filters.policy_name.as_deref() == Some(NAMES[1]));
    (!meant.is_empty()).then(|| (tables, part(rejected, entries, "entries"), are_goleveldbs))
}

fn of_damaged(survey: &Survey<'_>) -> Option<String> {
    let (tables, missed, are_goleveldbs) = rejecting(survey, |filters| filters.are_damaged)?;
    let what = if are_goleveldbs {
        "goleveldb does without them, and misses nothing".into()
    } else {
        format!("LevelDB uses them unless it has paranoid_checks, and misses {missed} there")
    };
    Some(format!("DAMAGED: the filters of {tables}. {what}."))
}

/// Of filters that reject keys of their own tables.
fn of_wrong(survey: &Survey<'_>) -> Option<String> {
    let (tables, rejected, are_goleveldbs) = rejecting(survey, Filters::are_wrong)?;
    let who = if are_goleveldbs { "goleveldb" } else { "LevelDB's own policy" };
    Some(format!("WRONG: the filters of {tables} hide {rejected} there from {who}."))
}

fn of_unknown(survey: &Survey<'_>) -> Option<String> {
    let foreign = survey.read().map(|table| &table.filters).find(|of| of.are_foreign);
    let what = match foreign.and_then(|of| of.policy_name.as_deref()) {
        Some(name) if NAMES.contains(&name) => {
            format!("filters, which are under the name {name:?}, but not of its making")
        }
        Some(name) => format!("filters of the policy {name:.100?}"),
        None if survey.sample.is_some() => return None,
        None => {
            format!("order of its keys, of the comparator {:.100?}", survey.database.comparator)
        }
    };
    Some(format!("UNKNOWN: only the database's program knows the {what}."))
}

fn of_lacking(survey: &Survey<'_>) -> Option<(Verdict, String)> {
    let tables: Vec<_> = survey.read().filter(|table| table.num_entries > 0).collect();
    let lacking = tables.iter().filter(|table| table.filters.policy_name.is_none()).count();
    if tables.is_empty() {
        return Some((Verdict::Empty, "No keys are in tables yet.".into()));
    }
    let lacking = (lacking > 0).then(|| part(lacking, tables.len(), "tables"))?;
    Some((Verdict::NoFilters, format!("NO FILTERS in {lacking}: lookups read a block of those.")))
}

fn of_rates(survey: &Survey<'_>) -> (Verdict, String) {
    let [asked, reads] = [survey.asked(), survey.today().reads].map(|of| of[0] + of[1]);
    let is_all = survey.sample.as_ref().is_some_and(|sample| sample.is_all);
    if asked == 0 || asked < FEWEST && !is_all {
        return (Verdict::Ok, "OK: hardly a lookup asks a filter needlessly.".into());
    }
    let percent = share(100.0, reads, asked);
    let words = "of the filters asked for a key that their table lacks,";
    let words = format!("{words} {}% let them pass", rounded(percent));
    if percent > MAX_PERCENT {
        (Verdict::Problem, format!("PROBLEM: {words}; 1% is usual."))
    } else {
        (Verdict::Ok, format!("OK: {words}."))
    }
}
