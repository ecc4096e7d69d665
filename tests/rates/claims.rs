//! Searches for the worst that README and the documentation tell of filters of many sizes: sizes at
//! random, and those at which earlier searches found the worst.
//!
//! `lengths`, `runs`, `sizing`, `tuned` and `keys` search the worst filter of counters, division of
//! a budget, measured rate, random keys, and few keys.

#![expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small")]

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomHash, bloom_hash};

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::{drawn, log_uniform, of_any_magnitude, random_hashes};

const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);

#[expect(clippy::cast_sign_loss, reason = "numbers of keys")]
fn sizes(low: f64, high: f64, seed: u64) -> impl Iterator<Item = usize> {
    log_uniform(low, high, seed).map(|size| size as usize)
}

/// Prints percentiles of figures and where the largest was; returns the least, the figure that nine
/// in ten do not exceed, and the largest.
fn percentiles(what: &str, figures: impl Iterator<Item = (f64, String)>) -> [f64; 3] {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = |percent: usize| figures[(figures.len() - 1) * percent / 100].0;
    let shown = [0, 50, 90, 100].map(at);
    println!("{what}: {shown:.4?} at {}", figures[figures.len() - 1].1);
    [0, 90, 100].map(at)
}

#[test]
#[ignore = "a search"]
fn filters_of_28_100_to_136_million_keys_have_two_more_probes() {
    for num_keys in sizes(28_100.0, 136e6, 1).take(1_000_000).chain([168_594, 54_079, 1_697_378]) {
        assert_eq!(LEVELDB.tuned().shape(num_keys).num_probes(), 8, "{num_keys} keys");
    }
}

#[test]
#[ignore = "a search"]
fn leveldbs_filters_of_20_to_20_000_random_keys_match_about_1_percent() {
    let effort = Effort { matches: 40_000, max_lookups: 1 << 23 };
    let rate = |num_keys| {
        (false_positive_rate(LEVELDB, num_keys, effort).mean, format!("{num_keys} keys"))
    };
    let sizes = sizes(20.0, 20e3, 2).take(300).chain([20, 20_000, 15_000, 35]);
    let [least, _, most] = percentiles("LevelDB's with random keys", sizes.map(rate));
    assert!(least > 0.008 && most < 0.013);
}

#[test]
#[ignore = "a search"]
fn filters_of_6_to_20_000_keys_are_about_0_45_full() {
    let fill = |num_keys: usize| {
        let mut sum = 0.0;
        for seed in 0..50 {
            let mut filter = BloomFilter::empty(LEVELDB.shape(num_keys));
            for hash in random_hashes(num_keys, seed) {
                filter.insert_hash(BloomHash::from_u32(hash));
            }
            sum += filter.fill_ratio() / 50.0;
        }
        (sum, format!("{num_keys} keys"))
    };
    let [least, _, most] =
        percentiles("fill ratio", sizes(6.0, 20e3, 3).take(300).chain([6, 7]).map(fill));
    assert!(least > 0.42 && most < 0.47);
}

#[test]
#[ignore = "a search"]
fn digits_share_hashes_most_if_their_number_is_a_multiple_of_4() {
    for num_digits in [6, 7, 8, 9, 11, 12, 13, 14, 16, 18, 20] {
        let mut below = drawn(num_digits as u64);
        let share = |_| {
            let start = of_any_magnitude(10_usize.pow(num_digits.min(18) as u32 - 1), &mut below);
            let is_alternate = below(2) == 0;
            let hash = |n| bloom_hash(format!("{:0num_digits$}", start + n).as_bytes());
            let (mut present, mut absent) = (vec![], vec![]);
            for n in 0..800_000 {
                let is_absent = if is_alternate { n % 2 } else { below(2) } == 1;
                if is_absent { &mut absent } else { &mut present }.push(hash(n));
            }
            present.sort_unstable();
            let same = absent.iter().filter(|hash| present.binary_search(hash).is_ok()).count();
            (same as f64 / absent.len() as f64, format!("from {start}, {is_alternate}"))
        };
        let [least, _, most] = percentiles(&format!("{num_digits} digits"), (0..24).map(share));
        let [low, high] = if num_digits % 4 == 0 { [0.02, 0.18] } else { [0.0, 0.07] };
        assert!(low <= least && most <= high, "{num_digits} digits: {least} {most}");
    }
}
