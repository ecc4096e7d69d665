//! Counts allocations: a lookup makes none, and a filter that fits into the cache makes at most
//! one.

mod common;

use std::fmt::Debug;
use std::hint::black_box;
use std::sync::Arc;

use common::allocations::{CountingAllocator, count_allocations, peak_bytes};
use common::{OfKeys, create_filter, noise};
use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, FilterBlockBuilder,
    FilterBlockReader, FilterKey, FilterPolicy, HashPolicy, HashedBy, bloom_hash,
};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn keys(num_keys: usize) -> Vec<Vec<u8>> {
    (0..num_keys).map(|i| noise(i % 24, 1)).collect()
}

#[track_caller]
fn assert_allocations<T>(expected: usize, what: impl Debug, work: impl FnOnce() -> T) -> T {
    let (result, allocations) = count_allocations(work);
    assert_eq!(allocations, expected, "{what:?}");
    result
}

#[test]
fn a_filter_takes_one_allocation_or_none_if_the_buffer_has_room() {
    for policy in [POLICY, BloomFilterPolicy::new(3), POLICY.tuned()] {
        for num_keys in [0, 1, 6, 7, 100, 5000, 30_000] {
            let what = (policy, num_keys);
            let keys = keys(num_keys);
            let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            let filter_len = policy.shape(num_keys).filter_len();
            let mut dst = Vec::new();
            assert_allocations(1, what, || policy.create_filter(&keys, &mut dst));
            assert_eq!(dst.len(), filter_len, "{what:?}");
            assert_allocations(1, what, || policy.create_filter(&keys, &mut dst));
            dst.clear();
            assert_allocations(0, what, || policy.create_filter(&keys, &mut dst));

            let shape = policy.shape(num_keys);
            let empty = assert_allocations(1, what, || BloomFilter::empty(shape));
            assert_eq!(empty.into_inner().len(), filter_len, "{what:?}");
            let atomic = assert_allocations(1, what, || AtomicBloomFilter::new(policy, shape));
            let bytes = assert_allocations(1, what, || atomic.to_bytes());
            let from_bytes = || AtomicBloomFilter::from_bytes(policy, &bytes).is_ok();
            assert!(assert_allocations(1, what, from_bytes));
        }
    }
}

#[test]
fn a_builder_reuses_its_buffer_and_makes_the_policys_filters() {
    let mut builder = BloomFilterBuilder::new();
    for num_keys in [100_000, 5000, 9, 8, 7, 1, 0] {
        // The hashes reuse the memory of the first, largest filter's.
        let expected = usize::from(num_keys == 100_000);
        let keys = keys(num_keys);
        let extend = || assert_allocations(expected, num_keys, || builder.extend(&keys));
        assert_eq!(peak_bytes(extend), expected * 4 * 100_000);
        assert_allocations(1, num_keys, || builder.finish(POLICY.tuned()));
        assert_allocations(0, num_keys, || keys.iter().for_each(|key| builder.add_key(key)));
        assert_allocations(1, num_keys, || builder.finish(POLICY.tuned()));
        let mut builder = BloomFilterBuilder::with_capacity(num_keys);
        assert_allocations(0, num_keys, || builder.extend(&keys));
    }
}

