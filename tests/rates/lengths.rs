//! Single filters of counters: how many match far more absent neighbours than most do.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{DIGITS, Run, STEPS};
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

#[expect(clippy::disallowed_methods, reason = "only compared roughly")]
fn geometric_mean(ratios: &[f64]) -> f64 {
    mean(&ratios.iter().map(|ratio| ratio.ln()).collect::<Vec<_>>()).exp()
}

/// For each least length, the rate of the chosen shape over that of the best of the eight lengths
/// with the best of 4 to 10 probes, over the chosen length's with 6 probes, and over that of the
/// first odd length without a factor of 3, 5, 11 or 17.
#[test]
fn tuned_lengths_of_few_keys_are_near_the_best_of_seven_more_bytes() {
    for num_keys in [5, 8, 16] {
        let kinds = STEPS.iter().chain(&DIGITS[1..2]);
        let draw =
            |kind| (0..10_000 / num_keys as u64).map(move |seed| Run::draw(kind, num_keys, seed));
        let runs: Vec<_> = kinds.flat_map(draw).collect();
        let of_length = |len| [4, 5, 6, 7, 8, 10].map(|probes| rate_of_shape(&runs, len, probes));
        let rates: Vec<_> = (31..72).map(of_length).collect();
        let mut ratios = [const { Vec::new() }; 3];
        for (least, rates_from) in (31..=64).zip(rates.windows(8)) {
            let policy = BloomFilterPolicy::new(10).tuned().with_min_filter_len(least + 1);
            let shape = policy.shape(num_keys);
            let added = shape.filter_len() - (least + 1);
            let rate = rate_of_shape(&runs, least + added, shape.num_probes());
            let best = rates_from.as_flattened().iter().copied().fold(1.0, f64::min);
            let has_none = |more: &usize| [2, 3, 5, 11, 17].iter().all(|f| (least + more) % f != 0);
            let first = (0..8).find(has_none).unwrap_or(added);
            for (ratios, other) in
                ratios.iter_mut().zip([best, rates_from[added][2], rates_from[first][2]])
            {
                ratios.push(rate / other);
            }
        }
        let means = ratios.each_ref().map(|ratios| geometric_mean(ratios));
        let worst = ratios[0].iter().copied().fold(0.0, f64::max);
        println!("{num_keys} keys: {means:.2?} in the mean, at worst {worst:.2} of the best");
        assert!(means[0] < 1.3 && means[1] < 1.02 && means[2] < 0.95 && worst < 2.0);
    }
}

#[test]
fn a_seventh_probe_makes_more_false_positives_of_counters_than_six_or_eight() {
    let runs: Vec<_> = (0..12).map(|seed| Run::draw(&STEPS[0], 100_000, seed)).collect();
    let rates = [6, 7, 8].map(|probes| rate_of_shape(&runs, 124_997, probes));
    println!("{rates:.4?}");
    assert!(1.2 * rates[0] < rates[1] && 1.1 * rates[0] < rates[2] && rates[2] < rates[1]);
}
