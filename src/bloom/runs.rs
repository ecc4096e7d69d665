//! A budget shared by the filters of several sorted runs.

use std::cmp::Ordering;
use std::iter;

use super::accuracy::{NUM_HASHES, float};
use super::sizing::estimated_rate;
use super::{BloomFilterPolicy, tuned};

/// The filters of a sorted run, of which a look-up asks one: those of a level's tables, or that of
/// one table in level 0. For [`BloomFilterPolicy::for_runs`].
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, SortedRun};
///
/// let levels = [1, 10, 100].map(|num_filters| SortedRun { num_filters, keys_per_filter: 20_000 });
/// let total_len = 111 * BloomFilterPolicy::new(10).shape(20_000).filter_len();
/// let policies = BloomFilterPolicy::for_runs(total_len, &levels);
///
/// let millibits = |policy: &Option<BloomFilterPolicy>| policy.unwrap().millibits_per_key();
/// let bits_per_key: Vec<_> = policies.iter().map(|policy| millibits(policy) / 1000).collect();
/// assert_eq!(bits_per_key, [18, 14, 9]); // instead of 10, 10, 10
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortedRun {
    /// The number of filters, one for each table.
    pub num_filters: usize,
    /// About the number of keys in each.
    pub keys_per_filter: usize,
}

impl BloomFilterPolicy {
    /// For each of several sorted runs the tuned policy with which a look-up of an absent key has
    /// about the fewest false positives that `total_len` bytes allow for the filters of all.
    ///
    /// Such a look-up asks one filter of each run, so it pays the sum of their rates. With equal
    /// bits per key each small level adds as much to it as the largest, which has nearly all keys;
    /// here all runs get bytes until one more is worth as much in each. The expected sum is mostly
    /// within 2 % of the least that any choice has; with large filters of many bits per key, whose
    /// lengths differ most, it may be a quarter above it.
    ///
    /// `None` is a run that is better off without filters: its rate counts as 1. More than helps
    /// is left: from where most false positives share a key's 32-bit hash, and above 64 bits per
    /// key. Filters of the given numbers of keys take at most `total_len` bytes, those of the probe
    /// counts included.
    ///
    /// Never panics; the same on every platform. Takes some milliseconds for 20 runs, and memory
    /// linear in their number, whatever their sizes.
    #[must_use]
    pub fn for_runs(total_len: usize, runs: &[SortedRun]) -> Vec<Option<Self>> {
        let shares = shares(total_len, runs);
        runs.iter().zip(shares).map(|(run, share)| run.policy(share)).collect()
    }
}

/// What a run has of the budget.
#[derive(Clone, Copy)]
struct Share {
    /// The length of each filter; 0 if there are none.
    filter_len: usize,
    /// Of all filters.
    len: usize,
    rate: f64,
}

impl Share {
    const NONE: Self = Self { filter_len: 0, len: 0, rate: 1.0 };
}

impl SortedRun {
    /// The next larger share with fewer false positives, if there is one that takes at most `rest`
    /// bytes more.
    fn larger(&self, share: Share, rest: usize) -> Option<Share> {
        let most_useful = self.keys_per_filter.saturating_mul(8).max(64);
        let most = (share.filter_len + rest.checked_div(self.num_filters)?).min(most_useful);
        let least_rate = 1.01 * float(self.keys_per_filter as u64) / NUM_HASHES;
        let mut filter_len = share.filter_len;
        while filter_len < most && share.rate > least_rate {
            // A quarter of a bit per key, where that is not too fine; of less than one bit per key,
            // two halves are worth more than twice one half.
            let first = if filter_len == 0 { self.keys_per_filter / 8 } else { 0 };
            let step = (self.keys_per_filter / 32).max(filter_len / 64).max(first).max(1);
            let next = filter_len.saturating_add(step).min(most);
            // Where probes meet are more false positives, and tuning leaves short filters there.
            let spreads_evenly = |&len: &usize| tuned::spreads_evenly(len - 1);
            filter_len = (filter_len + 1..=next).rev().find(spreads_evenly).unwrap_or(next);
            if filter_len > 8 {
                let rate = estimated_rate(filter_len - 1, self.keys_per_filter);
                if rate < share.rate {
                    return Some(Share { filter_len, len: filter_len * self.num_filters, rate });
                }
            }
        }
        None
    }

    fn policy(&self, share: Share) -> Option<BloomFilterPolicy> {
        let num_bytes = share.filter_len.checked_sub(1)? as u128;
        let millibits = num_bytes * 8000 / self.keys_per_filter.max(1) as u128;
        let millibits = usize::try_from(millibits).unwrap_or(usize::MAX);
        Some(BloomFilterPolicy::from_millibits_per_key(millibits).tuned())
    }
}

/// More bytes for the `i`-th run.
#[derive(Clone, Copy)]
struct Step {
    i: usize,
    from: Share,
    to: Share,
}

impl Step {
    fn len(&self) -> usize {
        self.to.len - self.from.len
    }

    fn cmp_worth(&self, other: &Self) -> Ordering {
        let worth = |it: &Self| (it.from.rate - it.to.rate) / float(it.len() as u64);
        worth(self).total_cmp(&worth(other))
    }
}

/// The runs' shares, a step at a time, of which each byte is worth the most.
fn shares(total_len: usize, runs: &[SortedRun]) -> Vec<Share> {
    let (mut rest, mut shares, mut taken) = (total_len, vec![Share::NONE; runs.len()], vec![]);
    // Several steps may be worth more for each byte than the first of them.
    let next = |i: usize, from: Share, rest: usize| {
        let larger = |to: &Share| runs[i].larger(*to, rest - (to.len - from.len));
        let larger = iter::successors(Some(from), larger).skip(1).take(8);
        larger.map(|to| Step { i, from, to }).max_by(Step::cmp_worth)
    };
    // First of what is left, then also in exchange for the latest steps of others.
    for exchange in [false, true] {
        let reach = |share: Share, rest| if exchange { total_len - share.len } else { rest };
        let mut steps: Vec<_> =
            shares.iter().enumerate().map(|(i, &from)| next(i, from, reach(from, rest))).collect();
        while let Some(&step) = steps.iter().flatten().max_by(|a, b| a.cmp_worth(b)) {
            for back in if exchange { take_back_for(step, rest, &mut taken) } else { vec![] } {
                rest += back.len();
                shares[back.i] = back.from;
                steps[back.i] = next(back.i, back.from, reach(back.from, rest));
            }
            steps[step.i] = if step.len() <= rest {
                rest -= step.len();
                shares[step.i] = step.to;
                taken.push(step);
                next(step.i, step.to, reach(step.to, rest))
            } else {
                next(step.i, step.from, rest)
            };
        }
    }
    shares
}

/// Takes back the latest steps of other runs to make room for this one, if it gains more.
fn take_back_for(step: Step, mut rest: usize, taken: &mut Vec<Step>) -> Vec<Step> {
    let mut gain = step.from.rate - step.to.rate;
    let others = taken.iter().enumerate().rev().filter(|(_, other)| other.i != step.i);
    let latest = others.take_while(|(_, other)| {
        let is_needed = rest < step.len() && gain > 0.0;
        if is_needed {
            rest += other.len();
            gain -= other.from.rate - other.to.rate;
        }
        is_needed
    });
    let latest: Vec<_> = latest.map(|(at, _)| at).collect();
    let enough = if rest >= step.len() && gain > 0.0 { latest } else { vec![] };
    enough.into_iter().map(|at| taken.remove(at)).collect()
}
