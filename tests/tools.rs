//! Tests of the example `inspect_table`, which the package carries without their golden files.

mod common;
#[allow(dead_code, reason = "the example's main function uses the rest")]
#[path = "examples/inspect_table/mod.rs"]
mod inspect_table;
#[path = "common/neighbours.rs"]
mod neighbours;
#[path = "common/policy.rs"]
mod policy;
#[allow(dead_code, reason = "the example's main function uses the rest")]
#[path = "examples/terminal.rs"]
mod terminal;
#[path = "inspect_table/mod.rs"]
mod tests;

use common::{random, table};
