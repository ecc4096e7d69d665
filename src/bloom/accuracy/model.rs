//! The false-positive rate that filters of this format really have.
//!
//! The textbook rate `(1 - e^(-kn/m))^k` takes the `k` probes for independent and uniform. Here all
//! of them are made from one 32-bit hash, which departs from that in four ways:
//!
//! 1. Third probes, and a few others in filters of certain sizes, favour some bits: see
//!    [`third_probe`](super::third_probe) and [`uneven_probes`](super::uneven_probes).
//! 2. A query that has one probe on such a bit often has others there, too: see
//!    [`queries`].
//! 3. Some queries look at fewer bits than they have probes: see
//!    [`repeated_bits`](super::repeated_bits).
//! 4. A key with the query's hash, or with the same bits, is a false positive on its own.
//!
//! Given the query, its bits are set nearly independently, each with a probability of 1 less e to
//! the power of minus the hits that it expects. (1) and (2) are the mean of the product of these
//! over a fixed set of queries, (3) is summed in closed form, and (4) is partly fitted to
//! measurements.

use super::numbers::{NUM_HASHES, float, gcd};
use super::queries::{self, Query};
use super::repeated_bits::added_by_repeated_bits;
use super::third_probe::Lattice;
use super::uneven_probes::UnevenProbes;

/// Below so many bits, each one has several hashes of third probes: no bit is favoured.
const MIN_BITS_FAVOURED: u64 = 1 << 16;

/// Below so many bits, evenly spread queries meet favoured bits often enough.
const MIN_BITS_RARE: u64 = 1 << 18;

/// The false-positive rate to expect of a filter of `num_bits` bits after `num_keys` keys.
///
/// Takes up to 0.5 ms (with 30 probes 1 ms), whatever the number of keys.
pub(super) fn expected_false_positive_rate(num_bits: u64, num_probes: u8, num_keys: usize) -> f64 {
    if num_keys == 0 {
        return 0.0;
    }
    Filter::new(num_bits, num_probes, num_keys).false_positive_rate()
}

/// What the model knows of a filter.
pub(super) struct Filter {
    /// At most 2<sup>32</sup>: bits beyond are never used.
    pub(super) bits: u64,
    pub(super) probes: u8,
    /// Not 0.
    pub(super) keys: f64,
}

impl Filter {
    pub(super) fn new(num_bits: u64, num_probes: u8, num_keys: usize) -> Self {
        let bits = num_bits.clamp(1, 1 << 32);
        Self { bits, probes: num_probes, keys: float(num_keys as u64) }
    }

    pub(super) fn false_positive_rate(&self) -> f64 {
        self.with_rarer_causes(self.mean_over_queries())
    }

    /// The rate if probes favoured no bits: some hundred times as fast to compute.
    pub(super) fn without_favoured_bits(&self) -> f64 {
        self.with_rarer_causes(self.textbook_rate())
    }

    /// A rate that the filter does not reach.
    ///
    /// Favoured bits spare others, so that with too many probes for their number of bits, filters
    /// are up to 16 % below the rate without; the rest is margin.
    pub(super) fn least_rate(&self) -> f64 {
        0.8 * self.without_favoured_bits()
    }

    fn textbook_rate(&self) -> f64 {
        self.fill().powi(self.probes.into())
    }

    /// The share of bits that are set, if probes are uniform.
    pub(super) fn fill(&self) -> f64 {
        probability_of_hit(f64::from(self.probes) * self.hits_per_probe())
    }

    /// How often the average bit is hit by one probe of all keys.
    fn hits_per_probe(&self) -> f64 {
        self.keys / float(self.bits)
    }

    /// Adds causes (3) and (4) to the rate at which bits happen to be set.
    fn with_rarer_causes(&self, all_set: f64) -> f64 {
        let by_bits = (all_set + added_by_repeated_bits(self)).min(1.0);
        1.0 - (1.0 - by_bits) * (-self.keys_with_the_same_bits()).exp()
    }

    /// How many keys hit all bits of a query: those with the same hash, and, out of `bits^2`,
    /// those with the same first bit and step.
    ///
    /// The five numbers are fitted to filters of 60 to 30,000 bits. Wraps at 2<sup>32</sup> tell
    /// fewer keys apart if the number of bits has a small odd factor; and `(first bit, step)` has
    /// only `bits^2 / gcd(bits, 2^32 - 1)` values.
    fn keys_with_the_same_bits(&self) -> f64 {
        let odd = float(self.bits >> self.bits.trailing_zeros());
        let shared = float(gcd(self.bits, 0xffffffff));
        let probes_squared = f64::from(self.probes).powi(2);
        let out_of_bits_squared = 0.7
            + 5.5 / odd
            + 7.2 * (shared - 1.0) / probes_squared
            + 0.2 * probes_squared / self.keys;
        let bits = float(self.bits);
        self.keys / NUM_HASHES + self.keys * out_of_bits_squared / (bits * bits)
    }

    /// The mean of the probability that all of a query's bits are set.
    fn mean_over_queries(&self) -> f64 {
        let third_is_favoured = self.bits >= MIN_BITS_FAVOURED && self.probes > 2;
        let uneven = UnevenProbes::new(self, !third_is_favoured);
        let set = |bit| probability_of_hit(self.hits_per_probe() * uneven.density(bit));
        if !third_is_favoured {
            return if uneven.are_even() {
                self.textbook_rate()
            } else {
                self.mean_over(queries::evenly_spread(), set)
            };
        }
        let lattice = Lattice::new(self);
        let set = |bit| {
            let third = self.keys / NUM_HASHES * lattice.num_third_probes(bit);
            probability_of_hit(self.hits_per_probe() * uneven.density(bit) + third)
        };
        if self.bits < MIN_BITS_RARE {
            self.mean_over(queries::evenly_spread(), set)
        } else {
            self.mean_over(queries::near_third_probes(&lattice, self), set)
        }
    }

    fn mean_over(&self, queries: impl Iterator<Item = Query>, set: impl Fn(u32) -> f64) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for Query { step, weight } in queries {
            let mut hash = step.rotate_left(17);
            let mut all_set = 1.0;
            for _ in 0..self.probes {
                all_set *= set(self.bit(hash));
                hash = hash.wrapping_add(step);
            }
            sum += weight * all_set;
            weights += weight;
        }
        sum / weights
    }

    fn bit(&self, hash: u32) -> u32 {
        u32::try_from(self.bits).map_or(hash, |bits| hash % bits)
    }
}

/// The probability that something that expects so many hits gets any.
fn probability_of_hit(expected: f64) -> f64 {
    -(-expected).exp_m1()
}
