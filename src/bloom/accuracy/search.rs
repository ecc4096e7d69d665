//! Searches for the best filter by the model.

use std::f64::consts::LN_2;

use super::super::probes::MAX_PROBES;
use super::model::Filter;
use super::numbers::float;

/// The number of bits of a filter; of one that cannot be made, the most that there are.
pub(super) fn num_bits(bits_per_key: usize, num_keys: usize) -> u64 {
    let num_bits = (num_keys as u64).saturating_mul(bits_per_key as u64);
    num_bits.max(64).div_ceil(8).saturating_mul(8)
}

pub(super) fn best_num_probes(bits_per_key: usize, num_keys: usize) -> u8 {
    let rates = candidates(bits_per_key, num_keys)
        .map(|filter| (filter.false_positive_rate(), filter.probes));
    let (_, num_probes) = rates.min_by(|a, b| a.0.total_cmp(&b.0)).expect("some candidates");
    num_probes
}

/// Filters that differ in their number of probes, one of them the best or next to it.
///
/// The best number is often 1 or 2 above the best if probes favoured no bits, and sometimes 1
/// below. It may be further off where all are nearly as good: with 28 bits per key or more, up to
/// 15 above, to no more gain than 1.5 %.
fn candidates(bits_per_key: usize, num_keys: usize) -> impl Iterator<Item = Filter> {
    let num_bits = num_bits(bits_per_key, num_keys);
    let with = move |num_probes| Filter::new(num_bits, num_probes, num_keys);
    let without_favoured_bits = |&num_probes: &u8| with(num_probes).without_favoured_bits();
    let about = (1..=MAX_PROBES)
        .min_by(|a, b| without_favoured_bits(a).total_cmp(&without_favoured_bits(b)))
        .expect("some numbers of probes");
    (about.saturating_sub(2).max(1)..=MAX_PROBES.min(about + 4)).map(with)
}

fn reaches(rate: f64, bits_per_key: usize, num_keys: usize) -> bool {
    candidates(bits_per_key, num_keys)
        .any(|filter| filter.least_rate() <= rate && filter.false_positive_rate() <= rate)
}

/// Enough bits per key to reach the rate, where one less is not.
///
/// Searches in growing steps, then halves the last one. `num_keys` is not 0.
pub(super) fn fewest_bits_per_key(rate: f64, num_keys: usize) -> Option<usize> {
    let most_bits = usize::try_from(1u64 << 32).unwrap_or(usize::MAX);
    let most = (most_bits / num_keys).max(1);

    let mut too_few = too_few_bits_per_key(rate, num_keys).min(most - 1);
    let mut enough = too_few + 1;
    while !reaches(rate, enough, num_keys) {
        if enough >= most {
            return None;
        }
        let step = 2 * (enough - too_few);
        (too_few, enough) = (enough, most.min(enough.saturating_add(step)));
    }
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if reaches(rate, middle, num_keys) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

/// A number that does not reach the rate, or 0.
///
/// At best, each of `k` probes halves the rate and takes `1 / ln 2` bits per key; two less, one of
/// them for rounding up to whole bytes, is out of reach.
fn too_few_bits_per_key(rate: f64, num_keys: usize) -> usize {
    let bits_per_key = -rate.log2() / LN_2;
    if bits_per_key * float(num_keys as u64) <= 64.0 {
        // All filters of up to 64 bits are the same.
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,550")]
    let bits_per_key = bits_per_key as usize;
    bits_per_key.saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BloomFilterPolicy;

    #[test]
    fn no_other_number_of_probes_is_much_better_than_the_candidates() {
        for (bits_per_key, num_keys) in [1, 5, 10, 20, 40]
            .into_iter()
            .flat_map(|b| [1, 20, 1000, 300_000, 30_000_000].map(|n| (b, n)))
        {
            let rate = |policy: BloomFilterPolicy| policy.expected_false_positive_rate(num_keys);
            let policy = BloomFilterPolicy::new(bits_per_key);
            let all = (1..=MAX_PROBES).map(|num_probes| rate(policy.with_num_probes(num_probes)));
            let best = all.fold(1.0, f64::min);
            let found = rate(policy.with_num_probes(best_num_probes(bits_per_key, num_keys)));
            assert!(found <= 1.015 * best, "{bits_per_key} {num_keys}: {found} {best}");
        }
    }

    #[test]
    fn no_filter_is_below_its_least_rate() {
        for num_keys in [1, 20, 300, 50_000, 1_000_000, 30_000_000] {
            for bits_per_key in [1, 2, 5, 9, 15, 30] {
                for probes in [1, 3, 5, 8, 13, 30] {
                    let bits = num_bits(bits_per_key, num_keys);
                    let filter = Filter::new(bits, probes, num_keys);
                    let (rate, least) = (filter.false_positive_rate(), filter.least_rate());
                    assert!(rate > least, "{bits} {probes} {num_keys}: {rate} {least}");
                }
            }
        }
    }
}
