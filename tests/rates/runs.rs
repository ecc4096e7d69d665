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
    #[cfg(target_pointer_width = "64")] // which can count so many keys
    assert_eq!(policies(usize::MAX, &[(1 << 40, 2_000)]), policies(usize::MAX, &[(1, 2_000)]));
    // More would hardly help, because 0.23% of absent keys have the hash of a present key.
    let [Some(policy)] = policies(usize::MAX, &[(1, 10_000_000)])[..] else { panic!() };
    assert_eq!(policy.millibits_per_key(), 20_710);
}

/// From 0.2 bits a key up for filters of 2,000 keys and more, from 1 bit for 400 keys and more. A
/// run without filters cannot use bytes that are too few for filters of 8 bytes.
#[test]
fn random_runs_use_nearly_all_bytes_unless_all_filters_have_the_most() {
    let mut below = drawn(1);
    for i in 0..600 {
        let (least_keys, least_tenths) = [(2_000, 2), (400, 10)][i % 2];
        let num_runs = 1 + below(5);
        let mut run = || {
            let keys_per_filter = least_keys * of_any_magnitude(50_000 / least_keys, &mut below);
            (of_any_magnitude(300, &mut below), keys_per_filter + below(least_keys))
        };
        let runs: Vec<Run> = (0..num_runs).map(|_| run()).collect();
        let num_keys: usize = runs.iter().map(|run| run.0 * run.1).sum();
        let tenths = least_tenths - 1 + of_any_magnitude(400, &mut below);
        let budget = num_keys * tenths / 80;
        let policies = policies(budget, &runs);
        let used = total_len(&policies, &runs);
        let most = self::policies(usize::MAX, &runs);
        let of_none = policies.iter().zip(&runs).filter(|(policy, _)| policy.is_none());
        let least = of_none.map(|(_, run)| run.0 as u128 * 8).max().unwrap_or(0);
        let is_used = (used + least) * 20 >= budget as u128 * 19 || policies == most;
        assert!(is_used, "{used} of {budget} bytes, {runs:?}");
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

/// Three and four levels, each with ten times the filters of the level above, in the bytes of
/// LevelDB's filters. Few keys and few bits are the hardest, because no filter is below 8 bytes.
#[test]
fn levels_of_equal_filters_have_no_more_false_positives_than_equal_bits() {
    const EFFORT: Effort = Effort { matches: 4_000, max_lookups: 1 << 17 };
    let mut below = drawn(2_000);
    let mut ratios = Vec::new();
    for i in 0..60 {
        let num_keys = of_any_magnitude([40, 20_000][i % 2], &mut below);
        let equal = BloomFilterPolicy::from_millibits_per_key(2_000 + below(14_001));
        let num_levels = u32::try_from(3 + below(2)).expect("few");
        let runs: Vec<Run> = (0..num_levels).map(|i| (10_usize.pow(i), num_keys)).collect();
        let budget = total_len(&vec![Some(equal); runs.len()], &runs).try_into().expect("small");
        // Means, and four standard errors.
        let sum = |policies: &[Option<BloomFilterPolicy>]| {
            let rate = |policy: &Option<BloomFilterPolicy>| {
                let one = Rate { mean: 1.0, standard_error: 0.0 };
                policy.map_or(one, |policy| false_positive_rate(policy, num_keys, EFFORT))
            };
            let rates = policies.iter().map(rate);
            rates.fold((0.0, 0.0), |sum, r| (sum.0 + r.mean, sum.1 + 4.0 * r.standard_error))
        };
        let shared = sum(&policies(budget, &runs));
        let of_equal = sum(&vec![Some(equal.tuned()); runs.len()]);
        let what = || format!("{runs:?} in {budget} bytes: {shared:?} {of_equal:?}");
        assert!(shared.0 - shared.1 <= of_equal.0 + of_equal.1, "{}", what());
        ratios.push(shared.0 / of_equal.0);
    }
    ratios.sort_by(f64::total_cmp);
    assert!(ratios[30] < 0.75, "{ratios:.3?}");
}
