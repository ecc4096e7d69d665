//! A budget shared by the filters of several sorted runs.

use std::cmp::Reverse;

use super::rate::{NUM_HASHES, float};
use super::tuned::{Expected, expected};
use crate::bloom::shape::BloomFilterShape;

/// Runs get equal bits unless another choice has 5% fewer false positives: rates are no more
/// precise.
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

/// What a run may have of the budget.
#[derive(Clone, Copy)]
struct Choice {
    /// For each key; `None` are no filters.
    millibits: Option<u128>,
    /// Of all filters, the bytes of the probe counts included.
    len: usize,
    rate: f64,
}

impl Choice {
    const NONE: Self = Self { millibits: None, len: 0, rate: 1.0 };

    /// How many fewer false positives a byte brings on the way to `more`.
    fn worth(&self, more: &Self) -> f64 {
        (self.rate - more.rate) / float((more.len - self.len) as u64)
    }
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

    /// Filters of so many millibits per key, if they can be made.
    fn choice(&self, millibits: u128) -> Option<Choice> {
        let leveldb = BloomFilterShape::leveldb(self.keys_per_filter, millibits)?;
        let Expected { shape, rate } = expected(leveldb, self.keys_per_filter, false);
        let len = self.num_filters.checked_mul(shape.num_bytes.checked_add(1)?)?;
        Some(Choice { millibits: Some(millibits), len, rate })
    }

    /// The most with which no filter has more bytes.
    fn millibits(&self, num_bytes: usize) -> u128 {
        num_bytes as u128 * 8000 / self.keys_per_filter as u128
    }

    /// Choices of ever more bytes, beginning with none, each worth less per byte than the one
    /// before: the lower convex hull of all. The last may take more than `most` bytes.
    fn hull(&self, most: usize) -> Vec<Choice> {
        let mut hull = vec![Choice::NONE];
        if self.num_filters == 0 || self.keys_per_filter == 0 || self.weight == 0 {
            return hull;
        }
        // Where most false positives share a key's hash, more bytes hardly help.
        let least_rate = 1.01 * float(self.keys_per_filter as u64) / NUM_HASHES;
        let (mut num_bytes, mut last) = (8, Choice::NONE);
        while last.len < most && last.rate > least_rate {
            let Some(choice) = self.choice(self.millibits(num_bytes)) else { break };
            if choice.rate < last.rate && choice.len >= last.len {
                let is_bridged = |hull: &[Choice]| match hull {
                    [.., before, last] => before.worth(last) <= last.worth(&choice),
                    _ => false,
                };
                while is_bridged(&hull) {
                    hull.pop();
                }
                hull.push(choice);
                last = choice;
            }
            // Two thirds of a bit per key, where that is not too fine.
            num_bytes += (self.keys_per_filter / 12).max(num_bytes / 24).max(1);
        }
        hull
    }
}

/// A budget, and what it may be spent on.
struct Market<'a> {
    total_len: usize,
    runs: &'a [SortedRun],
    weights: Vec<f64>,
    hulls: Vec<Vec<Choice>>,
    /// Those that are worth most first.
    steps: Vec<Step>,
}

/// From one choice of a run's hull to the next.
#[derive(Clone, Copy)]
struct Step {
    run: usize,
    /// The index of the latter.
    to: usize,
    worth: f64,
}

/// What each run gets, and the weighted sum of their rates.
struct Shares {
    choices: Vec<Choice>,
    rate: f64,
}

impl<'a> Market<'a> {
    fn new(total_len: usize, runs: &'a [SortedRun]) -> Self {
        let most = runs.iter().map(|run| run.weight).max().unwrap_or(0);
        // Exactly 1 where all are equal, which then change nothing.
        let weight = |run: &SortedRun| f64::from(run.weight) / f64::from(most);
        let weights: Vec<_> = runs.iter().map(weight).collect();
        let hulls: Vec<_> = runs.iter().map(|run| run.hull(total_len)).collect();
        let mut steps = Vec::new();
        for (run, hull) in hulls.iter().enumerate() {
            steps.extend(hull.windows(2).zip(1..).map(|(pair, to)| {
                let worth = weights[run] * pair[0].worth(&pair[1]);
                Step { run, to, worth }
            }));
        }
        // Stable, so a run's steps stay in order: each is worth at most as much as the one before.
        steps.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        Self { total_len, runs, weights, hulls, steps }
    }

