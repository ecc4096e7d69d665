//! LevelDB's built-in Bloom filter.
//!
//! Who calls whom, always downwards:
//!
//! ```text
//! builder                  keys come first, a policy last
//! policy                   the shape and the filter for a number of keys; LevelDB's answers
//! atomic, filter, measure  a filter at hand: asked, changed, measured
//! shaping                  what decides a shape: numbers only, no filter's bytes
//! bits                     which bits a key has, set and asked: no policy
//! error, shape             what all the others speak of
//! ```

// First, so that its methods come before `measure`'s in the docs.
mod shape;

mod atomic;
mod bits;
mod builder;
mod error;
mod filter;
mod measure;
mod policy;
mod shaping;

pub use self::atomic::AtomicBloomFilter;
pub use self::builder::BloomFilterBuilder;
pub use self::error::{InvalidFilter, ShapeMismatch};
pub use self::filter::BloomFilter;
pub use self::policy::BloomFilterPolicy;
pub use self::shape::BloomFilterShape;
pub use self::shaping::SortedRun;
