//! `inspect`: a verdict on the filters of a database, and what `rewrite` would change.

use crate::command_line::{Find, Options, Report, line_of};
use crate::database::Group;
use crate::plan::Wish;
use crate::report::{WRITTEN, figures, notes, title};
use crate::survey::Survey;
use crate::survey::inspection::Inspection;
use crate::terminal::Progress;
use crate::text::{long, wrapped};

mod tables;
mod verdict;

pub(crate) const HELP: [&str; 13] = [
    "A filter is a few bytes in memory that tell which keys a table cannot have. Where it fails,",
    "lookups read data blocks needlessly: how often those of a database do, and why, and what",
    "`rewrite` would change. Nothing is written.",
    "usage: leveldb-filters inspect [--tables] [--] DIR|FILE...",
    "  DIR       a database, closed; without a MANIFEST, only facts of its tables",
    "  FILE      a table, or several: facts",
    "  --tables  a line for each level and table, too",
    "Lookups are those of LevelDB's Get, with its own policy. They ask for a sample of up to",
    "20,000 of the database's keys, and for as many missing keys next to them.",
    "Exit status: 0 all was read;",
    "             1 something cannot be read, or filters are damaged, of an unknown policy,",
    "               or reject keys of their own table;",
    "             2 wrong usage.",
];

/// A report on what `find` finds, if that stays as it is.
pub(crate) fn report(find: &Find<'_>, options: &Options) -> Result<Report, String> {
    let progress = Progress::start();
    let group = find()?;
    // What `rewrite` does if it may do all.
    let wish = Wish { adds: true, ..Wish::default() };
    let survey = Survey::of(&group, &wish, &progress);
    if (Group { is_open: group.is_open, ..find()? }) != group {
        return Err(format!("{}: {WRITTEN}", group.title()));
    }
    // Of a single table that cannot be read, nothing is known but the cause.
    let is_unknown = group.name.is_empty() && survey.read().next().is_none();
    let lines = if is_unknown { Vec::new() } else { lines(&survey, options) };
    Ok((lines, survey.named(survey.causes())))
}

fn lines(survey: &Survey<'_>, options: &Options) -> Vec<String> {
    let group = survey.group;
    let log_len = group.database.as_ref().map_or(0, |database| database.log_len);
    let mut lines = title(survey);
    if group.tables.is_empty() {
        let log = if log_len > 0 { "all keys are in the log" } else { "and no keys in a log" };
        lines = vec![format!("{}: no tables, {log}", group.title())];
    }
    lines.extend(verdict::verdict(survey).iter().flat_map(|line| wrapped(line)));
    lines.extend(figures(survey));
    lines.extend(verdict::reason(survey).iter().flat_map(|line| wrapped(line)));
    if group.is_open {
        lines.push("A program has it open, and may write more.".into());
    } else if log_len > 0 {
        lines.push(format!("Not counted: keys only in the log ({} bytes).", long(log_len)));
    }
    lines.extend(notes(survey, false));
    lines.extend(advice(survey));
    if options.tables {
        lines.extend(tables::lines(survey));
    }
    lines
}

/// The command that would do something to a database.
fn advice(survey: &Survey<'_>) -> Vec<String> {
    if survey.group.database.is_none() || survey.plans().next().is_none() {
        return Vec::new();
    }
    let adds = survey.plans().any(|plan| plan.place.is_appended && plan.growth > 0);
    let command = line_of(if adds { "rewrite --add" } else { "rewrite" }, &survey.group.name);
    let which = match survey.has_figures() {
        true => "such filters",
        false if survey.read().any(Inspection::is_wrong) => "right filters",
        false => "filters of longer ranges",
    };
    let todo = format!("To put {which} into its tables, close the database, then:");
    let line = format!("{todo} {command}");
    if line.chars().count() <= 100 { vec![line] } else { vec![todo, format!("  {command}")] }
}
