//! The false-positive rate of this format, and policies chosen by it.

mod model;
mod numbers;
mod queries;
mod repeated_bits;
mod search;
mod third_probe;
mod uneven_probes;

use self::model::Filters;
use self::search::{best_num_probes, best_shape, fewest_bits_per_key, num_bytes, tuned_num_probes};
use super::{BloomFilterPolicy, BloomFilterShape};

impl BloomFilterPolicy {
    /// The share of absent keys to expect that a filter of `num_keys` keys matches: 0.01 for 1 %.
    ///
    /// This is a model of what this format really does, for keys whose hashes are as good as
    /// random. The textbook's `(1 - e^(-k / bits_per_key))^k` is well below it from some 30,000
    /// keys up: the third probe of all keys and queries takes only 196,606 values, so that in a
    /// large filter it falls on few bits, almost all of them set; and of millions of keys many
    /// share their 32-bit hash with another. Where the number of bits makes the probes of a query
    /// meet, the rate is up to twice as high: 2.05 % at 300,000 keys with 10 bits each.
    ///
    /// [`finish_tuned_into`](crate::BloomFilterBuilder::finish_tuned_into) and
    /// [`tuned_shape`](Self::tuned_shape) avoid such lengths;
    /// [`tuned_for`](Self::tuned_for) is for `create_filter` and filter blocks, and keeps LevelDB's
    /// length. Where even that is too much, split the filter: its parts have fewer keys.
    ///
    /// It was held against 866 measured filters with 5 to 24 bits per key. The relative error is
    ///
    /// | keys | in half of the filters | in 90 % | at most |
    /// |---|---|---|---|
    /// | 20 to 99 | 3 % | 8 % | 16 % |
    /// | 100 to 999 | 1.5 % | 3.5 % | 11 % |
    /// | 1,000 to 99,999 | 0.7 % | 2.5 % | 6 % |
    /// | 100,000 to 10,000,000 | 1.5 % | 5 % | 11 % |
    ///
    /// Below 20 keys it is up to 25 % off; and where they have only 64 bits (up to 6 keys, at 10
    /// bits per key), this may be 2.5 times too high. Not modelled are filters whose number of
    /// bits is a multiple of 65,535 or 65,537 (one in some 33,000): there it may be less than half
    /// of the real rate.
    ///
    /// 0 without keys. No input panics: where `num_keys * bits_per_key` is more than any filter
    /// can have, this is the rate of one with all bits that 32-bit hashes can use. Takes up to 0.8
    /// ms (with 30 probes 2 ms), whatever the number of keys.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let policy = BloomFilterPolicy::new(10);
    /// let percent = |num_keys| 100.0 * policy.expected_false_positive_rate(num_keys);
    ///
    /// // The textbook says 0.84 for all of these.
    /// assert!((0.86..0.88).contains(&percent(1_000)));
    /// assert!((1.42..1.48).contains(&percent(100_000)));
    /// assert!((1.27..1.31).contains(&percent(1_000_000)));
    /// ```
    #[must_use]
    pub fn expected_false_positive_rate(&self, num_keys: usize) -> f64 {
        self.filters(num_keys).rate(self.num_probes)
    }

