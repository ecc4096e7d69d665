//! A port of LevelDB's filter policies: the Bloom filter, filter blocks and internal keys,
//! byte-for-byte compatible with LevelDB 1.23.
//!
//! A filter lets an engine skip a table that cannot contain a key. It may match an absent key, but
//! never rejects a present one. On request it has fewer false positives, and LevelDB reads it, too.
//! The package's `tests/accuracy.md` has rates for many kinds of keys.
//!
//! ```
//! use leveldb_filter::{BloomFilter, BloomFilterPolicy, FilterPolicy};
//!
//! let mut bytes = Vec::new();
//! BloomFilterPolicy::new(10).create_filter(&[b"apple", b"pear"], &mut bytes); // 10 bits per key
//!
//! let filter = BloomFilter::new(&bytes)?; // parsed once for many lookups
//! assert!(filter.key_may_match(b"apple"));
//! assert!(!filter.key_may_match(b"plum"));
//! # Ok::<(), leveldb_filter::InvalidFilter>(())
//! ```
//!
//! # In a storage engine
//!
//! | to | use |
//! |---|---|
//! | write a table's filters as recommended, of several thousand keys each | [`FilterBlockBuilder::with_long_ranges`] |
//! | write them as LevelDB does, one for each 2 KiB | [`FilterBlockBuilder::new`] |
//! | read filter blocks | [`FilterBlockReader`] |
//! | build and read filter blocks with internal keys | [`InternalKeyPolicy`] |
//! | plug a policy into rusty-leveldb, sstable or LevelDB's C interface | [recipes](recipes#rusty-leveldb) |
//! | open a table by its policy's name, check its filters, count what they save | [recipes] |
//! | look up one key in many tables, hashed once | [`FilterKey`], then [`FilterBlockReader::may_match`] |
//! | look up many user keys in many tables | [`bloom_hashes`], then [its recipe](recipes#look-up-many-keys-in-many-tables) |
//! | make filters with fewer false positives | [`BloomFilterPolicy::tuned`] |
//! | fix filters of few keys, where ranges are LevelDB's | [`BloomFilterPolicy::with_min_filter_len`] |
//! | find the bits per key for a false-positive rate | [`BloomFilterPolicy::for_false_positive_rate`] |
//! | share the memory for filters between levels | [`BloomFilterPolicy::for_runs`] |
//! | build a filter without a block, key by key | [`BloomFilterBuilder`] |
//! | look up keys in such filters, fastest in batches | [`BloomFilter`] |
//! | keep a filter beside a memtable | [`AtomicBloomFilter`]; for one thread [`BloomFilter::empty`] |
//!
//! **Verify a filter block's checksum** before you [read it](FilterBlockReader). Filters are of
//! user keys: [`InternalKeyPolicy`] drops the trailers of the keys that filter blocks take; all
//! else takes user keys. If the engine's comparator ignores part of a key, [wrap a
//! policy](FilterPolicy#wrappers).
//!
//! # Compatibility
//!
//! Files and answers are those of LevelDB 1.23 on 64-bit machines, and of every version since 1.18.
//! Where C++ leaves the outcome undefined or loses keys, this crate does neither: lookups in two
//! kinds of malformed filter blocks answer `true` (see [`FilterBlockReader`]), an internal key too
//! short for a trailer is used whole, and a policy panics at more bits than a `usize` counts.
//!
//! A filter outside a filter block needs a name of the engine's own: under LevelDB's, LevelDB at
//! best ignores it, and rusty-leveldb panics.
#![forbid(unsafe_code)]

mod bloom;
mod filter_block;
mod filter_policy;
mod hash;
mod internal_key;

pub use bloom::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomFilterShape,
    InvalidFilter, ShapeMismatch, SortedRun,
};
pub use filter_block::{FilterBlockBuilder, FilterBlockReader};
pub use filter_policy::{FilterKey, FilterPolicy, HashPolicy};
pub use hash::{BloomHash, bloom_hash, bloom_hashes, hash};
pub use internal_key::InternalKeyPolicy;

#[cfg(any(doc, doctest))]
#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
