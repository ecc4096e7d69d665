//! The command line, and what it reports on.

use std::error::Error;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;

use database::Group;
use survey::Survey;

use crate::command_line::{Outcome, paths, unknown};
use crate::terminal::Progress;

mod advice;
pub(crate) mod database;
mod drawn;
pub(crate) mod filters;
pub(crate) mod lookups;
mod report;
pub(crate) mod sample;
pub(crate) mod settings;
pub(crate) mod survey;
pub(crate) mod table;
pub(crate) mod what_if;

pub(crate) const WRITTEN: &str = "written to while it was read: close it and run again";

pub(crate) type Report = (Vec<String>, Outcome);

/// Prints what `report` tells of each directory, and of each series of files between directories.
pub(crate) fn each_group(
    paths: &[PathBuf],
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
    report: impl Fn(&dyn Fn() -> Result<Group, String>) -> Result<Report, String>,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome::default();
    let mut is_first = true;
    for paths in paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        let read = || match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Group::of_files(files),
        };
        match report(&read) {
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

/// A report on what `read` finds, if that stays as it is, from about `num_lookups` random lookups.
pub(crate) fn report(
    read: impl Fn() -> Result<Group, String>,
    options: &Options,
    num_lookups: usize,
) -> Result<Report, String> {
    let progress = Progress::start();
    let group = read()?;
    let survey = Survey::of(&group, (num_lookups, true), |step| progress.show(step));
    if read()? != group {
        return Err(format!("{}: {WRITTEN}", group.name));
    }
    // Of a single table that cannot be read, nothing is known but the cause.
    let is_unread = group.name.is_empty() && matches!(survey.tables[..], [Err(_)]);
    let lines = if is_unread { Vec::new() } else { report::group(&survey, options) };
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
