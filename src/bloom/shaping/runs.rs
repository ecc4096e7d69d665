//! A budget shared by the filters of several sorted runs.

use super::rate::{NUM_HASHES, float};
use super::tuned::tuned_rate;

/// The filters of a sorted run, of which a lookup asks one: those of a level's tables, or that of
/// one table in level 0. For [`BloomFilterPolicy::for_runs`](crate::BloomFilterPolicy::for_runs).
///
/// Count a run as it will be *after* the flush or compaction: one that is still empty gets no
/// filters, and neither do its first tables.
///
/// In filter blocks with `base_lg` 19 a table has a filter for each 512 KiB of data blocks:
/// `num_filters` is the sum over the run's tables of their data bytes over 2<sup>19</sup>, each
/// rounded up, and `keys_per_filter` is the run's keys over that. The blocks' offsets, 4 bytes for
/// each filter and 5 for each block, are not counted.
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
/// assert_eq!(bits_per_key, [18, 14, 9]); // instead of 10, 10, 10
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortedRun {
    /// The number of filters in the run.
    pub num_filters: usize,
    /// About the number of keys that each of them has.
    pub keys_per_filter: usize,
    /// How many of the lookups ask the run, in a unit that is the same for all runs.
    pub weight: u32,
}

/// What a run may have of the budget.
#[derive(Clone, Copy)]
struct Choice {
    /// Of each filter, as LevelDB would make it; 0 if there are none.
    num_bytes: usize,
    /// Of all filters, the bytes of the probe counts included.
    len: usize,
    rate: f64,
}

impl Choice {
    const NONE: Self = Self { num_bytes: 0, len: 0, rate: 1.0 };

    /// How many fewer false positives a byte brings on the way to `more`.
    fn worth(&self, more: &Self) -> f64 {
        (self.rate - more.rate) / float((more.len - self.len) as u64)
    }
}

impl SortedRun {
    /// A run that as many lookups ask as others: its weight is 1.
    #[must_use]
    pub const fn new(num_filters: usize, keys_per_filter: usize) -> Self {
        Self { num_filters, keys_per_filter, weight: 1 }
    }

    /// The same run with another weight: of a level that covers a tenth of the keys 1, if that of
    /// those that cover all is 10.
    ///
    /// Only what the weights are to each other counts. A run of weight 0, which no lookup asks, gets
    /// no filters.
    #[must_use]
    pub const fn with_weight(self, weight: u32) -> Self {
        Self { weight, ..self }
    }

    /// Filters of so many bytes, if they can be made.
    fn choice(&self, num_bytes: usize) -> Option<Choice> {
        let len = self.num_filters.checked_mul(num_bytes.checked_add(1)?)?;
        let rate = tuned_rate(self.millibits(num_bytes), self.keys_per_filter)?;
        let is_asked = len > 0 && self.keys_per_filter > 0 && self.weight > 0;
        (num_bytes >= 8 && is_asked).then_some(Choice { num_bytes, len, rate })
    }

    /// The most with which no filter has more bytes.
    fn millibits(&self, num_bytes: usize) -> u128 {
        num_bytes as u128 * 8000 / self.keys_per_filter.max(1) as u128
    }

    /// The choices from none up of which each next one is worth less for its bytes: no sum of others
    /// is better than one of these. The last may take more than `most` bytes.
    fn hull(&self, most: usize) -> Vec<Choice> {
        let mut hull = vec![Choice::NONE];
        // Where most false positives share a key's hash, more bytes hardly help.
        let least_rate = 1.01 * float(self.keys_per_filter as u64) / NUM_HASHES;
        let most_useful = self.keys_per_filter.saturating_mul(8).max(8);
        let (mut num_bytes, mut last) = (8, Choice::NONE);
        while num_bytes <= most_useful && last.len < most && last.rate > least_rate {
            let Some(choice) = self.choice(num_bytes) else { break };
            if choice.rate < last.rate {
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
            // A quarter of a bit per key, where that is not too fine.
            num_bytes += (self.keys_per_filter / 32).max(num_bytes / 64).max(1);
        }
        hull
    }
}

/// For each run the millibits per key of tuned filters, with about the least sum of rates that
/// `total_len` bytes allow; `None` is a run without filters.
pub(in crate::bloom) fn millibits_for_runs(
    total_len: usize,
    runs: &[SortedRun],
) -> Vec<Option<u128>> {
    let hulls: Vec<_> = runs.iter().map(|run| run.hull(total_len)).collect();
    let most_weight = runs.iter().map(|run| run.weight).max().unwrap_or(0);
    // A step leads from one choice of a hull to the next: its worth, the run, the first one's index.
    let mut steps = Vec::new();
    for (run, hull) in hulls.iter().enumerate() {
        // Exactly 1 where all are equal, which then change nothing.
        let weight = f64::from(runs[run].weight) / f64::from(most_weight);
        let worths = hull.windows(2).map(|pair| weight * pair[0].worth(&pair[1]));
        steps.extend(worths.enumerate().map(|(from, worth)| (worth, run, from)));
    }
    // Stable, so a run's steps stay in order: each is worth at most as much as the one before.
    steps.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));

    let (mut rest, mut choices) = (total_len, vec![Choice::NONE; runs.len()]);
    for (_, run, from) in steps {
        let (from, to) = (hulls[run][from], hulls[run][from + 1]);
        if choices[run].len != from.len {
            continue; // One that did not fit came before.
        }
        let affordable = if to.len - from.len <= rest {
            Some(to)
        } else {
            let filter_len = (from.len + rest) / runs[run].num_filters;
            let choice = runs[run].choice(filter_len.saturating_sub(1));
            choice.filter(|choice| choice.rate < from.rate)
        };
        if let Some(more) = affordable {
            rest -= more.len - from.len;
            choices[run] = more;
        }
    }
    let millibits = |(choice, run): (&Choice, &SortedRun)| {
        (choice.num_bytes > 0).then(|| run.millibits(choice.num_bytes))
    };
    choices.iter().zip(runs).map(millibits).collect()
}
