//! How often the third probes of random keys meet in a filter of a given length.

use super::rate::NUM_VALUES;
use crate::bloom::shape::{NUM_HASHES, float};

/// All `(t, y)` with `y = t * bits / 65537` modulo 2<sup>32</sup>: two third probes fall on one bit
/// if they differ by a multiple `t` of the number of bits, and then their values differ by `y`.
///
/// Both as shares of their maximum: `t` of 2<sup>32</sup> / bits, `y` of [`NUM_VALUES`].
pub(super) struct Lattice {
    num_bits: f64,
    /// As short as can be, the shorter one first.
    basis: [[f64; 2]; 2],
}

impl Lattice {
    pub(super) fn new(num_bits: u64) -> Self {
        const INVERSE_OF_65537: u64 = 0xffff0001;
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
        let unit = num_bits.wrapping_mul(INVERSE_OF_65537) as u32;
        let (num_bits, num_hashes) = (float(num_bits), float(NUM_HASHES));
        let mut a = [num_bits / num_hashes, f64::from(unit) / NUM_VALUES];
        let mut b = [0.0, num_hashes / NUM_VALUES];
        loop {
            if dot(a, a) > dot(b, b) {
                (a, b) = (b, a);
            }
            let multiple = (dot(a, b) / dot(a, a)).round();
            let shorter = [b[0] - multiple * a[0], b[1] - multiple * a[1]];
            if dot(shorter, shorter) >= dot(b, b) {
                return Self { num_bits, basis: [a, b] };
            }
            b = shorter;
        }
    }

    /// The square of the length of the shortest vector.
    pub(super) fn shortest(&self) -> f64 {
        dot(self.basis[0], self.basis[0])
    }

    /// The probability that the third probes of two keys with different values meet, times the
    /// number of bits: the sum of the points other than 0, each weighted by the share of pairs that
    /// differ by it.
    pub(super) fn meetings(&self) -> f64 {
        /// Times `(1 - y)^2`, about the share of pairs of third probes that differ by `y`.
        const DIFFER_BY_0: f64 = 6.6e-6;
        let [a, b] = self.basis;
        // Points farther out rarely have both coordinates below 1, and weigh next to nothing. The
        // cap only bounds the time, for lengths at which nearly all meet.
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let reach = (2.0 / dot(a, a)).sqrt().min(64.0) as i32;
        let along_a =
            |from: [f64; 2], times: i32| [0, 1].map(|axis| from[axis] + f64::from(times) * a[axis]);
        let mut sum = 0.0;
        // With at least 65,536 bits, nearly all points with both coordinates below 1 are on the
        // line through 0 and on those next to it.
        for (first, num_points) in [(a, reach), (along_a(b, -reach), 2 * reach + 1)] {
            // Each point stands for its opposite, too.
            for times in 0..num_points {
                let [t, y] = along_a(first, times).map(|x| 1.0 - x.abs().min(1.0));
                sum += 2.0 * t * y * y;
            }
        }
        DIFFER_BY_0 * self.num_bits * sum
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
