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
//! where `level` is one number for all runs. [`millibits_for_runs`] finds the highest level whose
//! filters fit. A run that the formula gives no bits has no filters.

use alloc::{vec, vec::Vec};

use super::sizing::MANY_KEYS;
use super::tuned::tuned_shape;
use crate::bloom::shape::{BloomFilterShape, NUM_HASHES};

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
    /// The number of filters in the run. A table can have several.
    pub num_filters: usize,
    /// Roughly how many keys each filter has. With [long
    /// ranges](crate::FilterBlockBuilder::with_long_ranges), the versions of a key count once.
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

/// For each run the thousandths of a bit per key of its tuned filters, or `None` for no filters: at
/// the highest level whose filters fit into `total` bytes.
pub(in crate::bloom) fn millibits_for_runs(total: usize, runs: &[SortedRun]) -> Vec<Option<u64>> {
    let mut best = (0, vec![None; runs.len()]);
    // A binary search, one bit of the level at a time. From 2^18 up, every run has its maximum.
    for bit in (0..18).rev() {
        let level = best.0 | 1 << bit;
        let millibits: Vec<_> = runs.iter().map(|run| millibits(run, level)).collect();
        if fit(total, runs, &millibits) {
            best = (level, millibits);
        }
    }
    best.1
}

/// A run's millibits per key at this level, by the formula of the header.
fn millibits(run: &SortedRun, level: u64) -> Option<u64> {
    let SortedRun { num_filters, keys_per_filter, weight } = *run;
    let num_keys = (num_filters as u64).saturating_mul(keys_per_filter as u64);
    if num_keys == 0 || weight == 0 {
        return None;
    }
    // With 32 factors of 2 more than the formula, nothing here is negative.
    let less = millibits_to_divide_rate_by(num_keys) + 32 * 1443
        - millibits_to_divide_rate_by(weight.into());
    let millibits = level.saturating_sub(less).min(max_millibits(keys_per_filter));
    (millibits > 0).then_some(millibits)
}

/// The most millibits per key worth giving to filters: 8 bits beyond where the rate reaches the
/// share of absent keys with the hash of a present key, which no filter can go below.
fn max_millibits(keys_per_filter: usize) -> u64 {
    // Filters of fewer keys could use more bits, which would be far too many for other filters.
    let num_keys = keys_per_filter.max(MANY_KEYS) as u64;
    let by_keys = millibits_to_divide_rate_by(num_keys);
    let most = millibits_to_divide_rate_by(NUM_HASHES).saturating_sub(by_keys) + 8_000;
    // Hashes reach no more bits.
    most.min((NUM_HASHES - 1) * 1000 / num_keys)
}

/// Whether the runs' filters take at most `total` bytes, probe counts included.
fn fit(total: usize, runs: &[SortedRun], millibits: &[Option<u64>]) -> bool {
    let take = |rest: usize, (run, millibits): (&SortedRun, &Option<u64>)| {
        let Some(millibits) = *millibits else { return Some(rest) };
        let leveldb = BloomFilterShape::leveldb(run.keys_per_filter, millibits)?;
        let len = tuned_shape(leveldb, run.keys_per_filter).filter_len();
        rest.checked_sub(len.checked_mul(run.num_filters)?)
    };
    runs.iter().zip(millibits).try_fold(total, take).is_some()
}
