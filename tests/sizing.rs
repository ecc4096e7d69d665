//! Policies for a false-positive rate: how few bits per key they take, and what their filters
//! measure.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "sizes and rates need no more than an f64's precision"
)]

mod common;

use common::measure::{Effort, false_positive_rate};
use common::random::words;
use common::strategies::config;
use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;

const SEED: u64 = 0xbc9f1d34;

fn sized(rate: f64, num_keys: usize) -> BloomFilterPolicy {
    BloomFilterPolicy::for_false_positive_rate(rate, num_keys)
        .unwrap_or_else(|| panic!("no filter of {num_keys} keys reaches {rate}"))
}

fn expected(millibits: usize, num_keys: usize) -> f64 {
    let shape = BloomFilterPolicy::from_millibits_per_key(millibits).tuned().shape(num_keys);
    shape.expected_false_positive_rate(num_keys)
}

/// Random numbers from `low` to `high`, as many of each order of magnitude.
fn log_uniform(low: f64, high: f64, seed: u64) -> impl Iterator<Item = f64> {
    words(seed).map(move |word| low * (high / low).powf((word >> 32) as f64 / 4294967296.0))
}

/// Rates and numbers of keys.
fn draws(count: usize, keys: [f64; 2], rates: [f64; 2]) -> Vec<(f64, usize)> {
    let rates = log_uniform(rates[0], rates[1], 1);
    let keys = log_uniform(keys[0], keys[1], 2).map(|num_keys| num_keys as usize);
    rates.zip(keys).take(count).collect()
}

/// Asserts that no policy with 2 % fewer bits per key is expected to reach the rate.
#[track_caller]
fn assert_fewest(rate: f64, num_keys: usize, millibits_from: usize) {
    let millibits = sized(rate, num_keys).millibits_per_key();
    assert!(expected(millibits, num_keys) <= rate, "{rate}, {num_keys} keys");
    let mut fewer = (millibits_from..millibits * 50 / 51).step_by(50);
    let least = fewer.find(|&fewer| expected(fewer, num_keys) <= rate);
    assert_eq!(least, None, "{rate}, {num_keys} keys: {millibits}");
}

#[test]
fn two_per_cent_fewer_bits_do_not_reach_the_rate() {
    for (rate, num_keys) in draws(150, [1.0, 3000.0], [0.0003, 0.5]) {
        assert_fewest(rate, num_keys, 50);
    }
    for (rate, num_keys) in draws(12, [3000.0, 2e6], [0.001, 0.2]) {
        let millibits = sized(rate, num_keys).millibits_per_key();
        assert_fewest(rate, num_keys, millibits * 9 / 10 / 50 * 50);
    }
}

#[test]
#[ignore = "takes 20 seconds with optimization"]
fn two_per_cent_fewer_bits_do_not_reach_the_rate_at_2300_sizes() {
    for (rate, num_keys) in draws(2000, [1.0, 3000.0], [0.0001, 0.9]) {
        assert_fewest(rate, num_keys, 50);
    }
    for (rate, num_keys) in draws(300, [3000.0, 5e6], [0.002, 0.9]) {
        let millibits = sized(rate, num_keys).millibits_per_key();
        assert_fewest(rate, num_keys, millibits * 3 / 4 / 50 * 50);
    }
}

/// Asks for the rate that a policy has, which must not take 2 % and a byte more than it.
fn assert_finds_as_few(draws: usize, keys: [f64; 2], seed: u64) {
    let millibits = log_uniform(4_000.0, 30_000.0, seed).map(|n| n as usize / 50 * 50);
    let keys = log_uniform(keys[0], keys[1], seed + 1).map(|num_keys| num_keys as usize);
    for (millibits, num_keys) in millibits.zip(keys).take(draws) {
        let rate = expected(millibits, num_keys);
        let same_hash = num_keys as f64 / 4294967296.0;
        if (1.1 * same_hash..1.0).contains(&rate) {
            let found = sized(rate, num_keys).millibits_per_key();
            // Near the least rate of all, rates hardly fall with the bits.
            let share = if rate < 1.5 * same_hash { 10 } else { 50 };
            let most = millibits + millibits / share + 50 + 8000 / num_keys;
            assert!(found <= most, "{rate}, {num_keys} keys: {found} {millibits}");
        }
    }
}

