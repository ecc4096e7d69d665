//! Chooses how long tuned filters are: the fewest bits for a rate.

use super::tuned::{MIN_KEYS, tuned_shape};
use crate::bloom::shape::{NUM_HASHES, to_f64};

/// Filters of fewer keys need more bits per key, which would be far too many for a filter of many
/// keys. So policies for them take the bits per key that this many keys need, and count the keys of
/// a small filter as more.
const MANY_KEYS: usize = 2_000;

/// What decides the length of a tuned policy's filters.
#[derive(Clone, Copy)]
pub(in crate::bloom) struct TunedSize {
    pub(in crate::bloom) millibits_per_key: u32,
    /// Filters of fewer keys are as long as filters of this many keys.
    pub(in crate::bloom) min_keys: usize,
}

impl TunedSize {
    /// The expected rate of a filter of `num_keys` keys.
    fn rate(self, num_keys: usize) -> f64 {
        let counted = if num_keys == 0 { 0 } else { num_keys.max(self.min_keys).max(MIN_KEYS) };
        tuned_shape(counted, self.millibits_per_key)
            .map_or(1.0, |shape| shape.false_positive_rate(num_keys))
    }
}

/// About the shortest filters with which `num_keys` keys are expected to have at most `rate`.
pub(in crate::bloom) fn size_for_rate(rate: f64, num_keys: usize) -> Option<TunedSize> {
    if !(rate > 0.0 && rate < 1.0) {
        return None;
    }
    let many_keys = num_keys.max(MANY_KEYS);
    // More keys have more equal hashes. If these alone exceed the rate, a fifth above their share
    // is accepted.
    let equal_hashes = 1.2 * to_f64(MANY_KEYS as u64) / to_f64(NUM_HASHES);
    let rate_of_many = if num_keys < MANY_KEYS { rate.max(equal_hashes) } else { rate };
    // 2^32 bits overflow a 32-bit usize, so the limit is one less on every platform.
    let max_millibits = (NUM_HASHES - 1) * 1000;
    let at_most = |most: u64| u32::try_from(most).unwrap_or(u32::MAX);

    let most = at_most(max_millibits / many_keys as u64);
    let millibits_per_key = fewest(0, most, |millibits_per_key| {
        TunedSize { millibits_per_key, min_keys: 0 }.rate(many_keys) <= rate_of_many
    })?;
    let size = |min_keys| TunedSize { millibits_per_key, min_keys };
    if size(0).rate(num_keys) <= rate {
        return Some(size(0));
    }
    let most = at_most(max_millibits / u64::from(millibits_per_key.max(1)));
    let size = |min_keys| usize::try_from(min_keys).map(size).ok();
    let reaches = |min_keys| size(min_keys).is_some_and(|size| size.rate(num_keys) <= rate);
    size(fewest(u32::try_from(num_keys).ok()?, most, reaches)?)
}

/// A number up to `most` that reaches a rate, although the number below does not.
///
/// It is the least such number if rates fall as the number grows, which they mostly do. They rise
/// by up to a seventh where the length of a short filter changes, and by up to a sixteenth at
/// 196,606 bits, from which on the closed form counts third probes. There a lower number may reach
/// the rate, too, which is rare, and saves little.
fn fewest(least: u32, most: u32, reaches: impl Fn(u32) -> bool) -> Option<u32> {
    if !reaches(most) {
        return None;
    }
    let (mut low, mut enough) = (least, most);
    while low < enough {
        let middle = u32::midpoint(low, enough);
        if reaches(middle) { enough = middle } else { low = middle + 1 }
    }
    Some(enough)
}
