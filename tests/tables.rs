//! Tables that LevelDB and other programs wrote, in `tests/golden`, and the example `inspect`.

mod common;
#[path = "examples/inspect/figures.rs"]
mod figures;
#[path = "examples/inspect/leveldb.rs"]
mod leveldb;
#[path = "examples/inspect/table.rs"]
mod table;

mod tables {
    mod damaged;
    mod figures;
    mod golden;
    mod made;
    mod signed;
}

fn read_golden(place: &str) -> Vec<u8> {
    std::fs::read(format!("tests/golden/{place}"))
        .unwrap_or_else(|error| panic!("{place}: {error}"))
}

fn facts(file: &[u8]) -> std::io::Result<table::Facts> {
    table::Facts::of(file, &mut common::random::words(1))
}
