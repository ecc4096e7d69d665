//! Chooses how long tuned filters are: the fewest bits for a rate.

use super::tuned::{MIN_KEYS, tuned_shape};
use crate::bloom::shape::{NUM_HASHES, to_f64};
use crate::hash::GOOD_NUM_KEYS;

/// The most bits of a filter, in thousandths: a bit less than hashes reach, because 2<sup>32</sup>
/// overflows a 32-bit `usize`.
const MAX_MILLIBITS: u64 = (NUM_HASHES - 1) * 1000;

/// About the shortest filters with which `num_keys` keys are expected to have at most `rate`.
///
/// Filters of fewer keys need more bits per key, which would be far too many for a filter of many
/// keys. So a policy for them has the bits per key that [`GOOD_NUM_KEYS`] need, and counts the keys
/// of a small filter as more where that is too few. Returns the bits per key in thousandths, and as
/// how many keys a filter of fewer counts.
pub(in crate::bloom) fn size_for_rate(rate: f64, num_keys: usize) -> Option<(u32, usize)> {
    if !(rate > 0.0 && rate < 1.0) {
        return None;
    }
    let many_keys = num_keys.max(GOOD_NUM_KEYS);
    // More keys have more equal hashes. If these alone exceed the rate, a fifth above their share
    // is accepted.
    let equal_hashes = 1.2 * to_f64(GOOD_NUM_KEYS as u64) / to_f64(NUM_HASHES);
    let rate_of_many = if num_keys < GOOD_NUM_KEYS { rate.max(equal_hashes) } else { rate };
    let millibits_per_key = fewest(0, MAX_MILLIBITS / many_keys as u64, |millibits_per_key| {
        rate_of(many_keys, millibits_per_key, many_keys) <= rate_of_many
    })?;
    if rate_of(num_keys, millibits_per_key, num_keys) <= rate {
        return Some((millibits_per_key, 0));
    }
    let most_keys = MAX_MILLIBITS / u64::from(millibits_per_key.max(1));
    let min_keys = fewest(u32::try_from(num_keys).ok()?, most_keys, |made_for| {
        rate_of(made_for as usize, millibits_per_key, num_keys) <= rate
    })?;
    Some((millibits_per_key, min_keys as usize))
}

/// The expected rate of a tuned filter that is made for so many keys and has `num_keys`.
fn rate_of(made_for: usize, millibits_per_key: u32, num_keys: usize) -> f64 {
    tuned_shape(made_for.max(MIN_KEYS), millibits_per_key)
        .map_or(1.0, |shape| shape.false_positive_rate(num_keys))
}

/// A number up to `most` that reaches a rate, although the number below does not.
///
/// It is the least such number if rates fall as the number grows, which they mostly do. They rise
/// where a filter gets shorter or gets another number of probes, and at 196,606 bits, from which on
/// the closed form counts third probes. There a lower number may reach the rate, too, which is
/// rare, and saves little.
fn fewest(least: u32, most: u64, reaches: impl Fn(u32) -> bool) -> Option<u32> {
    let mut enough = u32::try_from(most).unwrap_or(u32::MAX);
    if !reaches(enough) {
        return None;
    }
    let mut low = least;
    while low < enough {
        let middle = u32::midpoint(low, enough);
        if reaches(middle) { enough = middle } else { low = middle + 1 }
    }
    Some(enough)
}
