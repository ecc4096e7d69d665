//! Lookups in a filter: every function gives the oracle's answers on any bytes.

use leveldb_filter::{BloomFilter, BloomHash, InvalidFilter};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::strategies::{any_filter, any_hash, any_keys, any_policy, config};
use crate::common::ways::assert_answers_as_reference;
use crate::common::{
    create_filter, drawn, keys_with_hashes, noise, of_any_magnitude, random_hashes, reference,
};

fn assert_hashes_answer_as_reference(filter: &[u8], hashes: &[u32]) {
    assert_answers_as_reference(filter, &keys_with_hashes(hashes));
}

#[test]
fn filters_below_two_bytes_are_too_short_and_probe_counts_above_30_reserved() {
    let is_too_short = |bytes: &[u8]| match BloomFilter::new(bytes) {
        Err(InvalidFilter::TooShort { len, .. }) => len == bytes.len(),
        _ => false,
    };
    assert!(is_too_short(&[]));
    for last in 0..=255 {
        assert!(is_too_short(&[last]));
        for num_bytes in [1, 2, 8, 9, 1000] {
            let bytes = [noise(num_bytes, 1), vec![last]].concat();
            match BloomFilter::new(bytes.as_slice()) {
                Ok(filter) => {
                    assert!(last <= 30, "{last}");
                    assert_eq!(filter.as_bytes(), bytes);
                    assert_eq!(filter.shape().num_probes(), last);
                    assert_eq!(filter.shape().num_bits(), num_bytes as u64 * 8);
                    assert_eq!(filter.shape().filter_len(), bytes.len());
                }
                Err(InvalidFilter::ReservedProbeCount { num_probes, .. }) => {
                    assert_eq!(num_probes, last);
                    assert!(last > 30, "{last}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn filters_around_four_billion_bits_answer_as_leveldb() {
    let edges = [u32::MAX, u32::MAX - 7, u32::MAX - 8, 1 << 31, 0xbc9f1d34, 8, 7, 0];
    // At the last length, a remainder by a 64-bit reciprocal of the bits would be off by one.
    for num_bytes in [(1 << 29) - 1, 1 << 29, (1 << 29) + 1, (1 << 29) + 23171] {
        // Only pages that a probe touches take memory.
        let mut bytes = vec![0; num_bytes + 1];
        bytes[num_bytes] = 6;
        assert_hashes_answer_as_reference(&bytes, &edges);
        for hash in edges {
            let before = reference::hash_may_match(hash, &bytes);
            let mut filter = BloomFilter::new(bytes.as_mut_slice()).expect("6 probes");
            assert_eq!(filter.shape().num_bits(), num_bytes as u64 * 8);
            assert_eq!(filter.insert_hash(BloomHash::from_u32(hash)), before, "hash {hash:#x}");
            assert!(reference::hash_may_match(hash, &bytes), "hash {hash:#x}");
            assert_hashes_answer_as_reference(&bytes, &edges);
        }
        // With fewer probes, each alone may reject a key.
        for num_probes in [1, 2] {
            bytes[num_bytes] = num_probes;
            let neighbours = edges.map(|hash| hash ^ 1);
            assert_hashes_answer_as_reference(&bytes, &[edges, neighbours].concat());
        }
    }
}

/// A lookup with one probe is a remainder, which is computed in one way for one key and in another
/// for many. Errors of both grow with the hash, and show next to multiples of the number of bits.
#[test]
fn one_probe_is_the_hash_modulo_the_bits_for_any_length() {
    let mut below = drawn(1);
    let lengths: Vec<_> = (1..1000)
        .chain((3..=28).flat_map(|log2| [(1 << log2) - 1, 1 << log2, (1 << log2) + 1]))
        // At which a reciprocal that is one less would be too small.
        .chain([4_193_580])
        .chain((0..300).map(|_| of_any_magnitude(1 << 29, &mut below)))
        .collect();
    for num_bytes in lengths {
        let num_bits = num_bytes as u64 * 8;
        let multiples = (1 << 32) / num_bits;
        let hashes = (multiples.saturating_sub(9)..=multiples)
            .chain((0..10).map(|tenth| tenth * multiples / 10))
            .flat_map(|i| [(i * num_bits).wrapping_sub(1), i * num_bits, i * num_bits + 1])
            .filter_map(|hash| u32::try_from(hash).ok())
            .chain(random_hashes(10, num_bits));
        let mut bytes = vec![0; num_bytes + 1];
        bytes[num_bytes] = 1;
        for hash in hashes {
            let bit = u64::from(hash) % num_bits;
            let byte = usize::try_from(bit / 8).expect("below num_bytes");
            bytes[byte] = 1 << (bit % 8);
            let filter = BloomFilter::new(&bytes).expect("1 probe");
            // As many as take the remainder of many.
            let (hash, mut of_many) = (BloomHash::from_u32(hash), [false; 16]);
            filter.hashes_may_match(&[hash; 16], &mut of_many);
            let answers = (filter.hash_may_match(hash), of_many);
            assert_eq!(answers, (true, [true; 16]), "{hash:?} of {num_bytes} bytes");
            bytes[byte] = 0;
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn filters_of_any_policy_answer_as_leveldb_and_lose_no_key(
        keys in any_keys(100),
        policy in any_policy(),
        others in any_keys(100),
        hashes in vec(any_hash(), 0..100),
    ) {
        let filter = create_filter(policy, &keys.0);
        prop_assert!(keys.0.iter().all(|key| reference::key_may_match(key, &filter)));
        assert_answers_as_reference(&filter, &[keys.0, others.0].concat());
        assert_hashes_answer_as_reference(&filter, &hashes);
    }

    #[test]
    fn arbitrary_filters_answer_as_leveldb(
        filter in prop_oneof![3 => any_filter(0..=200), 1 => any_filter(0..=5000)],
        keys in any_keys(150),
        hashes in vec(any_hash(), 0..=150),
    ) {
        assert_answers_as_reference(&filter.0, &keys.0);
        assert_hashes_answer_as_reference(&filter.0, &hashes);
    }
}
