//! Filters as values: inserting keys, joining filters, comparing them and counting bits.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::strategies::{any_filter, any_hash, config};
use crate::common::{create_filter, key_with_hash, noise, reference};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

pub(super) fn filter_of_ones(num_bytes: usize, num_probes: u8) -> BloomFilter<Vec<u8>> {
    let mut bytes = vec![0xff; num_bytes];
    bytes.push(num_probes);
    BloomFilter::new(bytes).expect("at most 30 probes")
}

#[test]
fn filters_are_equal_if_their_bytes_are() {
    let filter = BloomFilter::empty(POLICY.shape(2));
    assert_eq!(BloomFilter::new(filter.as_bytes()).expect("made by a policy"), filter);
    let mut changed = filter.clone();
    assert_eq!(changed, filter);
    assert_eq!(AsRef::<[u8]>::as_ref(&filter), filter.as_bytes());
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    assert_eq!(hasher.hash_one(&changed), hasher.hash_one(&filter));
    changed.insert_key(b"fig");
    assert_ne!(changed, filter);
    assert_ne!(hasher.hash_one(&changed), hasher.hash_one(&filter));
    assert_ne!(BloomFilter::empty(BloomFilterShape::new(9, 7)), filter);
}

#[test]
fn joining_filters_of_different_shapes_is_an_error() {
    let keys: Vec<_> = (0..100_u8).map(|key| [key]).collect();
    let mut filter = BloomFilter::new(create_filter(POLICY, &keys)).expect("made by a policy");
    let before = filter.clone();
    for (num_bytes, num_probes) in [(124, 6), (125, 7), (126, 5), (126, 6), (125, 0)] {
        let other = filter_of_ones(num_bytes, num_probes);
        let mismatch = filter.union_with(&other).unwrap_err();
        assert_eq!((mismatch.shape, mismatch.other), (filter.shape(), other.shape()));
        assert_eq!(filter, before);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn inserts_unions_and_counts_are_the_oracles_on_arbitrary_filters(
        bytes in any_filter(2..=200),
        hashes in vec(any_hash(), 0..20),
        seed: u32,
        cleared: bool,
    ) {
        let mut bytes = bytes.0;
        let num_bytes = bytes.len() - 1;
        let Ok(mut filter) = BloomFilter::new(bytes.clone()) else { return Ok(()) };
        if cleared {
            filter.clear();
            bytes[..num_bytes].fill(0);
        }
        for (i, hash) in hashes.into_iter().enumerate() {
            let before = reference::hash_may_match(hash, &bytes);
            let was_in = match i % 2 {
                0 => filter.insert_hash(BloomHash::from_u32(hash)),
                _ => filter.insert_key(&key_with_hash(hash)),
            };
            prop_assert_eq!(was_in, before);
            reference::insert_hash(hash, &mut bytes);
            prop_assert_eq!(filter.as_bytes(), &bytes);
        }

        let other = [noise(num_bytes, seed), vec![filter.shape().num_probes()]].concat();
        bytes.iter_mut().zip(&other).for_each(|(byte, other)| *byte |= other);
        let other = BloomFilter::new(other.as_slice()).expect("the same number of probes");
        prop_assert_eq!(filter.union_with(&other), Ok(()));
        prop_assert_eq!(filter.as_bytes(), &bytes);

        let num_ones: u32 = bytes[..num_bytes].iter().map(|byte| byte.count_ones()).sum();
        let num_bits = f64::from(u16::try_from(num_bytes).expect("few")) * 8.0;
        prop_assert_eq!(filter.fill_ratio().to_bits(), (f64::from(num_ones) / num_bits).to_bits());
        prop_assert_eq!(filter.into_inner(), bytes);
    }
}
