//! A budget of bytes shared between sorted runs.

use leveldb_filter::{BloomFilterPolicy, SortedRun};

/// The number of filters and the keys of each.
pub type Run = (usize, usize);

pub fn policies(total_len: usize, runs: &[Run]) -> Vec<Option<BloomFilterPolicy>> {
    let sorted_run = |&(num_filters, num_keys): &Run| SortedRun::new(num_filters, num_keys);
    let sorted_runs: Vec<_> = runs.iter().map(sorted_run).collect();
    let policies = BloomFilterPolicy::for_runs(total_len, &sorted_runs);
    assert_eq!(policies.len(), runs.len());
    policies
}

/// The bytes of the runs' filters, if they fit into a `u128`.
pub fn total_len(policies: &[Option<BloomFilterPolicy>], runs: &[Run]) -> u128 {
    let len = |(policy, &(num_filters, num_keys)): (&Option<BloomFilterPolicy>, &Run)| {
        let len = policy.map_or(0, |policy| policy.shape(num_keys).filter_len());
        num_filters as u128 * len as u128
    };
    policies.iter().zip(runs).map(len).sum()
}
