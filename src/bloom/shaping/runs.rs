//! A budget shared by the filters of several sorted runs.

use std::cmp::Reverse;

use super::tuned::{Expected, expected};
use crate::bloom::shape::{BloomFilterShape, NUM_HASHES, float};

/// Runs get equal bits unless another choice has 5% fewer false positives: rates are no more
/// precise. With 10% sums are 9% larger where this decides, with 0% they are 1% smaller, but some
/// 1.09 times those of equal bits.
const CERTAIN: f64 = 0.95;

/// The filters of a sorted run, of which a lookup consults one: those of a level's tables, or that
/// of one table in level 0. For
/// [`BloomFilterPolicy::for_runs`](crate::BloomFilterPolicy::for_runs).
///
/// Count a run as it will be *after* the flush or compaction: one that is still empty gets no
/// filters, and neither do its first tables.
///
/// In filter blocks with `base_lg` 19 a table has a filter for each 512 KiB of data blocks:
/// `num_filters` is the sum over the run's tables of their data bytes over 2<sup>19</sup>, each
/// rounded up, and `keys_per_filter` is the run's keys over that; where [fewer keys than
/// asked](crate::FilterBlockBuilder::with_min_keys) let ranges grow, of longer ones. The blocks'
/// offsets, 4 bytes for each filter and 5 for each block, are not counted.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, SortedRun};
///
/// let levels = [1, 10, 100].map(|num_filters| SortedRun::new(num_filters, 20_000));
/// let total_len = 111 * BloomFilterPolicy::new(10).shape(20_000).filter_len();
/// let policies = BloomFilterPolicy::for_runs(total_len, &levels);
///
/// let millibits = |policy: &Option<BloomFilterPolicy>| policy.unwrap().millibits_per_key();
/// let bits_per_key: Vec<_> = policies.iter().map(|policy| millibits(policy) / 1000).collect();
/// assert_eq!(bits_per_key, [19, 14, 9]); // instead of 10, 10, 10
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortedRun {
    /// The number of filters in the run.
    pub num_filters: usize,
    /// About the number of keys that each of them has.
    pub keys_per_filter: usize,
    /// How many lookups consult the run, relative to the other runs.
    pub weight: u32,
}

impl SortedRun {
    /// A run of weight 1.
    #[must_use]
    pub const fn new(num_filters: usize, keys_per_filter: usize) -> Self {
        Self { num_filters, keys_per_filter, weight: 1 }
    }

    /// The same run with another weight: 1 for a level that covers a tenth of the keys, if those
    /// that cover all have 10.
    ///
    /// Only the ratios of weights count. A run of weight 0, which no lookup consults, gets no
    /// filters.
    #[must_use]
    pub const fn with_weight(self, weight: u32) -> Self {
        Self { weight, ..self }
    }
}

/// What a run may have of the budget.
#[derive(Clone, Copy)]
struct Choice {
    /// For each key; `None` are no filters.
    millibits: Option<u128>,
    /// Of all filters, the bytes of the probe counts included.
    len: usize,
    /// Times the run's weight.
    rate: f64,
}

impl Choice {
    /// How many fewer false positives a byte brings on the way to `more`.
    fn worth(&self, more: &Self) -> f64 {
        (self.rate - more.rate) / float((more.len - self.len) as u64)
    }
}

/// A run, and what it may have.
struct Hull<'a> {
    run: &'a SortedRun,
    /// As a share of the largest weight: exactly 1 where all are equal, which then change nothing.
    weight: f64,
    /// Of ever more bytes, beginning with none, each worth less per byte than the one before: the
    /// lower convex hull of all choices. The last may take more than the budget.
    choices: Vec<Choice>,
}

impl<'a> Hull<'a> {
    fn new(run: &'a SortedRun, weight: f64, total_len: usize) -> Self {
        let mut last = Choice { millibits: None, len: 0, rate: weight };
        let mut hull = Self { run, weight, choices: vec![last] };
        let num_keys = run.keys_per_filter;
        if run.num_filters == 0 || num_keys == 0 || run.weight == 0 {
            return hull;
        }
        // Where most false positives share a key's hash, more bytes hardly help.
        let least_rate = 1.01 * weight * float(num_keys as u64) / float(NUM_HASHES);
        let mut num_bytes = 8;
        while last.len <= total_len && last.rate > least_rate {
            let Some(choice) = hull.longest_choice(num_bytes) else { break };
            // Two thirds of a bit per key, where that is not too fine.
            num_bytes += (num_keys / 12).max(num_bytes / 24).max(1);
            if choice.rate >= last.rate || choice.len < last.len {
                continue;
            }
            while let [.., before, last] = &hull.choices[..] {
                if before.worth(last) > last.worth(&choice) {
                    break;
                }
                hull.choices.pop();
            }
            hull.choices.push(choice);
            last = choice;
        }
        hull
    }

