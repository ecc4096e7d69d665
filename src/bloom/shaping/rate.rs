//! The false-positive rate of this format: one closed form, which every choice of a shape asks.
//!
//! The textbook's `(1 - e^(-probes * keys / bits))^probes` takes a key's probes for independent. Here
//! all of them are made of one 32-bit hash `h`, and four things differ:
//!
//! - The third probe, `h + 2 * rotr(h, 17)`, is `65537 * v` for one of only [`NUM_VALUES`] values
//!   `v`. In a filter of more bits third probes fall on few of them, which are mostly set.
//! - Some queries have their other probes there, too.
//! - Some queries look at a bit twice, and some keys have nearly the probes of a query.
//! - One key in 2<sup>32</sup> has the query's hash.
//!
//! It holds for lengths that spread probes evenly, and for those whose number of bits is a multiple
//! of 3 or 5 or a power of two. The constants without another reason are fitted to measured filters.

/// The number of hashes.
pub(super) const NUM_HASHES: f64 = 4294967296.0;

/// How many values `v` has: it is the sum of a number below 2<sup>16</sup>, twice the highest 15
/// bits of the hash, and of the other 17 bits.
pub(super) const NUM_VALUES: f64 = 196606.0;

/// A value in the middle third comes from one hash in so many.
const HASHES_OF_A_VALUE: f64 = 131072.0;

/// The weight of keys that have nearly the probes of a query.
const ALIKE: f64 = 2.22;

/// For how many such keys a query counts that looks at one bit twice.
const KEYS_OF_A_QUERY: f64 = 3.0;

/// More probes of a key meet if the number of bits is a power of two: a step's low bits decide.
const POWER_OF_TWO: f64 = 1.8;

/// A step between probes that wraps at 2<sup>32</sup>, which is 1 modulo 3 and 5, keeps most of its
/// remainder.
const MULTIPLE_OF_3: f64 = 0.08;
const MULTIPLE_OF_5: f64 = 0.06;

/// How many times [`NUM_VALUES`] queries of all, over the square of the probes, keep all their
/// probes where third probes go.
const STEPS_AMONG_THIRD_PROBES: f64 = 2.3;

/// The rates of filters that differ in their number of probes only.
pub(super) struct Rates {
    bits: f64,
    keys: f64,
    /// The share of bits that one probe of each key leaves 0.
    left: f64,
    third: Option<ThirdProbes>,
    unevenness: f64,
    alike: f64,
}

/// Where third probes go, in a filter that has more bits than they have values.
struct ThirdProbes {
    /// The share of the bits.
    share: f64,
    /// How many of these the third probes of all keys leave 0.
    left: f64,
    /// How many of these they leave 0 as seen by another third probe.
    left_by_own: f64,
}

impl ThirdProbes {
    fn new(bits: f64, keys: f64) -> Option<Self> {
        if bits < NUM_VALUES {
            return None;
        }
        // The values of the middle third come from as many hashes each, the others from ever fewer.
        let keys = keys / HASHES_OF_A_VALUE;
        let hit = probability_of_hit(keys);
        let left = (1.0 - hit) / 3.0 + 2.0 * hit / (3.0 * keys);
        let left_by_own = (1.0 - hit) / 2.0 + (1.0 - (1.0 - hit) * (1.0 + keys)) / (keys * keys);
        // Of few keys rounding makes it more than 1.
        Some(Self { share: NUM_VALUES / bits, left, left_by_own: left_by_own.min(1.0) })
    }
}

impl Rates {
    /// Of filters with at least one bit and one key.
    pub(super) fn new(num_bits: u64, num_keys: usize) -> Self {
        let mut rates = Self::even(num_bits, num_keys);
        rates.unevenness += if num_bits % 3 == 0 { MULTIPLE_OF_3 } else { 0.0 };
        rates.unevenness += if num_bits % 5 == 0 { MULTIPLE_OF_5 } else { 0.0 };
        rates.alike *= if num_bits.is_power_of_two() { POWER_OF_TWO } else { 1.0 };
        rates
    }

    /// As if the number of bits were next to this one, and spread probes evenly.
    pub(super) fn even(num_bits: u64, num_keys: usize) -> Self {
        let (bits, keys) = (float(num_bits), float(num_keys as u64));
        Self {
            bits,
            keys,
            left: 1.0 - probability_of_hit(keys / bits),
            third: ThirdProbes::new(bits, keys),
            unevenness: 1.0,
            alike: ALIKE * (keys + KEYS_OF_A_QUERY),
        }
    }

    /// The share of absent keys that a filter with so many probes is expected to match; at most 1.
    pub(super) fn rate(&self, num_probes: u8) -> f64 {
        let probes = f64::from(num_probes);
        let (left, all_set) = match &self.third {
            Some(third) if num_probes > 2 => {
                let by_others = power(self.left, num_probes - 1);
                let left = by_others * (1.0 - third.share * (1.0 - third.left));
                let others = power(1.0 - left, num_probes - 1);
                let hot = 1.0 - by_others * f64::midpoint(third.left_by_own, third.left);
                let among = STEPS_AMONG_THIRD_PROBES * third.share / (probes * probes);
                let others = others + among * (power(hot, num_probes - 1) - others);
                (left, others * (1.0 - by_others * third.left_by_own))
            }
            _ => {
                let left = power(self.left, num_probes);
                (left, power(1.0 - left, num_probes))
            }
        };
        let alike = if num_probes > 2 {
            let left = left * self.bits;
            self.alike * (probes - 2.0) / (probes * left * left)
        } else {
            0.0
        };
        (self.unevenness * (all_set + alike) + self.keys / NUM_HASHES).min(1.0)
    }
}

/// How many different third probes so many keys are expected to have.
pub(in crate::bloom) fn different_third_probes(num_keys: f64) -> f64 {
    ThirdProbes::new(NUM_VALUES, num_keys).map_or(0.0, |third| NUM_VALUES * (1.0 - third.left))
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than an f64's precision")]
pub(super) fn float(n: u64) -> f64 {
    n as f64
}

/// `x^exponent`, in the same steps on every platform, which [`f64::powi`] does not promise.
fn power(mut x: f64, mut exponent: u8) -> f64 {
    let mut power = 1.0;
    loop {
        power *= if exponent % 2 == 1 { x } else { 1.0 };
        exponent /= 2;
        if exponent == 0 {
            return power;
        }
        x *= x;
    }
}

/// The probability that something that expects so many hits gets any: `1 - e^-expected`.
///
/// Uses only what IEEE 754 rounds alike everywhere, which [`f64::exp_m1`] does not.
fn probability_of_hit(expected: f64) -> f64 {
    // A Padé approximant of an eighth of it, with which three doublings give seven digits.
    let x = expected.min(48.0) / 8.0;
    let square = x * x;
    let mut hit = x * (120.0 + 2.0 * square) / (120.0 + 12.0 * square + x * (60.0 + square));
    for _ in 0..3 {
        hit *= 2.0 - hit;
    }
    hit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_keys_have_higher_rates_of_at_most_1() {
        for num_bits in [64, 1000, 65_536, 3_000_000, 1 << 32] {
            for num_probes in 1..=30 {
                let rate = |keys| Rates::new(num_bits, keys).rate(num_probes);
                let rates: Vec<_> = (0..usize::BITS).map(|log2| rate(1 << log2)).collect();
                let are_shares = rates[0] > 0.0 && rates.iter().all(|&rate| rate <= 1.0);
                assert!(rates.is_sorted() && are_shares, "{num_bits} {num_probes}: {rates:?}");
            }
        }
    }
}
