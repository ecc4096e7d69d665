//! Which bits a key has, to set and to look up: of [`one`] key at a time, or of many, which
//! [`create`] puts into a new filter and [`many`] looks up.
//!
//! What is there for the compiler names the benchmark that shows its worth: `cargo bench --bench
//! bloom -- NAME`. `.ci/codegen` checks that loops over many keys become vector instructions.

pub(super) mod create;
pub(super) mod many;
pub(super) mod one;
pub(super) mod probes;
