//! States facts about the filters in LevelDB's tables: what they are, whether each entry passes its
//! filter, and how many absent keys do, beside this crate's filters of the same keys.
//!
//! ```sh
//! cargo run --release --example inspect -- PATH...
//! ```
//!
//! Each module knows only those after it: `report`, all tables in words; `bloom`, those with filters
//! of a known policy; `words`, numbers in words; `facts`, one table; `figures`, what filters do to
//! absent keys; `absent`, which keys these are; `same_bytes`, the policies that make a block.

use std::env;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use common::terminal::{exit_code, print};
use report::Report;

mod absent;
mod bloom;
#[path = "../../common/mod.rs"]
mod common;
mod facts;
mod figures;
mod report;
mod same_bytes;
mod words;

const USAGE: &str = "usage: inspect PATH...";

const HELP: [&str; 3] = [
    "Each PATH is a LevelDB table (.ldb, .sst), or a directory with tables. Nothing is written.",
    "Exit status: 1 if a table rejects a key of its own, is damaged or cannot be read, or if a",
    "PATH holds no table; 2 for wrong usage.",
];

fn main() -> ExitCode {
    let paths: Vec<_> = env::args_os().skip(1).map(PathBuf::from).collect();
    if paths.iter().any(|path| path.as_os_str() == "-h" || path.as_os_str() == "--help") {
        return exit_code(print(&[USAGE]).and_then(|()| print(&HELP)));
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
