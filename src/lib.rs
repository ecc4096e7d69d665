//! LevelDB's filter policies.
#![forbid(unsafe_code)]

mod bloom;
mod filter_block;
mod filter_policy;
mod hash;
mod internal_key;

pub use bloom::{BloomFilter, BloomFilterBuilder, BloomFilterPolicy, InvalidFilter, ShapeMismatch};
pub use filter_block::{FilterBlockBuilder, FilterBlockReader};
pub use filter_policy::FilterPolicy;
pub use hash::{bloom_hash, hash};
pub use internal_key::InternalKeyPolicy;
