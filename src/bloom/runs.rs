//! A budget shared by the filters of several sorted runs.

use std::cmp::Reverse;

use super::BloomFilterPolicy;
use super::accuracy::{NUM_HASHES, float};
use super::sizing::estimated_rate;

/// The filters of a sorted run, of which a look-up asks one: those of a level's tables, or that of
/// one table in level 0. For [`BloomFilterPolicy::for_runs`].
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, SortedRun};
///
/// let levels = [1, 10, 100].map(|num_tables| SortedRun::new(num_tables, 20_000));
/// let total_len = 111 * BloomFilterPolicy::new(10).shape(20_000).filter_len();
/// let policies = BloomFilterPolicy::for_runs(total_len, &levels);
///
/// let millibits = |policy: &Option<BloomFilterPolicy>| policy.unwrap().millibits_per_key();
/// let bits_per_key: Vec<_> = policies.iter().map(|policy| millibits(policy) / 1000).collect();
/// assert_eq!(bits_per_key, [19, 14, 9]); // instead of 10, 10, 10
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SortedRun {
    num_filters: usize,
    keys_per_filter: usize,
}

impl SortedRun {
    /// `num_filters` filters of about `keys_per_filter` keys each.
    #[must_use]
    pub const fn new(num_filters: usize, keys_per_filter: usize) -> Self {
        Self { num_filters, keys_per_filter }
    }
}

impl BloomFilterPolicy {
    /// For each of several sorted runs the tuned policy with which a look-up of an absent key has
    /// about the fewest false positives that `total_len` bytes allow for the filters of all.
    ///
    /// Such a look-up asks one filter of each run, so it pays the sum of their rates. With equal
    /// bits per key each small level adds as much to it as the largest, which has nearly all keys;
    /// here all runs get bytes until one more is worth as much in each.
    ///
    /// `None` is a run that is better off without filters: its rate counts as 1. More than helps
    /// is left: from where most false positives share a key's 32-bit hash, and above 64 bits per
    /// key. Filters of the given numbers of keys take at most `total_len` bytes, those of the probe
    /// counts included.
    ///
    /// Never panics; the same on every platform. Takes some milliseconds for 20 runs, and time and
    /// memory linear in their number, whatever their sizes.
    #[must_use]
    pub fn for_runs(total_len: usize, runs: &[SortedRun]) -> Vec<Option<Self>> {
        let mut shares = best_shares(total_len, runs);
        spend_rest(total_len, runs, &mut shares);
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
            // A quarter of a bit per key, where that is not too fine.
            let step = (self.keys_per_filter / 32).max(filter_len / 64).max(1);
            let next = filter_len.saturating_add(step).min(most);
            // These have more false positives, and short filters keep their length when tuned.
            let is_even = |len: &usize| [3, 5, 17].iter().all(|factor| (len - 1) % factor != 0);
            filter_len = (filter_len + 1..=next).rev().find(is_even).unwrap_or(next);
            if filter_len > 8 {
                let rate = estimated_rate(filter_len - 1, self.keys_per_filter);
                if rate < share.rate {
                    return Some(Share { filter_len, len: filter_len * self.num_filters, rate });
                }
            }
        }
        None
    }

    /// What a byte is worth where this run has nearly all.
    fn price(&self, total_len: usize) -> f64 {
        let filter_len = (total_len / self.num_filters.max(1)).max(16);
        let fewer = estimated_rate(filter_len - filter_len / 16, self.keys_per_filter);
        let gain = fewer - estimated_rate(filter_len, self.keys_per_filter);
        gain.max(0.0) / (float(total_len as u64) / 16.0).max(1.0)
    }

    fn policy(&self, share: Share) -> Option<BloomFilterPolicy> {
        let num_bytes = share.filter_len.checked_sub(1)? as u128;
        let millibits = num_bytes * 8000 / self.keys_per_filter.max(1) as u128;
        let millibits = usize::try_from(millibits).unwrap_or(usize::MAX);
        Some(BloomFilterPolicy::from_millibits_per_key(millibits).tuned())
    }
}

/// The runs' shares with the least sum of rates, or nearly: a run at a time, for each part of the
/// budget the best sum that ends there.
fn best_shares(total_len: usize, runs: &[SortedRun]) -> Vec<Share> {
    let num_parts = (8192 / runs.len().max(1)).max(64);
    let part_len = total_len / num_parts + 1;
    // The largest first: the parts are small to it.
    let num_keys = |run: &SortedRun| run.num_filters as u128 * run.keys_per_filter as u128;
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&i| Reverse(num_keys(&runs[i])));
    let price = order.first().map_or(0.0, |&i| runs[i].price(total_len));
    let cost = |(len, rate): (usize, f64)| rate + price * float(len as u64);

    // The bytes and the rates of the runs up to one.
    let mut sums = vec![(0, 0.0)];
    let mut steps = Vec::new();
    for &i in &order {
        let mut next_sums = vec![(0, f64::INFINITY); num_parts];
        let mut step = vec![(0, Share::NONE); num_parts];
        let mut offer = Some(Share::NONE);
        while let Some(share) = offer {
            for (from, &(len, rate)) in sums.iter().enumerate() {
                if share.len > total_len - len {
                    break;
                }
                let sum = (len + share.len, rate + share.rate);
                let part = sum.0 / part_len;
                if cost(sum) < cost(next_sums[part]) {
                    next_sums[part] = sum;
                    step[part] = (from, share);
                }
            }
            offer = runs[i].larger(share, total_len - share.len);
        }
        sums = next_sums;
        steps.push(step);
    }

    let by_cost = |&a: &usize, &b: &usize| cost(sums[a]).total_cmp(&cost(sums[b]));
    let mut part = (0..sums.len()).min_by(by_cost).unwrap_or(0);
    let mut shares = vec![Share::NONE; runs.len()];
    for (&i, step) in order.iter().zip(&steps).rev() {
        (part, shares[i]) = step[part];
    }
    shares
}

/// Gives what is left to the runs where it is worth most.
fn spend_rest(total_len: usize, runs: &[SortedRun], shares: &mut [Share]) {
    loop {
        let rest = total_len - shares.iter().map(|share| share.len).sum::<usize>();
        let larger = (0..runs.len()).filter_map(|i| {
            let larger = runs[i].larger(shares[i], rest)?;
            let worth = (shares[i].rate - larger.rate) / float((larger.len - shares[i].len) as u64);
            Some((i, larger, worth))
        });
        let Some((i, larger, _)) = larger.max_by(|a, b| a.2.total_cmp(&b.2)) else { return };
        shares[i] = larger;
    }
}
