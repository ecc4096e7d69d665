//! The closed form of the rate, against filters of random keys.

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash};

use crate::POLICY;
use crate::common::measure::{Effort, false_positive_rate};
use crate::common::random_hashes;

/// The share of random hashes that match filters of `num_keys` others.
fn measured(policy: BloomFilterPolicy, made_for: usize, num_keys: usize) -> f64 {
    let (mut num_matches, mut num_lookups) = (0, 0);
    for seed in 1..=(200_000 / num_keys).max(1) as u64 {
        let mut filter = BloomFilter::empty(policy.shape(made_for));
        for hash in random_hashes(num_keys, seed) {
            filter.insert_hash(BloomHash::from_u32(hash));
        }
        let absent = random_hashes(2_000.max(num_keys), !seed).into_iter().map(BloomHash::from_u32);
        num_lookups += 2_000.max(num_keys);
        num_matches += absent.filter(|&hash| filter.hash_may_match(hash)).count();
    }
    f64::from(u32::try_from(num_matches).unwrap()) / f64::from(u32::try_from(num_lookups).unwrap())
}

#[test]
fn tuned_filters_match_what_the_closed_form_says_also_if_they_are_overfull() {
    for made_for in [40, 150, 1_000, 3_000] {
        for (bits, times) in [(6, 1), (6, 4), (8, 2), (10, 1), (10, 4), (14, 4)] {
            let policy = BloomFilterPolicy::new(bits).tuned();
            let rate = policy.shape(made_for).false_positive_rate(made_for * times);
            let error = rate / measured(policy, made_for, made_for * times) - 1.0;
            assert!(error.abs() < 0.08, "{bits} bits, {times} * {made_for} keys: {error}");
        }
    }
}

/// In large filters the form knows how many third probes there are, but not how often they meet,
/// which is another number for each length.
#[test]
fn large_tuned_filters_match_what_the_closed_form_says_on_average() {
    let effort = Effort { matches: 3_000, max_lookups: 1 << 22 };
    let mut errors = Vec::new();
    for num_keys in [30_000, 45_000, 67_500, 101_250, 151_875, 227_813, 341_719, 512_578] {
        for bits in [6, 8, 10, 12, 14] {
            let policy = BloomFilterPolicy::new(bits).tuned();
            let rate = policy.shape(num_keys).false_positive_rate(num_keys);
            errors.push(rate / false_positive_rate(policy, num_keys, effort).mean - 1.0);
        }
    }
    let mean = errors.iter().map(|error| error.abs()).sum::<f64>() / 40.0;
    println!("The mean error is {:.1}%.", 100.0 * mean);
    assert!(mean < 0.065 && errors.iter().all(|error| error.abs() < 0.4), "{mean}, {errors:?}");
}

#[test]
#[expect(clippy::float_cmp, reason = "0 and 1 are exact")]
fn the_rate_is_0_without_keys_and_1_without_probes_or_with_all_bits_set() {
    // Third probes count from 196,606 bits on.
    for num_bytes in [1, 24_575, 24_576, 1 << 29] {
        let shape = BloomFilterShape::new(num_bytes + 1, 6);
        assert_eq!(shape.false_positive_rate(0), 0.0, "{num_bytes} bytes");
    }
    assert_eq!(POLICY.shape(1).false_positive_rate(usize::MAX), 1.0);
    let no_probes = BloomFilter::new([0; 9]).expect("a probe count of 0 is read");
    assert_eq!(no_probes.shape().false_positive_rate(0), 1.0);
}

/// Hashes reach no further bits.
#[test]
#[expect(clippy::float_cmp, reason = "the same computation")]
fn shapes_of_more_than_2_to_the_32_bits_have_the_rate_of_so_many() {
    let rate = |filter_len| {
        let shape = BloomFilterShape::new(filter_len, 8);
        [1_000, 100_000_000, 1 << 30].map(|num_keys| shape.false_positive_rate(num_keys))
    };
    let most = rate((1 << 29) + 1);
    assert!(most[0] < most[1] && most[1] < most[2] && rate(1 << 29) != most, "{most:?}");
    for filter_len in [(1 << 29) + 2, 1 << 30, usize::MAX] {
        assert_eq!(rate(filter_len), most, "{filter_len} bytes");
    }
}
