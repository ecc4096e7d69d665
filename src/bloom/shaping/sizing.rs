//! The fewest bits per key for a false-positive rate.

use super::tuned::{NUM_REACHED, tuned_rate};
use crate::bloom::shape::BloomFilterShape;

/// About the fewest millibits per key with which a tuned filter of `num_keys` keys is expected to
/// have at most `rate`.
pub(in crate::bloom) fn millibits_for_rate(rate: f64, num_keys: usize) -> Option<usize> {
    if !(rate > 0.0 && rate < 1.0) {
        return None;
    }
    let reaches = |millibits: usize| {
        BloomFilterShape::leveldb(num_keys, millibits as u128)
            .is_some_and(|leveldb| tuned_rate(leveldb, num_keys) <= rate)
    };
    // More bits are out of reach of hashes, or of a usize.
    let num_bits = NUM_REACHED.min(usize::MAX as u64);
    let most = usize::try_from(num_bits * 1000 / num_keys.max(1) as u64).unwrap_or(usize::MAX);
    if !reaches(most) {
        return None;
    }
    // Rates mostly fall with each bit.
    let (mut low, mut enough) = (0, most);
    while low < enough {
        let middle = usize::midpoint(low, enough);
        if reaches(middle) { enough = middle } else { low = middle + 1 }
    }
    Some(enough)
}
