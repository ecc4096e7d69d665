//! The false-positive rates of the shapes and ranges that are chosen, and of others.
//!
//! Keys and sizes are the same in every run, so a test passes always or never.

use leveldb_filter::BloomFilterPolicy;

mod common;
#[path = "examples/accuracy/filter_blocks.rs"]
mod filter_blocks;
#[path = "examples/accuracy/grids.rs"]
#[expect(dead_code, reason = "the example uses the rest")]
mod grids;
#[path = "examples/accuracy/kinds.rs"]
#[expect(dead_code, reason = "the example uses the rest")]
mod kinds;
#[path = "examples/accuracy/two_kinds.rs"]
mod two_kinds;

mod rates {
    mod closed_form;
    mod grids;
    mod sizing;
    mod tuned;
    mod two_kinds;
}

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);
