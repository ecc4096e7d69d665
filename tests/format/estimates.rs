//! Estimates of the number of keys from a filter's bits.

use std::ops::RangeInclusive;

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomHash};

use super::mutating::filter_of_ones;
use crate::common::{drawn, of_any_magnitude, random_hashes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

fn filter_of_hashes(
    policy: BloomFilterPolicy,
    made_for: usize,
    hashes: &[u32],
) -> BloomFilter<Vec<u8>> {
    let mut filter = BloomFilter::empty(policy.shape(made_for));
    for &hash in hashes {
        filter.insert_hash(BloomHash::from_u32(hash));
    }
    filter
}

#[test]
#[expect(clippy::float_cmp, reason = "0 and infinity are exact")]
fn estimates_are_exact_for_empty_filters_and_infinite_for_full_ones() {
    for num_keys in [0, 1, 1000] {
        assert_eq!(BloomFilter::empty(POLICY.shape(num_keys)).estimated_num_keys(), 0.0);
    }
    for num_bytes in [1, 7, 8, 9, 1000] {
        assert_eq!(filter_of_ones(num_bytes, 6).estimated_num_keys(), f64::INFINITY);
        assert_eq!(filter_of_ones(num_bytes, 0).estimated_num_keys(), f64::INFINITY);
    }
    assert_eq!(BloomFilter::new([0; 9]).expect("no probes").estimated_num_keys(), f64::INFINITY);
}

/// The median error of estimates, the 90th percentile and the maximum, in per cent, for filters
/// with `fill` per cent of the keys that they were made for.
fn errors_of_estimates(
    num_filters: usize,
    (min, max): (usize, usize),
    fill: usize,
    bits_per_key: RangeInclusive<usize>,
) -> [f64; 3] {
    let mut below = drawn(min as u64);
    let mut error = |seed| {
        let num_keys = min + of_any_magnitude(max - min + 1, &mut below) - 1;
        let choices = bits_per_key.end() - bits_per_key.start() + 1;
        let policy = BloomFilterPolicy::new(bits_per_key.start() + below(choices));
        let hashes = random_hashes(num_keys, seed);
        let filter = filter_of_hashes(policy, (num_keys * 100).div_ceil(fill), &hashes);
        let exact = f64::from(u32::try_from(num_keys).expect("few"));
        100.0 * (filter.estimated_num_keys() / exact - 1.0).abs()
    };
    let mut errors: Vec<_> = (0..num_filters as u64).map(&mut error).collect();
    errors.sort_by(f64::total_cmp);
    let errors = [num_filters / 2, num_filters * 9 / 10, num_filters - 1].map(|i| errors[i]);
    println!("{min} to {max} keys, {fill}% full, {bits_per_key:?} bits: {errors:.1?}% off");
    errors
}

/// Asserts the errors that the documentation of `estimated_num_keys` states.
fn assert_estimates_are_near(num_filters: usize, max: usize) {
    for fill in [50, 100] {
        assert_near(errors_of_estimates(num_filters, (1, 9), fill, 5..=30), [10.0, 25.0]);
        assert_near(errors_of_estimates(num_filters, (10, 99), fill, 5..=30), [3.5, 10.0]);
        assert_near(errors_of_estimates(num_filters, (100, max), fill, 5..=30), [1.0, 3.0]);
    }
    assert_near(errors_of_estimates(num_filters, (100, max), 200, 5..=30), [2.0, 6.0]);
    // The fewest bits are the worst.
    for (fill, times) in [(100, 1.0), (200, 1.7)] {
        let sizes = [(10, 99, [6.0, 14.0]), (100, 999, [2.0, 5.0]), (1_000, max, [1.0, 3.0])];
        for (min, max, errors) in sizes {
            let at_most = errors.map(|error| error * times);
            assert_near(errors_of_estimates(num_filters, (min, max), fill, 5..=5), at_most);
        }
    }
}

#[track_caller]
fn assert_near(errors: [f64; 3], [half, most]: [f64; 2]) {
    assert!(errors[0] <= half && errors[1] <= most && errors[2] < 100.0, "{errors:.1?}% off");
}

#[test]
fn estimates_have_the_documented_errors() {
    assert_estimates_are_near(200, 100_000);
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
