//! A port of LevelDB 1.23's filter policies: its Bloom filter and filter blocks, with the same bytes
//! and answers, and better filters, which every LevelDB since 1.18 reads, too.
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
//! LevelDB's filters match far too many absent keys where keys count up, because its hash barely
//! mixes the last byte of a key whose length is a multiple of 4. Two parts of this crate mend that,
//! and each works without the other:
//!
//! - [Long ranges](FilterBlockBuilder::with_long_ranges) give filters more keys, which is most of the
//!   gain, because filters of few keys suffer most. Where keys have equal hashes, ranges are shorter.
//! - [Tuned](BloomFilterPolicy::tuned) filters have lengths at which keys that count up share fewer
//!   bits, which is most of the rest.
//!
//! LevelDB's own filters stay better in two cases. If keys with equal hashes are stored in runs with
//! gaps, or every second or third of them, more of those between match in long ranges. And with
//! values from 3,000 bytes on, several versions of a key, or 4 to 8 bits per key, LevelDB's filters
//! have more bits than asked for, so they match fewer random keys.
//!
//! The README shows what each gains, and `tests/accuracy.md` in the repository has all rates.
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
//! | write a table's filters, as recommended | [`FilterBlockBuilder::with_long_ranges`] with [`BloomFilterPolicy::tuned`] |
//! | write LevelDB's own bytes | [`FilterBlockBuilder::new`] with [`BloomFilterPolicy::new`], and [`add_internal_key`](FilterBlockBuilder::add_internal_key) |
//! | read filter blocks | [`FilterBlockReader`]; [which block offset to pass](recipes::tables) |
//! | look up keys in many tables, or many keys | [`FilterKey`], [`FilterBlockReader::may_match_many`] |
//! | choose the bits per key | [`BloomFilterPolicy::for_false_positive_rate`]; [bits per key](recipes::bits_per_key) |
//! | keep a filter beside a memtable | [`AtomicBloomFilter`]; [memtables](recipes::sets_and_memtables#memtables) |
//! | have one filter for a table, or a filter without a table | [one filter per table](recipes::tables#one-filter-for-a-whole-table); [`BloomFilterBuilder`], [`BloomFilter`], [sets](recipes::sets_and_memtables) |
//! | ignore parts of keys, filter prefixes, or use hashes of your own | [`HashedBy`]; [hashes of your own](recipes::own_hashes) |
//! | plug a policy into another engine | [other engines](recipes::other_engines) |
//! | read tables of other programs, or use LevelDB from Python, Node or Go | [tables of other programs](recipes::tables_of_other_programs); `tests/examples/inspect/README.md` in the repository |
//!
//! **Verify a filter block's checksum** before you [read it](FilterBlockReader).
//! [Add](FilterBlockBuilder::add_key) every entry's key, deletions included. Keys that end in
//! LevelDB's trailer are added by [`add_internal_key`](FilterBlockBuilder::add_internal_key), and
//! everything else takes user keys.
//!
//! **A key is bytes**, and what looks it up knows its policy or hashes it as LevelDB does, unless
//! `hash` in a method's name says that it takes a [`BloomHash`]. A [`FilterKey`] is a key that is
//! hashed once for many tables, and right for tables of every policy.
//!
//! # Compatibility
//!
//! The crate is `no_std`. It needs an allocator, and atomics with compare-and-swap for `Arc` and
//! [`AtomicBloomFilter`]. It builds for WebAssembly, and writes the same bytes on every platform, or
//! panics if a 32-bit `usize` cannot count a filter's bits. All types are `Send` and `Sync` if the
//! policies and buffers in them are. Lookups with the crate's policies allocate nothing, and nothing
//! locks or waits. Until a filter is built, its builder holds 4 bytes per key, or up to 12 while its
//! vector grows. With [long ranges](FilterBlockBuilder::with_long_ranges), that is until a table ends.
//!
//! [`BloomFilterPolicy::new`] and [`FilterBlockBuilder::new`] make the bytes that 64-bit LevelDB
//! 1.18 to 1.23 makes, if `start_block` is called once more after the last data block, as LevelDB
//! does. Lookups give LevelDB's answers. This crate differs only where LevelDB has
//! undefined behaviour, loses keys or overflows:
//!
//! - Lookups in two kinds of malformed filter blocks answer `true` (see [`FilterBlockReader`]).
//! - An internal key that is too short for a trailer is used whole.
//! - [`FilterBlockBuilder`] panics if a block offset belongs to a finished filter, or if the
//!   filters reach 4 GiB.
//! - A policy panics if `keys * bits per key` overflows a `usize`. LevelDB counts a filter's keys in
//!   an `int`.
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

// Aliases of items in private modules work only here.
#[doc(alias("memtable", "thread", "concurrent", "sync"))]
pub use bloom::AtomicBloomFilter;
pub use bloom::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomFilterShape, InvalidFilter,
    ShapeMismatch,
};
pub use filter_block::FilterBlockBuilder;
#[doc(alias = "checksum")]
pub use filter_block::FilterBlockReader;
pub use filter_policy::{FilterKey, FilterPolicy, HashPolicy};
pub use hash::{BloomHash, bloom_hash, hash};
#[doc(alias("comparator", "prefix", "wrapper"))]
pub use hashed_by::HashedBy;

#[cfg(any(doc, doctest))]
pub mod recipes;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
