//! The false-positive rate of this format, and policies chosen by it.

mod model;
mod numbers;
mod queries;
mod repeated_bits;
mod search;
mod third_probe;
mod uneven_probes;

use self::model::expected_false_positive_rate;
use self::search::{best_num_probes, fewest_bits_per_key, num_bits};
use super::BloomFilterPolicy;

impl BloomFilterPolicy {
    /// The share of absent keys to expect that a filter of `num_keys` keys matches: 0.01 for 1 %.
    ///
    /// This is a model of what this format really does, for keys whose hashes are as good as
    /// random. The textbook's `(1 - e^(-k / bits_per_key))^k` is well below it from some 30,000
    /// keys up: there the third probes of all keys hit few bits, and in filters of millions, many
    /// keys share their 32-bit hash with another.
    ///
    /// It was held against 866 measured filters with 5 to 24 bits per key. The relative error is
    ///
    /// | keys | in half of the filters | in 90 % | at most |
    /// |---|---|---|---|
    /// | 20 to 99 | 3 % | 8 % | 10 % |
    /// | 100 to 999 | 2 % | 5 % | 9 % |
    /// | 1,000 to 99,999 | 0.5 % | 2 % | 6 % |
    /// | 100,000 to 10,000,000 | 1.5 % | 5 % | 11 % |
    ///
    /// Below 20 keys it is up to 25 % off; and where they have only 64 bits (up to 6 keys, at 10
    /// bits per key), this may be 2.5 times too high. Not modelled are filters whose number of
    /// bits is a multiple of 65,535 or 65,537 (one in some 33,000): there it may be less than half
    /// of the real rate.
    ///
    /// 0 without keys. No input panics: where `num_keys * bits_per_key` is more than any filter
    /// can have, this is the rate of one with all bits that 32-bit hashes can use. Takes up to 0.5
    /// ms (with 30 probes 1 ms), whatever the number of keys.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let policy = BloomFilterPolicy::new(10);
    /// let percent = |num_keys| 100.0 * policy.expected_false_positive_rate(num_keys);
    ///
    /// // The textbook says 0.84 for all of these.
    /// assert!((0.86..0.88).contains(&percent(1_000)));
    /// assert!((1.41..1.45).contains(&percent(100_000)));
    /// assert!((1.27..1.31).contains(&percent(1_000_000)));
    /// ```
    #[must_use]
    pub fn expected_false_positive_rate(&self, num_keys: usize) -> f64 {
        let num_bits = num_bits(self.bits_per_key, num_keys);
        expected_false_positive_rate(num_bits, self.num_probes, num_keys)
    }

    /// Filters of the same size with the number of probes that makes the fewest false positives,
    /// for filters of about `num_keys` keys.
    ///
    /// Every LevelDB reads them. With 10 bits per key, 100,000 keys have 17 % fewer false
    /// positives with 8 probes than with LevelDB's 6, a million keys 19 %, and ten million 12 %;
    /// 10,000 keys have 4 % fewer with 7 probes, and 10 keys with 16 bits each 38 % fewer with 7
    /// probes instead of 11. Each further probe costs time in writing and reading.
    ///
    /// The choice is by [`expected_false_positive_rate`](Self::expected_false_positive_rate). It
    /// is LevelDB's number of probes unless another is expected to have at least 2 % fewer false
    /// positives, as errors of the model could otherwise make a choice worse than LevelDB's: of
    /// 130 choices measured, one was (by 5 %, for 3 keys with 5 bits each). A number set before by
    /// [`with_num_probes`](Self::with_num_probes) is lost. The choice may change with the model,
    /// and a close one may differ between platforms.
    ///
    /// 0 keys, and numbers of keys for which no filter can be made, have an answer, too. Takes up
    /// to 6 ms.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let policy = BloomFilterPolicy::new(10);
    /// let tuned = policy.tuned_for(1_000_000);
    ///
    /// assert_eq!((policy.num_probes(), tuned.num_probes()), (6, 8));
    /// assert_eq!(policy.filter_len(1_000_000), tuned.filter_len(1_000_000));
    /// ```
    #[must_use]
    pub fn tuned_for(self, num_keys: usize) -> Self {
        let leveldb = Self { name: self.name, ..Self::new(self.bits_per_key) };
        if num_keys == 0 {
            return leveldb;
        }
        let tuned = leveldb.with_num_probes(best_num_probes(self.bits_per_key, num_keys));
        let rate = |policy: Self| policy.expected_false_positive_rate(num_keys);
        if rate(tuned) <= MAX_TUNED_RATE * rate(leveldb) { tuned } else { leveldb }
    }

    /// The policy with the fewest bits per key, and their best number of probes, whose filters of
    /// `num_keys` keys are expected to match at most `rate` of absent keys: 0.01 for 1 %.
    ///
    /// `None` where no filter of this format does: whatever its number of bits, an absent key has
    /// the 32-bit hash of one of 10 million keys with a probability of 0.233 %. Also for a `rate`
    /// that is not between 0 and 1 (both excluded), or not a number.
    ///
    /// [Expected](Self::expected_false_positive_rate) is by the model, with its errors; a caller
    /// that must not exceed a rate should ask for 5 or 10 % less. The fewest means that one bit per
    /// key less does not reach the rate. (Some numbers of bits have more false positives than
    /// those just below, so in rare cases even fewer bits per key would have done.) Without keys,
    /// that is 1 bit per key.
    ///
    /// Takes up to 10 ms, but 20 ms for rates just above the least that can be reached.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let policy = BloomFilterPolicy::for_false_positive_rate(0.01, 1_000_000).unwrap();
    /// assert_eq!((policy.bits_per_key(), policy.num_probes()), (11, 9));
    ///
    /// assert_eq!(BloomFilterPolicy::for_false_positive_rate(0.001, 10_000_000), None);
    /// ```
    #[must_use]
    pub fn for_false_positive_rate(rate: f64, num_keys: usize) -> Option<Self> {
        if !(rate > 0.0 && rate < 1.0) {
            return None;
        }
        if num_keys == 0 {
            return Some(Self::new(1));
        }
        let bits_per_key = fewest_bits_per_key(rate, num_keys)?;
        let num_probes = best_num_probes(bits_per_key, num_keys);
        Some(Self::new(bits_per_key).with_num_probes(num_probes))
    }
}

