//! A page for each task of a storage engine's author, with code to copy.
//!
//! - Filter blocks: [entries of a table](entries_of_a_table), looked up one at a time or many at
//!   once; [one filter per table](one_filter_per_table), for tables of LevelDB's format
//! - Other filters: [without a block](filters_without_a_block), for other formats and for keys that
//!   come later; [for memtables](memtables)
//! - Sizes: [bits per key, rates and levels](bits_per_key)
//! - Keys: [comparators], [prefixes], [hashes of your own](hashes_of_your_own)
//! - Other code: [tables of other programs](tables_of_other_programs), [other
//!   engines](other_engines) such as rusty-leveldb and sstable, [LevelDB's C
//!   interface](c_interface)
//!
//! What the crate needs of memory, threads and platforms is told in [its
//! documentation](crate#compatibility).
#![doc(alias("memory", "no_std", "wasm"))]

// A page links to another by `[text][page]`. Here `page` is a module; at the page's end, a file
// of the repository. The first definition counts.

/// [prefixes]: prefixes
#[doc = include_str!("recipes/entries_of_a_table.md")]
#[doc(alias("multi_get", "range deletion"))]
pub mod entries_of_a_table {}

/// [entries]: entries_of_a_table
/// [hashes]: hashes_of_your_own
#[doc = include_str!("recipes/one_filter_per_table.md")]
pub mod one_filter_per_table {}

/// [comparators]: comparators
/// [entries]: entries_of_a_table
/// [hashes]: hashes_of_your_own
/// [memtables]: memtables
/// [prefixes]: prefixes
#[doc = include_str!("recipes/filters_without_a_block.md")]
#[doc(alias("partition", "save", "load"))]
pub mod filters_without_a_block {}

/// [hashes]: hashes_of_your_own
#[doc = include_str!("recipes/memtables.md")]
pub mod memtables {}

/// [hashes]: hashes_of_your_own
#[doc = include_str!("recipes/bits_per_key.md")]
#[doc(alias("level", "false positive", "bits per key"))]
pub mod bits_per_key {}

#[doc = include_str!("recipes/comparators.md")]
pub mod comparators {}

/// [comparators]: comparators
#[doc = include_str!("recipes/prefixes.md")]
pub mod prefixes {}

/// [bits]: bits_per_key
#[doc = include_str!("recipes/hashes_of_your_own.md")]
#[doc(alias("url", "date", "uuid"))]
pub mod hashes_of_your_own {}

#[doc = include_str!("recipes/tables_of_other_programs.md")]
#[doc(alias("metaindex", "goleveldb"))]
pub mod tables_of_other_programs {}

#[doc = include_str!("recipes/other_engines.md")]
#[doc(alias("rusty-leveldb", "sstable"))]
pub mod other_engines {}

/// [other]: other_engines#rusty-leveldb-and-sstable
#[doc = include_str!("recipes/c_interface.md")]
pub mod c_interface {}
