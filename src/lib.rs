//! A port of LevelDB 1.23's filter policies: its Bloom filter and filter blocks, with the same bytes
//! and answers, and filters with fewer false positives that every LevelDB since 1.18 reads.
//!
//! A filter lets an engine skip a table that cannot contain a key. It may match an absent key, which
//! is called a false positive, but never rejects a present key. LevelDB's own filter is
//! [`BloomFilterPolicy::new`]:
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
//! # What is recommended
//!
//! LevelDB's hash barely mixes a key's last byte. If the key's length is a multiple of 4, all 256
//! values of that byte set the same bits of a 64-bit filter. So where keys count up, filters of few
//! keys match most absent keys between present ones, and larger filters do so at some lengths.
//! Two parts of this crate mend that, and each works without the other:
//!
//! - **More keys in a filter.** LevelDB builds a filter for each 2 KiB of a table, which may be two
//!   keys. [Long ranges](FilterBlockBuilder::with_long_ranges) give most filters 2,000 to 4,000
//!   keys. This is most of the gain: LevelDB's own filters of u64 counters match 51% of absent
//!   counters with values of 100 bytes, but 1.2% with one filter for a whole table.
//! - **Good lengths.** [`tuned`](BloomFilterPolicy::tuned) chooses each filter's length. It removes
//!   the rest, above all at bad lengths: for every fifth number of u64 counters from 2,000 to 4,000,
//!   LevelDB's worst filters match 90% of absent counters, and the worst tuned filters 2.1%.
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
//! | read filter blocks | [`FilterBlockReader`]; [which block offset to pass](recipes::entries_of_a_table) |
//! | have one filter for a table, without block offsets | [page](recipes::one_filter_per_table) |
//! | build filter blocks of keys that end in LevelDB's trailer | [`InternalKeyPolicy`] |
//! | give up a table halfway, or predict its filter block's length | [`FilterBlockBuilder::clear`], [`finished_len`](FilterBlockBuilder::finished_len) |
//! | hash a key once, and look it up in many tables | [`FilterKey`], then [`FilterBlockReader::may_match`] |
//! | look up many keys in many tables | [`FilterBlockReader::may_match_many`] |
//! | find the bits per key for a false-positive rate, or for each level | [`BloomFilterPolicy::for_false_positive_rate`]; [page](recipes::bits_per_key) |
//! | build a filter without a block | [`BloomFilterBuilder`]; to insert keys later [`BloomFilter::empty`]; [page](recipes::filters_without_a_block) |
//! | look up keys in a filter without a block, one at a time or in batches | [`BloomFilter`] |
//! | keep a filter beside a memtable | [`AtomicBloomFilter`]; [page](recipes::memtables) |
//! | ignore parts of keys, filter prefixes, or use hashes of your own | [`HashedBy`]; pages on [comparators](recipes::comparators), [prefixes](recipes::prefixes), [hashes](recipes::hashes_of_your_own) |
//! | plug a policy into another engine, or replace its filters | pages on [engines](recipes::other_engines) and on [LevelDB's C interface](recipes::c_interface) |
//! | read tables of other programs, check and count their filters | [page](recipes::tables_of_other_programs) |
//! | use LevelDB from Python, Node or Go | [page](recipes::your_own_database) |
//!
//! **Verify a filter block's checksum** before you [read it](FilterBlockReader).
//! [Add](FilterBlockBuilder::add_key) every entry's key, deletions included. Only an
//! [`InternalKeyPolicy`] takes keys that end in LevelDB's trailer. Everything else takes user keys,
//! so read with the policy of user keys.
//!
//! **Three forms of a key.** A method with `key` in its name takes a key's bytes, one with `hash` a
//! [`BloomHash`], and a bare verb such as [`may_match`](BloomFilter::may_match) a [`FilterKey`]. Use
//! a `FilterKey` wherever a policy may hash keys in its own way, because it is always hashed as its
//! policy does, and wherever a key is looked up more than once.
//!
//! # Compatibility
//!
//! The crate is `no_std`. It needs an allocator, and atomics with compare-and-swap for `Arc` and
//! [`AtomicBloomFilter`]. It builds for WebAssembly, and writes the same bytes on every platform, or
//! panics if a 32-bit `usize` cannot count a filter's bits. All types are `Send` and `Sync` if the
//! policies and buffers in them are. Lookups allocate nothing, nothing locks or waits, and builders
//! hold 4 bytes per key, in a vector that doubles.
//!
//! [`BloomFilterPolicy::new`] and [`FilterBlockBuilder::new`] make the bytes that 64-bit LevelDB
//! 1.18 to 1.23 makes, and lookups give LevelDB's answers. This crate differs only where LevelDB has
//! undefined behaviour, loses keys or overflows:
//!
//! - Lookups in two kinds of malformed filter blocks answer `true` (see [`FilterBlockReader`]).
//! - An internal key that is too short for a trailer is used whole.
//! - [`FilterBlockBuilder`] panics if a block offset belongs to a finished filter, or if the
//!   filters reach 4 GiB.
//! - A policy panics if `keys * bits per key` overflows a `usize`.
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
pub mod recipes;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
