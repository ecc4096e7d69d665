//! Which bits a key has, how they are set and how they are looked up: [`one`] key at a time, or many,
//! which [`create`] puts into a new filter and [`many`] looks up.
//!
//! Attributes and loops that are there for the compiler name the benchmark that shows their worth:
//! `cargo bench --bench bloom -- NAME`. `.ci/codegen` notices if loops over many keys lose it.

pub(super) mod create;
pub(super) mod many;
pub(super) mod one;
pub(super) mod probes;
