//! Estimates of the number of keys from a filter's bits.

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomHash};

use super::mutating::filter_of_ones;
use crate::common::{drawn, of_any_magnitude, random_hashes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

#[test]
#[expect(clippy::float_cmp, reason = "0 and infinity are exact")]
fn estimates_are_exact_for_empty_filters_and_infinite_for_full_ones() {
    assert_eq!(BloomFilter::empty(POLICY.shape(1000)).estimated_num_keys(), 0.0);
    for num_bytes in [1, 7, 8, 9, 1000] {
        assert_eq!(filter_of_ones(num_bytes, 6).estimated_num_keys(), f64::INFINITY);
        assert_eq!(filter_of_ones(num_bytes, 0).estimated_num_keys(), f64::INFINITY);
    }
    assert_eq!(BloomFilter::new([0; 9]).expect("no probes").estimated_num_keys(), f64::INFINITY);
}

/// Of sizes of any magnitude, at 5 to 30 bits per key, with half to twice the keys that filters
/// were made for.
#[test]
fn most_estimates_of_100_random_keys_and_more_are_within_a_few_per_cent() {
    let mut below = drawn(1);
    for (fill, at_most) in [(50, 0.03), (100, 0.03), (200, 0.06)] {
        let is_near = (0..300).filter(|&seed| {
            let num_keys = 99 + of_any_magnitude(100_000, &mut below);
            let policy = BloomFilterPolicy::new(5 + u32::try_from(below(26)).expect("few"));
            let mut filter = BloomFilter::empty(policy.shape((num_keys * 100).div_ceil(fill)));
            for hash in random_hashes(num_keys, seed) {
                filter.insert_hash(BloomHash::from_u32(hash));
            }
            let exact = f64::from(u32::try_from(num_keys).expect("few"));
            (filter.estimated_num_keys() / exact - 1.0).abs() <= at_most
        });
        let num_near = is_near.count();
        assert!(num_near >= 270, "{fill}% full: {num_near} of 300");
    }
}

/// With half of the bits set, bisection finds the number of keys that is expected to set as many.
#[test]
fn estimates_agree_with_the_formula_to_a_thousandth() {
    let mut bytes = vec![0xf0; 20_001];
    for (num_probes, num_keys) in [(1, 110_903.55), (2, 55_451.77), (3, 38_402.18)] {
        bytes[20_000] = num_probes;
        let estimate = BloomFilter::new(&bytes).expect("1 to 3 probes").estimated_num_keys();
        assert!((estimate / num_keys - 1.0).abs() < 1e-3, "{num_probes} probes: {estimate}");
    }
}

/// With one probe, an estimate is a logarithm, which the crate computes itself.
#[test]
fn estimates_of_one_probe_have_all_digits_at_any_fill() {
    for (num_bytes, num_bits) in [(1, 8.0), (8, 64.0), (100_000, 800_000.0)] {
        for hundredth in 0..=100 {
            let num_ones = 1 + hundredth * (8 * num_bytes - 2) / 100;
            let mut filter = [vec![0; num_bytes], vec![1]].concat();
            filter[..num_ones / 8].fill(0xff);
            filter[num_ones / 8] = !(0xff << (num_ones % 8));
            let filter = BloomFilter::new(filter).expect("1 probe");
            let expected = -num_bits * (-filter.fill_ratio()).ln_1p();
            let error: f64 = filter.estimated_num_keys() / expected - 1.0;
            assert!(error.abs() < 1e-14, "{num_ones} of {num_bits} bits: {error}");
        }
    }
}
