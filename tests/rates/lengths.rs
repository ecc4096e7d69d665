//! Single filters of counters: how many match far more absent neighbours than most do.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{Run, STEPS};
use crate::common::log_uniform;

/// The rates of filters with random numbers of counters, in steps of 1, 2, 3 and 10.
#[derive(Default)]
struct Rates {
    leveldb: Vec<f64>,
    tuned: Vec<f64>,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of keys")]
fn measure(num_filters: usize, [low, high]: [f64; 2]) -> Rates {
    let policy = BloomFilterPolicy::new(10);
    let mut rates = Rates::default();
    let sizes = log_uniform(low, high, 4).map(|size| size as usize);
    for ((seed, size), kind) in (0..).zip(sizes).zip(STEPS.iter().cycle()).take(num_filters) {
        let run = Run::draw(kind, size, seed);
        rates.leveldb.push(run.rate(policy));
        rates.tuned.push(run.rate(policy.tuned()));
    }
    println!("{num_filters} filters of {low} to {high} counters");
    for (name, rates) in [("LevelDB", &mut rates.leveldb), ("tuned", &mut rates.tuned)] {
        rates.sort_by(f64::total_cmp);
        let percent = |permille: usize| 100.0 * rates[(rates.len() - 1) * permille / 1000];
        println!(
            "{name}: {:.3}% in the mean, {:.3}, {:.2} and {:.1} in 500, 990 and 1,000 of 1,000, \
             {} above 5%, {} above 2%",
            100.0 * mean(rates),
            percent(500),
            percent(990),
            percent(1000),
            above(rates, 0.05),
            above(rates, 0.02)
        );
    }
    rates
}

#[expect(clippy::cast_precision_loss, reason = "small")]
fn mean(rates: &[f64]) -> f64 {
    rates.iter().sum::<f64>() / rates.len() as f64
}

fn above(rates: &[f64], limit: f64) -> usize {
    rates.iter().filter(|&&rate| rate > limit).count()
}

#[test]
fn few_tuned_filters_of_counters_are_far_worse_than_most() {
    let rates = measure(400, [1e3, 8e3]);
    assert!(mean(&rates.tuned) < 0.012 && above(&rates.tuned, 0.05) <= 2);
    assert!(mean(&rates.leveldb) > 0.02 && above(&rates.leveldb, 0.05) >= 15);
}

#[test]
#[ignore = "takes minutes with optimization"]
fn one_of_500_tuned_filters_of_1_000_to_100_000_counters_matches_5_percent() {
    let rates = measure(100_000, [1e3, 1e5]);
    assert!(above(&rates.tuned, 0.05) * 500 <= 100_000);
    for sizes in [[1e3, 2e3], [2e3, 4e3], [4e3, 8e3], [8e3, 2e4], [2e4, 1e5]] {
        measure(5_000, sizes);
    }
}

/// The mean rate of `runs` with `num_bytes` bytes of bits; no less than such filters tell apart.
fn rate_of_shape(runs: &[Run], num_bytes: usize, num_probes: u8) -> f64 {
    let rates: Vec<_> = runs.iter().map(|run| run.rate_of_shape(num_bytes, num_probes)).collect();
    mean(&rates).max(1e-4)
}

#[test]
fn a_seventh_probe_makes_more_false_positives_of_counters_than_six_or_eight() {
    let runs: Vec<_> = (0..12).map(|seed| Run::draw(&STEPS[0], 100_000, seed)).collect();
    let rates = [6, 7, 8].map(|probes| rate_of_shape(&runs, 124_997, probes));
    println!("{rates:.4?}");
    assert!(1.2 * rates[0] < rates[1] && 1.1 * rates[0] < rates[2] && rates[2] < rates[1]);
}
