//! Queries that look at one bit more than once.

use super::numbers::float;

/// What queries with fewer bits than probes add to the false-positive rate, where a share `fill` of
/// the bits is set.
///
/// If probes `lag` apart are `wraps * 2^32` apart, those look at the same bit, or at the next few:
/// modulo an odd number, one more wrap makes another bit, until `lag` and the odd factor of the
/// number of bits are used up. There is such a step modulo the number of bits for each number of
/// wraps, for each common factor of two of `lag` and the number of bits, and each side of 0. If
/// the step is a share `e` of 2<sup>32</sup> off, that share of the probes still makes another
/// bit, so there are `lag + e * (probes - lag)`, with all `e` as likely.
pub(super) fn added_by_repeated_bits(bits: u64, probes: u8, fill: f64) -> f64 {
    let probes = usize::from(probes);
    let mut all_set = [1.0; 31];
    for num in 1..all_set.len() {
        all_set[num] = all_set[num - 1] * fill;
    }
    let powers_of_two = bits.trailing_zeros();
    let odd = usize::try_from(bits >> powers_of_two).unwrap_or(usize::MAX);

    // Of the steps with this lag, those that have a smaller one, too.
    let mut smaller = [0.0; 31];
    let mut added = 0.0;
    for lag in 1..probes {
        let solutions = float(1 << lag.trailing_zeros().min(powers_of_two));
        // Modulo a power of two wraps make no difference.
        let (solutions, num_wraps) =
            if odd == 1 { (solutions, 1.0) } else { (2.0 * solutions, float(lag as u64)) };
        let steps = solutions * num_wraps - smaller[lag];
        for multiple in (2 * lag..probes).step_by(lag) {
            smaller[multiple] += steps;
        }

        let all_set_with = |more: usize| all_set[(lag + more).min(odd.saturating_mul(lag))];
        let others = probes - lag;
        let sum: f64 =
            (0..others).map(|more| f64::midpoint(all_set_with(more), all_set_with(more + 1))).sum();
        let mean = sum / float(others as u64);
        added += steps / num_wraps / float(bits) * (mean - all_set[probes]);
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of `fill^(bits of a query)`, less what it is without repeated bits.
    fn counted(bits: u64, probes: u8, fill: f64) -> f64 {
        let num_queries = 1 << 18;
        let sum: f64 = (0..num_queries)
            .map(|i: u32| {
                let hash = i.wrapping_mul(0x9e3779b9);
                let hashes = (0..probes.into())
                    .map(|j: u32| hash.wrapping_add(hash.rotate_right(17).wrapping_mul(j)));
                let mut bits: Vec<u64> = hashes.map(|hash: u32| u64::from(hash) % bits).collect();
                bits.sort_unstable();
                bits.dedup();
                fill.powi(i32::try_from(bits.len()).unwrap())
            })
            .sum();
        sum / f64::from(num_queries) - fill.powi(probes.into())
    }

    #[test]
    fn queries_that_repeat_bits_are_as_many_as_said() {
        for (bits, probes) in [(64, 6), (256, 8), (1000, 7), (1000, 11), (2008, 12)] {
            let fill = 1.0 - (-0.1 * f64::from(probes)).exp();
            let expected = added_by_repeated_bits(bits, probes, fill);
            let counted = counted(bits, probes, fill);
            let error = expected / counted - 1.0;
            assert!(error.abs() < 0.2, "{bits} {probes}: {expected} {counted}");
        }
    }
}
