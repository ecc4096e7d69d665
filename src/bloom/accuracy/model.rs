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

use super::numbers::{NUM_HASHES, float, gcd, probability_of_hit};
use super::queries::{self, Query};
use super::repeated_bits::added_by_repeated_bits;
use super::third_probe::Lattice;
use super::uneven_probes::{PROBES_OF_A, UnevenProbes, density_by_a, depends_on_a};

/// Below so many bits, each one has several hashes of third probes: no bit is favoured.
pub(in crate::bloom) const MIN_BITS_FAVOURED: u64 = 1 << 16;

/// Filters that differ in their number of probes only.
pub(in crate::bloom) struct Filters {
    bits: u64,
    keys: f64,
}

impl Filters {
    pub(in crate::bloom) fn new(num_bytes: usize, num_keys: usize) -> Self {
        Self { bits: Self::bits(num_bytes), keys: float(num_keys as u64) }
    }

    /// The bits that hashes can reach.
    pub(in crate::bloom) fn bits(num_bytes: usize) -> u64 {
        (num_bytes as u64).saturating_mul(8).min(1 << 32)
    }

    /// The false-positive rate to expect. Takes as long for any number of keys.
    pub(super) fn rate(&self, num_probes: u8) -> f64 {
        let all_set = if self.bits >= MIN_BITS_FAVOURED {
            let lattice = Lattice::new(self.bits);
            let keys_per_hash = self.keys / NUM_HASHES;
            self.mean_over(queries::near_third_probes(&lattice), num_probes, |bit| {
                1.0 - probability_of_hit(keys_per_hash * lattice.num_third_probes(bit))
            })
        } else {
            let misses = 1.0 - probability_of_hit(self.hits());
            self.mean_over(queries::evenly_spread(), num_probes, |_| misses)
        };
        self.with_rarer_causes(num_probes, all_set)
    }

    /// The share of bits that are set, if probes are uniform.
    pub(in crate::bloom) fn fill(&self, num_probes: u8) -> f64 {
        probability_of_hit(f64::from(num_probes) * self.hits())
    }

    /// How often the average bit is hit by one probe of all keys.
    fn hits(&self) -> f64 {
        self.keys / float(self.bits)
    }

    /// Adds causes (3) and (4) to the rate at which bits happen to be set.
    pub(in crate::bloom) fn with_rarer_causes(&self, num_probes: u8, all_set: f64) -> f64 {
        let fill = self.fill(num_probes);
        let by_bits = (all_set + added_by_repeated_bits(self.bits, num_probes, fill)).min(1.0);
        let by_keys = probability_of_hit(self.keys_with_the_same_bits(num_probes, fill));
        by_bits + (1.0 - by_bits) * by_keys
    }

    /// How many keys hit all bits of a query: those with the same hash, and, out of `bits^2`,
    /// those with the same first bit and step.
    ///
    /// The five factors are fitted to filters of 60 to 30,000 bits. Wraps at 2<sup>32</sup> tell
    /// fewer keys apart if the number of bits has a small odd factor; and `(first bit, step)` has
    /// only `bits^2 / gcd(bits, 2^32 - 1)` values. Keys that share these and not all wraps hit some
    /// of the query's bits, and others may hit the rest; a single probe has no rest, nor a step.
    fn keys_with_the_same_bits(&self, num_probes: u8, fill: f64) -> f64 {
        let odd = float(self.bits >> self.bits.trailing_zeros());
        let shared = float(gcd(self.bits, 0xffffffff));
        let probes = f64::from(num_probes);
        let keys = self.keys.max(1.0);
        let out_of_bits_squared = 0.7
            + 5.5 * (1.0 - 1.0 / keys) / odd
            + (2.4 + 12.0 * fill) * (1.0 - 1.0 / probes) * (shared - 1.0) / (probes * probes)
            + 0.1 * probes * probes / keys;
        let bits = float(self.bits);
        self.keys / NUM_HASHES + self.keys * out_of_bits_squared / (bits * bits)
    }

    /// The mean of the probability that all of a query's bits are set.
    ///
    /// `third_misses` is the probability that the third probes of all keys miss a bit.
    fn mean_over(
        &self,
        queries: impl Iterator<Item = Query>,
        num_probes: u8,
        third_misses: impl Fn(u32) -> f64,
    ) -> f64 {
        let others = UnevenProbes::new(self.bits, num_probes, self.hits());
        let (mut sum, mut weights) = (0.0, 0.0);
        for Query { step, weight } in queries {
            let mut hash = step.rotate_left(17);
            let mut all_set = weight;
            for _ in 0..num_probes {
                let bit = self.bit(hash);
                let third_miss = if num_probes > 2 { third_misses(bit) } else { 1.0 };
                let of_a_miss = self.probes_of_a_miss(bit, num_probes);
                all_set *= 1.0 - others.misses(bit) * third_miss * of_a_miss;
                hash = hash.wrapping_add(step);
            }
            sum += all_set;
            weights += weight;
        }
        sum / weights
    }

    /// The probability that of all keys' probes those that [depend on `a`](depends_on_a) miss a bit.
    fn probes_of_a_miss(&self, bit: u32, num_probes: u8) -> f64 {
        let of_a = PROBES_OF_A.into_iter().filter(|&j| j < num_probes.into());
        let of_a = of_a.filter(|&j| depends_on_a(self.bits, j));
        let hits = of_a.map(|j| self.hits() * density_by_a(self.bits, j, bit));
        hits.map(|hits| 1.0 - probability_of_hit(hits)).product()
    }

    fn bit(&self, hash: u32) -> u32 {
        u32::try_from(self.bits).map_or(hash, |bits| hash % bits)
    }
}
