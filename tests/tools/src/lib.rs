//! What the filters of a `LevelDB` database do, and better ones for it: all of `leveldb-filters`.
//!
//! | modules | what they hold |
//! |---|---|
//! | `command_line`, `terminal`, `text` | options, lines, and how a command ends |
//! | `table/` | the files: tables, Snappy, the log format, MANIFEST; it writes filters, too |
//! | `database/`, `survey/` | which tables are in use; what lookups read |
//! | `plan` | the filters that a table gets |
//! | `report`, `inspect/`, `rewrite` | what the commands say and do |

use std::process::ExitCode;

mod command_line;
mod database;
mod inspect;
mod plan;
#[path = "../../common/random.rs"]
mod random;
mod report;
mod rewrite;
mod survey;
mod table;
#[path = "../../common/terminal.rs"]
mod terminal;
mod text;

#[cfg(test)]
mod tests;

/// Does what the arguments of the process say.
#[must_use]
pub fn main() -> ExitCode {
    command_line::main()
}
