//! The fewest bits per key for a false-positive rate.

use super::accuracy::{Filters, MIN_BITS_FAVOURED, NUM_HASHES, float};
use super::probes::MAX_PROBES;
use super::{BloomFilterPolicy, BloomFilterShape, policy, tuned};

/// The millibits per key between the policies that are tried.
const STEP: usize = 50;

impl BloomFilterPolicy {
    /// The tuned policy with the fewest bits per key, to 0.05, whose filters of `num_keys` keys are
    /// expected to match at most `rate` of absent keys: 0.01 for 1 %.
    ///
    /// Of their shape,
    /// [`expected_false_positive_rate`](super::BloomFilterShape::expected_false_positive_rate)
    /// says so. Filters of other numbers of keys have other rates. A few keys need next to no bits
    /// each, since a filter has at least 64.
    ///
    /// `None` where no filter of this format does: whatever its number of bits, an absent key has
    /// the 32-bit hash of one of 10 million keys with a probability of 0.233 %. Also for a `rate`
    /// that is not between 0 and 1 (both excluded), or not a number.
    ///
    /// Takes some tenths of a millisecond for filters below 65,536 bits. Above, where the model takes
    /// longer, it is some milliseconds, and some tens near the least rate that there is.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let policy = BloomFilterPolicy::for_false_positive_rate(0.01, 1_000_000).unwrap();
    /// assert!((10_000..10_500).contains(&policy.millibits_per_key()));
    ///
    /// assert_eq!(BloomFilterPolicy::for_false_positive_rate(0.001, 10_000_000), None);
    /// ```
    #[must_use]
    pub fn for_false_positive_rate(rate: f64, num_keys: usize) -> Option<Self> {
        if !(rate > 0.0 && rate < 1.0) {
            return None;
        }
        // Hashes reach 2^32 bits.
        let millibits = ((1 << 32) - 64) * 1000 / num_keys.max(1) as u64;
        let most = usize::try_from(millibits).unwrap_or(usize::MAX) / STEP;
        let policy = |steps: usize| Self::from_millibits_per_key(steps * STEP);
        let num_bytes = |steps: usize| policy(steps).shape(num_keys).num_bytes;
        let reaches = |steps: usize| {
            policy(steps).tuned().shape(num_keys).expected_false_positive_rate(num_keys) <= rate
        };
        // The estimate leads near. From length to length rates jump, of short filters more.
        let same_hash = float(num_keys as u64) / NUM_HASHES;
        let may_reach = |steps: usize| {
            let margin = if num_bytes(steps) <= 400 { 0.5 } else { 0.1 };
            let rate = rate + margin * (rate - same_hash).max(0.0);
            estimated_rate(num_bytes(steps), num_keys) <= rate
        };
        let near = first(1, most, may_reach).min(most);
        let start = if num_bytes(near) <= 400 { 1 } else { near };
        // With more than 50 bits per key, rates hardly fall.
        let most_asked = if start == 1 || near < 1000 { 64 } else { 0 };
        let is_longer = |&steps: &usize| steps == 1 || num_bytes(steps) > num_bytes(steps - 1);
        let longer_and_longer = (start..=most).filter(is_longer).take(2000);
        let may_reach = longer_and_longer.filter(|&steps| may_reach(steps));
        let fewest = match may_reach.take(most_asked).find(|&steps| reaches(steps)) {
            Some(fewest) if fewest > near || start == 1 => fewest,
            // Where the first one does, or none, the estimate is far off.
            Some(_) => first(1, near, reaches),
            None => first(near, most, reaches),
        };
        (fewest <= most).then(|| policy(fewest).tuned())
    }
}

/// The first number from `low` to `high` that is `enough`, or one more.
fn first(mut low: usize, high: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    let mut enough = high + 1;
    while low < enough {
        let middle = usize::midpoint(low, enough);
        if is_enough(middle) { enough = middle } else { low = middle + 1 }
    }
    enough
}

/// About the rate of the tuned filter that takes the place of LevelDB's with `num_bytes`, in less
/// than a microsecond.
pub(super) fn estimated_rate(num_bytes: usize, num_keys: usize) -> f64 {
    let num_probes = policy::leveldb_num_probes(num_bytes.saturating_mul(8) / num_keys.max(1), 0);
    let num_bits = Filters::bits(num_bytes);
    if num_bits < MIN_BITS_FAVOURED {
        let shape = tuned::shape(BloomFilterShape { num_bytes, num_probes }, num_keys);
        let filters = Filters::new(shape.num_bytes, num_keys);
        let fill = filters.fill(shape.num_probes);
        let all_set = (0..shape.num_probes).fold(1.0, |all_set, _| all_set * fill);
        return filters.with_rarer_causes(shape.num_probes, all_set);
    }
    // Choosing the shape would take some microseconds.
    let rates = (num_probes..=MAX_PROBES)
        .take(4)
        .map(|num_probes| tuned::even_rate(num_bits, num_keys, num_probes.into()));
    rates.fold(1.0, f64::min)
}
