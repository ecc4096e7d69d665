//! Which bits a key has, how they are set, and how they are asked for.

mod batch;
pub(super) mod create;
pub(super) mod many;
pub(super) mod one;
pub(super) mod probes;
