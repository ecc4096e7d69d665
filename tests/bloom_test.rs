//! LevelDB's own tests of its Bloom filter, with LevelDB's names.
//!
//! Ports [`util/bloom_test.cc`](https://github.com/google/leveldb/blob/1.23/util/bloom_test.cc).

use leveldb_filter::{BloomFilterPolicy, FilterPolicy};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn key(i: u32) -> [u8; 4] {
    i.to_le_bytes()
}

fn create_filter(keys: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let keys: Vec<_> = keys.iter().map(AsRef::as_ref).collect();
    let mut filter = Vec::new();
    POLICY.create_filter(&keys, &mut filter);
    filter
}

fn false_positive_rate(filter: &[u8]) -> f64 {
    let mut result = 0;
    for i in 0..10_000 {
        result += u32::from(POLICY.key_may_match(&key(i + 1_000_000_000), filter));
    }
    f64::from(result) / 10_000.0
}

fn next_length(length: u32) -> u32 {
    match length {
        0..10 => length + 1,
        10..100 => length + 10,
        100..1000 => length + 100,
        1000.. => length + 1000,
    }
}

#[test]
fn empty_filter() {
    assert!(!POLICY.key_may_match(b"hello", &[]));
    assert!(!POLICY.key_may_match(b"world", &[]));
}

#[test]
fn small() {
    let filter = create_filter(&["hello", "world"]);
    assert!(POLICY.key_may_match(b"hello", &filter));
    assert!(POLICY.key_may_match(b"world", &filter));
    assert!(!POLICY.key_may_match(b"x", &filter));
    assert!(!POLICY.key_may_match(b"foo", &filter));
}

#[test]
fn varying_lengths() {
    let mut mediocre_filters = 0;
    let mut good_filters = 0;

    let mut length = 1;
    while length <= 10_000 {
        let keys: Vec<_> = (0..length).map(key).collect();
        let filter = create_filter(&keys);
        assert!(filter.len() <= keys.len() * 10 / 8 + 40, "length {length}");
        for key in &keys {
            assert!(POLICY.key_may_match(key, &filter), "length {length}; key {key:02x?}");
        }

        let rate = false_positive_rate(&filter);
        assert!(rate <= 0.02, "length {length}; false-positive rate {rate}");
        if rate > 0.0125 {
            mediocre_filters += 1;
        } else {
            good_filters += 1;
        }
        length = next_length(length);
    }
    assert!(
        mediocre_filters <= good_filters / 5,
        "{mediocre_filters} mediocre filters, {good_filters} good ones"
    );
}
