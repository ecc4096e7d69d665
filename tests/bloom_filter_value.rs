//! A filter as a value: keys inserted, filters joined, and what can be said of its bits.

mod common;

use std::fmt::Debug;
use std::sync::Arc;

use common::strategies::{any_bits_per_key, any_hash, any_key, config};
use common::{as_bloom_hashes, create_filter, random_hashes, reference};
use leveldb_filter::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash, ShapeMismatch,
};
use proptest::collection::vec;
use proptest::prelude::*;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn filter_of_hashes(policy: BloomFilterPolicy, hashes: &[u32]) -> BloomFilter<Vec<u8>> {
    let mut builder = BloomFilterBuilder::new();
    for &hash in hashes {
        builder.add_hash(BloomHash::from_u32(hash));
    }
    let mut bytes = Vec::new();
    builder.finish_into(policy, &mut bytes);
    BloomFilter::new(bytes).expect("made by a policy")
}

fn filter_of_ones(num_bytes: usize, num_probes: u8) -> BloomFilter<Vec<u8>> {
    let mut bytes = vec![0xff; num_bytes];
    bytes.push(num_probes);
    BloomFilter::new(bytes).expect("at most 30 probes")
}

#[test]
fn filters_lie_in_any_buffer() {
    fn assert_reads<B: AsRef<[u8]> + Clone + PartialEq + Debug>(buffer: &B) {
        let filter = BloomFilter::new(buffer.clone()).expect("made by a policy");
        assert_eq!(filter.shape(), POLICY.shape(1));
        assert!(filter.key_may_match(b"fig"));
        assert!(!filter.key_may_match(b"lime"));
        assert_eq!(filter.as_bytes(), buffer.as_ref());
        assert_eq!(&filter.into_inner(), buffer);
    }
    fn assert_changes(buffer: impl AsRef<[u8]> + AsMut<[u8]>) {
        let mut filter = BloomFilter::new(buffer).expect("made by a policy");
        assert!(filter.insert(b"fig"));
        assert!(!filter.insert(b"lime"));
        assert!(filter.insert(b"lime"));
        assert!(filter.key_may_match(b"lime"));
        filter.union_with(&BloomFilter::empty(POLICY.shape(1))).expect("the same shape");
        filter.clear();
        assert!(!filter.key_may_match(b"lime"));
        assert!(!filter.insert(b"fig"));
        assert!(!filter.insert(b"lime"));
        let mut expected = create_filter(POLICY, &["fig"]);
        reference::insert_hash(reference::bloom_hash(b"lime"), &mut expected);
        assert_eq!(filter.as_bytes(), expected);
    }

    let vec = create_filter(POLICY, &["fig"]);
    let array: [u8; 9] = vec.as_slice().try_into().expect("64 bits and a byte");
    assert_reads(&vec);
    assert_reads(&vec.as_slice());
    assert_reads(&array);
    assert_reads(&vec.clone().into_boxed_slice());
    assert_reads(&Arc::<[u8]>::from(vec.as_slice()));

    assert_changes(vec.clone());
    assert_changes(&mut vec.clone());
    assert_changes(vec.clone().as_mut_slice());
    assert_changes(array);
    assert_changes(vec.into_boxed_slice());
}

#[test]
fn filters_are_compared_copied_and_printed() {
    fn assert_copies<T: Copy + Eq + Debug + Send + Sync>(value: T) {
        let copy = value;
        assert_eq!(copy, value);
    }
    let filter = BloomFilter::empty(POLICY.shape(2));
    assert_copies(BloomFilter::new(filter.as_bytes()).expect("made by a policy"));
    assert_copies(BloomFilter::new([0; 9]).expect("no probes"));

    assert_eq!(BloomFilter::new(filter.as_bytes()).expect("made by a policy"), filter);
    let mut changed = filter.clone();
    assert_eq!(changed, filter);
    changed.insert(b"fig");
    assert_ne!(changed, filter);
    assert_ne!(BloomFilter::empty(POLICY.with_num_probes(7).shape(2)), filter);
    assert_eq!(
        format!("{changed:?}"),
        "BloomFilter { shape: BloomFilterShape { num_bytes: 8, num_probes: 6 }, .. }"
    );
}

