//! A budget divided between sorted runs, compared with equal bits.

use leveldb_filter::{BloomFilterPolicy, SortedRun};

use crate::common::measure::{Effort, Rate, false_positive_rate};
use crate::common::runs::{Run, policies, sorted_runs, total_len};
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
    assert_eq!(millibits([0, 0]), [None; 2]);
}

/// The policies with equal bits for all keys, with the most bits for which the filters fit.
fn equal(budget: usize, runs: &[Run]) -> Option<Vec<Option<BloomFilterPolicy>>> {
    let policies = |millibits| {
        vec![Some(BloomFilterPolicy::from_millibits_per_key(millibits).tuned()); runs.len()]
    };
    let fits = |&millibits: &usize| total_len(&policies(millibits), runs) <= budget as u128;
    let mut most = Some(0).filter(fits)?;
    for bit in (0..16).rev() {
        most = Some(most + (1 << bit)).filter(fits).unwrap_or(most);
    }
    Some(policies(most))
}

/// Asserts that in none of `num_problems` random problems `for_runs` does worse than equal bits.
fn assert_not_worse_than_equal_bits(num_problems: usize, max: usize, effort: Effort) {
    let mut below = drawn(max as u64);
    let mut ratios = Vec::new();
    while ratios.len() < num_problems {
        let num_runs = 1 + below(8);
        let mut draw =
            || (of_any_magnitude(1000, &mut below), 100 * of_any_magnitude(max / 100, &mut below));
        let runs: Vec<Run> = (0..num_runs).map(|_| draw()).collect();
        let policy = BloomFilterPolicy::from_millibits_per_key(1000 + below(23_000));
        let policy = if below(2) == 0 { policy } else { policy.tuned() };
        let mut weighted = sorted_runs(&runs);
        for run in &mut weighted {
            *run = run.with_weight(of_any_magnitude(1000, &mut below).try_into().expect("small"));
        }
        let budget = total_len(&vec![Some(policy); num_runs], &runs).try_into().expect("small");
        let policies = BloomFilterPolicy::for_runs(budget, &weighted);
        assert!(total_len(&policies, &runs) <= budget as u128, "{weighted:?} in {budget} bytes");
        let Some(equal) = equal(budget, &runs).filter(|equal| *equal != policies) else { continue };
        // Plus four standard errors.
        let sum = |policies: &[Option<BloomFilterPolicy>]| {
            let (mut sum, mut variance) = (0.0, 0.0);
            for (run, policy) in weighted.iter().zip(policies) {
                let one = Rate { mean: 1.0, standard_error: 0.0 };
                let measure = |policy| false_positive_rate(policy, run.keys_per_filter, effort);
                let rate = policy.map_or(one, measure);
                sum += f64::from(run.weight) * rate.mean;
                let error = f64::from(run.weight) * rate.standard_error;
                variance += error * error;
            }
            (sum, 4.0 * variance.sqrt())
        };
        let ((sum, noise), (of_equal, noise_of_equal)) = (sum(&policies), sum(&equal));
        let what =
            format!("{weighted:?} in {budget} bytes: {sum} {of_equal} {policies:?} {equal:?}");
        assert!(sum - noise <= 1.03 * (of_equal + noise_of_equal), "{what}");
        ratios.push(sum / of_equal);
    }
    ratios.sort_by(f64::total_cmp);
    let [half, most] = [num_problems / 2, num_problems - 1].map(|i| ratios[i]);
    println!(
        "{num_problems} problems up to {max} keys: {half:.3} of equal bits' in half, {most:.3} most"
    );
    assert!(half < 0.75, "{ratios:.3?}");
}

#[test]
fn equal_bits_are_not_better() {
    assert_not_worse_than_equal_bits(40, 2_000, Effort { matches: 4000, max_lookups: 1 << 17 });
}
