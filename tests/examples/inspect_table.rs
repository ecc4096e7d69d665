//! Opens a LevelDB database, or table files, and reports on the filters: how many data blocks
//! lookups read needlessly, what would help, and whether this crate makes the same filters.
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
const HELP: [&str; 14] = [
    USAGE,
    "Reports on the filters of LevelDB tables; without arguments, of",
    "tests/golden/tables/db_bloom10.ldb",
    "  DIR        a database: wasted reads, what would help, levels and tables",
    "  FILE       a table: a full report; for several FILEs, one line each",
    "  --what-if  compares other filters, their reads and bytes: LevelDB's, this",
    "             crate's, and this crate's with today's bytes divided between levels",
    "  --tables   lists every table, even if a database has many",
    "Lookups are those of LevelDB's Get. They ask for a sample of up to 20,000 of the",
    "database's keys, for as many absent keys next to them, and for random hashes.",
    "Exit status: 0 all files were read, and this crate makes the same filters;",
    "             1 something cannot be read or judged, or filters hide keys;",
    "             2 wrong usage;",
    "             3 all files were read, but filters differ from their policy's.",
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
        // Read at run time: this binary may have been compiled in another checkout.
        let root = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
        let table = Path::new(&root).join(GOLDEN_TABLE);
        if !table.exists() {
            say(USAGE);
            return ExitCode::from(2);
        }
        options.paths.push(table);
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

/// If stderr is closed, the exit status must suffice.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
