//! Opens table files of LevelDB, or a whole database, and reports on the filters: what they cost,
//! what they save, and whether this crate makes the same ones.
//!
//! ```sh
//! cargo run --release --example inspect_table [-- [--what-if] [FILE|DIR]...]
//! ```

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect_table::inspection::{Scope, Tables};
use inspect_table::options::{Options, Task};
use inspect_table::verdict::Verdict;
use inspect_table::{report_all, report_one};
use terminal::{exit_code, print};

#[path = "inspect_table/mod.rs"]
mod inspect_table;
#[path = "../common/random.rs"]
mod random;
#[path = "../common/table.rs"]
mod table;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str = "usage: inspect_table [--what-if] [--] [FILE|DIR]...";
const HELP: [&str; 12] = [
    "Reports on the filters of LevelDB tables, by default tests/golden/tables/db_bloom10.ldb",
    "  FILE       a table: all about it; of several FILEs, a line each",
    "  DIR        a database: a line for each table that its MANIFEST names, and what each level",
    "             has; without a MANIFEST that can be read, a line for each table",
    "  --what-if  shows what other filters would give: LevelDB's, the same with base_lg 19 and",
    "             tuned(), and, for a database, the bytes of today shared by for_runs()",
    "A table without filters shows by itself what filters would give. False positives are measured",
    "with random hashes, asked of the filter of each data block; blocks count by their keys.",
    "Exit status: 0 all was read, and each filter block is what this crate makes of its keys;",
    "             1 something could not be read, or filters hide keys;",
    "             2 wrong usage;",
    "             3 all was read, but a filter block differs from what its policy makes.",
];
const GOLDEN_TABLE: &str = "tests/golden/tables/db_bloom10.ldb";

/// A rate of 1 % has a statistical error of 0.01 %.
const NUM_LOOKUPS: usize = 1_000_000;

const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Task::parse(env::args_os().skip(1)) {
        Ok(Task::Help) => print(&[USAGE]).and_then(|()| print(&HELP)).map(|()| Verdict::default()),
        Ok(Task::Inspect(options)) => report(&options),
        Err(error) => {
            say(&format!("{error}\n{USAGE}"));
            return WRONG_USAGE.into();
        }
    };
    match outcome {
        Ok(verdict) => {
            if let Some(reason) = verdict.reason() {
                say(&reason);
            }
            verdict.exit_status().into()
        }
        Err(error) => exit_code(Err(error)),
    }
}

/// Where stderr is closed, the exit status has to do.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn report(options: &Options) -> Result<Verdict, Box<dyn Error>> {
    let scope = |what_if| Scope {
        num_lookups: NUM_LOOKUPS,
        what_if: if options.what_if { Tables::All } else { what_if },
    };
    let print = &mut |lines: &[String]| print(lines);
    let golden_table = || Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN_TABLE);
    match &options.paths[..] {
        [] => report_one(&golden_table(), scope(Tables::WithoutFilters), print),
        [path] if !path.is_dir() => report_one(path, scope(Tables::WithoutFilters), print),
        paths => report_all(paths, scope(Tables::None), print),
    }
}
