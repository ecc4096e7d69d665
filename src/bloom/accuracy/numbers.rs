//! Small arithmetic of the model.

/// The number of hashes, 2<sup>32</sup>.
pub(in crate::bloom) const NUM_HASHES: f64 = 4294967296.0;

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than an f64's precision")]
pub(in crate::bloom) fn float(n: u64) -> f64 {
    n as f64
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The integers from `low` to `high`, but for rounding errors.
#[expect(clippy::cast_possible_truncation, reason = "saturates far beyond any lattice point")]
#[expect(clippy::cast_precision_loss, reason = "they came as f64")]
pub(super) fn integers(low: f64, high: f64) -> impl Iterator<Item = f64> {
    // `f64::ceil` is a slow call on many targets.
    let ceil = |x: f64| x as i64 + i64::from(x > (x as i64) as f64);
    (ceil(low - 1e-9)..=-ceil(-high - 1e-9)).map(|i| i as f64)
}

/// The probability that something that expects so many hits gets any: `1 - e^-expected`.
///
/// Uses only what IEEE 754 rounds alike everywhere, which [`f64::exp_m1`] does not, so that a
/// choice by the model is the same on every platform.
pub(in crate::bloom) fn probability_of_hit(expected: f64) -> f64 {
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
    fn the_probability_of_a_hit_is_1_less_that_of_none() {
        for expected in (-300..300).map(|i| 1.1f64.powi(i)) {
            let error = probability_of_hit(expected) / -(-expected).exp_m1() - 1.0;
            assert!(error.abs() < 1e-7, "{expected}: {error}");
        }
    }
}
