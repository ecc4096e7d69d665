//! Divides a budget of bytes between the filters of several sorted runs.
//!
//! A lookup of an absent key costs the sum of the runs' false-positive rates, each times its
//! weight. One more bit per key multiplies a run's rate by 0.62 and costs as many bits as the run
//! has keys. So at the optimum `rate * weight / keys` is the same in every run, [as in
//! Monkey](https://stratos.seas.harvard.edu/publications/monkey-optimal-navigable-key-value-store):
//! otherwise moving a byte from one run to another would lower the sum. In bits per key:
//!
//! ```text
//! bits of a run = level - log2(keys of the run / weight) / ln 2
//! ```
//!
//! where `level` is one number for all runs. [`fill`] finds the highest level whose filters fit.

use alloc::{vec, vec::Vec};

use super::sizing::{MANY_KEYS, TunedSize};
use crate::bloom::shape::NUM_HASHES;

/// The filters of one sorted run: a level, or a single table of level 0. A lookup consults one
/// filter of each run.
///
/// For [`BloomFilterPolicy::for_runs`](crate::BloomFilterPolicy::for_runs). A recipe says [how to
/// count filters](crate::recipes#memory-for-levels).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, SortedRun};
/// let levels = [1, 10, 100].map(|num_filters| SortedRun::new(num_filters, 20_000));
/// let policies = BloomFilterPolicy::for_runs(111 * 25_001, &levels); // 10 bits per key
/// let bits = policies.iter().map(|policy| policy.unwrap().millibits_per_key() / 1000);
/// assert!(bits.eq([19, 14, 9]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortedRun {
    /// The number of filters in the run.
    pub num_filters: usize,
    /// Roughly how many keys each filter has.
    pub keys_per_filter: usize,
    /// How many lookups search this run for a key that it does not contain, relative to other runs.
    pub weight: u32,
}

impl SortedRun {
    /// Creates a run of weight 1.
    #[must_use]
    pub const fn new(num_filters: usize, keys_per_filter: usize) -> Self {
        Self { num_filters, keys_per_filter, weight: 1 }
    }

    /// Sets the run's weight. For example, 1 for a level that spans a tenth of the keys, next to
    /// levels of weight 10 that span all of them. A run of weight 0 gets no filters.
    #[must_use]
    pub const fn with_weight(self, weight: u32) -> Self {
        Self { weight, ..self }
    }
}

/// How many more millibits per key it takes to divide a false-positive rate by `x`:
/// `1000 * log2(x) / ln 2`, so 1443 for each factor of 2. Linear between powers of two, to give the
/// same result on every platform.
fn millibits_to_divide_rate_by(x: u64) -> u64 {
    let x = x.max(1);
    let log2 = x.ilog2();
    // The highest 32 bits, without the first.
    let beyond = (x << (63 - log2) >> 32) - (1 << 31);
    1443 * u64::from(log2) + ((1443 * beyond) >> 31)
}

/// For each run the size of its tuned filters, or `None` for no filters.
///
/// Tries two rules and keeps the one with the lower expected sum: the optimum of the module's
/// header, and equal bits for all keys. The former can be worse if filters are so small that they
/// have LevelDB's least length of 64 bits, which the optimum ignores.
pub(in crate::bloom) fn sizes_for_runs(total: usize, runs: &[SortedRun]) -> Vec<Option<TunedSize>> {
    let by_worth = |run: &SortedRun, keys_per_filter: usize, level: u64| {
        let num_keys = (run.num_filters as u64).saturating_mul(run.keys_per_filter as u64);
        let by_keys = millibits_to_divide_rate_by(num_keys);
        // No weight reaches 2^32, so this is positive.
        let by_weight = 32 * 1443 - millibits_to_divide_rate_by(run.weight.into());
        let share = level.checked_sub(by_keys + by_weight)?;
        // Up to here, the optimum for ordinary false positives, whose rate falls exponentially. A
        // second kind, absent keys that share two probes with one key, has the rate 8 / (n * b^2)
        // for n keys with b bits each, which falls more slowly. One more bit gains as much on the
        // second kind as on the ordinary kind with `share` where b^3 = 2^(5 + share / 1443) / n,
        // from 16 / (n * b^3) = ln(2)^2 * 2^(-share / 1443). That b is taken if it is more.
        let by_keys = millibits_to_divide_rate_by(keys_per_filter as u64);
        let log2 = ((share + 5 * 1443).saturating_sub(by_keys) / 3).min(18 * 1443);
        Some(share.max((1000 + 1000 * (log2 % 1443) / 1443) << (log2 / 1443)))
    };
    let mut kept = runs.to_vec();
    for (run, size) in kept.iter_mut().zip(fill(total, runs, by_worth)) {
        run.weight *= u32::from(size.is_some());
    }
    // The least filters of the next run did not fit, so the runs that have filters get the rest.
    let sizes = fill(total, &kept, by_worth);
    let equal = fill(total, runs, |_, _, level| (level > 0).then_some(level));
    if sum_of_rates(runs, &equal) < sum_of_rates(runs, &sizes) { equal } else { sizes }
}

