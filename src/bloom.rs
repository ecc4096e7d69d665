//! LevelDB's built-in Bloom filter.
//!
//! Each module uses only modules below it:
//!
//! ```text
//! atomic        one filter for many threads, of keys as any policy hashes them
//! builder       keys first, the policy last
//! policy        the shape and the bytes of filters; LevelDB's answers
//! filter        one filter: lookups, inserts, how full it is
//! shaping       chooses shapes; knows numbers only, not a filter's bytes
//! bits          computes a key's bits, to set or look up; knows no policy
//! error, shape  types that all others use
//! ```

mod atomic;
mod bits;
mod builder;
mod error;
mod filter;
mod policy;
mod shape;
mod shaping;

pub use self::atomic::AtomicBloomFilter;
pub use self::builder::BloomFilterBuilder;
pub use self::error::{InvalidFilter, ShapeMismatch};
pub use self::filter::BloomFilter;
pub use self::policy::BloomFilterPolicy;
pub use self::shape::BloomFilterShape;
