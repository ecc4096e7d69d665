//! Reports on one table, or on several.

use std::error::Error;
use std::path::{Path, PathBuf};

use files::{read_regular_file, tables_in};
use inspection::{Inspection, Scope};
use listing::Listing;

use crate::terminal::{Progress, grouped};

mod absent;
mod files;
pub(crate) mod inspection;
mod keys;
pub(crate) mod listing;
mod report;
pub(crate) mod shape;
mod share;
mod what_if;

/// Takes lines to where they are read, or says why they cannot be.
pub(crate) type Print<'a> = &'a mut dyn FnMut(&[String]) -> Result<(), Box<dyn Error>>;

/// All about one table.
pub(crate) fn report_one(path: &Path, scope: Scope, print: Print) -> Result<(), Box<dyn Error>> {
    let name = shown(path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(path));
    let progress = Progress::start();
    let inspection = inspect(path, scope, |step| progress.show(step))
        .map_err(|error| format!("{name}: {error}"))?;
    progress.clear();
    print(&report::lines(&name, &inspection))?;
    match inspection.num_hidden() {
        0 => Ok(()),
        hidden => Err(format!("{name}: the filters hide {} of the keys", grouped(hidden)).into()),
    }
}

/// A line for each table, as soon as it is known, and the total.
pub(crate) fn report_all(
    paths: &[PathBuf],
    scope: Scope,
    print: Print,
) -> Result<(), Box<dyn Error>> {
    let tables = match paths {
        [directory] => {
            let name = shown(directory);
            let paths = tables_in(directory).map_err(|error| format!("{name}: {error}"))?;
            print(&[name])?;
            paths.into_iter().map(Listed::in_its_directory).collect()
        }
        paths => Listed::all(paths),
    };
    let mut listing = Listing::new(tables.iter().map(|table| &table.name[..]));
    print(&[listing.header()])?;
    let progress = Progress::start();
    for (Listed { name, path }, i) in tables.iter().zip(1..) {
        let step = |step: &str| {
            progress.show(&format!("{i} of {}, {name:.40}: {step}", tables.len()));
        };
        let outcome = match path {
            Ok(path) => inspect(path, scope, step),
            Err(error) => Err(error.clone().into()),
        };
        progress.clear();
        print(&[listing.line(name, &outcome)])?;
    }
    print(&listing.total())?;
    listing.verdict()
}

fn inspect(
    path: &Path,
    scope: Scope,
    progress: impl Fn(&str),
) -> Result<Inspection, Box<dyn Error>> {
    Inspection::of(&read_regular_file(path)?, scope, progress)
}

/// A table and its name on the line, or why there is none.
struct Listed {
    name: String,
    path: Result<PathBuf, String>,
}

impl Listed {
    fn in_its_directory(path: PathBuf) -> Self {
        Self { name: shown(path.file_name().map_or(&path, Path::new)), path: Ok(path) }
    }

    fn all(paths: &[PathBuf]) -> Vec<Self> {
        let mut all = Vec::new();
        for path in paths {
            let tables = if path.is_dir() { tables_in(path) } else { Ok(vec![path.clone()]) };
            match tables {
                Ok(tables) => all.extend(
                    tables.into_iter().map(|path| Self { name: shown(&path), path: Ok(path) }),
                ),
                Err(error) => all.push(Self { name: shown(path), path: Err(error.to_string()) }),
            }
        }
        all
    }
}

/// On one line, whatever the name of a file holds.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace(char::is_control, "\u{fffd}")
}
