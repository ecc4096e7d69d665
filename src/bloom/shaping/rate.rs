//! The false-positive rate of this format: one closed form for random keys, which every choice of a
//! shape uses.
//!
//! The textbook's `(1 - e^(-probes * keys / bits))^probes` takes a key's probes to be independent.
//! Here all come from one 32-bit hash `h`, and there are three more ways to match:
//!
//! - A query has the hash of a key: `keys / 2^32`.
//! - A query shares two or more probes with a key, in the same or the reverse order, since two
//!   probes decide the others. Other keys may have set the bits of its other probes, each with
//!   probability `f`, the share of bits that are set. With `k` probes that makes about
//!   `2 * keys / bits^2 * (1 + 2 f + 3 f^2 + .. + (k - 1) f^(k - 2))`.
//! - Third probes, `h + 2 * rotr(h, 17)`, are `65537 * v` for one of 196,606 values `v` only. In a
//!   filter of more bits they fall on few bits, which are mostly set, and some queries have their
//!   other probes there, too.
//!
//! All of the form follows from this, but for one fitted factor, [`ALL_AMONG`]. The tests in
//! `tests/rates/closed_form.rs` compare the form with filters of random keys. From some 500 million
//! keys on, it is too high, because ways to match overlap.

use crate::bloom::shape::{BloomFilterShape, NUM_HASHES, to_f64};

/// How many values a third probe has: each is the sum of a number below 2<sup>16</sup>, twice the
/// highest 15 bits of the hash, and of the other 17 bits.
const NUM_VALUES: f64 = 196606.0;

/// How often all probes of a query are among third probes: this, times the share of bits that they
/// reach, over the square of the number of probes.
const ALL_AMONG: f64 = 3.0;

impl BloomFilterShape {
    /// Returns the false-positive rate that filters of this shape have with `num_keys` random keys,
    /// such as 0.01. Takes less than a microsecond.
    ///
    /// This tells whether a filter is overfull: compare the rate of the keys that it has with the
    /// rate of the keys that it was made for. It is 0 without keys, and 1 without probes.
    ///
    /// For tuned shapes of 6 to 16 bits per key that are made for 40 to 8,000 keys, the rate is
    /// within 5% if the filter has as many keys, and within a tenth if it has up to four times as
    /// many. If it has half as many, the rate is mostly within a quarter. For fewer than 40 keys,
    /// it is up to 1.4 times too high. Of larger shapes, some suit LevelDB's hash less than others,
    /// which the rate does not tell: one in twenty has a quarter more false positives or worse, up
    /// to twice as many. For LevelDB's shapes the rate can be several times too low, at bad lengths
    /// such as 65,535 bytes and for few keys.
    ///
    /// **Keys that hold numbers match more often.** If they have LevelDB's hash, a million keys
    /// such as `example.com/abc/10000000` have seven times the rate, because [many hashes are
    /// equal](crate::recipes::own_hashes#other-hashes). So do keys that count up in filters of few keys.
    ///
    /// ```
    /// use leveldb_filter::BloomFilterPolicy;
    /// let shape = BloomFilterPolicy::new(10).tuned().shape(10_000);
    /// let [made_for, overfull] = [10_000, 40_000].map(|n| shape.false_positive_rate(n));
    /// assert!((0.008..0.010).contains(&made_for) && overfull > 0.5);
    /// ```
    #[doc(alias("fpr", "false positive rate", "overfull"))]
    #[must_use]
    pub fn false_positive_rate(&self, num_keys: usize) -> f64 {
        match (self.num_probes, num_keys) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            // Hashes reach no further bits.
            _ => RateModel::new(self.num_bits().min(NUM_HASHES), num_keys).rate(self.num_probes),
        }
    }
}

/// The rates of filters that differ in their number of probes only.
pub(super) struct RateModel {
    bits: f64,
    keys: f64,
    /// The share of bits that one probe of each key leaves 0.
    unset_by_one: f64,
}

/// What random keys do to a filter.
struct Expected {
    /// The share of bits that are 0.
    unset: f64,
    /// The share of absent keys whose bits are all set by unrelated keys.
    all_set: f64,
}

impl RateModel {
    /// Of filters with at least one bit and one key.
    pub(super) fn new(num_bits: u64, num_keys: usize) -> Self {
        let (bits, keys) = (to_f64(num_bits), to_f64(num_keys as u64));
        Self { bits, keys, unset_by_one: 1.0 - probability_of_hit(keys / bits) }
    }

    /// The share of absent keys that a filter with this many probes, at least one, is expected to
    /// match; at most 1.
    pub(super) fn rate(&self, num_probes: u8) -> f64 {
        let Expected { unset, all_set } = if num_probes > 2 && self.bits >= NUM_VALUES {
            self.with_third_probes(num_probes)
        } else {
            self.without(num_probes)
        };
        // The sum of the header, without a loop, times `unset^2`. Where nearly all bits are set, it
        // is lost in rounding errors, but then nearly all keys match because of their own bits.
        let more_probes = f64::from(num_probes - 1);
        let sum = 1.0 - power(1.0 - unset, num_probes - 1) * (1.0 + more_probes * unset);
        let unset_bits = unset * self.bits;
        let lookalikes = (2.0 * self.keys * sum / (unset_bits * unset_bits)).max(0.0);
        (all_set + lookalikes + self.keys / to_f64(NUM_HASHES)).min(1.0)
    }

