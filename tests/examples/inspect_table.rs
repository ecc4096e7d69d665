//! Opens table files of LevelDB and reports on their filters: what they cost, what they save, and
//! whether this crate makes the same ones.
//!
//! ```sh
//! cargo run --release --example inspect_table [-- [--what-if] [FILE|DIR]...]
//! ```

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use inspect_table::inspection::{Scope, Tables};
use inspect_table::{report_all, report_one};
use terminal::{exit_code, print};

#[path = "inspect_table/mod.rs"]
mod inspect_table;
#[path = "../common/table.rs"]
mod table;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str = "usage: inspect_table [--what-if] [FILE|DIR]...";
const HELP: [&str; 9] = [
    "Reports on the filters of LevelDB tables, by default tests/golden/tables/db_bloom10.ldb",
    "  FILE       a table: all about it",
    "  DIR        a database: a line for each of its tables, in order of number, and the total;",
    "             the same for several FILEs and DIRs",
    "  --what-if  shows what other filters would give: those in blocks as LevelDB makes them, one",
    "             for the whole table as LevelDB would make it, and one with the best number of",
    "             probes and length that LevelDB reads; for several tables, that of all together",
    "A table without filters shows this by itself. In totals, the share of absent keys that a table",
    "matches counts as much as the table has keys.",
];
const GOLDEN_TABLE: &str = "tests/golden/tables/db_bloom10.ldb";

const NUM_ABSENT_KEYS: usize = 100_000;

struct Options {
    what_if: bool,
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let outcome = match &args[..] {
        [arg] if arg == "-h" || arg == "--help" => print(&[USAGE]).and_then(|()| print(&HELP)),
        args => parse(args).and_then(|options| report(&options)),
    };
    exit_code(outcome)
}

fn report(options: &Options) -> Result<(), Box<dyn Error>> {
    let scope = |what_if| Scope {
        num_absent_keys: NUM_ABSENT_KEYS,
        what_if: if options.what_if { Tables::All } else { what_if },
    };
    let print = &mut |lines: &[String]| print(lines);
    match &options.paths[..] {
        [path] if !path.is_dir() => report_one(path, scope(Tables::WithoutFilters), print),
        paths => report_all(paths, scope(Tables::None), print),
    }
}

fn parse(args: &[OsString]) -> Result<Options, Box<dyn Error>> {
    let mut options = Options { what_if: false, paths: Vec::new() };
    for arg in args {
        if arg == "--what-if" {
            options.what_if = true;
        } else if arg.as_encoded_bytes().starts_with(b"-") {
            return Err(USAGE.into());
        } else {
            options.paths.push(arg.into());
        }
    }
    if options.paths.is_empty() {
        options.paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN_TABLE));
    }
    Ok(options)
}
