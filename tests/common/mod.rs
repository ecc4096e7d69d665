//! What several test crates share.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses its own part")]

pub mod measure;
pub mod random;
pub mod reference;
pub mod strategies;
pub mod table;

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockReader, FilterPolicy};

use table::{DataBlock, Table, TableError};

/// The filter that `policy` makes for `keys`, alone in its buffer.
pub fn create_filter<P: FilterPolicy, K: AsRef<[u8]>>(policy: P, keys: &[K]) -> Vec<u8> {
    let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
    let mut filter = Vec::new();
    policy.create_filter(&keys, &mut filter);
    filter
}

/// Asserts that a lookup in `filter` answers as LevelDB does.
#[track_caller]
pub fn assert_matches_as_reference(key: &[u8], filter: &[u8]) {
    let policy = BloomFilterPolicy::default();
    let expected = reference::key_may_match(key, filter);
    let hash = BloomHash::from_u32(reference::bloom_hash(key));
    assert_eq!(
        (policy.key_may_match(key, filter), policy.hash_may_match(hash, filter)),
        (expected, expected),
        "key {key:02x?} in filter {filter:02x?}"
    );
}

/// Asserts that a reader of `contents` finds the bytes that LevelDB finds for `block_offset`, and
/// answers as it does.
#[track_caller]
pub fn assert_reads_as_reference(contents: &[u8], block_offset: u64, key: &[u8]) {
    let reader = FilterBlockReader::new(BloomFilterPolicy::default(), contents);
    assert_eq!(
        reader.filter(block_offset),
        reference::block_filter(contents, block_offset),
        "block offset {block_offset} in filter block {contents:02x?}"
    );
    let has_filters = reader.num_filters() > 0;
    assert!(reader.base_lg() < 64 && (has_filters || reader.filter(block_offset).is_none()));
    assert_eq!(
        reader.key_may_match(block_offset, key),
        reference::block_key_may_match(contents, block_offset, key),
        "key {key:02x?} at block offset {block_offset} in filter block {contents:02x?}"
    );
}

/// The keys of a data block, all at once.
pub fn block_keys(table: &Table<'_>, block: &DataBlock) -> Result<Vec<Vec<u8>>, TableError> {
    let mut keys = Vec::new();
    table.visit_keys(block, |key| keys.push(key.to_vec()))?;
    Ok(keys)
}

/// `len` bytes without a pattern, the same in every run.
pub fn noise(len: usize, seed: u32) -> Vec<u8> {
    let words = (0u32..).flat_map(|i| reference::hash(&i.to_le_bytes(), seed).to_le_bytes());
    words.take(len).collect()
}

/// `len` hashes, the same in every run, in which no lookup finds a pattern: those of counted keys
/// are evenly spaced, which would flatter a false-positive rate.
pub fn random_hashes(len: usize, seed: u64) -> Vec<u32> {
    random::words(seed).map(|word| (word >> 32) as u32).take(len).collect()
}

/// The oracle's hashes as the crate takes them.
pub fn as_bloom_hashes(hashes: &[u32]) -> Vec<BloomHash> {
    hashes.iter().copied().map(BloomHash::from_u32).collect()
}

/// A key for each hash.
pub fn keys_with_hashes(hashes: &[u32]) -> Vec<[u8; 4]> {
    hashes.iter().map(|&hash| reference::key_with_hash(hash)).collect()
}

/// A number from 1 to `max`, with as many of each order of magnitude; `below` draws one below
/// another.
pub fn of_any_magnitude(max: usize, below: &mut impl FnMut(usize) -> usize) -> usize {
    let log2 = (below(1 << 16) * (max.ilog2() as usize + 1)) >> 16;
    ((1 << log2) + below(1 << log2)).min(max)
}

/// Draws numbers below others, the same in every run.
pub fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = random::words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}
