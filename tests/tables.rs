//! Tables that LevelDB and other programs wrote, in `tests/golden`: what reads them, the crate's
//! filter blocks of their keys, and what the example `inspect` says of them.

#[path = "examples/inspect/absent.rs"]
mod absent;
#[path = "examples/inspect/bloom.rs"]
mod bloom;
mod common;
#[path = "examples/inspect/facts.rs"]
mod facts;
#[path = "examples/inspect/figures.rs"]
mod figures;
#[path = "examples/inspect/report.rs"]
mod report;
#[path = "examples/inspect/same_bytes.rs"]
mod same_bytes;
#[path = "examples/inspect/words.rs"]
mod words;

mod tables {
    mod absent;
    mod damaged;
    mod inspect;
    mod lines;
    mod made;
    mod ranges;
    mod same_bytes;
}

/// Tests measure memory.
#[global_allocator]
static ALLOCATOR: common::allocations::CountingAllocator = common::allocations::CountingAllocator;

fn golden(place: &str) -> std::path::PathBuf {
    std::path::Path::new("tests/golden").join(place)
}

fn read_golden(place: &str) -> Vec<u8> {
    std::fs::read(golden(place)).unwrap_or_else(|error| panic!("{place}: {error}"))
}
