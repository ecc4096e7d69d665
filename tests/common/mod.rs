//! All that more than one test, example or bench uses, in one tree, and a map of the repository's
//! tests.
//!
//! | here | what it holds |
//! |---|---|
//! | `measure`, `random`, `svg`, `terminal` | rates of random keys, and what prints and draws them |
//! | `table/` | reads LevelDB's tables, and puts another filter block into one |
//! | `testing/` | the oracle, strategies, LevelDB's process: not in the package |
//!
//! `bloom_test.rs`, `hash_test.rs` and `filter_block_test.rs` are LevelDB's own, and the package's.
//!
//! | `src/` | tests |
//! |---|---|
//! | `hash.rs`, `hash/` | `hash_test.rs`, `format/hashing.rs` |
//! | `bloom/policy.rs`, `bloom/builder.rs`, `bloom/bits/` | `bloom_test.rs`, `format/`: `creating`, `lookups`, `min_keys` |
//! | `bloom/filter.rs` | `format/lookups.rs`, `format/mutating.rs`, `format/estimates.rs` |
//! | `bloom/atomic.rs` | `format/threads.rs` |
//! | `bloom/measure.rs` | `rates/measured.rs` |
//! | `bloom/shaping/` | `format/choices.rs`, `rates/`: all but `measured`; rates of real keys: the example `accuracy` |
//! | `filter_block.rs`, `filter_block/`, `internal_key.rs` | `filter_block_test.rs`, `format/`: `block_builder`, `block_calls`, `block_reader`, `long_ranges` |
//! | `filter_policy.rs`, the public API | `format/api.rs`, `format/hash_policies.rs`, `allocations.rs`; figures in docs: `format/recipes.rs` |
//! | everything | `format/golden.rs` (LevelDB's vectors), `tables/` (tables, and the example `inspect`), `leveldb/` (LevelDB itself) |
//!
//! `cargo test` runs all but `leveldb`, which needs LevelDB's library, and an ignored test of
//! `format`, which needs 12 GiB of addresses. `.ci/run`, the gate, adds both.
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
