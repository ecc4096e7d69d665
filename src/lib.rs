//! Builds and reads LevelDB's Bloom filters and filter blocks, byte for byte as LevelDB 1.23 does.
//!
//! A filter lets an engine skip a table that cannot contain a key. It may match an absent key, but
//! never rejects a present key. LevelDB's own filter is [`BloomFilterPolicy::new`]:
//!
//! ```
//! use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
//!
//! let policy = BloomFilterPolicy::new(10); // 10 bits per key
//! let mut filter = Vec::new();
//! policy.create_filter(&[b"apple", b"pear"], &mut filter); // appends
//! assert!(policy.key_may_match(b"pear", &filter) && !policy.key_may_match(b"plum", &filter));
//! ```
//!
//! LevelDB builds one filter for each 2 KiB of a table. [`FilterBlockBuilder::new`] builds the same
//! blocks, and [`FilterBlockReader`] reads them. LevelDB's filters can match nearly every absent
//! key if keys end in a counter and their length is a multiple of 4.
//!
//! [Tuned](BloomFilterPolicy::tuned) filters in [long ranges](FilterBlockBuilder::with_long_ranges)
//! match about 1% of absent keys on average at 10 bits per key, as `tests/accuracy.md` in the
//! repository shows. They are recommended for engines of your own. Every LevelDB since 1.18 reads
//! them, too.
//!
//! ```
//! use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};
//!
//! let policy = BloomFilterPolicy::new(10).tuned();
//! let mut builder = FilterBlockBuilder::with_long_ranges(policy);
//! builder.start_block(0); // the file offset of a data block, then its keys
//! builder.add_key(b"apple");
//! let reader = FilterBlockReader::new(policy, builder.finish());
//! assert!(reader.key_may_match(0, b"apple") && !reader.key_may_match(0, b"plum"));
//! ```
//!
//! # In a storage engine
//!
//! | to | use |
//! |---|---|
//! | write filters as LevelDB does, one for each 2 KiB | [`FilterBlockBuilder::new`] with [`BloomFilterPolicy::new`] |
//! | write a table's filters, as recommended | [`FilterBlockBuilder::with_long_ranges`] with [`BloomFilterPolicy::tuned`] |
//! | read filter blocks | [`FilterBlockReader`]; [which block offset to pass](recipes#entries-of-a-table); [without the index](recipes#one-filter-per-table-in-a-filter-block) |
//! | build filter blocks of keys that end in LevelDB's trailer | [`InternalKeyPolicy`] |
//! | give up a table halfway, or predict its filter block's length | [`FilterBlockBuilder::clear`], [`finished_len`](FilterBlockBuilder::finished_len) |
//! | hash a key once, and look it up in many tables | [`FilterKey`], then [`FilterBlockReader::may_match`] |
//! | look up many keys in many tables | [`FilterBlockReader::keys_may_match`], as [this recipe](recipes#look-up-many-keys-in-many-tables) shows |
//! | plug a policy into rusty-leveldb, sstable or LevelDB's C interface | [recipes](recipes#rusty-leveldb) |
//! | read tables of other programs | [by the policy's name](recipes#open-a-table-by-its-policys-name); [check their filters](recipes#check-a-tables-filters-when-it-is-opened) |
//! | count the reads that filters save | [recipe](recipes#count-what-filters-save) |
//! | find the bits per key for a false-positive rate | [`BloomFilterPolicy::for_false_positive_rate`]; [rates for 4 to 16 bits](recipes#bits-per-key) |
//! | give each level of an engine its bits per key | [recipe](recipes#memory-for-levels) |
//! | build a filter without a block, key by key | [`BloomFilterBuilder`]; [for a format of your own](recipes#filters-without-a-block), [of a given length](recipes#partitions); to insert keys later [`BloomFilter::empty`] |
//! | look up keys in a filter without a block, one at a time or in batches | [`BloomFilter`] |
//! | keep a filter beside a memtable | [`AtomicBloomFilter`]; for one thread [`BloomFilter::empty`]; [with a budget](recipes#a-memtables-filter) |
//! | ignore parts of keys, filter prefixes, or use hashes of your own | [`HashedBy`], for example for [comparators](recipes#comparators), [prefixes](recipes#filters-of-prefixes), [64-bit hashes](recipes#hashes-of-your-own) |
//! | look up whole keys and seek prefixes | [recipe](recipes#whole-keys-and-prefixes-in-one-filter) |
//! | replace an engine's own filters | [recipe](recipes#in-place-of-an-engines-own-trait) |
//! | use LevelDB from Python, Node or Go | [recipe](recipes#your-own-database) |
//! | know the requirements | [memory, threads and platforms](recipes#memory-threads-and-platforms) |
//!
//! **Verify a filter block's checksum** before you [read it](FilterBlockReader).
//! [Add](FilterBlockBuilder::add_key) every entry's key, deletions included. Only an
//! [`InternalKeyPolicy`] takes keys that end in LevelDB's trailer. Pass user keys to everything
//! else, and read with the policy of user keys. If the engine's comparator ignores part of a key,
//! wrap the policy in [`HashedBy`].
//!
//! # Compatibility
//!
//! The crate is `no_std`. It needs an allocator, and atomics with compare-and-swap for `Arc` and
//! [`AtomicBloomFilter`]. It builds for WebAssembly, and writes the same bytes on every platform, or
//! panics if a 32-bit `usize` cannot count a filter's bits.
//!
//! [`BloomFilterPolicy::new`] and [`FilterBlockBuilder::new`] make the bytes that 64-bit LevelDB
//! 1.18 to 1.23 makes, and lookups give LevelDB's answers. This crate differs only where LevelDB has
//! undefined behaviour, loses keys or overflows:
//!
//! - Lookups in two kinds of malformed filter blocks answer `true` (see [`FilterBlockReader`]).
//! - An internal key that is too short for a trailer is used whole.
//! - [`FilterBlockBuilder`] panics if a block offset belongs to a finished filter, or if the
//!   filters reach 4 GiB.
//! - A policy panics if a filter's bits overflow a `usize`.
//!
//! A new version of this crate may change the bytes that `tuned`, `for_false_positive_rate` and
//! `with_long_ranges` make. Every reader reads old and new filters, because each filter says how to
//! read it.
//!
//! A filter stored outside a filter block needs a name of its own in the metaindex block. If it has
//! LevelDB's name, LevelDB at best ignores the filter, and rusty-leveldb panics.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bloom;
mod filter_block;
mod filter_policy;
mod hash;
mod hashed_by;
mod internal_key;