#[test]
fn rates_that_policies_have_take_as_few_bits() {
    assert_finds_as_few(100, [1.0, 5e6], 3);
}

#[test]
#[ignore = "takes 20 seconds with optimization"]
fn rates_that_policies_have_take_as_few_bits_at_2000_sizes() {
    assert_finds_as_few(2000, [1.0, 5e6], 5);
}

#[test]
fn neighbouring_sizes_get_nearly_the_same_bits_per_key() {
    for power in 15..=22 {
        for rate in [0.1, 0.03, 0.01, 0.003, 0.001, 0.0003] {
            // Only of so many keys too many share their hash with another.
            if (power, rate) == (21, 0.0003) || (power, rate) == (22, 0.0003) {
                continue;
            }
            let sizes = [(1 << power) - 1, 1 << power, (1 << power) + 1];
            let millibits = sizes.map(|num_keys| sized(rate, num_keys).millibits_per_key());
            let [least, most] =
                [millibits.iter().min(), millibits.iter().max()].map(Option::unwrap);
            assert!(most - least <= 300, "2^{power} keys, {rate}: {millibits:?}");
        }
    }
}

/// Asserts that filters have at most 1.1 times the rate asked for, three standard errors aside.
fn assert_measured(draws: &[(f64, usize)]) {
    for &(rate, num_keys) in draws {
        let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys) else {
            assert!(rate < 1.2 * num_keys as f64 / 4294967296.0, "{rate}, {num_keys} keys");
            continue;
        };
        let num_lookups = (3000.0 / rate) as usize;
        let effort = Effort::with_total_keys(100_000.max(num_lookups / 10), num_keys, num_lookups);
        let measured = false_positive_rate(policy, num_keys, effort, SEED);
        let millibits = policy.millibits_per_key();
        println!("{num_keys} keys, {rate:.5}: {millibits}, {:.3}", measured.mean / rate);
        assert!(
            measured.mean - 3.0 * measured.standard_error <= 1.1 * rate,
            "{num_keys} keys, {rate}: {millibits}, {measured:?}"
        );
    }
}

#[test]
fn filters_made_for_a_rate_have_it() {
    assert_measured(&[(0.1, 300), (0.03, 100), (0.01, 1000), (0.01, 100_000), (0.02, 300_000)]);
}

#[test]
#[ignore = "takes 20 seconds with optimization"]
fn filters_of_all_sizes_made_for_a_rate_have_it() {
    assert_measured(&draws(80, [100.0, 5e6], [0.0003, 0.1]));
    assert_measured(&[(0.01, 10_000_000), (0.004, 10_000_000)]);
}

#[test]
fn a_few_keys_need_no_more_than_the_shortest_filter() {
    for num_keys in 0..=3 {
        assert_eq!(sized(0.01, num_keys).millibits_per_key(), 50);
    }
}

#[test]
fn no_policy_has_a_rate_that_no_filter_reaches() {
    let reached = BloomFilterPolicy::for_false_positive_rate;
    for (rate, num_keys) in [(0.002, 10_000_000), (1e-5, 100_000), (1e-11, 1), (0.5, usize::MAX)] {
        assert_eq!(reached(rate, num_keys), None, "{rate}, {num_keys} keys");
    }
    for rate in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(reached(rate, 1000), None, "{rate}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..config() })]

    #[test]
    fn any_numbers_are_answered(
        rate in prop_oneof![any::<f64>(), (-40..0i32).prop_map(|power| 2f64.powi(power))],
        num_keys in prop_oneof![any::<usize>(), 0..300usize, 0..10_000_000usize],
    ) {
        if let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys) {
            let shape = policy.shape(num_keys);
            prop_assert_eq!(policy, policy.tuned());
            prop_assert!(shape.expected_false_positive_rate(num_keys) <= rate);
            prop_assert!(shape.filter_len() as u64 <= (1 << 29) + 1);
        }
    }
}
