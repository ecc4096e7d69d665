//! What only tests and benches use: the oracle, strategies for test input, LevelDB itself.

pub mod allocations;
pub mod exchange;
pub mod process;
pub mod reference;
pub mod runs;
pub mod strategies;
pub mod ways;

// The tools' own: how they read and write LevelDB's files, and replay its lookups.
#[path = "../../tools/src/tests/replay.rs"]
pub mod replay;
#[path = "../../tools/src/table/mod.rs"]
pub mod table;

use std::env;
use std::path::PathBuf;

use leveldb_filter::{FilterBlockBuilder, FilterBlockReader, FilterPolicy};

use super::random;
use table::{DataBlock, Table};

/// A wrapper that knows nothing of hashes, so that builders keep its keys.
pub struct OfKeys<P>(pub P);

impl<P: FilterPolicy> FilterPolicy for OfKeys<P> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.0.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
}

/// Cargo's for tests and benches; the system's for examples.
pub fn temp_dir() -> PathBuf {
    option_env!("CARGO_TARGET_TMPDIR").map_or_else(env::temp_dir, PathBuf::from)
}

/// The filter that `policy` makes for `keys`, alone in its buffer.
pub fn create_filter<P: FilterPolicy, K: AsRef<[u8]>>(policy: P, keys: &[K]) -> Vec<u8> {
    let mut filter = Vec::new();
    policy.create_filter(&slices(keys), &mut filter);
    filter
}

pub fn slices<K: AsRef<[u8]>>(keys: &[K]) -> Vec<&[u8]> {
    keys.iter().map(AsRef::as_ref).collect()
}

/// Asserts that the table's filter block is rebuilt byte for byte, and that it matches every key;
/// returns the keys.
#[track_caller]
pub fn assert_filters_are_rebuilt(
    table: &Table<'_>,
    policy: impl FilterPolicy + Copy,
    base_lg: u8,
) -> Vec<Vec<u8>> {
    let filter_block = table.filter_block().unwrap().expect("a filter block");
    assert_eq!(table.policy_names(), [policy.name()]);
    let mut keys = Vec::new();
    let reader = FilterBlockReader::new(policy, &filter_block);
    let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
    builder.start_block(0);
    for block in table.data_blocks() {
        assert!(
            reader.filter(block.offset()).is_some(),
            "no filter for the block at {}",
            block.offset()
        );
        for key in block_keys(table, block).unwrap() {
            assert!(reader.key_may_match(block.offset(), &key), "the filter loses key {key:02x?}");
            builder.add_key(&key);
            keys.push(key);
        }
        builder.start_block(block.end);
    }
    assert!(builder.finish() == *filter_block, "the rebuilt filter block differs");
    keys
}

/// All keys of a data block.
pub fn block_keys(table: &Table<'_>, block: &DataBlock) -> std::io::Result<Vec<Vec<u8>>> {
    let mut keys = Vec::new();
    table.visit_keys_of(&mut table.key_budget(), block, |key| keys.push(key.to_vec()))?;
    Ok(keys)
}

/// `len` pseudorandom bytes, the same in every run.
pub fn noise(len: usize, seed: u32) -> Vec<u8> {
    let words = (0u32..).flat_map(|i| reference::hash(&i.to_le_bytes(), seed).to_le_bytes());
    words.take(len).collect()
}

/// `len` pseudorandom hashes, the same in every run. Hashes of counted keys are evenly spaced and
/// would flatter a false-positive rate.
pub fn random_hashes(len: usize, seed: u64) -> Vec<u32> {
    random::words(seed).map(|word| (word >> 32) as u32).take(len).collect()
}

/// A key for each hash.
pub fn keys_with_hashes(hashes: &[u32]) -> Vec<[u8; 4]> {
    hashes.iter().map(|&hash| random::key_with_hash(hash)).collect()
}

/// A random number from 1 to `max`, with all orders of magnitude equally likely; `below(n)` draws a
/// number below `n`.
pub fn of_any_magnitude(max: usize, below: &mut impl FnMut(usize) -> usize) -> usize {
    let log2 = (below(1 << 16) * (max.ilog2() as usize + 1)) >> 16;
    ((1 << log2) + below(1 << log2)).min(max)
}

/// A generator of numbers below its argument, the same in every run.
pub fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = random::words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}

/// Random numbers from `low` to `high`, with all orders of magnitude equally likely.
#[expect(clippy::cast_precision_loss, clippy::disallowed_methods, reason = "random")]
pub fn log_uniform(low: f64, high: f64, seed: u64) -> impl Iterator<Item = f64> {
    random::words(seed).map(move |word| low * (high / low).powf((word >> 32) as f64 / 4294967296.0))
}
