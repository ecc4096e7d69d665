//! A filter that several threads fill and look up at once has the bytes and answers of one filled
//! by a single thread.

use std::sync::atomic::{AtomicU32, Ordering};
use std::{hint, thread};

use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::strategies::{any_hash, any_keys, any_policy, config};
use crate::common::{key_with_hash, keys_with_hashes, reference};

/// One sets the even bits, the other the odd bits of the same bytes. If a thread overwrote a bit that
/// the other has just set, the bit would be lost.
#[test]
fn threads_that_change_the_same_bytes_lose_no_bit() {
    const NUM_BITS: u32 = 1 << 18;
    let policy = BloomFilterPolicy::new(1);
    for _ in 0..20 {
        let filter = AtomicBloomFilter::new(policy, policy.shape(NUM_BITS as usize));
        let set_every_second_bit = |odd: u32, begun: &AtomicU32, others: &AtomicU32| {
            for first in (0..NUM_BITS).step_by(512) {
                begun.store(first, Ordering::Relaxed);
                // Lets the other catch up, so that both are at the same bytes. But not for ever,
                // because it may have no processor, or have failed.
                let is_ahead = || others.load(Ordering::Relaxed) < first;
                (0..300).take_while(|_| is_ahead()).for_each(|_| hint::spin_loop());
                for bit in (first + odd..first + 512).step_by(2) {
                    assert!(!filter.insert_key(&key_with_hash(bit)), "bit {bit}");
                }
            }
        };
        let [even, odd] = [AtomicU32::new(0), AtomicU32::new(0)];
        thread::scope(|threads| {
            threads.spawn(|| set_every_second_bit(1, &odd, &even));
            set_every_second_bit(0, &even, &odd);
        });
        assert!(filter.fill_ratio() >= 1.0, "{}", filter.fill_ratio());
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
        let filter = AtomicBloomFilter::new(policy, policy.shape(keys.len()));
        let mut expected = BloomFilter::empty(filter.shape()).into_inner();
        for key in &keys {
            let hash = reference::bloom_hash(key);
            let before = reference::hash_may_match(hash, &expected);
            prop_assert_eq!(filter.key_may_match(key), before);
            prop_assert_eq!(filter.insert_key(key), before);
            prop_assert!(filter.insert_key(key) && filter.key_may_match(key));
            reference::insert_hash(hash, &mut expected);
        }
        let of_bytes = AtomicBloomFilter::from_bytes(policy, &expected).expect("a filter");
        for (hash, key) in others.iter().zip(keys_with_hashes(&others)) {
            let may_match = reference::hash_may_match(*hash, &expected);
            prop_assert_eq!(filter.key_may_match(&key), may_match);
            prop_assert_eq!(of_bytes.key_may_match(&key), may_match);
        }
        prop_assert_eq!(filter.to_bytes(), &*expected);
        prop_assert_eq!((of_bytes.to_bytes(), of_bytes.shape()), (expected.clone(), filter.shape()));
        let copy = BloomFilter::new(expected).expect("a filter");
        prop_assert_eq!(filter.fill_ratio().to_bits(), copy.fill_ratio().to_bits());
        prop_assert!(keys.iter().all(|key| filter.key_may_match(key)));
    }
}
