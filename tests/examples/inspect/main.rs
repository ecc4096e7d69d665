//! Would this crate's filters be better for the tables of a LevelDB database? Counts the absent keys
//! that match LevelDB's filters and this crate's, and says what filters the tables have.
//!
//! ```sh
//! cargo run --release --example inspect -- PATH...
//! ```
//!
//! `report` puts all tables into words, `table` knows one, `figures` compares the filters.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use common::terminal::{exit_code, print};
use report::Report;

#[path = "../../common/mod.rs"]
mod common;
mod figures;
mod leveldb;
mod report;
mod table;

const USAGE: &str = "usage: inspect PATH...";

const HELP: &str = "\
Each PATH is a LevelDB table (.ldb, .sst), or a directory
with tables. Nothing is written. Exit status: 1 if a table
rejects a key of its own, is damaged or cannot be read, or
if a PATH holds no table; 2 for wrong usage.";

fn main() -> ExitCode {
    let paths: Vec<_> = env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.iter().any(|path| path.as_os_str() == "-h" || path.as_os_str() == "--help") {
        return exit_code(print(&[USAGE, HELP]));
    }
    let is_option = |path: &PathBuf| path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if paths.is_empty() || paths.iter().any(is_option) {
        // If stderr is closed, the exit status must suffice.
        let _ = writeln!(io::stderr(), "{USAGE}");
        return 2.into();
    }
    let report = Report::of(&paths);
    match exit_code(print(&report.lines())) {
        ExitCode::SUCCESS => report.exit_status().into(),
        failure => failure,
    }
}
