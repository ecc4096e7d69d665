//! A page for each task of a storage engine's author, with code to copy.
//!
//! - [Tables](tables): what a builder of filters is told, what a lookup asks, many keys at once, one
//!   filter for a whole table
//! - [Sets and memtables](sets_and_memtables): filters without a table, to build, store, load, extend
//!   and share between threads
//! - [Bits per key](bits_per_key): how many, for which rate, at which level
//! - [Hashes of your own](own_hashes): comparators, prefixes, and keys that LevelDB's hash cannot tell
//!   apart
//! - [Other engines](other_engines): rusty-leveldb, sstable, LevelDB's C interface, your own
//! - [Tables of other programs](tables_of_other_programs): whose filters they have, and whether to
//!   trust them
//!
//! What the crate needs of memory, threads and platforms is told in [its
//! documentation](crate#compatibility).
#![doc(alias("memory", "no_std", "wasm"))]

// A page links to another by `[text][page]`. Here `page` is a module; at the page's end, a file
// of the repository. The first definition counts.

/// [hashes]: own_hashes#other-hashes
/// [prefixes]: own_hashes#prefixes
#[doc = include_str!("recipes/tables.md")]
#[doc(alias("multi_get", "range deletion", "partition", "compression", "cache", "statistics"))]
pub mod tables {}

/// [bits]: bits_per_key
/// [hashes]: own_hashes#other-hashes
/// [tables]: tables
#[doc = include_str!("recipes/sets_and_memtables.md")]
#[doc(alias("save", "load", "merge", "url", "scalable", "concurrent"))]
pub mod sets_and_memtables {}

/// [hashes]: own_hashes#other-hashes
/// [sets]: sets_and_memtables
/// [tables]: tables
#[doc = include_str!("recipes/bits_per_key.md")]
#[doc(alias("level", "false positive", "bits per key"))]
pub mod bits_per_key {}

/// [bits]: bits_per_key
#[doc = include_str!("recipes/own_hashes.md")]
#[doc(alias("comparator", "prefix", "scan", "timestamp", "date", "uuid", "seed", "xxhash"))]
pub mod own_hashes {}

/// [hashes]: own_hashes#other-hashes
/// [tables]: tables
#[doc = include_str!("recipes/other_engines.md")]
#[doc(alias("rusty-leveldb", "sstable", "plugin", "convert", "C"))]
pub mod other_engines {}

#[doc = include_str!("recipes/tables_of_other_programs.md")]
#[doc(alias("metaindex", "goleveldb", "riak", "rocksdb", "signed"))]
pub mod tables_of_other_programs {}
