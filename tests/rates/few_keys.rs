//! Tuned filters of few keys, such as LevelDB's ranges of 2 KiB have.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{COUNTERS, DIGITS, RANDOM, Run};

/// A fifth of counters match at most sizes, which is what LevelDB's hash allows. Limits are a little
/// above what is measured: the mean of LevelDB's and of tuned filters, and the worst tuned filters
/// of 40 keys and more at 10 bits per key and more.
#[test]
#[expect(clippy::cast_precision_loss, reason = "few rates")]
fn at_no_size_do_filters_of_few_keys_match_most_absent_keys() {
    for (kind, least_of_leveldb, most, worst) in [
        (COUNTERS[0], 0.20, 0.115, 0.35),
        (DIGITS[1], 0.04, 0.02, 0.12),
        (DIGITS[3], 0.05, 0.025, 0.08),
        (RANDOM[0], 0.009, 0.0105, 0.02),
    ] {
        let (mut sums, mut num_rates, mut highest) = ([0.0; 2], 0, (0.0, 0, 0));
        for (num_keys, bits) in
            (1..=400).step_by(3).flat_map(|n| (6..=24).step_by(2).map(move |b| (n, b)))
        {
            let policies = [false, true].map(|is_tuned| {
                let policy = BloomFilterPolicy::new(bits);
                if is_tuned { policy.tuned() } else { policy }
            });
            let num_runs = 1_000_u64.div_ceil(num_keys as u64);
            let mut rates = [0.0; 2];
            for seed in 0..num_runs {
                let run = Run::draw(&kind, num_keys, seed << 32 | num_keys as u64);
                for (rate, policy) in rates.iter_mut().zip(policies) {
                    *rate += run.rate(policy) / num_runs as f64;
                }
            }
            sums = [sums[0] + rates[0], sums[1] + rates[1]];
            num_rates += 1;
            if num_keys >= 40 && bits >= 10 && rates[1] > highest.0 {
                highest = (rates[1], num_keys, bits);
            }
        }
        let [leveldb, tuned] = sums.map(|sum| sum / f64::from(num_rates));
        let line = format!("{}: {leveldb:.4} {tuned:.4} {highest:.4?}", kind.name);
        println!("{line}");
        assert!(leveldb > least_of_leveldb && tuned < most && highest.0 < worst, "{line}");
    }
}