#[test]
fn filters_of_other_shapes_have_no_union() {
    let mut filter = filter_of_hashes(POLICY, &random_hashes(100, 1));
    let before = filter.clone();
    for other in [
        BloomFilter::empty(POLICY.shape(101)),
        filter_of_ones(124, 6),
        filter_of_ones(125, 7),
        filter_of_ones(126, 5),
        filter_of_ones(125, 0),
    ] {
        let mismatch: ShapeMismatch = filter.union_with(&other).unwrap_err();
        assert_eq!((mismatch.shape, mismatch.other), (filter.shape(), other.shape()));
        assert_eq!(filter, before);
    }
    assert_eq!(
        filter.union_with(&filter_of_ones(126, 5)).unwrap_err().to_string(),
        "a filter of 1000 bits and 6 probes has no union with one of 1008 bits and 5 probes"
    );
}

#[test]
#[expect(clippy::float_cmp, reason = "0 and infinity are exact")]
fn the_number_of_keys_is_known_at_the_ends() {
    for num_keys in [0, 1, 1000] {
        assert_eq!(BloomFilter::empty(POLICY.shape(num_keys)).estimated_num_keys(), 0.0);
    }
    for num_bytes in [1, 7, 8, 9, 1000] {
        assert_eq!(filter_of_ones(num_bytes, 6).estimated_num_keys(), f64::INFINITY);
        for byte in [0, 1, 0xff] {
            let mut bytes = vec![byte; num_bytes];
            bytes.push(0);
            let filter = BloomFilter::new(bytes).expect("no probes");
            assert_eq!(filter.estimated_num_keys(), f64::INFINITY, "{byte:#x}");
        }
    }
}

#[test]
fn the_number_of_keys_is_estimated() {
    for num_keys in [1000_u32, 3000, 10_000] {
        for policy in [POLICY, POLICY.with_num_probes(3), BloomFilterPolicy::new(20)] {
            // Half, all and twice the keys that the filter was made for.
            let hashes = random_hashes(2 * num_keys as usize, 2);
            for num_inserted in [num_keys / 2, num_keys, 2 * num_keys] {
                let mut filter = BloomFilter::empty(policy.shape(num_keys as usize));
                for &hash in &hashes[..num_inserted as usize] {
                    filter.insert_hash(BloomHash::from_u32(hash));
                }
                let ratio = filter.estimated_num_keys() / f64::from(num_inserted);
                assert!((0.95..1.05).contains(&ratio), "{ratio} of {num_inserted}, {filter:?}");
            }
        }
    }
}

#[test]
fn the_number_of_keys_is_estimated_in_large_filters_too() {
    for num_keys in [100_000_u32, 300_000, 1_000_000] {
        // With one or two, there are no third probes to meet.
        for (num_probes, tolerance) in [(1, 0.02), (2, 0.02), (3, 0.025), (6, 0.02)] {
            let policy = POLICY.with_num_probes(num_probes);
            let filter = filter_of_hashes(policy, &random_hashes(num_keys as usize, 2));
            let ratio = filter.estimated_num_keys() / f64::from(num_keys);
            assert!((ratio - 1.0).abs() < tolerance, "{ratio} of {num_keys}, {filter:?}");
        }
    }
}

#[test]
#[expect(clippy::float_cmp, reason = "0 and 1 are exact")]
fn filters_without_keys_have_no_false_positives_and_full_ones_no_others() {
    for num_keys in [0, 1, 1000] {
        assert_eq!(BloomFilter::empty(POLICY.shape(num_keys)).false_positive_rate(), 0.0);
    }
    assert_eq!(filter_of_ones(1, 6).false_positive_rate(), 1.0);
    assert_eq!(filter_of_ones(1000, 30).false_positive_rate(), 1.0);
    assert_eq!(BloomFilter::new([0; 9]).expect("no probes").false_positive_rate(), 1.0);
}

#[test]
fn the_false_positive_rate_is_that_of_random_hashes() {
    let tried = as_bloom_hashes(&random_hashes(1 << 20, 3));
    let mut matches = vec![false; tried.len()];
    for (num_keys, policy) in [
        (100, POLICY),
        (1000, POLICY.with_num_probes(2)),
        (10_000, POLICY),
        (10_000, BloomFilterPolicy::new(5)),
        (100_000, POLICY.with_num_probes(8)),
    ] {
        let filter = filter_of_hashes(policy, &random_hashes(num_keys, 4));
        filter.hashes_may_match(&tried, &mut matches);
        let num_matches = matches.iter().map(|&matches| u32::from(matches)).sum::<u32>();
        let measured = f64::from(num_matches) / f64::from(1 << 20);
        // Five times the standard error of a difference of two such measurements.
        let noise = 5.0 * (2.0 * measured / f64::from(1 << 20)).sqrt();
        let rate = filter.false_positive_rate();
        assert!((rate - measured).abs() < noise, "{rate} and {measured}, {num_keys} keys");
    }
}

