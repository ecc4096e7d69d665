//! Says what the filters of a `LevelDB` database do, and gives it better ones.
//!
//! ```sh
//! cargo run --release -- inspect DIR
//! cargo run --release -- rewrite DIR
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    leveldb_filter_tools::main()
}
