//! What more than one test, example or bench uses. `tests/README.md` says what is tested where.
//! `testing/` is for tests and benches alone: the oracle, strategies, and LevelDB's process.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each crate uses its own part")]

pub mod measure;
pub mod random;
pub mod svg;
pub mod table;
pub mod terminal;

#[cfg(test)]
mod testing;
#[cfg(test)]
pub use testing::*;
