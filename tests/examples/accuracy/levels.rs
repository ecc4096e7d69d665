//! What levels gain by dividing the bytes of 10 bits per key between them.

use std::collections::HashMap;
use std::iter;

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::terminal::grouped;
use crate::rates::POLICY;

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

/// The lines of the table, each measured only when the iterator reaches it.
pub(crate) fn table() -> impl Iterator<Item = String> {
    let header = format!(
        "{:39}  {:>7}  {:>6}  {:>5}  bits per key",
        "Sum of the levels' rates, equal bytes", "LevelDB", "shared", "ratio"
    );
    // Many runs have the same filters.
    let mut rates = HashMap::new();
    let mut rate = move |(policy, run): (&Option<BloomFilterPolicy>, &Run)| {
        *rates.entry((*policy, run.1)).or_insert_with(|| measure(*policy, run.1))
    };
    iter::once(header).chain(LEVELS.iter().map(move |(name, runs)| row(name, runs, &mut rate)))
}

fn row(
    name: &str,
    runs: &[Run],
    rate: &mut impl FnMut((&Option<BloomFilterPolicy>, &Run)) -> f64,
) -> String {
    let len = |&(tables, keys): &Run| tables * POLICY.shape(keys).filter_len();
    let sorted: Vec<_> = runs.iter().map(|&(tables, keys)| SortedRun::new(tables, keys)).collect();
    let policies = BloomFilterPolicy::for_runs(runs.iter().map(len).sum(), &sorted);

    let [leveldb, shared] = [vec![Some(POLICY); runs.len()], policies.clone()]
        .map(|policies| policies.iter().zip(runs).map(&mut *rate).sum::<f64>());
    let bits_per_key: Vec<_> = policies.iter().map(|&policy| bits(policy)).collect();
    format!(
        "{name:39}  {:>6.2}%  {:>5.2}%  {:>4.2}x  {}",
        100.0 * leveldb,
        100.0 * shared,
        leveldb / shared,
        bits_per_key.join(", ")
    )
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