    /// Filters of so many millibits per key, if they can be made.
    fn choice(&self, millibits: u128) -> Option<Choice> {
        let num_keys = self.run.keys_per_filter;
        let leveldb = BloomFilterShape::leveldb(num_keys, millibits)?;
        let Expected { shape, rate } = expected(leveldb, num_keys, false);
        let len = self.run.num_filters.checked_mul(shape.num_bytes.checked_add(1)?)?;
        Some(Choice { millibits: Some(millibits), len, rate: self.weight * rate })
    }

    /// The longest filters of at most so many bytes each, if they can be made.
    fn longest_choice(&self, num_bytes: usize) -> Option<Choice> {
        self.choice(num_bytes as u128 * 8000 / self.run.keys_per_filter as u128)
    }
}

/// From one choice of a hull to the next.
struct Step {
    run: usize,
    from: Choice,
    to: Choice,
}

/// All steps, those that are worth most first.
fn steps(hulls: &[Hull<'_>]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (run, hull) in hulls.iter().enumerate() {
        let step = |pair: &[Choice]| Step { run, from: pair[0], to: pair[1] };
        steps.extend(hull.choices.windows(2).map(step));
    }
    // Stable, so a run's steps stay in order: each is worth at most as much as the one before.
    steps.sort_by(|a, b| b.from.worth(&b.to).total_cmp(&a.from.worth(&a.to)));
    steps
}

/// So many millibits for each key, or fewer if more would be useless.
fn equal(hulls: &[Hull<'_>], millibits: u128) -> Vec<Choice> {
    let choice = |hull: &Hull<'_>| {
        let most = hull.choices[hull.choices.len() - 1];
        hull.choice(millibits).filter(|choice| choice.len < most.len).unwrap_or(most)
    };
    hulls.iter().map(choice).collect()
}

/// Spends `rest` bytes beyond `choices`, on the first steps for which they suffice.
fn spend(
    mut rest: usize,
    mut choices: Vec<Choice>,
    steps: &[Step],
    hulls: &[Hull<'_>],
) -> Vec<Choice> {
    let mut is_done = vec![false; hulls.len()];
    for &Step { run, mut to, .. } in steps {
        let from = choices[run];
        let affordable = from.len + rest;
        if is_done[run] || to.len <= from.len {
            continue;
        }
        if to.len > affordable {
            is_done[run] = true;
            let num_bytes = (affordable / hulls[run].run.num_filters).saturating_sub(1);
            let longest = hulls[run].longest_choice(num_bytes);
            to = longest.filter(|longest| longest.len <= affordable).unwrap_or(from);
        }
        if to.rate < from.rate {
            choices[run] = to;
            rest = affordable - to.len;
        }
    }
    choices
}

/// For each run the millibits per key of tuned filters, with about the least weighted sum of rates
/// that `total_len` bytes allow; `None` is a run without filters.
pub(in crate::bloom) fn millibits_for_runs(
    total_len: usize,
    runs: &[SortedRun],
) -> Vec<Option<u128>> {
    let most = f64::from(runs.iter().map(|run| run.weight).max().unwrap_or(0));
    let hull = |run| Hull::new(run, f64::from(run.weight) / most, total_len);
    let hulls: Vec<_> = runs.iter().map(hull).collect();
    let rest = |choices: &[Choice]| {
        choices.iter().try_fold(total_len, |rest, choice| rest.checked_sub(choice.len))
    };

    let mut millibits = 0; // the most that fit
    for bit in (0..24).rev() {
        millibits |=
            if rest(&equal(&hulls, millibits | 1 << bit)).is_some() { 1 << bit } else { 0 };
    }
    let equal = (CERTAIN, equal(&hulls, millibits));

    // What is spent before may be what the first step of a long run lacks. Without this, one in 60
    // sums of small runs is 13% larger, some are 7 times the least.
    let steps = steps(&hulls);
    let mut first: Vec<_> = steps.iter().filter(|step| step.from.len == 0).collect();
    first.sort_by_key(|step| Reverse(step.to.len));
    let mut starts = vec![hulls.iter().map(|hull| hull.choices[0]).collect::<Vec<_>>()];
    for step in first.into_iter().take(3) {
        for mut start in starts.clone() {
            start[step.run] = step.to;
            starts.push(start);
        }
    }

    let starts = starts.into_iter().map(|start| (1.0, start));
    let shares = starts.chain([equal]).filter_map(|(certain, start)| {
        let shares = spend(rest(&start)?, start, &steps, &hulls);
        Some((certain * shares.iter().map(|choice| choice.rate).sum::<f64>(), shares))
    });
    let best = shares.min_by(|a, b| a.0.total_cmp(&b.0));
    best.into_iter().flat_map(|best| best.1).map(|choice| choice.millibits).collect()
}
