//! The fewest bits per key for a false-positive rate.

use super::accuracy::{Filters, MIN_BITS_FAVOURED};
use super::shape::MAX_PROBES;
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
    /// each, since a filter has at least 64. Some numbers of bits have more false positives than
    /// those just below: in rare cases 2 % fewer would do, and near the least rate a tenth.
    ///
    /// `None` where no filter of this format does: whatever its number of bits, an absent key has
    /// the 32-bit hash of one of 10 million keys with a probability of 0.233 %. Also for a `rate`
    /// that is not between 0 and 1 (both excluded), or not a number.
    ///
    /// Takes up to some milliseconds, and some tens near the least rate that there is.
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
        // The estimate leads near; where it is too high, below the first that reaches the rate.
        let may_reach = |steps: usize| {
            let margin = if num_bytes(steps) <= 400 { 1.5 } else { 1.1 };
            estimated_rate(num_bytes(steps), num_keys) <= margin * rate
        };
        let near = first(1, most, may_reach).min(most);
        let is_short = num_bytes(near) <= 400;
        let found = if is_short {
            // Rates of short filters jump from length to length: the first steps of each.
            let first_of = |num_bytes: usize| match num_bytes {
                8 => 1,
                _ => (num_bytes - 1) * 8000 / STEP / num_keys.max(1) + 1,
            };
            let lengths = (8..1000).map(first_of).filter(|&steps| steps <= most);
            lengths.filter(|&steps| may_reach(steps)).take(256).find(|&steps| reaches(steps))
        } else {
            // Not all, since the model takes long.
            let stride = 1 + near / 128;
            let enough = (near..=most).step_by(stride).take(64).find(|&steps| reaches(steps));
            enough.map(|enough| {
                let skipped = enough.saturating_sub(stride - 1).max(near)..enough;
                skipped.into_iter().find(|&steps| reaches(steps)).unwrap_or(enough)
            })
        };
        let fewest = match found {
            Some(fewest) if is_short || fewest > near => fewest,
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
