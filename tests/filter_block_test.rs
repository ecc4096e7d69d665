//! LevelDB's own tests of its filter block, with LevelDB's names.
//!
//! Ports [`table/filter_block_test.cc`](https://github.com/google/leveldb/blob/1.23/table/filter_block_test.cc).

use leveldb_filter::{FilterBlockBuilder, FilterBlockReader, FilterPolicy, hash};

/// One hash for each key, side by side.
struct TestHashFilter;

impl FilterPolicy for TestHashFilter {
    fn name(&self) -> &'static str {
        "TestHashFilter"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        for key in keys {
            dst.extend(hash(key, 1).to_le_bytes());
        }
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        filter.chunks_exact(4).any(|word| word == hash(key, 1).to_le_bytes())
    }
}

#[test]
fn empty_builder() {
    let block = FilterBlockBuilder::new(TestHashFilter).finish();
    assert_eq!(block, b"\x00\x00\x00\x00\x0b");

    let reader = FilterBlockReader::new(TestHashFilter, &block);
    assert!(reader.key_may_match(0, b"foo"));
    assert!(reader.key_may_match(100000, b"foo"));
}

#[test]
fn single_chunk() {
    let mut builder = FilterBlockBuilder::new(TestHashFilter);
    builder.start_block(100);
    builder.add_key(b"foo");
    builder.add_key(b"bar");
    builder.add_key(b"box");
    builder.start_block(200);
    builder.add_key(b"box");
    builder.start_block(300);
    builder.add_key(b"hello");
    let block = builder.finish();

    let reader = FilterBlockReader::new(TestHashFilter, &block);
    assert!(reader.key_may_match(100, b"foo"));
    assert!(reader.key_may_match(100, b"bar"));
    assert!(reader.key_may_match(100, b"box"));
    assert!(reader.key_may_match(100, b"hello"));
    assert!(reader.key_may_match(100, b"foo"));
    assert!(!reader.key_may_match(100, b"missing"));
    assert!(!reader.key_may_match(100, b"other"));
}

#[test]
fn multi_chunk() {
    let mut builder = FilterBlockBuilder::new(TestHashFilter);
    // First filter
    builder.start_block(0);
    builder.add_key(b"foo");
    builder.start_block(2000);
    builder.add_key(b"bar");
    // Second filter
    builder.start_block(3100);
    builder.add_key(b"box");
    // Third filter is empty
    // Last filter
    builder.start_block(9000);
    builder.add_key(b"box");
    builder.add_key(b"hello");
    let block = builder.finish();

    let reader = FilterBlockReader::new(TestHashFilter, &block);
    // First filter
    assert!(reader.key_may_match(0, b"foo"));
    assert!(reader.key_may_match(2000, b"bar"));
    assert!(!reader.key_may_match(0, b"box"));
    assert!(!reader.key_may_match(0, b"hello"));
    // Second filter
    assert!(reader.key_may_match(3100, b"box"));
    assert!(!reader.key_may_match(3100, b"foo"));
    assert!(!reader.key_may_match(3100, b"bar"));
    assert!(!reader.key_may_match(3100, b"hello"));
    // Third filter
    assert!(!reader.key_may_match(4100, b"foo"));
    assert!(!reader.key_may_match(4100, b"bar"));
    assert!(!reader.key_may_match(4100, b"box"));
    assert!(!reader.key_may_match(4100, b"hello"));
    // Last filter
    assert!(reader.key_may_match(9000, b"box"));
    assert!(reader.key_may_match(9000, b"hello"));
    assert!(!reader.key_may_match(9000, b"foo"));
    assert!(!reader.key_may_match(9000, b"bar"));
}
