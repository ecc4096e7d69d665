//! The command line, and what it reports on.

use std::error::Error;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;

use database::Group;
use survey::{Outcome, Survey};
use table::Filters;

use crate::terminal::Progress;

pub(crate) mod database;
pub(crate) mod filters;
pub(crate) mod lookups;
mod report;
pub(crate) mod sample;
pub(crate) mod survey;
pub(crate) mod table;
pub(crate) mod what_if;

/// How often the MANIFEST is read while a running database removes tables.
const MAX_ATTEMPTS: usize = 3;

/// Prints a report on each directory, and on each series of files between directories, from about
/// `num_lookups` lookups of absent keys for each.
pub(crate) fn report(
    options: &Options,
    num_lookups: usize,
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome::default();
    let mut is_first = true;
    for paths in options.paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        let read = || match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Ok(Group::of_files(files)),
        };
        match report_read(read, options, num_lookups) {
            Ok((lines, of_group)) => {
                if !lines.is_empty() && !mem::take(&mut is_first) {
                    print(&[String::new()])?;
                }
                print(&lines)?;
                outcome.add(of_group);
            }
            Err(cause) => outcome.add(Outcome::failure(cause)),
        }
    }
    Ok(outcome)
}

type Report = (Vec<String>, Outcome);

/// Of what `read` finds, until none of it is gone that is still in use.
pub(crate) fn report_read(
    mut read: impl FnMut() -> Result<Group, String>,
    options: &Options,
    num_lookups: usize,
) -> Result<Report, String> {
    let progress = Progress::start();
    let step = |step: &str| progress.show(step);
    let mut group = read()?;
    for _ in 1..MAX_ATTEMPTS {
        let survey = Survey::of(&group, num_lookups, step);
        let now = survey.is_table_gone.then(&mut read).transpose()?;
        let Some(changed) = now.filter(|now| *now != group) else {
            return Ok(report_group(&survey, options, step));
        };
        drop(survey);
        group = changed;
    }
    Ok(report_group(&Survey::of(&group, num_lookups, step), options, step))
}

fn report_group(survey: &Survey<'_>, options: &Options, step: impl Fn(&str)) -> Report {
    let mut outcome = survey.outcome();
    let mut shared = None;
    if options.what_if && survey.group.database.is_some() && survey.is_comparable() {
        match what_if::share(survey, step) {
            Ok(proposal) => shared = proposal,
            Err(cause) => outcome.add(Outcome::failure(cause)),
        }
    }
    let proposals = what_if::proposals(survey, shared);
    if let ("", [table]) = (&survey.group.name[..], &survey.tables[..]) {
        let Ok(table) = table else { return (Vec::new(), outcome) };
        let asks = options.what_if || matches!(table.filters, Filters::None);
        let proposals = if asks { &proposals[..] } else { &[] };
        return (report::table(&survey.group.tables[0].name, table, survey, proposals), outcome);
    }
    (report::group(survey, options, &proposals), outcome)
}

/// The command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) help: bool,
    pub(crate) what_if: bool,
    /// Whether to list all tables of a database.
    pub(crate) tables: bool,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    /// Returns the options, or what is wrong with them. All arguments after `--` are paths.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut only_paths = false;
        for arg in args {
            let is_option = arg.as_encoded_bytes().starts_with(b"-");
            match arg.to_str() {
                Some("") => return Err("an empty argument is not a file name".into()),
                _ if only_paths || !is_option => options.paths.push(arg.into()),
                Some("--") => only_paths = true,
                Some("-h" | "--help") => options.help = true,
                Some("--what-if") => options.what_if = true,
                Some("--tables") => options.tables = true,
                _ => return Err(format!("unknown option {}", arg.to_string_lossy())),
            }
        }
        Ok(options)
    }
}
