//! Tests of the examples `inspect_table` and `rewrite_filters`, which the package carries without
//! their golden files.

#[path = "examples/command_line.rs"]
mod command_line;
mod common;
#[allow(dead_code, reason = "the example's main function uses the rest")]
#[path = "examples/inspect_table/mod.rs"]
mod inspect_table;
#[path = "common/neighbours.rs"]
mod neighbours;
#[path = "common/policy.rs"]
mod policy;
#[path = "examples/rewrite_filters/mod.rs"]
mod rewrite_filters;
#[path = "rewrite_filters/mod.rs"]
mod rewrite_tests;
#[allow(dead_code, reason = "the example's main function uses the rest")]
#[path = "examples/terminal.rs"]
mod terminal;
#[path = "inspect_table/mod.rs"]
mod tests;

use common::{random, table};
