//! The false-positive rate of this format.

mod model;
mod numbers;
mod queries;
mod repeated_bits;
mod third_probe;
mod uneven_probes;

pub(super) use self::model::{Filters, MIN_BITS_FAVOURED};
pub(super) use self::numbers::{NUM_HASHES, float, probability_of_hit};
pub(super) use self::third_probe::{Lattice, NUM_VALUES, different_third_probes};
use super::BloomFilterShape;

impl BloomFilterShape {
    /// The share of absent keys to expect that a filter of this shape and `num_keys` keys matches:
    /// 0.01 for 1 %.
    ///
    /// This is a model of what this format really does, for keys whose hashes are as good as
    /// random. The textbook's `(1 - e^(-k / bits_per_key))^k` is well below it from some 30,000
    /// keys up: the third probe of all keys and queries takes only 196,606 values, so that in a
    /// large filter it falls on few bits, almost all of them set; and of millions of keys many
    /// share their 32-bit hash with another. Where the number of bits makes the probes of a query
    /// meet, the rate may be twice as high: 2.05 % at 300,000 keys with 10 bits each.
    /// [`tuned`](super::BloomFilterPolicy::tuned) avoids such lengths. Where even that is too much,
    /// split the filter: its parts have fewer keys.
    ///
    /// It was held against 554 measured filters, drawn at random: 4 to 24 bits per key, with
    /// LevelDB's probes, tuned, or with 1 to 15. The relative error is
    ///
    /// | keys | in half of the filters | in 90 % | at most |
    /// |---|---|---|---|
    /// | 1 to 19 | 17 % | 52 % | 75 % |
    /// | 20 to 99 | 2 % | 6 % | 9 % |
    /// | 100 to 999 | 1 % | 3.5 % | 5 % |
    /// | 1,000 to 99,999 | 1 % | 2.5 % | 6 % |
    /// | 100,000 to 10,000,000 | 1.1 % | 4.5 % | 12.5 % |
    ///
    /// Others are worse: this is 19 % too high for 77,093 keys with 12 bits each, and by half where
    /// 255 divides a few thousand bits and keys have many of them, such as for 200 keys in 1,275
    /// bytes with 12 probes. Not modelled are filters whose number of bits is a multiple of 65,535
    /// or 65,537 (one in some 33,000), of which this may be less than half the rate, and those
    /// within some hundred bits of a multiple of 2<sup>19</sup> that are not tuned: a fifth below
    /// it.
    ///
    /// 0 without keys; no input panics. Takes a millisecond or so, whatever the number of keys.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    ///
    /// let percent = |num_keys| {
    ///     let shape = BloomFilterPolicy::new(10).shape(num_keys);
    ///     100.0 * shape.expected_false_positive_rate(num_keys)
    /// };
    ///
    /// // The textbook says 0.84 for all of these.
    /// assert!((0.86..0.88).contains(&percent(1_000)));
    /// assert!((1.42..1.48).contains(&percent(100_000)));
    /// assert!((1.27..1.31).contains(&percent(1_000_000)));
    /// ```
    #[must_use]
    pub fn expected_false_positive_rate(&self, num_keys: usize) -> f64 {
        Filters::new(self.num_bytes, num_keys).rate(self.num_probes)
    }
}
