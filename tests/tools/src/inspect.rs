//! The command line, and what it reports on.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::database::Group;
use crate::survey::Survey;

use crate::command_line::{Outcome, Report, each_group, paths, unknown};
use crate::terminal::{Progress, print};

mod advice;
mod report;
pub(crate) mod what_if;

pub(crate) const HELP: [&str; 14] = [
    "A filter is a few bytes in memory that tell which keys a table cannot have.",
    "Where it fails, lookups read blocks needlessly: how often yours do, and why:",
    "usage: leveldb-filters inspect [--what-if] [--tables] [--] DIR|FILE...",
    "  DIR        a database, closed: a verdict, what would help, and how to get it",
    "  FILE       a table, or several: the same, and a line for each",
    "  --tables   a line for each level and table",
    "  --what-if  all filters that are compared, also with random keys",
    "Lookups are those of LevelDB's Get. They ask for a sample of up to 20,000 of the",
    "database's keys, and for as many missing keys next to them.",
    "Exit status: 0 all files were read, and this crate makes the same filters;",
    "             1 something cannot be read or judged, or filters hide keys;",
    "             2 wrong usage;",
    "             3 all files were read, but filters differ from their policy's.",
    "Nothing is written.",
];

/// A rate of 1% has a statistical error of 0.01%.
const NUM_LOOKUPS: usize = 1_000_000;

#[expect(clippy::needless_pass_by_value, reason = "as the command line calls it")]
pub(crate) fn run(options: Options) -> Outcome {
    each_group(&options.paths, print, Group::of_paths, |read| report(read, &options, NUM_LOOKUPS))
}

pub(crate) const WRITTEN: &str = "written to while it was read: close it and run again";

/// A report on what `read` finds, if that stays as it is, from about `num_lookups` random lookups.
pub(crate) fn report(
    read: impl Fn() -> Result<Group, String>,
    options: &Options,
    num_lookups: usize,
) -> Result<Report, String> {
    let progress = Progress::start();
    let group = read()?;
    let survey = Survey::of(&group, (num_lookups, true), |step| progress.show(step));
    if (Group { is_open: group.is_open, ..read()? }) != group {
        return Err(format!("{}: {WRITTEN}", group.title()));
    }
    // Of a single table that cannot be read, nothing is known but the cause.
    let is_unread = group.name.is_empty() && matches!(survey.tables[..], [Err(_)]);
    let mut lines = if is_unread { Vec::new() } else { report::group(&survey, options) };
    lines.extend(group.is_open.then(|| "A program has it open, and may write more.".into()));
    Ok((lines, survey.outcome()))
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) what_if: bool,
    pub(crate) tables: bool,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let paths = paths(args, |option, _| {
            match option {
                "--what-if" => options.what_if = true,
                "--tables" => options.tables = true,
                _ => return Err(unknown(option)),
            }
            Ok(())
        })?;
        Ok(paths.map(|paths| Self { paths, ..options }))
    }
}
