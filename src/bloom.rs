//! LevelDB's built-in Bloom filter.
//!
//! Mirrors [`util/bloom.cc`](https://github.com/google/leveldb/blob/1.23/util/bloom.cc).

// First, for their methods to come before those of other modules in the docs.
mod policy;
mod shape;

mod accuracy;
mod atomic;
mod builder;
mod create;
mod error;
mod filter;
mod lookup;
mod probes;
mod regions;
mod runs;
mod sizing;
mod tuned;

pub use self::atomic::AtomicBloomFilter;
pub use self::builder::BloomFilterBuilder;
pub use self::error::{InvalidFilter, ShapeMismatch};
pub use self::filter::BloomFilter;
pub use self::policy::BloomFilterPolicy;
pub use self::runs::SortedRun;
pub use self::shape::BloomFilterShape;