    /// Filters of the same size with the number of probes that makes the fewest false positives,
    /// for filters of about `num_keys` keys.
    ///
    /// Every LevelDB reads them. With 10 bits per key, 100,000 keys have 17 % fewer false
    /// positives with 8 probes than with LevelDB's 6, a million keys 19 %, and ten million 12 %.
    /// Each further probe costs time in writing and reading.
    /// [`tuned_shape`](Self::tuned_shape) chooses the length, too.
    ///
    /// It is LevelDB's number of probes unless another is
    /// [expected](Self::expected_false_positive_rate) to have at least 2 % fewer false positives:
    /// of 130 choices measured, one was worse than LevelDB's (by 5 %, for 3 keys with 5 bits each).
    /// A number set before by [`with_num_probes`](Self::with_num_probes) is lost. The choice may
    /// change with the model, but is the same on every platform.
    ///
    /// 0 keys, and numbers of keys for which no filter can be made, have an answer, too. Takes up
    /// to 2 ms (with 100 bits per key 3 ms).
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
        let leveldb = Self::new(self.bits_per_key).with_name(self.name);
        let (num_probes, _) = tuned_num_probes(&self.filters(num_keys), leveldb.num_probes);
        leveldb.with_num_probes(num_probes)
    }

    /// The length and the number of probes with the fewest false positives of `num_keys` keys, in
    /// at most LevelDB's length.
    ///
    /// Some numbers of bits make the probes of a query meet: of all round numbers of keys, 150,000
    /// and 300,000 have the most false positives with 10 bits each, twice as many as with a few
    /// bytes less. So a shape is up to 40 bytes, and never more than 0.5 %, shorter than LevelDB's.
    /// It has LevelDB's length, or number of probes, unless another is expected to gain 2 %.
    ///
    /// From 20,000 keys up, [the model](Self::expected_false_positive_rate) decides; takes up to 4
    /// ms. Below, where filters are made faster than the model answers, simpler formulas do, in
    /// 0.03 ms. A number of probes set by [`with_num_probes`](Self::with_num_probes) has no effect.
    /// The choice may change with the model, but is the same on every platform.
    ///
    /// # Panics
    ///
    /// With "capacity overflow", if `num_keys * bits_per_key` is more than a `usize` holds.
    #[must_use]
    pub fn tuned_shape(&self, num_keys: usize) -> BloomFilterShape {
        best_shape(Self::new(self.bits_per_key).shape(num_keys), num_keys)
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
    /// Takes up to 7 ms.
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
        let policy = Self::new(fewest_bits_per_key(rate, num_keys)?);
        let (num_probes, _) = best_num_probes(&policy.filters(num_keys));
        Some(policy.with_num_probes(num_probes))
    }

    fn filters(&self, num_keys: usize) -> Filters {
        Filters::new(num_bytes(self.bits_per_key, num_keys), num_keys)
    }
}

impl BloomFilterShape {
    /// The share of absent keys to expect that a filter of this shape and `num_keys` keys matches:
    /// see [`BloomFilterPolicy::expected_false_positive_rate`].
    #[must_use]
    pub fn expected_false_positive_rate(&self, num_keys: usize) -> f64 {
        Filters::new(self.num_bytes, num_keys).rate(self.num_probes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for (num_bytes, num_probes) in [(8, 5), (125, 6), (8750, 8), (375_000, 9), (1 << 21, 20)] {
            let rates = [1, 10, 100, 10_000, 1_000_000, 100_000_000, u32::MAX as usize]
                .map(|num_keys| Filters::new(num_bytes, num_keys).rate(num_probes));
            assert!(rates.is_sorted(), "{num_bytes} {num_probes}: {rates:?}");
        }
    }

    #[test]
    fn tuning_changes_the_number_of_probes_only_and_for_2_per_cent_or_more() {
        for (bits_per_key, num_keys) in BITS_PER_KEY.into_iter().flat_map(|b| SIZES.map(|n| (b, n)))
        {
            let policy = BloomFilterPolicy::new(bits_per_key).with_name("name");
            let tuned = policy.with_num_probes(30).tuned_for(num_keys);
            assert_eq!(tuned.with_num_probes(policy.num_probes), policy);
            let rate = |policy: BloomFilterPolicy| policy.expected_false_positive_rate(num_keys);
            let gained = rate(tuned) < 0.98 * rate(policy);
            assert!(tuned == policy || gained, "{num_keys} {policy:?} {tuned:?}");
        }
    }

    #[test]
    fn a_rate_is_reached_with_the_fewest_bits_per_key() {
        for num_keys in [1, 7, 30, 1000, 40_000, 5_000_000, 1 << 29] {
            for rate in [0.9, 0.1, 0.01, 0.0003, 1e-9] {
                let reaches = |bits_per_key| {
                    let policy = BloomFilterPolicy::new(bits_per_key);
                    bits_per_key > 0 && best_num_probes(&policy.filters(num_keys)).1 <= rate
                };
                let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys);
                let most = usize::try_from(1_u64 << 32).unwrap_or(usize::MAX) / num_keys;
                let fewer = policy.map_or(most, |policy| policy.bits_per_key - 1);
                assert!(!reaches(fewer), "{rate} {num_keys}: {policy:?}");
                let found = policy.map(|policy| policy.expected_false_positive_rate(num_keys));
                assert!(found.is_none_or(|found| found <= rate), "{rate} {num_keys}: {policy:?}");
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
        // Without keys, every rate is within reach.
        for rate in [f64::MIN_POSITIVE, 0.01, 1.0 - f64::EPSILON / 2.0] {
            assert_eq!(for_rate(rate, 0), Some(BloomFilterPolicy::new(1)));
        }
    }
}
