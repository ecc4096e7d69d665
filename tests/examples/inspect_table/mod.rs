//! What the command line asks for, and where the answers come from.

use std::error::Error;
use std::ffi::OsString;
use std::mem;
use std::path::PathBuf;

use database::Group;
use survey::{Outcome, Survey};

use crate::terminal::Progress;

pub(crate) mod database;
pub(crate) mod filters;
pub(crate) mod levels;
mod report;
pub(crate) mod survey;
pub(crate) mod table;
pub(crate) mod what_if;

/// What the tables of each directory come to, and of the files between them, by about so many
/// lookups of absent keys for each.
pub(crate) fn report(
    options: &Options,
    num_lookups: usize,
    mut print: impl FnMut(&[String]) -> Result<(), Box<dyn Error>>,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome::default();
    let mut is_first = true;
    for paths in options.paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        let group = match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Ok(Group::of_files(files)),
        };
        match group {
            Ok(group) => {
                let (lines, of_group) = report_group(&group, options.what_if, num_lookups);
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

fn report_group(group: &Group, what_if: bool, num_lookups: usize) -> (Vec<String>, Outcome) {
    let progress = Progress::start();
    let step = |step: &str| progress.show(step);
    let survey = Survey::of(group, num_lookups, step);
    let mut outcome = survey.outcome();
    if let ("", [table]) = (&group.name[..], &survey.tables[..]) {
        let name = &group.tables[0].name;
        let lines = table.as_ref().map(|table| report::table(name, table, what_if));
        return (lines.unwrap_or_default(), outcome);
    }
    let mut shared = Ok(None);
    if what_if && survey.is_comparable() {
        shared = what_if::share(&survey, num_lookups, step);
    }
    let lines = report::group(&survey, what_if, shared.as_ref().ok().copied().flatten());
    shared.map_or_else(|cause| outcome.add(Outcome::failure(cause)), |_| ());
    (lines, outcome)
}

/// The command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) help: bool,
    pub(crate) what_if: bool,
    pub(crate) paths: Vec<PathBuf>,
}

impl Options {
    /// Or what is wrong with the arguments. All behind `--` are paths.
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut only_paths = false;
        for arg in args {
            let is_option = arg.as_encoded_bytes().starts_with(b"-");
            match arg.to_str() {
                Some("") => return Err("an empty argument names no file".into()),
                _ if only_paths || !is_option => options.paths.push(arg.into()),
                Some("--") => only_paths = true,
                Some("-h" | "--help") => options.help = true,
                Some("--what-if") => options.what_if = true,
                _ => return Err(format!("unknown option {}", arg.to_string_lossy())),
            }
        }
        Ok(options)
    }
}
