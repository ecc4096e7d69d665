//! A filter that several threads fill and look up at once has the bytes and answers of one filled
//! by a single thread.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy, BloomHash};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::strategies::{any_hash, any_keys, any_policy, config};
use crate::common::{keys_with_hashes, reference};

/// Two threads set the same bits in the same order; the slower one skips ahead to the other.
/// Returns how many bits they found unset, and how many are set in the end.
fn race_to_the_same_bytes() -> (u64, u64) {
    const NUM_BITS: u32 = 1 << 18;
    const STRIDE: u32 = 512;
    let shape = BloomFilterPolicy::new(1).with_num_probes(1).shape(NUM_BITS as usize);
    let filter = AtomicBloomFilter::new(shape);
    let (start, front) = (Barrier::new(2), AtomicU32::new(0));
    let count_new_bits = || {
        start.wait();
        let mut count = 0;
        loop {
            let first = front.load(Ordering::Relaxed);
            if first == NUM_BITS {
                return count;
            }
            let hashes = (first..first + STRIDE).map(BloomHash::from_u32);
            count += hashes.map(|hash| u64::from(!filter.insert_hash(hash))).sum::<u64>();
            front.fetch_max(first + STRIDE, Ordering::Relaxed);
        }
    };
    let counts = thread::scope(|threads| {
        let threads = [threads.spawn(count_new_bits), threads.spawn(count_new_bits)];
        threads.map(|thread| thread.join().expect("no panic"))
    });
    (counts.iter().sum(), filter.into_filter().count_ones())
}

/// If one thread overwrote a bit that the other has just set, the bit would be lost, or new to
/// both.
#[test]
fn threads_that_change_the_same_bytes_lose_no_bit() {
    // With two free processors, one or two would show it.
    for _ in 0..20 {
        let (num_new, num_set) = race_to_the_same_bytes();
        assert_eq!(num_new, num_set);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bytes_and_answers_are_leveldbs(
        keys in any_keys(50),
        hashes in vec(any_hash(), 0..50),
        others in vec(any_hash(), 0..50),
        policy in any_policy(),
    ) {
        let mut keys = keys.0;
        keys.extend(keys_with_hashes(&hashes).into_iter().map(Vec::from));
        let filter = AtomicBloomFilter::new(policy.shape(keys.len()));
        let mut expected = BloomFilter::empty(filter.shape()).into_inner();
        for key in &keys {
            let hash = reference::bloom_hash(key);
            let before = reference::hash_may_match(hash, &expected);
            prop_assert_eq!(filter.key_may_match(key), before);
            prop_assert_eq!(filter.insert(key), before);
            prop_assert!(filter.insert_hash(BloomHash::from_u32(hash)));
            prop_assert!(filter.key_may_match(key));
            reference::insert_hash(hash, &mut expected);
        }
        for hash in others {
            let may_match = filter.hash_may_match(BloomHash::from_u32(hash));
            prop_assert_eq!(may_match, reference::hash_may_match(hash, &expected));
        }
        let fill_ratio = filter.fill_ratio().to_bits();
        let filter = filter.into_filter();
        prop_assert_eq!(fill_ratio, filter.fill_ratio().to_bits());
        prop_assert_eq!(filter.into_inner(), expected);
    }
}
