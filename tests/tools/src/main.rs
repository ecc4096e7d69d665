//! Says what the filters of a `LevelDB` database do, and gives it better ones.
//!
//! Each module knows only those below it: `command_line`; `inspect` and `rewrite`, the commands;
//! `report` and `verdict`, what they say; `survey/`, what lookups read behind today's filters and
//! planned ones; `database`, which tables are in use; `table/`, LevelDB's files.

use std::process::ExitCode;

mod command_line;
mod database;
mod inspect;
#[path = "../../common/random.rs"]
mod random;
mod report;
mod rewrite;
mod survey;
mod table;
#[path = "../../common/terminal.rs"]
mod terminal;
mod text;
mod verdict;

#[cfg(test)]
mod tests;

fn main() -> ExitCode {
    command_line::main()
}
