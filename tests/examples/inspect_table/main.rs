//! Opens a LevelDB database, or table files, and reports on the filters: how many data blocks
//! lookups read needlessly, what would help, and whether this crate makes the same filters.
//!
//! ```sh
//! cargo run --release --example inspect_table -- [--what-if] [--tables] DIR|FILE...
//! ```

use std::process::ExitCode;

use common::command_line::{each_group, run};
use common::database::Group;
use common::inspect_table::{Options, report};
use common::terminal::print;

#[path = "../../common/mod.rs"]
mod common;

const HELP: [&str; 15] = [
    "A filter is a few bytes in memory that tell which keys a table cannot have.",
    "Where it fails, lookups read blocks needlessly: how often yours do, and why:",
    "  cargo run --release --example inspect_table -- DIR",
    "usage: inspect_table [--what-if] [--tables] [--] DIR|FILE...",
    "  DIR        a database, closed: a verdict, what would help, and how to get it",
    "  FILE       a table, or several: the same, and a line for each",
    "  --tables   a line for each level and table",
    "  --what-if  all filters that are compared, also with random keys",
    "Lookups are those of LevelDB's Get. They ask for a sample of up to 20,000 of the",
    "database's keys, and for as many missing keys next to them.",
    "Exit status: 0 all files were read, and this crate makes the same filters;",
    "             1 something cannot be read or judged, or filters hide keys;",
    "             2 wrong usage;",
    "             3 all files were read, but filters differ from their policy's.",
    "Nothing is written.",
];

/// A rate of 1% has a statistical error of 0.01%.
const NUM_LOOKUPS: usize = 1_000_000;

fn main() -> ExitCode {
    run(&HELP, Options::parse, |options| {
        each_group(&options.paths, print, Group::of_paths, |read| {
            report(read, &options, NUM_LOOKUPS)
        })
    })
}
