//! Policies for a false-positive rate: their filters measure this rate, and take no more bits than
//! they need.

use leveldb_filter::BloomFilterPolicy;

use crate::common::log_uniform;
use crate::common::measure::{Effort, false_positive_rate};

/// Random rates and numbers of keys.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10 million")]
fn problems(count: usize, min_keys: f64, max_keys: f64) -> Vec<(f64, usize)> {
    let rates = log_uniform(1e-5, 0.2, 1);
    let keys = log_uniform(min_keys, max_keys, 2).map(|num_keys| num_keys as usize);
    rates.zip(keys).take(count).collect()
}

/// Where searches found the largest ratios.
#[rustfmt::skip]
const HARD: [(f64, usize); 12] = [
    (0.00114, 1), (0.00011, 1), (0.0003, 2), (0.0027, 6), (0.00034445, 15), (0.132, 27), (0.14, 28),
    (0.023079, 116), (0.16, 177), (0.172, 404), (0.00181, 63_018), (0.0010106, 168_594),
];

/// About the least rate for which filters are the same, and the measured ratio is the largest.
fn least_alike(rate: f64, num_keys: usize) -> f64 {
    let shape = |rate| {
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys)?;
        Some(policy.shape(num_keys))
    };
    let mut least = rate;
    while least > 1e-5 && shape(0.997 * least) == shape(rate) {
        least *= 0.997;
    }
    least
}

/// The measured rate over the wanted one, for the problems that have an answer, sorted.
fn measured_over_asked(problems: &[(f64, usize)], effort: Effort) -> Vec<f64> {
    let mut ratios = Vec::new();
    for &(rate, num_keys) in problems {
        let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys) else {
            // Too many keys have equal hashes.
            let num_keys = f64::from(u32::try_from(num_keys).unwrap());
            assert!(rate < 1.05 * num_keys / 4294967296.0, "{rate}, {num_keys} keys");
            continue;
        };
        let measured = false_positive_rate(policy, num_keys, effort);
        // Otherwise the ratio would be mostly measurement error.
        if measured.standard_error < 0.03 * measured.mean {
            ratios.push(measured.mean / rate);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let at = |percent: usize| (percent, ratios[(ratios.len() - 1) * percent / 100]);
    let figures = [0, 2, 25, 50, 75, 97, 100].map(at);
    println!("measured over wanted rate, {} problems, percentiles: {figures:.3?}", ratios.len());
    ratios
}

#[test]
fn filters_made_for_a_rate_have_it() {
    let effort = Effort { matches: 2500, max_lookups: 1 << 20 };
    let ratios = measured_over_asked(&problems(50, 100.0, 50_000.0), effort);
    assert!(ratios.len() >= 25);
    assert!(ratios[0] > 0.85 && ratios[ratios.len() - 1] < 1.1, "{ratios:?}");
}

#[test]
#[ignore = "takes a minute with optimization"]
fn filters_made_for_300_rates_have_them() {
    let effort = Effort { matches: 10_000, max_lookups: 100_000_000 };
    let ratios = measured_over_asked(&problems(300, 100.0, 1e7), effort);
    let quarter = ratios.len() / 4;
    assert!(ratios[quarter] >= 0.98 && ratios[3 * quarter] <= 1.02, "{ratios:?}");
    // With three or four probes for hundreds of keys the formula counts too many lookalikes.
    assert!(ratios[0] > 0.8 && ratios[ratios.len() - 1] < 1.1, "{ratios:?}");
}

/// Below 16 keys rates are often far lower, since no filter is shorter than 7 bytes; they are
/// highest for lengths of 15 and 17 bytes.
#[test]
#[ignore = "takes minutes with optimization"]
#[expect(clippy::cast_precision_loss, reason = "numbers of keys")]
fn rates_of_each_number_of_keys_are_at_most_a_little_higher_than_asked() {
    let effort = Effort { matches: 10_000, max_lookups: 1 << 24 };
    for (keys, at_most) in [
        ([1.0, 4.0], 2.25),
        ([4.0, 16.0], 1.9),
        ([16.0, 100.0], 1.3),
        ([100.0, 1e3], 1.2),
        ([1e3, 1e5], 1.2),
        ([1e5, 1e7], 1.2),
    ] {
        println!("{keys:?} keys");
        let mut problems = problems(150, keys[0], keys[1]);
        problems.extend(HARD.iter().filter(|hard| (keys[0]..keys[1]).contains(&(hard.1 as f64))));
        for (rate, num_keys) in &mut problems {
            *rate = least_alike(*rate, *num_keys);
        }
        let ratios = measured_over_asked(&problems, effort);
        assert!(ratios[ratios.len() - 1] < at_most, "{keys:?}: {ratios:?}");
    }
}

#[test]
fn filters_with_5_percent_fewer_bits_miss_the_rate() {
    let effort = Effort { matches: 8000, max_lookups: 1 << 20 };
    for (rate, num_keys) in [(0.1, 2_000), (0.01, 20_000), (0.003, 5_000), (0.02, 100_000)] {
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys).unwrap();
        let fewer = policy.millibits_per_key() * 19 / 20;
        let fewer = BloomFilterPolicy::from_millibits_per_key(fewer).tuned();
        let measured = false_positive_rate(fewer, num_keys, effort);
        assert!(measured.mean > 1.05 * rate, "{rate}, {num_keys} keys: {measured:?}");
    }
}

#[test]
fn neighbouring_sizes_get_nearly_the_same_bits_per_key() {
    for power in 9..=22 {
        // Among more keys, too many have equal hashes for the lowest rate.
        let num_rates = if power <= 20 { 6 } else { 5 };
        for &rate in &[0.1, 0.03, 0.01, 0.003, 0.001, 0.0003][..num_rates] {
            let reached = |n| BloomFilterPolicy::for_false_positive_rate(rate, n).unwrap();
            let mut millibits =
                [0, 1, 2].map(|i| reached((1 << power) + i - 1).millibits_per_key());
            millibits.sort_unstable();
            assert!(millibits[2] - millibits[0] <= 300, "2^{power} keys, {rate}: {millibits:?}");
        }
    }
}