    /// If third probes are like all others.
    fn without(&self, num_probes: u8) -> Expected {
        let unset = power(self.unset_by_one, num_probes);
        Expected { unset, all_set: power(1.0 - unset, num_probes) }
    }

    /// If third probes fall on few bits.
    fn with_third_probes(&self, num_probes: u8) -> Expected {
        let third = ThirdProbes::new(self.keys);
        let (probes, share_of_bits) = (f64::from(num_probes), NUM_VALUES / self.bits);
        // Bits that all probes but third probes leave 0.
        let others = power(self.unset_by_one, num_probes - 1);
        let unset = others * (1.0 - share_of_bits * (1.0 - third.unset_by_value));
        let third_set = 1.0 - others * third.unset_by_hash;
        // The other probes of a query fall on any bit, or all on bits where third probes fall.
        let set = [1.0 - unset, 1.0 - others * third.unset_by_value];
        let [anywhere, among] = set.map(|set| power(set, num_probes - 1));
        let all_among = ALL_AMONG * share_of_bits / (probes * probes);
        Expected { unset, all_set: third_set * (anywhere + all_among * (among - anywhere)) }
    }
}

/// The values of third probes that no key has.
struct ThirdProbes {
    /// Their share, on average over all values.
    unset_by_value: f64,
    /// The same on average over all hashes, of which more have a value in the middle.
    unset_by_hash: f64,
}

impl ThirdProbes {
    /// Of so many keys, more than 0.
    fn new(keys: f64) -> Self {
        // One hash in 2^17 has a given value in the middle third. Towards both ends that share
        // falls to 0 in a straight line, so another value, expected `t * a` times with t from 0 to
        // 1, stays unset with probability e^(-t * a). The averages are the integrals over t, by
        // hashes weighted with t.
        let a = keys / 131072.0;
        let hit = probability_of_hit(a);
        let unset_by_value = (1.0 - hit) / 3.0 + 2.0 * hit / (3.0 * a);
        let unset_by_hash = (1.0 - hit) / 2.0 + (1.0 - (1.0 - hit) * (1.0 + a)) / (a * a);
        Self { unset_by_value, unset_by_hash }
    }
}

/// How many different random keys are expected to set this share of a filter's bits.
pub(in crate::bloom) fn estimate_num_keys(shape: BloomFilterShape, fill_ratio: f64) -> f64 {
    if shape.num_probes == 0 || fill_ratio >= 1.0 {
        return f64::INFINITY;
    }
    // As many different probes would set these bits, if only third probes coincided.
    let probes = to_f64(shape.num_bits()) * minus_ln_of_rest(fill_ratio);
    let num_probes = f64::from(shape.num_probes);
    let mut num_keys = probes / num_probes;
    if probes > 0.0 && num_probes > 2.0 {
        // The first guess is at most a third too low; four rounds reduce that below a thousandth.
        for _ in 0..4 {
            let unset = ThirdProbes::new(num_keys).unset_by_value;
            num_keys = (probes - NUM_VALUES * (1.0 - unset)) / (num_probes - 1.0);
        }
    }
    num_keys
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

/// The probability that something that expects this many hits gets any: `1 - e^-expected`.
///
/// Uses only what IEEE 754 rounds alike everywhere, which [`f64::exp_m1`] does not.
fn probability_of_hit(expected: f64) -> f64 {
    // A Padé approximant of an eighth of it, with which three doublings give seven digits. It fails
    // for large numbers. From 24 to 60 the result is 1 to ten digits, so any limit there would do.
    let x = expected.min(48.0) / 8.0;
    let square = x * x;
    let mut hit = x * (120.0 + 2.0 * square) / (120.0 + 12.0 * square + x * (60.0 + square));
    for _ in 0..3 {
        hit *= 2.0 - hit;
    }
    hit
}

/// `-ln(1 - share)` of a share below 1. Uses only what IEEE 754 rounds alike everywhere, which
/// [`f64::ln_1p`] does not.
fn minus_ln_of_rest(share: f64) -> f64 {
    if share > 0.5 {
        // For twice the rest, which is not rounded: the series below converges fast for it.
        return core::f64::consts::LN_2 + minus_ln_of_rest(2.0 * share - 1.0);
    }
    // `2 * artanh(z)`, whose series is `2 * (z + z^3 / 3 + z^5 / 5 + ..)`, with `z` at most 1 / 3.
    let z = share / (2.0 - share);
    2.0 * z * (0..16).rev().fold(0.0, |sum, k| sum * z * z + 1.0 / f64::from(2 * k + 1))
}
