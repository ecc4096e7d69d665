//! Compares bytes and answers with LevelDB itself, which runs beside the tests.
//!
//! Each run draws new cases from a seed, which a failing test prints and `LEVELDB_FILTER_SEED`
//! sets.
//!
//! ```sh
//! apt-get install g++ libleveldb-dev
//! cargo test --release --test leveldb -- --ignored
//! ```

mod common;

mod leveldb {
    mod c_interface;
    mod filters;
    mod tables;
}
