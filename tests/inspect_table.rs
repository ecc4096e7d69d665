//! The example `inspect_table` as a user meets it, without its process.
#![allow(dead_code, reason = "the process uses the rest")]

mod common;
#[path = "inspect_table/damage.rs"]
mod damage;
#[path = "inspect_table/databases.rs"]
mod databases;
#[path = "examples/inspect_table/mod.rs"]
mod inspect_table;
#[path = "inspect_table/options.rs"]
mod options;
#[path = "inspect_table/tables.rs"]
mod tables;
#[path = "examples/terminal.rs"]
mod terminal;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use common::{random, table};
use inspect_table::inspection::{Scope, Tables};
use inspect_table::verdict::Verdict;
use inspect_table::{Print, report_all, report_one};

const SCOPE: Scope = Scope { num_lookups: 1_000, what_if: Tables::None };
const WITH_WHAT_IF: Scope = Scope { what_if: Tables::All, ..SCOPE };

/// What a user gets to see.
struct Report {
    lines: Vec<String>,
    exit_status: u8,
    /// What goes to stderr.
    reason: Option<String>,
}

impl Report {
    fn on_all(paths: &[PathBuf], scope: Scope) -> Self {
        Self::of(|print| report_all(paths, scope, print))
    }

    fn on_one(path: &Path, scope: Scope) -> Self {
        Self::of(|print| report_one(path, scope, print))
    }

    fn of(report: impl FnOnce(Print) -> Result<Verdict, Box<dyn Error>>) -> Self {
        let mut lines = Vec::new();
        let outcome = report(&mut |printed| {
            lines.extend_from_slice(printed);
            Ok(())
        });
        let (exit_status, reason) = match outcome {
            Ok(verdict) => (verdict.exit_status(), verdict.reason()),
            Err(error) => (1, Some(error.to_string())),
        };
        Self { lines, exit_status, reason }
    }

    fn reason(&self) -> &str {
        self.reason.as_deref().expect("a reason")
    }

    /// The only line with these words.
    #[track_caller]
    fn line_with(&self, words: &str) -> &str {
        let mut lines = self.lines.iter().filter(|line| line.contains(words));
        let line = lines.next().unwrap_or_else(|| panic!("no {words:?} in {:#?}", self.lines));
        assert!(lines.next().is_none(), "several {words:?} in {:#?}", self.lines);
        line
    }

    /// What stands behind a label.
    #[track_caller]
    fn value_of(&self, label: &str) -> &str {
        let label = format!("  {label:<20}  ");
        self.line_with(&label).strip_prefix(&label).expect("a label")
    }
}

fn golden(directory: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(directory)
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn golden_table(file: &str) -> Vec<u8> {
    read(&golden("tables").join(file))
}

/// A directory of its own for each test.
fn directory_of(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect_table").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for (file, contents) in files {
        fs::write(directory.join(file), contents).unwrap();
    }
    directory
}
