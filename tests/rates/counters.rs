//! Single filters of counters: how many match far more absent neighbours than most do.

use leveldb_filter::BloomFilterPolicy;

use crate::common::kinds::{Kind, Run, STEPS};
use crate::common::log_uniform;

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
