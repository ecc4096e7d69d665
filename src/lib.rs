//! LevelDB's filter policies for storage engines written in Rust: the Bloom filter, filter blocks
//! and internal keys, with LevelDB's bytes and LevelDB's answers, in safe code.
//!
//! A filter tells an engine that a key is not in a table, so that a read can be saved. It must
//! never say so of a key that is there, and it must be read by every other engine that opens the
//! table. So filters are made with the bytes of LevelDB 1.23, or with others that every LevelDB
//! reads, and any bytes get LevelDB's answers; what differs keeps keys: see
//! [Compatibility](#compatibility).
//!
//! Make a filter, and ask it:
//!
//! ```
//! use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
//!
//! let policy = BloomFilterPolicy::new(10); // bits per key
//! let mut filter = Vec::new();
//! policy.create_filter(&[b"apple", b"pear"], &mut filter);
//!
//! assert!(policy.key_may_match(b"apple", &filter));
//! assert!(!policy.key_may_match(b"plum", &filter));
//! ```
//!
//! Parse a filter once and ask it often, or for many keys at once:
//!
//! ```
//! # use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
//! use leveldb_filter::BloomFilter;
//!
//! # let mut bytes = Vec::new();
//! # BloomFilterPolicy::new(10).create_filter(&[b"apple", b"pear"], &mut bytes);
//! let filter = BloomFilter::new(&bytes)?;
//! let mut matches = [false; 2];
//! filter.keys_may_match(&["pear", "plum"], &mut matches);
//! assert_eq!(matches, [true, false]);
//! # Ok::<(), leveldb_filter::InvalidFilter>(())
//! ```
//!
//! # In a storage engine
//!
//! | to | use |
//! |---|---|
//! | write a table's filters as LevelDB does, one for each 2 KiB | [`FilterBlockBuilder`] |
//! | write fewer bytes for LevelDB, with fewer false positives | [`FilterBlockBuilder::with_base_lg`] |
//! | read either | [`FilterBlockReader`] |
//! | put filters on user keys where tables hold internal keys | [`InternalKeyPolicy`] |
//! | write a table's only filter for LevelDB | [`FilterBlockBuilder::with_base_lg`] with 63 |
//! | write it bare, for this engine alone, without keeping keys | [`BloomFilterBuilder`] |
//! | write filters with fewer false positives | [`BloomFilterPolicy::tuned`] |
//! | share the memory for filters between levels | [`BloomFilterPolicy::for_runs`] |
//! | look up one key in many tables | [`bloom_hash`], then [`BloomFilter::hash_may_match`] |
//! | look up many keys in one table | [`BloomFilter::keys_may_match`] |
//! | look up many keys in many tables | [`bloom_hashes`], then [`BloomFilter::hashes_may_match`] |
//! | keep a filter beside a memtable | [`AtomicBloomFilter`]; for one thread [`BloomFilter::empty`] |
//! | join the filters of a memtable's shards | [`BloomFilter::union_with`] |
//! | compare keys otherwise than by their bytes | a [`FilterPolicy`] of your own |
//!
//! ## Writing a table
//!
//! [`FilterBlockBuilder`] takes the calls of LevelDB's own table writer. The policy is
//! `InternalKeyPolicy::new(BloomFilterPolicy::default())`, and the block goes after the data blocks,
//! under "filter." and the policy's name.
//!
//! With `FilterBlockBuilder::with_base_lg(policy, 19)`, and `BloomFilterPolicy::default().tuned()`
//! in the policy, the block of a table with values of 100 bytes takes a fifth fewer bytes, and
//! every LevelDB reads it.
//!
//! Under LevelDB's name a table has a filter block, always. A single filter for the whole table
//! goes there as one with `base_lg` 63; bare, as [`BloomFilterBuilder`] makes it, it goes under a
//! name of the engine's own, since LevelDB at best ignores it, and rusty-leveldb panics. Add each
//! user key to it once. (In a filter block each version of a key counts, as in LevelDB.)
//!
//! ## Levels
//!
//! A look-up of an absent key asks a filter of each level and pays for all their false positives.
//! A small level can have many more bits per key for next to nothing, so at a flush or a compaction,
//! when an engine knows the sizes of its levels, it shares its budget anew, and gives the policy of
//! the level that it writes to the builder or the filter block. Older tables keep their filters:
//! readers take everything from the bytes.
//!
//! ```
//! use leveldb_filter::{BloomFilterPolicy, SortedRun};
//!
//! let leveldb = BloomFilterPolicy::new(10);
//! let levels = [1, 10, 100, 1_000].map(|num_filters| SortedRun { num_filters, keys_per_filter: 20_000 });
//! let total_len = 1_111 * leveldb.shape(20_000).filter_len();
//! let policies = BloomFilterPolicy::for_runs(total_len, &levels);
//!
//! let rate = |policy: BloomFilterPolicy| policy.shape(20_000).measure_false_positive_rate(20_000);
//! let shared: f64 = policies.iter().map(|policy| policy.map_or(1.0, rate)).sum();
//! assert!(shared < 4.0 * rate(leveldb) / 2.6); // 1.2 instead of 3.6 %, in the same bytes
//! ```
//!
//! This assumes that absent keys are asked of every level alike, and pays most where the last level
//! holds most keys.
//!
//! ## Opening a table
//!
//! The metaindex block names the policy that made a table's filters. A table may have been
//! written by another engine, or with a filter that this one does not know; then it is read
//! without a filter. goleveldb's name needs care: LevelDB up to 1.17 gave the same name to filters
//! with another hash, so accept it only where no such LevelDB wrote the tables:
//!
//! ```
//! use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
//!
//! fn policy_named(name: &str, goleveldb: bool) -> Option<impl FilterPolicy> {
//!     let policy = BloomFilterPolicy::default();
//!     match name {
//!         BloomFilterPolicy::NAME => Some(policy),
//!         BloomFilterPolicy::GOLEVELDB_NAME if goleveldb => {
//!             Some(policy.with_name(BloomFilterPolicy::GOLEVELDB_NAME))
//!         }
//!         _ => None,
//!     }
//! }
//! # assert!(policy_named(BloomFilterPolicy::NAME, false).is_some());
//! # assert!(policy_named(BloomFilterPolicy::GOLEVELDB_NAME, false).is_none());
//! ```
//!
//! ## Reading: one hash for many tables
//!
//! Keys that are looked up in the tables of several levels are hashed once, side by side:
//!
//! ```
//! use leveldb_filter::{BloomFilter, BloomHash, bloom_hashes};
//!
//! fn tables_to_read(keys: &[&[u8]], filters: &[BloomFilter<Vec<u8>>]) -> Vec<Vec<usize>> {
//!     let mut hashes = vec![BloomHash::default(); keys.len()];
//!     bloom_hashes(keys, &mut hashes);
//!     let (mut tables, mut matches) = (vec![Vec::new(); keys.len()], vec![false; keys.len()]);
//!     for (table, filter) in filters.iter().enumerate() {
//!         filter.hashes_may_match(&hashes, &mut matches);
//!         (0..keys.len()).filter(|&i| matches[i]).for_each(|i| tables[i].push(table));
//!     }
//!     tables
//! }
//! # let mut filter = BloomFilter::empty(leveldb_filter::BloomFilterPolicy::default().shape(9));
//! # filter.insert(b"pear");
//! # assert_eq!(tables_to_read(&[b"apple", b"pear"], &[filter]), [vec![], vec![0]]);
//! ```
//!
//! ## A memtable's filter
//!
//! Written by some threads and read by others, without a lock; most look-ups of absent keys then
//! need not search the memtable:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::RwLock;
//!
//! use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy};
//!
//! let filter = AtomicBloomFilter::new(BloomFilterPolicy::new(10).shape(4_096)); // keys until it is flushed
//! let memtable = RwLock::new(BTreeMap::new());
//! std::thread::scope(|threads| {
//!     threads.spawn(|| {
//!         filter.insert(b"apple"); // first, so that whoever can see the key finds it
//!         memtable.write().unwrap().insert("apple", "red");
//!     });
//!     threads.spawn(|| {
//!         if filter.key_may_match(b"plum") {
//!             let _ = memtable.read().unwrap().get("plum"); // for few absent keys
//!         }
//!     });
//! });
//! assert!(filter.key_may_match(b"apple"));
//! ```
//!
//! ## Custom comparators
//!
//! Keys that an engine's comparator considers equal must be equal bytes to the filter. Where it
//! ignores part of a key, wrap the policy in one that drops that part: see [`FilterPolicy`]. What
//! [`bloom_hash`], `insert` and `add_key` get must be without it, too. The trailer of internal keys
//! goes first, by `InternalKeyPolicy::new(IgnoreCase(policy))`; the other way round, keys are lost.
//!
//! # Compatibility
//!
//! Files and answers are those of LevelDB 1.23, and of every version since 1.18. The tests compare
//! with filters, answers and whole tables that LevelDB wrote. Where C++ leaves the outcome
//! undefined or loses keys, this crate does neither: two kinds of malformed filter blocks are
//! potential matches (see [`FilterBlockReader`]), an internal key too short for its trailer stands
//! for itself, and sizes that overflow panic. The reference is LevelDB on 64-bit machines.
//!
//! Lookups and readers take any bytes: they do not panic, overflow or allocate.
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
pub use filter_policy::FilterPolicy;
pub use hash::{BloomHash, bloom_hash, bloom_hashes, hash};
pub use internal_key::InternalKeyPolicy;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
