//! What levels gain by dividing the bytes of 10 bits per key between them.

use std::collections::HashMap;

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::{Outcome, POLICY, percent, row, section, times};

/// A sorted run's number of filters, and the keys of each.
type Run = (usize, usize);

const LEVELS: [(&str, &[Run]); 4] = [
    ("1, 10, 100 tables of 20,000 keys", &[(1, 20_000), (10, 20_000), (100, 20_000)]),
    (
        "1, 10, 100, 1,000 tables of 20,000 keys",
        &[(1, 20_000), (10, 20_000), (100, 20_000), (1_000, 20_000)],
    ),
    (
        "1 of 2,000; 20,000; 200,000; 2,000,000",
        &[(1, 2_000), (1, 20_000), (1, 200_000), (1, 2_000_000)],
    ),
    (
        "4 in level 0, then 10, 100 of 40,000",
        &[(1, 40_000), (1, 40_000), (1, 40_000), (1, 40_000), (10, 40_000), (100, 40_000)],
    ),
];

pub(crate) fn table() -> Outcome {
    section(
        "Levels",
        "The table adds up the rates of all sorted runs, since a lookup consults one filter in \
         each. It compares 10 bits for every key with the shares of `for_runs`, in the same bytes. \
         Keys are random.",
        &["tables", "LevelDB", "shared", "times fewer", "bits per key"],
    )?;
    // Many runs have the same filters.
    let mut rates = HashMap::new();
    let mut rate = |(policy, run): (&Option<BloomFilterPolicy>, &Run)| {
        *rates.entry((*policy, run.1)).or_insert_with(|| measure(*policy, run.1))
    };
    for (name, runs) in LEVELS {
        let len = |&(tables, keys): &Run| tables * POLICY.shape(keys).filter_len();
        let sorted: Vec<_> = runs.iter().map(|&(n, keys)| SortedRun::new(n, keys)).collect();
        let policies = BloomFilterPolicy::for_runs(runs.iter().map(len).sum(), &sorted);
        let mut sum = |policies: &[Option<BloomFilterPolicy>]| {
            policies.iter().zip(runs).map(&mut rate).sum::<f64>()
        };
        let [leveldb, shared] = [sum(&vec![Some(POLICY); runs.len()]), sum(&policies)];
        let bits_per_key: Vec<_> = policies.iter().map(|&policy| bits(policy)).collect();
        let figures = [percent(leveldb), percent(shared), times(leveldb, shared)];
        row(&[name, &figures[0], &figures[1], &figures[2], &bits_per_key.join(", ")])?;
    }
    Ok(())
}

fn measure(policy: Option<BloomFilterPolicy>, num_keys: usize) -> f64 {
    // Low rates count for little in a sum.
    let effort = Effort { matches: 40_000, max_lookups: 8_000_000 };
    policy.map_or(1.0, |policy| false_positive_rate(policy, num_keys, effort).mean)
}

fn bits(policy: Option<BloomFilterPolicy>) -> String {
    let Some(policy) = policy else { return "none".into() };
    let tenths = (policy.millibits_per_key() + 50) / 100;
    format!("{}.{}", grouped(tenths / 10), tenths % 10)
}
