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

/// Two threads set bits of the same bytes, one the even bits and one the odd bits. The slower thread
/// skips ahead to the other. If a thread overwrote a bit that the other has just set, the bit would
/// be lost. Returns how often both threads were in the same bytes.
#[expect(clippy::float_cmp, reason = "both are exact")]
fn race_to_the_same_bytes() -> u32 {
    const NUM_BITS: u32 = 1 << 18;
    const STEP: u32 = 512;
    let filter = AtomicBloomFilter::new(BloomFilterPolicy::new(1).shape(NUM_BITS as usize));
    let (start, front) = (Barrier::new(2), AtomicU32::new(0));
    let set_every_second_bit = |odd: u32| {
        start.wait();
        let (mut first, mut num_new, mut num_met) = (0, 0, 0);
        while first < NUM_BITS {
            let next = first + STEP;
            for bit in (first + odd..next).step_by(2) {
                assert!(!filter.insert_hash(BloomHash::from_u32(bit)), "bit {bit}");
                num_new += 1;
            }
            let others = front.fetch_max(next, Ordering::Relaxed);
            num_met += u32::from(others >= next);
            first = next.max(others);
        }
        (num_new, num_met)
    };
    let (even, odd) = thread::scope(|threads| {
        let odd = threads.spawn(|| set_every_second_bit(1));
        (set_every_second_bit(0), odd.join().expect("no panic"))
    });
    assert_eq!(filter.fill_ratio(), f64::from(even.0 + odd.0) / f64::from(NUM_BITS));
    even.1 + odd.1
}

#[test]
fn threads_that_change_the_same_bytes_lose_no_bit() {
    let mut num_met = 0;
    for _ in 0..100 {
        num_met += race_to_the_same_bytes();
        // On a busy machine, threads mostly run one after the other.
        if num_met >= 2_000 {
            break;
        }
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
            prop_assert_eq!(filter.insert_key(key), before);
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
