//! A budget shared by the filters of several sorted runs.

use super::tuned::{RatedShape, choose_shape};
use crate::bloom::shape::{BloomFilterShape, NUM_HASHES, float};

/// The filters of a sorted run, of which a lookup asks one: those of a level's tables, or that of
/// one table in level 0. For [`BloomFilterPolicy::for_runs`](crate::BloomFilterPolicy::for_runs).
///
/// Count a run as it will be *after* the flush or compaction. In filter blocks `num_filters` is the
/// number of ranges in all tables of the run, whose offsets are not counted.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, SortedRun};
/// let levels = [1, 10, 100].map(|num_filters| SortedRun::new(num_filters, 20_000));
/// let policies = BloomFilterPolicy::for_runs(111 * 25_001, &levels); // as with 10 bits per key
/// let bits_per_key = policies.iter().map(|policy| policy.unwrap().millibits_per_key() / 1000);
/// assert!(bits_per_key.eq([19, 14, 9]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortedRun {
    /// The number of filters in the run.
    pub num_filters: usize,
    /// About the number of keys that each of them has.
    pub keys_per_filter: usize,
    /// How many lookups ask the run, relative to the other runs.
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

/// What a run may have of the budget.
#[derive(Clone, Copy)]
struct Choice {
    /// For each key; `None` are no filters.
    millibits: Option<u64>,
    /// Of all filters, the bytes of the probe counts included.
    len: usize,
    /// Times the run's weight.
    rate: f64,
}

/// How many fewer false positives a byte brings on the way from one choice to a longer one.
fn worth([less, more]: [Choice; 2]) -> f64 {
    (less.rate - more.rate) / float((more.len - less.len) as u64)
}

/// Filters of this many millibits per key, if they can be made.
fn choice(run: &SortedRun, millibits: u64, searches: bool) -> Option<Choice> {
    let leveldb = BloomFilterShape::leveldb(run.keys_per_filter, millibits)?;
    let RatedShape { shape, rate } = choose_shape(leveldb, run.keys_per_filter, searches);
    let len = run.num_filters.checked_mul(shape.num_bytes.checked_add(1)?)?;
    Some(Choice { millibits: Some(millibits), len, rate: f64::from(run.weight) * rate })
}

/// The longest filters of at most this many bytes each, if they can be made.
fn longest(run: &SortedRun, num_bytes: usize) -> Option<Choice> {
    choice(run, (num_bytes as u64).checked_mul(8000)? / run.keys_per_filter as u64, false)
}

/// What a run may have: choices of ever more bytes, beginning with none, each worth less per byte
/// than the one before. They are the lower convex hull of all; the last may exceed the budget.
fn hull(run: &SortedRun, total_len: usize) -> Vec<Choice> {
    let (num_keys, weight) = (run.keys_per_filter, f64::from(run.weight));
    let mut last = Choice { millibits: None, len: 0, rate: weight };
    let mut hull = vec![last];
    if run.num_filters == 0 || num_keys == 0 {
        return hull;
    }
    // Where most false positives share a key's hash, more bytes hardly help.
    let least_rate = 1.01 * weight * float(num_keys as u64) / float(NUM_HASHES);
    let mut num_bytes = 8;
    while last.len <= total_len && last.rate > least_rate {
        let Some(choice) = longest(run, num_bytes) else { break };
        // Two thirds of a bit per key, where that is not too fine.
        num_bytes += (num_keys / 12).max(num_bytes / 24).max(1);
        if choice.rate >= last.rate || choice.len < last.len {
            continue;
        }
        while let [.., before, last] = hull[..] {
            if worth([before, last]) > worth([last, choice]) {
                break;
            }
            hull.pop();
        }
        hull.push(choice);
        last = choice;
    }
    hull
}

/// Spends at most `rest` bytes, step by step along the hulls, first where a byte is worth most.
fn by_worth(mut rest: usize, runs: &[SortedRun], hulls: &[Vec<Choice>]) -> Vec<Choice> {
    let mut steps = Vec::new();
    for (i, hull) in hulls.iter().enumerate() {
        steps.extend(hull.windows(2).map(|pair| (worth([pair[0], pair[1]]), i, pair[1])));
    }
    // Stable, so a run's steps stay in order: each is worth at most as much as the one before.
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));

    let mut choices: Vec<_> = hulls.iter().map(|hull| hull[0]).collect();
    let mut is_done = vec![false; runs.len()];
    for (_, i, to) in steps {
        if is_done[i] {
            continue;
        }
        let affordable = choices[i].len + rest;
        is_done[i] = to.len > affordable;
        let num_bytes = (affordable / runs[i].num_filters).saturating_sub(1);
        let to = if is_done[i] { longest(&runs[i], num_bytes) } else { Some(to) };
        if let Some(to) = to.filter(|to| to.len <= affordable && to.rate < choices[i].rate) {
            choices[i] = to;
            rest = affordable - to.len;
        }
    }
    choices
}

/// The most millibits for each key that fit, the same for all runs that do not have their most.
fn equal_bits(total_len: usize, runs: &[SortedRun], hulls: &[Vec<Choice>]) -> Option<Vec<Choice>> {
    let all = || runs.iter().zip(hulls.iter().map(|hull| hull[hull.len() - 1]));
    let fitting = |millibits| {
        let mut rest = total_len;
        let choose = |(run, most): (&SortedRun, Choice)| {
            let choice = choice(run, millibits, true).filter(|choice| choice.len < most.len);
            rest = rest.checked_sub(choice.unwrap_or(most).len)?;
            choice.or(Some(most))
        };
        all().map(choose).collect::<Option<Vec<_>>>()
    };
    let most = all().filter_map(|(_, most)| most.millibits).max()?;
    let mut best = (0, fitting(0)?);
    for bit in (0..=most.checked_ilog2()?).rev() {
        let millibits = best.0 | 1 << bit;
        best = fitting(millibits).map_or(best, |choices| (millibits, choices));
    }
    Some(best.1)
}

/// For each run the millibits per key of tuned filters; `None` is a run without filters.
pub(in crate::bloom) fn millibits_for_runs(total: usize, runs: &[SortedRun]) -> Vec<Option<u64>> {
    let hulls: Vec<_> = runs.iter().map(|run| hull(run, total)).collect();
    let mut best = by_worth(total, runs, &hulls);
    for (best, run) in best.iter_mut().zip(runs) {
        *best = best.millibits.and_then(|millibits| choice(run, millibits, true)).unwrap_or(*best);
    }
    let sum = |choices: &[Choice]| choices.iter().map(|choice| choice.rate).sum::<f64>();
    if let Some(equal) = equal_bits(total, runs, &hulls).filter(|equal| sum(equal) < sum(&best)) {
        best = equal;
    }
    best.into_iter().map(|choice| choice.millibits).collect()
}