/// To what share the false positives must sink to leave LevelDB's number of probes.
const MAX_TUNED_RATE: f64 = 0.98;

#[cfg(test)]
mod tests {
    use super::super::probes::MAX_PROBES;
    use super::*;

    /// The rate with the best number of probes.
    fn best_rate(bits_per_key: usize, num_keys: usize) -> f64 {
        let num_probes = best_num_probes(bits_per_key, num_keys);
        let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
        policy.expected_false_positive_rate(num_keys)
    }

    const SIZES: [usize; 9] =
        [0, 1, 7, 100, 10_000, 1_000_000, u32::MAX as usize, usize::MAX / 10, usize::MAX];
    const BITS_PER_KEY: [usize; 6] = [0, 1, 10, 1000, usize::MAX / 2, usize::MAX];

    #[test]
    fn every_input_has_a_rate_from_0_to_1() {
        for (bits_per_key, num_keys) in BITS_PER_KEY.into_iter().flat_map(|b| SIZES.map(|n| (b, n)))
        {
            for num_probes in [1, 2, 7, 30] {
                let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
                let rate = policy.expected_false_positive_rate(num_keys);
                assert!((0.0..=1.0).contains(&rate), "{policy:?} {num_keys}: {rate}");
                assert_eq!(rate == 0.0, num_keys == 0, "{policy:?} {num_keys}: {rate}");
            }
        }
    }

    #[test]
    fn more_keys_have_more_false_positives_in_the_same_filter() {
        for (num_bits, num_probes) in
            [(64, 5), (1000, 6), (70_000, 8), (3_000_000, 9), (1 << 24, 20)]
        {
            let rates = [1, 10, 100, 10_000, 1_000_000, 100_000_000, u32::MAX as usize]
                .map(|num_keys| expected_false_positive_rate(num_bits, num_probes, num_keys));
            assert!(rates.is_sorted(), "{num_bits} {num_probes}: {rates:?}");
        }
    }

    #[test]
    fn tuning_keeps_the_size_and_the_name() {
        for (bits_per_key, num_keys) in BITS_PER_KEY.into_iter().flat_map(|b| SIZES.map(|n| (b, n)))
        {
            let policy = BloomFilterPolicy::new(bits_per_key).with_name("name");
            let tuned = policy.tuned_for(num_keys);
            assert_eq!((tuned.bits_per_key, tuned.name), (bits_per_key, "name"));
            assert!((1..=MAX_PROBES).contains(&tuned.num_probes));
            assert_eq!(policy.with_num_probes(30).tuned_for(num_keys), tuned);
        }
    }

    #[test]
    fn tuning_leaves_leveldbs_number_of_probes_for_2_per_cent_or_more() {
        for num_keys in [0, 10, 100, 1000, 300_000, 20_000_000] {
            for policy in [0, 1, 8, 10, 14, 20].map(BloomFilterPolicy::new) {
                let tuned = policy.tuned_for(num_keys);
                let rate =
                    |policy: BloomFilterPolicy| policy.expected_false_positive_rate(num_keys);
                let gained = rate(tuned) <= 0.98 * rate(policy);
                assert!(tuned == policy || gained, "{num_keys} {policy:?} {tuned:?}");
            }
        }
    }

    #[test]
    fn a_rate_is_reached_with_the_fewest_bits_per_key() {
        for num_keys in [1, 7, 30, 1000, 40_000, 5_000_000, 1 << 29] {
            for rate in [0.9, 0.1, 0.01, 0.0003, 1e-9] {
                let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys)
                else {
                    let most = usize::try_from(1_u64 << 32).unwrap_or(usize::MAX) / num_keys;
                    assert!(best_rate(most, num_keys) > rate, "{rate} {num_keys}");
                    continue;
                };
                assert!(policy.expected_false_positive_rate(num_keys) <= rate);
                let fewer = policy.bits_per_key - 1;
                assert!(
                    fewer == 0 || best_rate(fewer, num_keys) > rate,
                    "{rate} {num_keys}: {policy:?}"
                );
            }
        }
    }

    #[test]
    fn rates_out_of_reach_have_no_policy() {
        let for_rate = BloomFilterPolicy::for_false_positive_rate;
        for rate in [0.0, -0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for num_keys in [0, 1, 1000, usize::MAX] {
                assert_eq!(for_rate(rate, num_keys), None);
            }
        }
        assert_eq!(for_rate(0.001, 10_000_000), None);
        assert_eq!(for_rate(0.00232, 10_000_000), None);
        assert_eq!(for_rate(f64::MIN_POSITIVE, 1), None);
        assert_eq!(for_rate(0.5, usize::MAX), None);
    }

    #[test]
    fn without_keys_1_bit_per_key_reaches_every_rate() {
        for rate in [f64::MIN_POSITIVE, 0.01, 1.0 - f64::EPSILON / 2.0] {
            let policy = BloomFilterPolicy::for_false_positive_rate(rate, 0);
            assert_eq!(policy, Some(BloomFilterPolicy::new(1)));
        }
    }
}
