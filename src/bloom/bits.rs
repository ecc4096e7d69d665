//! Computes a key's bits, to set them or look them up: for [`one`] key at a time, or for many keys,
//! which [`create`] and [`many`] process in batches.
//!
//! Where code is written for the compiler, a comment names the benchmark that shows its worth:
//! `cargo bench --bench bloom -- NAME`. `.ci/codegen` checks that loops over many keys become
//! vector instructions.

pub(super) mod create;
pub(super) mod many;
pub(super) mod one;
pub(super) mod probes;
