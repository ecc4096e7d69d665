//! Gives the tables of a closed LevelDB database better filters, or their first ones, without a
//! compaction: programs that open the database, unchanged, read fewer data blocks.
//!
//! ```sh
//! cargo run --release --example rewrite_filters -- [--dry-run] [--add] DIR|FILE...
//! ```

use std::process::ExitCode;

use common::command_line::{each_group, run};
use common::database::Group;
use common::rewrite_filters::{ADDED, Options, rewrite};
use common::terminal::print;

#[path = "../../common/mod.rs"]
mod common;

const HELP: [&str; 22] = [
    "First a backup, which is free: cp -al DIR DIR.bak",
    "Then close the database. One whose LOCK is held is refused, but a program in",
    "another container cannot be seen, nor one that opens it while this runs.",
    "usage: rewrite_filters [OPTION]... [--] DIR|FILE...",
    "Rebuilds the filters of databases or tables, each for 512 KiB and 4,000 keys or",
    "more: fewer lookups read data blocks needlessly. Programs need no change. What",
    "LevelDB compacts later gets LevelDB's filters again. Filters get LevelDB's name",
    "and goleveldb's where there is room. Not for LevelDB before 1.18: another hash.",
    "  --dry-run         prints the same report, and leaves all files as they are",
    "  --bits-per-key N  exactly N; else today's, 10 with --add, more if lookups lose",
    "  --add             adds filters at the end of tables that have none or no room",
    "  --force           although LOCK is held, or lookups lose by N bits per key",
    ADDED[0],
    ADDED[1],
    ADDED[2],
    "Keys, values, owner and mode stay; ACLs, extended attributes and hard links do",
    "not. Each new file is checked, and renamed if nobody has changed the table: a",
    "crash leaves the old or the new one. Damaged data and foreign tables are left.",
    "It takes memory of up to about four times the largest table.",
    "Exit status: 0 done, or nothing to do; 1 a table cannot be read or written, or",
    "its filters are not usable; 2 wrong usage; 3 done, but filters that differ from",
    "their policy's were left.",
];

const NUM_LOOKUPS: usize = 1_000_000;

fn main() -> ExitCode {
    run(&HELP, Options::parse, |of| {
        each_group(&of.paths, print, Group::of_paths, |read| rewrite(read, &of, NUM_LOOKUPS))
    })
}