#[test]
fn lookups_allocate_nothing() {
    fn assert_lookups_allocate_nothing(policy: impl FilterPolicy, keys: &[Vec<u8>], bytes: &[u8]) {
        let mut matches = vec![false; keys.len()];
        let block_offsets: Vec<_> = (0..).step_by(100).take(keys.len()).collect();
        let other = POLICY.with_name("example.Other");
        let atomic = AtomicBloomFilter::from_bytes(&policy, bytes);
        // As a filter block, and as the only filter of one.
        let len = u32::try_from(bytes.len()).expect("short").to_le_bytes();
        let block = [bytes, &[0; 4], &len, &[63]].concat();
        let readers = [bytes, &block].map(|contents| FilterBlockReader::new(&policy, contents));
        let mut filter_keys = Vec::with_capacity(keys.len());
        assert_allocations(0, (policy.name(), bytes), || {
            // Every second one is hashed again.
            let filter_key = |(i, key)| match i % 2 {
                0 => FilterKey::new(&policy, key),
                _ => FilterKey::new(&other, key),
            };
            filter_keys.extend(keys.iter().map(Vec::as_slice).enumerate().map(filter_key));
            for reader in &readers {
                for (key, filter_key) in keys.iter().zip(&filter_keys) {
                    black_box(reader.key_may_match(0, key) | reader.key_may_match(5000, key));
                    black_box(reader.may_match(0, filter_key));
                }
                reader.may_match_many(&block_offsets, &filter_keys, &mut matches);
            }
            for (key, filter_key) in keys.iter().zip(&filter_keys) {
                black_box(policy.key_may_match(key, bytes));
                let Ok(atomic) = &atomic else { continue };
                black_box(atomic.key_may_match(key) | atomic.may_match(filter_key));
                black_box(atomic.insert_key(key));
            }
        });
    }

    let keys = keys(300);
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let mut matches = vec![false; keys.len()];
    let shared: Arc<dyn FilterPolicy> = Arc::new(POLICY);
    let of_prefixes = HashedBy::new("example.Prefix3", POLICY, |policy, key: &[u8]| {
        policy.key_hash(key.get(..3)?)
    });
    let (filter, arbitrary) = (create_filter(POLICY, &keys), [noise(100, 5), vec![6]].concat());
    for bytes in [&filter, &arbitrary, &[0; 100][..], &[], &[0], &[0, 31], &[255; 3]] {
        assert_lookups_allocate_nothing(POLICY, &keys, bytes);
        assert_lookups_allocate_nothing(&shared, &keys, bytes);
        assert_lookups_allocate_nothing(of_prefixes, &keys, bytes);
        assert_allocations(0, bytes, || {
            POLICY.hashes_may_match(&hashes, bytes, &mut matches);
            for &hash in &hashes {
                black_box(POLICY.hash_may_match(hash, bytes));
            }
            let Ok(filter) = BloomFilter::new(bytes) else { return };
            filter.keys_may_match(&keys, &mut matches);
            filter.hashes_may_match(&hashes, &mut matches);
            for (key, &hash) in keys.iter().zip(&hashes) {
                black_box(filter.key_may_match(key) | filter.hash_may_match(hash));
            }
        });
    }
}

#[test]
fn long_ranges_take_at_most_12_bytes_a_key_and_72_a_data_block_until_they_are_chosen() {
    // One more than a power of two, so that vectors have just grown.
    const NUM_KEYS: usize = (1 << 16) + 1;
    for keys_per_block in [1, 36] {
        let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
        let peak = peak_bytes(|| {
            for key in 0..NUM_KEYS {
                if key % keys_per_block == 0 {
                    builder.start_block(112 * key as u64);
                }
                builder.add_key(&key.to_be_bytes());
            }
        });
        let most = 12 * NUM_KEYS + 72 * NUM_KEYS.div_ceil(keys_per_block);
        assert!(peak <= most, "{keys_per_block} keys per block: {peak} instead of {most} bytes");
    }
}

/// Growing a filter block for each filter alone would copy all earlier filters every time.
#[test]
fn a_filter_block_takes_few_allocations_for_many_filters() {
    let keys = keys(30);
    let of_keys = OfKeys(POLICY);
    // The block and the offsets take one for each doubling, the pending keys a few. Without hashes,
    // each filter takes a list of its keys.
    for (policy, most) in [(&POLICY as &dyn FilterPolicy, 40), (&of_keys, 40 + (1 << 12))] {
        let build = || {
            let mut builder = FilterBlockBuilder::new(policy);
            // Successive filters differ in length.
            for (filter, num_keys) in (0..1 << 12).zip((6..=30).step_by(4).cycle()) {
                builder.start_block(filter * 2048);
                keys[..num_keys].iter().for_each(|key| builder.add_key(key));
            }
            builder.finish()
        };
        let (_, counted) = count_allocations(build);
        assert!(counted <= most, "{counted} instead of {most}");
    }
}
