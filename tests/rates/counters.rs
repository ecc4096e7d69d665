//! Filters of few and of many counters: no number of keys at which they fail.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{Kind, Run, STEPS};
use crate::common::log_uniform;
use crate::common::numbers_of_keys::{kinds, rates};

/// How many filters of random numbers of counters match 5% of the absent ones and more: LevelDB's
/// filters, and tuned ones with the same keys.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of keys")]
fn num_of_5_per_cent(kinds: &[Kind], num_filters: usize, [low, high]: [f64; 2]) -> [usize; 2] {
    let policies = [BloomFilterPolicy::new(10), BloomFilterPolicy::new(10).tuned()];
    let mut counts = [0; 2];
    let sizes = log_uniform(low, high, 4).map(|size| size as usize);
    for ((seed, size), kind) in (0..).zip(sizes).zip(kinds.iter().cycle()).take(num_filters) {
        let run = Run::draw(kind, size, seed);
        for (count, policy) in counts.iter_mut().zip(policies) {
            *count += usize::from(run.rate(policy) >= 0.05);
        }
    }
    println!("{num_filters} filters of {low} to {high} counters: {counts:?}");
    counts
}

/// A random half is present; one in ten is absent; and counters in steps. With fewer absent ones
/// most rates of 5% are chance.
fn samples() -> [Vec<Kind>; 3] {
    [vec![STEPS[0]], vec![STEPS[0].all_but_one_in(10)], STEPS[1..].to_vec()]
}

#[test]
fn filters_of_1_000_counters_and_more_that_match_5_per_cent_become_rare() {
    for kinds in samples() {
        let [leveldb, tuned] = num_of_5_per_cent(&kinds, 300, [1e3, 8e3]);
        assert!(leveldb >= 8 && 5 * tuned <= leveldb, "{leveldb} {tuned}");
    }
}

/// As long ranges make them.
#[test]
#[ignore = "takes half a minute with optimization"]
#[expect(clippy::cast_precision_loss, reason = "few rates")]
fn at_no_number_of_keys_do_filters_match_3_per_cent() {
    let policy = BloomFilterPolicy::new(10).tuned().with_min_keys(2_000);
    for (name, present, kind) in kinds() {
        let rates: Vec<f64> =
            rates(&kind, [policy], 20_000).into_iter().map(|[rate]| rate).collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let num_above = rates.iter().filter(|&&rate| rate > 0.02).count();
        let worst = rates.iter().copied().fold(0.0, f64::max);
        let line = format!("{name}, {present}: {mean:.4}, {num_above} above 2%, {worst:.4}");
        println!("{line}");
        assert!(mean <= 0.0115 && num_above <= rates.len() / 100 && worst <= 0.03, "{line}");
    }
}
