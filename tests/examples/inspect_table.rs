//! Opens a database of LevelDB, or table files, and reports on the filters: what lookups of absent
//! keys read, what would help, and whether this crate makes the same filters.
//!
//! ```sh
//! cargo run --release --example inspect_table [-- [--what-if] [--tables] [FILE|DIR]...]
//! ```

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect_table::{Options, report};
use terminal::{exit_code, print, wrapped};

#[path = "inspect_table/mod.rs"]
mod inspect_table;
#[path = "../common/neighbours.rs"]
mod neighbours;
#[path = "../common/policy.rs"]
mod policy;
#[path = "../common/random.rs"]
mod random;
#[path = "../common/table.rs"]
mod table;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str = "usage: inspect_table [--what-if] [--tables] [--] [FILE|DIR]...";
const HELP: [&str; 15] = [
    USAGE,
    "Reports on the filters of LevelDB's tables, by default of",
    "tests/golden/tables/db_bloom10.ldb",
    "  DIR        a database: what lookups read in vain, what would help, and its",
    "             levels and tables",
    "  FILE       a table: all about it; of several FILEs, a line each",
    "  --what-if  what other filters would read and take: LevelDB's, this crate's,",
    "             and these with today's bytes shared between the levels",
    "  --tables   a line for each table, also of a database of many",
    "Lookups ask for some 20,000 of the database's keys, for as many absent ones that",
    "counting on from these makes, and for random hashes, as LevelDB's Get does.",
    "Exit status: 0 all was read, and this crate makes the same filters of the keys;",
    "             1 something cannot be read or judged, or filters hide keys;",
    "             2 wrong usage;",
    "             3 all was read, but filters are not what their policy makes.",
];
const GOLDEN_TABLE: &str = "tests/golden/tables/db_bloom10.ldb";

/// A rate of 1% has a statistical error of 0.01%.
const NUM_LOOKUPS: usize = 1_000_000;

fn main() -> ExitCode {
    let mut options = match Options::parse(env::args_os().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            say(&format!("{error}\n{USAGE}"));
            return ExitCode::from(2);
        }
    };
    if options.help {
        return exit_code(print(&HELP));
    }
    if options.paths.is_empty() {
        // As Cargo says when it runs this: another checkout may have been compiled here.
        let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        options.paths.push(Path::new(&root).join(GOLDEN_TABLE));
    }
    match report(&options, NUM_LOOKUPS, print) {
        Ok(outcome) => {
            for cause in &outcome.causes {
                say(&wrapped(cause, "  ").join("\n"));
            }
            outcome.exit_status.into()
        }
        Err(error) => exit_code(Err(error)),
    }
}

/// Where stderr is closed, the exit status has to do.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
