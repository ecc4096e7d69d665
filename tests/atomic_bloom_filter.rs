//! A filter that threads fill and ask at once: the bytes and answers of one that a single thread
//! fills.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use common::reference;
use common::strategies::{any_bits_per_key, any_hash, any_key, config};
use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy, BloomHash};
use proptest::collection::vec;
use proptest::prelude::*;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// The keys that each of two threads inserts.
const KEYS_PER_WRITER: u32 = 500_000;

fn key(writer: u32, i: u32) -> [u8; 8] {
    (u64::from(writer) << 32 | u64::from(i)).to_le_bytes()
}

/// Two threads insert keys and publish their number, and two look up each key that they see
/// published.
fn assert_published_keys_are_found(policy: BloomFilterPolicy) {
    let shape = policy.shape(2 * KEYS_PER_WRITER as usize);
    let filter = AtomicBloomFilter::new(shape);
    let published = [AtomicU32::new(0), AtomicU32::new(0)];
    thread::scope(|threads| {
        for (writer, published) in (0..).zip(&published) {
            let filter = &filter;
            threads.spawn(move || {
                for i in 0..KEYS_PER_WRITER {
                    filter.insert(&key(writer, i));
                    published.store(i + 1, Ordering::Release);
                }
            });
        }
        for _ in 0..2 {
            threads.spawn(|| {
                let mut seen = [0; 2];
                while seen != [KEYS_PER_WRITER; 2] {
                    for (writer, (seen, published)) in (0..).zip(seen.iter_mut().zip(&published)) {
                        let end = published.load(Ordering::Acquire);
                        // The newest first, as it is the one that may be missing.
                        for i in (*seen..end).rev() {
                            assert!(filter.key_may_match(&key(writer, i)), "{i} of {end}");
                        }
                        *seen = end;
                    }
                }
            });
        }
    });

    let mut alone = BloomFilter::empty(shape);
    for writer in 0..2 {
        for i in 0..KEYS_PER_WRITER {
            alone.insert(&key(writer, i));
        }
    }
    // Not assert_eq!, which would print megabytes.
    assert!(filter.into_filter() == alone);
}

#[test]
fn keys_are_found_as_soon_as_they_are_published() {
    assert_published_keys_are_found(POLICY);
}

#[test]
#[ignore = "takes seconds: 20 races of four threads"]
fn keys_are_found_as_soon_as_they_are_published_in_every_race() {
    for round in 0..20 {
        // One bit per key, too, where threads change the same bytes most often.
        let policy = if round % 2 == 0 { POLICY } else { BloomFilterPolicy::new(1) };
        assert_published_keys_are_found(policy);
    }
}

/// Both threads insert the same keys, and meet at the same bytes. Whoever sets a bit has found it
/// unset, and says that the key is new.
#[test]
fn keys_that_a_thread_calls_new_have_all_bits() {
    let shape = POLICY.shape(1000);
    for _ in 0..100 {
        let filter = AtomicBloomFilter::new(shape);
        let insert = || (0..1000).filter(|&i| !filter.insert(&key(0, i))).collect::<Vec<_>>();
        let new = thread::scope(|threads| {
            let threads = [threads.spawn(insert), threads.spawn(insert)];
            threads.map(|thread| thread.join().expect("no panic")).concat()
        });
        let mut of_new = BloomFilter::empty(shape);
        for i in new {
            of_new.insert(&key(0, i));
        }
        assert!(filter.into_filter() == of_new);
    }
}

#[test]
fn its_shape_is_printed() {
    let shape = POLICY.with_num_probes(7).shape(1000);
    let filter = AtomicBloomFilter::new(shape);
    assert_eq!(filter.shape(), shape);
    assert_eq!(format!("{filter:?}"), format!("AtomicBloomFilter {{ shape: {shape:?}, .. }}"));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bytes_and_answers_are_leveldbs(
        keys in vec(any_key(), 0..50),
        hashes in vec(any_hash(), 0..50),
        others in vec(any_hash(), 0..50),
        bits_per_key in any_bits_per_key(),
        num_probes in 1..=30u8,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let shape = policy.shape(keys.len() + hashes.len());
        let filter = AtomicBloomFilter::new(shape);
        let mut expected = BloomFilter::empty(shape).into_inner();
        for key in &keys {
            let hash = reference::bloom_hash(key);
            let before = reference::hash_may_match(hash, &expected);
            prop_assert_eq!(filter.key_may_match(key), before);
            prop_assert_eq!(filter.insert(key), before);
            prop_assert!(filter.key_may_match(key));
            reference::insert_hash(hash, &mut expected);
        }
        for hash in hashes {
            let before = reference::hash_may_match(hash, &expected);
            prop_assert_eq!(filter.insert_hash(BloomHash::from_u32(hash)), before);
            reference::insert_hash(hash, &mut expected);
        }
        for hash in others {
            let may_match = filter.hash_may_match(BloomHash::from_u32(hash));
            prop_assert_eq!(may_match, reference::hash_may_match(hash, &expected));
        }
        prop_assert_eq!(filter.into_filter().into_inner(), expected);
    }
}