/// The most millibits per key worth giving to filters: 8 bits beyond where the rate reaches the
/// share of absent keys with the hash of a present key, which no filter can go below.
fn max_millibits(keys_per_filter: usize) -> u64 {
    let by_keys = millibits_to_divide_rate_by(keys_per_filter as u64);
    millibits_to_divide_rate_by(NUM_HASHES).saturating_sub(by_keys) + 8_000
}

/// The size of a run's filters, by the millibits per key that a rule gives to a number of keys.
fn size(run: &SortedRun, rule: impl Fn(usize) -> Option<u64>) -> Option<TunedSize> {
    let num_keys = run.keys_per_filter;
    if run.num_filters == 0 || num_keys == 0 || run.weight == 0 {
        return None;
    }
    // In filters of 2^18 bits, fewer absent keys share two probes with a key than share its hash.
    let most = max_millibits(num_keys).max((1000 << 18) / num_keys as u64);
    let total = rule(num_keys)?.min(most).saturating_mul(num_keys as u64);
    let total = total.min((NUM_HASHES - 1) * 1000); // which is all that hashes reach
    // The same length, but with the bits per key that many keys need.
    let many_keys = num_keys.max(MANY_KEYS);
    let millibits_of_many = rule(many_keys)?.min(max_millibits(many_keys)).max(1);
    let counted = total.div_ceil(millibits_of_many).max(num_keys as u64);
    let min_keys = usize::try_from(counted).ok().filter(|&counted| counted > num_keys);
    Some(TunedSize { millibits_per_key: total / counted, min_keys: min_keys.unwrap_or(0) })
}

/// The sizes at the highest level whose filters fit into `total` bytes, which are none at level 0.
/// A binary search, one bit of the level at a time.
fn fill(
    total: usize,
    runs: &[SortedRun],
    rule: impl Fn(&SortedRun, usize, u64) -> Option<u64>,
) -> Vec<Option<TunedSize>> {
    let at = |level| {
        let size = |run| size(run, |keys_per_filter| rule(run, keys_per_filter, level));
        let sizes: Vec<_> = runs.iter().map(size).collect();
        // LevelDB's lengths are computed much faster, and never shorter than tuned lengths. So if
        // they fit, tuned filters do.
        let fits = fits(total, runs, &sizes, false) || fits(total, runs, &sizes, true);
        fits.then_some(sizes)
    };
    let mut best = (0, vec![None; runs.len()]);
    // 2^28 millibits exceed every run's maximum.
    for bit in (0..28).rev() {
        let level = best.0 | 1 << bit;
        best = at(level).map_or(best, |sizes| (level, sizes));
    }
    best.1
}

/// Whether the runs' filters take at most `total` bytes, the probe counts included.
fn fits(total: usize, runs: &[SortedRun], sizes: &[Option<TunedSize>], is_tuned: bool) -> bool {
    let take = |rest: usize, (run, size): (&SortedRun, &Option<TunedSize>)| {
        let Some(size) = size else { return Some(rest) };
        let num_keys = run.keys_per_filter;
        let shape = if is_tuned { size.tuned(num_keys)? } else { size.leveldb(num_keys)?.0 };
        rest.checked_sub(shape.num_bytes.checked_add(1)?.checked_mul(run.num_filters)?)
    };
    runs.iter().zip(sizes).try_fold(total, take).is_some()
}

/// The runs' expected rates, times their weights.
fn sum_of_rates(runs: &[SortedRun], sizes: &[Option<TunedSize>]) -> f64 {
    let rate = |(run, size): (&SortedRun, &Option<TunedSize>)| {
        f64::from(run.weight) * size.map_or(1.0, |size| size.rate(run.keys_per_filter))
    };
    runs.iter().zip(sizes).map(rate).sum()
}
