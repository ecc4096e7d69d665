//! Reports on one table, or on databases.

use std::error::Error;
use std::mem;
use std::path::PathBuf;

use database::Group;
use survey::{Outcome, Survey};

use crate::terminal::Progress;

pub(crate) mod database;
pub(crate) mod filters;
pub(crate) mod levels;
pub(crate) mod options;
mod report;
pub(crate) mod survey;
pub(crate) mod table;
pub(crate) mod what_if;

/// Takes lines to where they are read, or says why they cannot be.
pub(crate) type Print<'a> = &'a mut dyn FnMut(&[String]) -> Result<(), Box<dyn Error>>;

/// What is asked of all tables.
#[derive(Clone, Copy)]
pub(crate) struct Questions {
    pub(crate) what_if: bool,
    /// About so many lookups of absent keys in the filters of all tables together.
    pub(crate) num_lookups: usize,
}

/// What the tables of each directory come to, and of the files between them.
pub(crate) fn report(
    paths: &[PathBuf],
    questions: Questions,
    print: Print,
) -> Result<Outcome, Box<dyn Error>> {
    let mut outcome = Outcome::default();
    let mut is_first = true;
    for paths in paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()) {
        let group = match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Ok(Group::of_files(files)),
        };
        match group {
            Ok(group) => {
                let (lines, of_group) = report_group(&group, questions);
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

fn report_group(group: &Group, questions: Questions) -> (Vec<String>, Outcome) {
    let progress = Progress::start();
    let step = |step: &str| progress.show(step);
    let survey = Survey::of(group, questions.num_lookups, step);
    let mut outcome = survey.outcome();
    if let ("", [table]) = (&group.name[..], &survey.tables[..]) {
        let name = &group.tables[0].name;
        let lines = table.as_ref().map(|table| report::table(name, table, questions.what_if));
        return (lines.unwrap_or_default(), outcome);
    }
    let mut shared = Ok(None);
    if questions.what_if && survey.is_comparable() {
        shared = what_if::share(&survey, questions.num_lookups, step);
    }
    let shared = shared.unwrap_or_else(|cause| {
        outcome.add(Outcome::failure(cause));
        None
    });
    (report::group(&survey, questions.what_if, shared), outcome)
}
