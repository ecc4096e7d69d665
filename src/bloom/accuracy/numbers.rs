//! Small arithmetic of the model.

/// The number of hashes, 2<sup>32</sup>.
pub(super) const NUM_HASHES: f64 = 4294967296.0;

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than an f64's precision")]
pub(super) fn float(n: u64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_between_both_ends() {
        let between = |low, high| integers(low, high).collect::<Vec<_>>();
        assert_eq!(between(-1.5, 2.5), [-1.0, 0.0, 1.0, 2.0]);
        assert_eq!(between(1.0, 1.0), [1.0]);
        assert_eq!(between(0.1, 0.9), []);
    }

    #[test]
    fn the_greatest_common_divisor_with_0_is_the_other() {
        assert_eq!((gcd(12, 18), gcd(7, 0), gcd(0, 7), gcd(8, 255)), (6, 7, 7, 1));
    }
}
