//! A filter that several threads fill and look up at once has the bytes and answers of one filled
//! by a single thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy, BloomHash};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::strategies::{any_hash, any_keys, any_policy, config};
use crate::common::{keys_with_hashes, reference};

/// Two threads set bits of the same bytes at the same time, one the even bits and one the odd bits.
/// If a thread overwrote a bit that the other has just set, the bit would be lost.
#[test]
fn threads_that_change_the_same_bytes_lose_no_bit() {
    const NUM_BITS: u32 = 1 << 16;
    const STEP: usize = 64;
    let shape = BloomFilterPolicy::new(1).with_num_probes(1).shape(NUM_BITS as usize);
    for _ in 0..20 {
        let filter = AtomicBloomFilter::new(shape);
        let steps = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let set_every_second_bit = |first: u32| {
            let hashes: Vec<_> = (first..NUM_BITS).step_by(2).map(BloomHash::from_u32).collect();
            let mut num_new = 0;
            for (step, hashes) in (1..).zip(hashes.chunks(STEP)) {
                num_new += hashes.iter().filter(|&&hash| !filter.insert_hash(hash)).count();
                // In step, so that neither thread is far ahead.
                steps[first as usize].store(step, Ordering::Relaxed);
                while steps[1 - first as usize].load(Ordering::Relaxed) < step {
                    thread::yield_now();
                }
            }
            num_new
        };
        let num_new = thread::scope(|threads| {
            let odd = threads.spawn(|| set_every_second_bit(1));
            [set_every_second_bit(0), odd.join().expect("no panic")]
        });
        assert_eq!(num_new, [NUM_BITS as usize / 2; 2]);
        assert_eq!(filter.to_filter().count_ones(), NUM_BITS.into());
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
        let copy = filter.to_filter();
        prop_assert_eq!(filter.fill_ratio().to_bits(), copy.fill_ratio().to_bits());
        prop_assert_eq!(copy.as_bytes(), &expected);
        prop_assert!(keys.iter().all(|key| filter.key_may_match(key)));
    }
}
