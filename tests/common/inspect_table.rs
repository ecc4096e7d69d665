//! The command line, and what it reports on.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::common::database::Group;
use crate::common::survey::Survey;

use crate::common::command_line::{Report, paths, unknown};
use crate::common::terminal::Progress;

mod advice;
mod report;
pub(crate) mod what_if;

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
