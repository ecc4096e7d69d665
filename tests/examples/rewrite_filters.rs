//! Gives the tables of a closed LevelDB database better filters, or their first ones, without a
//! compaction: programs that open the database, unchanged, read fewer data blocks.
//!
//! ```sh
//! cargo run --release --example rewrite_filters -- [--dry-run] [--add] DIR|FILE...
//! ```

use std::env;
use std::process::ExitCode;

use rewrite_filters::{Options, rewrite};
use terminal::{ended, exit_code, print, wrong_usage};

#[allow(dead_code, reason = "only its survey is needed")]
#[path = "inspect_table/mod.rs"]
mod inspect_table;
#[path = "../common/neighbours.rs"]
mod neighbours;
#[path = "../common/policy.rs"]
mod policy;
#[path = "../common/random.rs"]
mod random;
#[path = "rewrite_filters/mod.rs"]
mod rewrite_filters;
#[path = "../common/table.rs"]
mod table;
#[path = "terminal.rs"]
mod terminal;

const USAGE: &str =
    "usage: rewrite_filters [--dry-run] [--add] [--goleveldb] [--bits-per-key N] DIR|FILE...";
const HELP: [&str; 22] = [
    "Close the database first: a program that has it open may delete tables meanwhile.",
    "This tool cannot see it, for Rust's standard library has no locks at this version.",
    USAGE,
    "Makes filters of LevelDB tables anew, each for at least 512 KiB of the file and for",
    "4,000 keys: fewer lookups match them needlessly than LevelDB's for 2 KiB. Programs",
    "need no change. What LevelDB compacts later gets its own filters again.",
    "  DIR               a database",
    "  FILE              a table",
    "  --dry-run         prints the same report and writes nothing",
    "  --add             adds filters at the end of tables without any, or without room for",
    "                    better ones. To use them, a program must open the database with a",
    "                    Bloom filter policy. RocksDB refuses such longer files.",
    "  --goleveldb       gives added filters goleveldb's name, if no table has filters",
    "  --bits-per-key N  instead of today's number, or of one by which no lookup loses",
    "Without --add, files keep their lengths. Each table is written to 000000.dbtmp beside",
    "it, checked, and renamed: after a crash there is the old table or the new one. Left",
    "alone are damaged tables, RocksDB's, filters of other policies, and filters for 512 KiB",
    "or more, unless N makes others.",
    "Exit status: 0 done, or nothing to do;",
    "             1 a table cannot be read, judged or written, or filters hide keys;",
    "             2 wrong usage;",
    "             3 done, except for filters that differ from their policy's.",
];

const NUM_LOOKUPS: usize = 1_000_000;

fn main() -> ExitCode {
    let options = match Options::parse(env::args_os().skip(1)) {
        Ok(options) => options,
        Err(error) => return wrong_usage(&error, USAGE),
    };
    if options.help {
        return exit_code(print(&HELP));
    }
    match rewrite(&options, NUM_LOOKUPS, print) {
        Ok(outcome) => ended(&outcome.causes, outcome.exit_status),
        Err(error) => exit_code(Err(error)),
    }
}
