//! Reports on one table, or on databases.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use database::{Group, Level};
use files::{open_regular_file, shown};
use inspection::{Inspection, Scope, Tables};
use listing::Listing;
use verdict::Verdict;

use crate::table::Source;
use crate::terminal::Progress;

mod database;
mod files;
pub(crate) mod hashes;
pub(crate) mod inspection;
pub(crate) mod keys;
mod levels;
pub(crate) mod listing;
mod lookups;
pub(crate) mod options;
mod report;
mod runs;
pub(crate) mod shape;
mod share;
pub(crate) mod verdict;
mod what_if;

/// Takes lines to where they are read, or says why they cannot be.
pub(crate) type Print<'a> = &'a mut dyn FnMut(&[String]) -> Result<(), Box<dyn Error>>;

/// All about one table.
pub(crate) fn report_one(
    path: &Path,
    scope: Scope,
    print: Print,
) -> Result<Verdict, Box<dyn Error>> {
    let name = shown(path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path));
    let progress = Progress::start();
    let inspection = inspect(path, scope, |step| progress.show(step))
        .map_err(|error| format!("{name}: {error}"))?;
    progress.clear();
    print(&report::lines(&name, &inspection))?;
    let mut verdict = Verdict::default();
    verdict.add(&inspection);
    Ok(verdict)
}

/// A line for each table, as soon as it is known, and what all tables come to: for each directory,
/// and for the files between them.
pub(crate) fn report_all(
    paths: &[PathBuf],
    scope: Scope,
    print: Print,
) -> Result<Verdict, Box<dyn Error>> {
    let mut verdict = Verdict::default();
    for (i, paths) in paths.chunk_by(|a, b| !a.is_dir() && !b.is_dir()).enumerate() {
        let group = match paths {
            [directory] if directory.is_dir() => Group::of_directory(directory),
            files => Group::of_files(files),
        };
        if i > 0 {
            print(&[String::new()])?;
        }
        verdict = verdict.and(&report_group(group, scope, print)?);
    }
    Ok(verdict)
}

fn report_group(group: Group, scope: Scope, print: Print) -> Result<Verdict, Box<dyn Error>> {
    let mut listing = Listing::new(&group);
    print(&group.title)?;
    if group.tables.is_empty() && !group.is_database {
        return Ok(listing.verdict);
    }
    print(&[listing.header()])?;
    let num_tables = group.tables.len();
    let scope = scope.for_each_of(num_tables);
    let progress = Progress::start();
    for (table, i) in group.tables.into_iter().zip(1..) {
        if table.level == Level::NotInUse {
            print(&[listing.pass_over(&table)])?;
            continue;
        }
        let step = |step: &str| progress.show(&format!("{i} of {num_tables}: {step}"));
        let outcome = inspect(&table.path, scope, step).map_err(explained);
        progress.clear();
        print(&[listing.add(table, &outcome)])?;
    }
    print(&listing.totals())?;
    if scope.what_if == Tables::All {
        print(&listing.what_if())?;
        if group.is_database {
            let lines = runs::lines(&listing.runs, scope, |step| progress.show(step));
            progress.clear();
            print(&lines)?;
        }
    } else if listing.lacks_filters() {
        print(&["--what-if shows what filters would give to the tables without".into()])?;
    }
    Ok(listing.verdict)
}

fn inspect(
    path: &Path,
    scope: Scope,
    progress: impl Fn(&str),
) -> Result<Inspection, Box<dyn Error>> {
    let file = open_regular_file(path)?;
    Inspection::of(Source::of_file(&file)?, scope, progress)
}

/// Why a file that was listed may not be there.
fn explained(error: Box<dyn Error>) -> Box<dyn Error> {
    match error.downcast_ref::<io::Error>() {
        Some(cause) if cause.kind() == io::ErrorKind::NotFound => format!(
            "{error}; a running database removes tables at any time: inspect a closed one, or a copy"
        )
        .into(),
        _ => error,
    }
}
