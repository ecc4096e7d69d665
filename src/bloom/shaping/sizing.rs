//! The fewest bits for a false-positive rate.

use super::tuned::tuned_shape;
use crate::bloom::shape::{BloomFilterShape, NUM_HASHES};

/// About the fewest millibits per key with which a tuned filter of `num_keys` keys is expected to
/// have at most `rate`.
pub(in crate::bloom) fn millibits_for_rate(rate: f64, num_keys: usize) -> Option<u64> {
    if !(rate > 0.0 && rate < 1.0) {
        return None;
    }
    let reaches = |millibits| {
        let leveldb = BloomFilterShape::leveldb(num_keys, millibits);
        leveldb.is_some_and(|leveldb| tuned_shape(leveldb, num_keys).rate <= rate)
    };
    // Hashes reach one bit more, which a usize of 32 bits would not count: so the answer is the
    // same on every platform.
    let most = (NUM_HASHES - 1) * 1000 / num_keys.max(1) as u64;
    if !reaches(most) {
        return None;
    }
    // Rates mostly fall with each bit.
    let (mut low, mut enough) = (0, most);
    while low < enough {
        let middle = u64::midpoint(low, enough);
        if reaches(middle) { enough = middle } else { low = middle + 1 }
    }
    Some(enough)
}
