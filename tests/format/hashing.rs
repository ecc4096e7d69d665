//! Hashes of one key, and of many keys at once.

use leveldb_filter::{BloomFilter, BloomFilterPolicy, HashPolicy, bloom_hash, hash};

use crate::common::{create_filter, noise, reference};

#[test]
fn keys_of_every_length_have_leveldbs_hash() {
    for len in 0..=130 {
        for seed in [0, 0xbc9f1d34, u32::MAX] {
            let key = noise(len, seed);
            assert_eq!(hash(&key, seed), reference::hash(&key, seed), "{len} bytes, seed {seed}");
            assert_eq!(bloom_hash(&key).to_u32(), reference::bloom_hash(&key), "{len} bytes");
        }
    }
}

/// Asserts that keys whose lengths are `len(0)`, `len(1)`, `len(2)`, … get their hashes when a filter
/// of them is made, and when they are looked up in a filter of every second of them.
#[track_caller]
fn assert_hashes_as_one_by_one(bytes: &[u8], num_keys: usize, len: impl Fn(usize) -> usize) {
    let keys: Vec<&[u8]> = (0..num_keys).map(|i| &bytes[i..i + len(i)]).collect();
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let (policy, mut of_hashes) = (BloomFilterPolicy::new(20), vec![]);
    policy.create_filter_of_hashes(&hashes, &mut of_hashes);
    assert!(create_filter(policy, &keys) == of_hashes);
    let some: Vec<_> = keys.iter().step_by(2).collect();
    let filter = BloomFilter::new(create_filter(policy, &some)).expect("made by a policy");
    let expected: Vec<_> = hashes.iter().map(|&hash| filter.hash_may_match(hash)).collect();
    let mut matches = vec![false; num_keys];
    filter.keys_may_match(&keys, &mut matches);
    assert_eq!(matches, expected);
}

#[test]
fn hashing_many_keys_gives_the_hashes_of_each() {
    let bytes = noise(70_000, 1);
    for num_keys in [0, 1, 5, 7, 8, 9, 20, 64, 127, 128, 129, 200] {
        for len in 0..80 {
            assert_hashes_as_one_by_one(&bytes, num_keys, |_| len);
            assert_hashes_as_one_by_one(&bytes, num_keys, |i| if i % 9 == 8 { len } else { 16 });
            assert_hashes_as_one_by_one(&bytes, num_keys, |i| i * 37 % (len + 1));
        }
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| i * 7 % 4);
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| 24 + i % 8);
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| if i == 3 { 65_537 } else { i % 19 });
        assert_hashes_as_one_by_one(&bytes, num_keys, |i| 100 + i * 31 % 101);
    }
}
