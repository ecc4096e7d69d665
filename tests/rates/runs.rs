//! A budget divided between sorted runs, compared with equal bits.

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use crate::common::measure::{Effort, Rate, false_positive_rate};
use crate::common::runs::{Run, policies, total_len};
use crate::common::{drawn, of_any_magnitude};

#[test]
fn runs_that_cannot_have_filters_get_none() {
    assert_eq!(policies(1000, &[]), []);
    assert_eq!(policies(0, &[(1, 100), (0, 0), (3, 0)]), [None, None, None]);
    assert_eq!(policies(7, &[(1, 1)]), [None]);
    assert_eq!(policies(1_000, &[(3, 0)]), [None]);
    assert_eq!(policies(1000, &[(0, 100), (usize::MAX, 1), (2, usize::MAX)]), [None, None, None]);
    // One millibit per key of the second run is as much as the first can use.
    let [Some(first), None] = policies(1000, &[(1, 100), (1000, 20_000)])[..] else { panic!() };
    assert!(first.millibits_per_key() > 20_000);
    // All bytes, where equal bits would take more.
    let [Some(_), None] = policies(8, &[(1, 1), (1, 1000)])[..] else { panic!() };
    // A 32-bit usize cannot count the bits of this many keys.
    for policy in policies(1 << 30, &[(1, 1 << 29)]).into_iter().flatten() {
        assert!(policy.shape(1 << 29).filter_len() <= 1 << 30);
    }
}

#[test]
fn bytes_that_would_not_help_are_not_used() {
    for runs in [vec![(1, 20_000), (10, 20_000)], vec![(1000, 1), (5, 10)]] {
        let enough = policies(usize::MAX / 2, &runs);
        assert_eq!(policies(usize::MAX, &runs), enough);
    }
    // No more than brings the rate within 1% of the share of keys with equal hashes.
    let [Some(policy)] = policies(usize::MAX, &[(1, 10_000_000)])[..] else { panic!() };
    assert!((15_000..30_000).contains(&policy.millibits_per_key()), "{policy:?}");
}

#[test]
fn bytes_too_few_for_one_run_go_to_the_others() {
    let runs = [1, 10, 100].map(|num_filters| (num_filters, 20_000));
    for tenths_of_a_bit in 2..=14 {
        let budget = 111 * 20_000 * tenths_of_a_bit / 80;
        let used = total_len(&policies(budget, &runs), &runs);
        assert!(used * 100 > budget as u128 * 95, "{used} of {budget} bytes");
    }
}

#[test]
fn runs_with_larger_weights_get_more_bits() {
    let runs = [SortedRun::new(10, 20_000); 2];
    let millibits = |weights: [u32; 2]| {
        let runs = [runs[0].with_weight(weights[0]), runs[1].with_weight(weights[1])];
        let policies = BloomFilterPolicy::for_runs(500_000, &runs);
        [policies[0], policies[1]].map(|policy| policy.map(|policy| policy.millibits_per_key()))
    };
    let alike = millibits([1, 1]);
    assert_eq!([[7, 7], [u32::MAX; 2]].map(millibits), [alike; 2]);
    let [[Some(few), Some(many)], [None, Some(all)]] = [[1, 100], [0, 1]].map(millibits) else {
        panic!("a run of weight 0 has filters, or another has none");
    };
    assert!(few < many && many < all, "{few} {many} {all}");
    let [once, twice] = millibits([SortedRun::new(1, 1).weight, 2]);
    assert!(once < twice, "{once:?} {twice:?}");
    assert_eq!(millibits([0, 0]), [None; 2]);
}

/// The most bits per key for which tuned filters with equal bits for all keys fit.
fn equal_bits(budget: usize, runs: &[Run]) -> Option<BloomFilterPolicy> {
    let policy = |millibits| BloomFilterPolicy::from_millibits_per_key(millibits).tuned();
    let fits = |&millibits: &usize| {
        total_len(&vec![Some(policy(millibits)); runs.len()], runs) <= budget as u128
    };
    let most = (0..16).rev().fold(Some(0).filter(fits)?, |most, bit| {
        Some(most + (1 << bit)).filter(fits).unwrap_or(most)
    });
    Some(policy(most))
}

#[test]
fn equal_bits_are_not_better() {
    const EFFORT: Effort = Effort { matches: 4_000, max_lookups: 1 << 17 };
    let mut below = drawn(2_000);
    let mut ratios = Vec::new();
    while ratios.len() < 40 {
        let num_runs = 1 + below(8);
        let mut draw =
            || (of_any_magnitude(1000, &mut below), 100 * of_any_magnitude(20, &mut below));
        let runs: Vec<Run> = (0..num_runs).map(|_| draw()).collect();
        let policy = BloomFilterPolicy::from_millibits_per_key(1000 + below(23_000)).tuned();
        let budget = total_len(&vec![Some(policy); num_runs], &runs).try_into().expect("small");
        let policies = policies(budget, &runs);
        let equal = Some(equal_bits(budget, &runs).expect("as many as it is the budget of"));
        // Means, and four standard errors.
        let [mut sums, mut noise] = [[0.0; 2]; 2];
        for (&(_, num_keys), shared) in runs.iter().zip(policies) {
            for (i, policy) in [shared, equal].into_iter().enumerate() {
                let one = Rate { mean: 1.0, standard_error: 0.0 };
                let rate = policy.map_or(one, |of| false_positive_rate(of, num_keys, EFFORT));
                sums[i] += rate.mean;
                noise[i] += 4.0 * rate.standard_error;
            }
        }
        let what = format!("{runs:?} in {budget} bytes: {sums:?}");
        assert!(sums[0] - noise[0] <= 1.03 * (sums[1] + noise[1]), "{what}");
        ratios.push(sums[0] / sums[1]);
    }
    ratios.sort_by(f64::total_cmp);
    println!("of equal bits': {ratios:.3?}");
    assert!(ratios[20] < 0.75, "{ratios:.3?}");
}