#[test]
fn ten_bits_per_key_have_about_one_per_cent_false_positives() {
    let rate = filter_of_hashes(POLICY, &random_hashes(10_000, 5)).false_positive_rate();
    assert!((0.0085..0.0095).contains(&rate), "{rate}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn inserted_keys_make_the_bytes_of_a_filter_of_them(
        keys in vec(any_key(), 0..100),
        bits_per_key in any_bits_per_key(),
        num_probes in 1..=30u8,
    ) {
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        let mut filter = BloomFilter::empty(policy.shape(keys.len()));
        prop_assert_eq!(filter.shape(), policy.shape(keys.len()));
        for key in &keys {
            let before = reference::key_may_match(key, filter.as_bytes());
            prop_assert_eq!(filter.insert(key), before);
            prop_assert!(filter.insert(key));
        }
        let expected = reference::create_filter(bits_per_key, num_probes, &keys);
        prop_assert_eq!(filter.as_bytes(), &expected);
        prop_assert_eq!(filter.into_inner(), expected);
    }

    #[test]
    fn hashes_are_inserted_into_arbitrary_filters_as_leveldb_would(
        mut bytes in vec(any::<u8>(), 1..200),
        num_probes in 0..=30u8,
        hashes in vec(any_hash(), 0..20),
    ) {
        bytes.push(num_probes);
        let mut filter = BloomFilter::new(bytes.clone()).expect("at most 30 probes");
        for hash in hashes {
            let before = reference::hash_may_match(hash, &bytes);
            prop_assert_eq!(filter.insert_hash(BloomHash::from_u32(hash)), before);
            reference::insert_hash(hash, &mut bytes);
            prop_assert_eq!(filter.as_bytes(), &bytes);
        }
    }

    #[test]
    fn clearing_leaves_the_number_of_probes_and_no_bit(
        mut bytes in vec(any::<u8>(), 1..200),
        num_probes in 0..=30u8,
        hashes in vec(any_hash(), 0..20),
    ) {
        bytes.push(num_probes);
        let mut expected = vec![0; bytes.len() - 1];
        expected.push(num_probes);
        let mut filter = BloomFilter::new(bytes).expect("at most 30 probes");
        filter.clear();
        prop_assert_eq!(filter.as_bytes(), &expected);
        for hash in hashes {
            filter.insert_hash(BloomHash::from_u32(hash));
            reference::insert_hash(hash, &mut expected);
        }
        prop_assert_eq!(filter.into_inner(), expected);
    }

    #[test]
    fn a_union_has_the_bytes_of_a_filter_with_both_key_sets(
        keys in vec(any_key(), 0..100),
        others in vec(any_key(), 0..100),
        num_probes in 1..=30u8,
    ) {
        let policy = POLICY.with_num_probes(num_probes);
        let num_keys = keys.len() + others.len();
        let (mut filter, mut other) = (BloomFilter::empty(policy.shape(num_keys)), BloomFilter::empty(policy.shape(num_keys)));
        for key in &keys {
            filter.insert(key);
        }
        for key in &others {
            other.insert(key);
        }
        let other = BloomFilter::new(other.as_bytes()).expect("made by a policy");
        prop_assert_eq!(filter.union_with(&other), Ok(()));

        let both = [keys, others].concat();
        prop_assert_eq!(filter.as_bytes(), reference::create_filter(10, num_probes, &both));
    }

    #[test]
    fn ones_are_counted_without_the_probe_count(
        mut bytes in vec(any::<u8>(), 1..60),
        num_probes in 0..=30u8,
    ) {
        let naive: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
        let num_bits = f64::from(u16::try_from(bytes.len()).expect("few")) * 8.0;
        bytes.push(num_probes);
        let filter = BloomFilter::new(bytes).expect("at most 30 probes");
        prop_assert_eq!(filter.count_ones(), u64::from(naive));
        let ratio = f64::from(naive) / num_bits;
        prop_assert_eq!(filter.fill_ratio().to_bits(), ratio.to_bits());
    }
}