    /// Spends what `choices` leave of the budget, on the first steps of some runs before all
    /// others.
    fn spend(&self, mut choices: Vec<Choice>, runs_first: &[usize]) -> Shares {
        let mut rest = self.total_len - choices.iter().map(|choice| choice.len).sum::<usize>();
        let mut is_done = vec![false; choices.len()];
        let first_steps = runs_first.iter().map(|&run| (run, 1));
        let steps = self.steps.iter().map(|step| (step.run, step.to));
        for (run, to) in first_steps.chain(steps) {
            let (from, mut to) = (choices[run], self.hulls[run][to]);
            let affordable = from.len + rest;
            if is_done[run] || to.len <= from.len {
                continue;
            }
            if to.len > affordable {
                is_done[run] = true;
                let num_bytes = (affordable / self.runs[run].num_filters).saturating_sub(1);
                let longest = self.runs[run].choice(self.runs[run].millibits(num_bytes));
                to = longest.filter(|longest| longest.len <= affordable).unwrap_or(from);
            }
            if to.rate < from.rate {
                choices[run] = to;
                rest = affordable - to.len;
            }
        }
        let rates = choices.iter().zip(&self.weights).map(|(choice, weight)| weight * choice.rate);
        Shares { rate: rates.sum(), choices }
    }

    /// Filters with the same number of millibits for each key, the most that fit.
    fn equal(&self) -> Option<Vec<Choice>> {
        let choices = |millibits| {
            let mut rest = self.total_len;
            let choice = |(run, hull): (&SortedRun, &Vec<Choice>)| {
                let most_useful = hull[hull.len() - 1];
                let choice = run.choice(millibits).filter(|choice| choice.len < most_useful.len);
                let choice = choice.unwrap_or(most_useful);
                rest = rest.checked_sub(choice.len)?;
                Some(choice)
            };
            self.runs.iter().zip(&self.hulls).map(choice).collect::<Option<Vec<_>>>()
        };
        let mut most = 0;
        for more in (0..24).rev().map(|bit| 1 << bit) {
            most += if choices(most + more).is_some() { more } else { 0 };
        }
        choices(most)
    }
}

/// For each run the millibits per key of tuned filters, with about the least weighted sum of rates
/// that `total_len` bytes allow; `None` is a run without filters.
pub(in crate::bloom) fn millibits_for_runs(
    total_len: usize,
    runs: &[SortedRun],
) -> Vec<Option<u128>> {
    let market = Market::new(total_len, runs);
    let none = vec![Choice::NONE; runs.len()];
    let mut best = market.spend(none.clone(), &[]);
    let mut consider = |shares: Shares, certain: f64| {
        if certain * shares.rate < best.rate {
            best = shares;
        }
    };
    // What is spent before may be what the first step of a long run lacks.
    let mut longest: Vec<_> = (0..runs.len()).filter(|&run| market.hulls[run].len() > 1).collect();
    longest.sort_by_key(|&run| Reverse(market.hulls[run][1].len));
    for subset in 1..1 << longest.len().min(3) {
        let is_first = |i: &usize| subset >> i & 1 == 1;
        let first: Vec<_> = (0..3).filter(is_first).map(|i| longest[i]).collect();
        consider(market.spend(none.clone(), &first), 1.0);
    }
    if let Some(equal) = market.equal() {
        consider(market.spend(equal, &[]), CERTAIN);
    }
    best.choices.iter().map(|choice| choice.millibits).collect()
}