// Aliases of items in private modules work only here.
#[doc(alias("memtable", "thread"))]
pub use bloom::AtomicBloomFilter;
pub use bloom::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomFilterShape, InvalidFilter,
    ShapeMismatch,
};
pub use filter_block::FilterBlockBuilder;
#[doc(alias = "checksum")]
pub use filter_block::FilterBlockReader;
pub use filter_policy::{FilterKey, FilterPolicy, HashPolicy};
pub use hash::{BloomHash, bloom_hash, bloom_hashes, hash};
#[doc(alias("comparator", "prefix", "wrapper"))]
pub use hashed_by::HashedBy;
#[doc(alias("InternalFilterPolicy", "internal key", "trailer"))]
pub use internal_key::InternalKeyPolicy;

#[cfg(any(doc, doctest))]
#[doc = include_str!("recipes.md")]
pub mod recipes {
    //! # For the search
    //!
    //! These modules lead from the documentation's search to recipes.

    /// See [the recipe](super#memory-threads-and-platforms).
    #[doc(alias("memory", "no_std", "wasm"))]
    pub mod memory_threads_and_platforms {}

    /// See [the recipe](super#memory-for-levels).
    #[doc(alias = "level")]
    pub mod memory_for_levels {}

    /// See [the recipe](super#partitions).
    #[doc(alias = "partition")]
    pub mod partitions {}
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
