//! A budget shared by the filters of several sorted runs.

use super::tuned::tuned_shape;
use crate::bloom::shape::{BloomFilterShape, NUM_HASHES};

/// The filters of a sorted run, of which a lookup asks one: those of a level's tables, or that of
/// one table in level 0. For [`BloomFilterPolicy::for_runs`](crate::BloomFilterPolicy::for_runs).
/// [How to count them](crate::recipes#memory-for-levels).
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
    /// About the number of keys that each of them has.
    pub keys_per_filter: usize,
    /// How many lookups ask the run for a key that it lacks, relative to the other runs.
    pub weight: u32,
}

impl SortedRun {
    /// A run of weight 1.
    #[must_use]
    pub const fn new(num_filters: usize, keys_per_filter: usize) -> Self {
        Self { num_filters, keys_per_filter, weight: 1 }
    }

    /// The same run with another weight: 1 for a level that covers a tenth of the keys, if those
    /// that cover all have 10. With 0 it gets no filters.
    #[must_use]
    pub const fn with_weight(self, weight: u32) -> Self {
        Self { weight, ..self }
    }
}

/// How many millibits more for each key divide a rate by `x`: `log2(x) / ln(2)`, in thousandths;
/// linear between powers of two, and the same on every platform.
fn to_divide_by(x: u64) -> u64 {
    let x = x.max(1);
    let log2 = x.ilog2();
    // Of the highest 32 bits.
    let beyond = (x << (63 - log2) >> 32) - (1 << 31);
    1443 * u64::from(log2) + ((1443 * beyond) >> 31)
}

/// For each run the millibits per key of tuned filters; `None` is a run without filters.
///
/// A byte is worth the same in all runs where their rates times their weights are as their numbers
/// of keys. That knows nothing of least lengths: so equal bits for all keys are tried, too.
pub(in crate::bloom) fn millibits_for_runs(total: usize, runs: &[SortedRun]) -> Vec<Option<u64>> {
    let by_worth = |run: &SortedRun, level: u64| {
        let num_keys = run.num_filters.saturating_mul(run.keys_per_filter);
        let by_weight = to_divide_by(u32::MAX.into()) - to_divide_by(run.weight.into());
        let share = level.checked_sub(to_divide_by(num_keys as u64) + by_weight)?;
        // Absent keys that share two probes with one, 8 / (n * b^2) of them at b bits per key,
        // become rarer more slowly: as much as others do where b^3 is 2^(5 + share / 1443) / n.
        let of_cube = (share + 5 * 1443).saturating_sub(to_divide_by(run.keys_per_filter as u64));
        let log2 = (of_cube / 3).min(18 * 1443);
        Some(share.max((1000 + 1000 * (log2 % 1443) / 1443) << (log2 / 1443)))
    };
    let shares = [fill(total, runs, by_worth), fill(total, runs, |_, level| Some(level))];
    let shares = shares.into_iter().flatten().map(|share| (sum_of_rates(runs, &share), share));
    let best = shares.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| vec![None; runs.len()], |(_, share)| share)
}

/// The most millibits per key of a run with keys: 8 bits beyond what reaches the share of equal
/// hashes, or 2<sup>18</sup> bits in all, where fewer keys share two probes than a hash.
fn most(run: &SortedRun) -> u64 {
    let num_keys = run.keys_per_filter as u64;
    let equal_hashes = to_divide_by(NUM_HASHES).saturating_sub(to_divide_by(num_keys));
    (equal_hashes + 8_000).max((1000 << 18) / num_keys)
}

/// The runs' shares at the highest level at which their filters fit.
fn fill(
    total: usize,
    runs: &[SortedRun],
    share: impl Fn(&SortedRun, u64) -> Option<u64>,
) -> Option<Vec<Option<u64>>> {
    let share = |run: &SortedRun, level: u64| {
        let has_keys = run.num_filters > 0 && run.keys_per_filter > 0 && run.weight > 0;
        share(run, level).filter(|_| has_keys).map(|share| share.min(most(run)))
    };
    let at = |level| {
        let shares: Vec<_> = runs.iter().map(|run| share(run, level)).collect();
        // LevelDB's lengths, which are found far faster, are at least as long.
        let fits = fits(total, runs, &shares, false) || fits(total, runs, &shares, true);
        fits.then_some(shares)
    };
    let mut best = (0, at(0)?);
    // Enough for the most of any run.
    for bit in (0..28).rev() {
        let level = best.0 | 1 << bit;
        best = at(level).map_or(best, |shares| (level, shares));
    }
    Some(best.1)
}

/// Whether the runs' filters take at most `total` bytes, the probe counts included.
fn fits(total: usize, runs: &[SortedRun], shares: &[Option<u64>], is_tuned: bool) -> bool {
    let take = |rest: usize, (run, share): (&SortedRun, &Option<u64>)| {
        let Some(millibits) = *share else { return Some(rest) };
        let leveldb = BloomFilterShape::leveldb(run.keys_per_filter, millibits)?;
        let tuned = || tuned_shape(leveldb, run.keys_per_filter).shape;
        let shape = if is_tuned { tuned() } else { leveldb };
        rest.checked_sub(shape.num_bytes.checked_add(1)?.checked_mul(run.num_filters)?)
    };
    runs.iter().zip(shares).try_fold(total, take).is_some()
}

/// The runs' expected rates, times their weights.
fn sum_of_rates(runs: &[SortedRun], shares: &[Option<u64>]) -> f64 {
    let rate = |(run, share): (&SortedRun, &Option<u64>)| {
        let leveldb = share.and_then(|share| BloomFilterShape::leveldb(run.keys_per_filter, share));
        let rate = leveldb.map_or(1.0, |leveldb| tuned_shape(leveldb, run.keys_per_filter).rate);
        f64::from(run.weight) * rate
    };
    runs.iter().zip(shares).map(rate).sum()
}
