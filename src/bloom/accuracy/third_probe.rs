//! Where third probes go.
//!
//! With the hash `h = H * 2^17 + L`, the third probe `h + 2 * rotr(h, 17)` is `65537 * v` for `v =
//! 2 * H + L`, a number below 196,606 that most often lies in the middle. So third probes reach
//! that many hashes only, and in a large filter few bits, which almost all get set.

use super::numbers::{NUM_HASHES, float, integers};

/// How many values `v` has.
pub(in crate::bloom) const NUM_VALUES: u32 = 196606;

/// How many hashes share each of the middle values.
const MOST_HASHES: f64 = 32768.0;

/// The inverse of 65537 modulo 2<sup>32</sup>: takes the hash of a third probe to its `v`.
const INVERSE: u32 = 0xffff0001;

/// All `(t, y)` for which `y` is `t * bits * INVERSE` modulo 2<sup>32</sup>.
///
/// The hash `bit + t * bits`, whose bit is `bit`, is one of a third probe if `y + bit * INVERSE`
/// is a `v`. These points are a lattice, so that the few within a box are found at once.
pub(in crate::bloom) struct Lattice {
    pub(super) bits: u64,
    pub(super) unit: u32,
    /// A reduced basis, the shorter vector first.
    basis: [[f64; 2]; 2],
    /// 1 over the components of the first vector.
    per_first: [f64; 2],
    /// What a point's components add to its coefficient of the second vector.
    second: [f64; 2],
}

impl Lattice {
    /// For at most 2<sup>32</sup> bits.
    pub(in crate::bloom) fn new(bits: u64) -> Self {
        // 0 for 2^32 bits, where all `t` are the same.
        let unit = u32::try_from(bits).map_or(0, |bits| bits.wrapping_mul(INVERSE));
        let [a, b] = reduced_basis(unit, NUM_HASHES / float(bits));
        let det = a[0] * b[1] - a[1] * b[0];
        // A component of 0 is taken for a very small one.
        let per_first = a.map(|x| if x == 0.0 { 1e12 } else { 1.0 / x });
        Self { bits, unit, basis: [a, b], per_first, second: [-a[1] / det, a[0] / det] }
    }

    /// The square of the shortest vector's length, if the box of all hashes of third probes has
    /// sides of 1.
    pub(in crate::bloom) fn shortest_squared(&self) -> f64 {
        let [t, y] = self.basis[0];
        let (t, y) = (t * float(self.bits) / NUM_HASHES, y / f64::from(NUM_VALUES));
        t * t + y * y
    }

    /// How many of the 2<sup>32</sup> hashes have their third probe at this bit.
    pub(super) fn num_third_probes(&self, bit: u32) -> f64 {
        let turns = float(u64::from(u32::MAX - bit) / self.bits);
        let start = f64::from(bit.wrapping_mul(INVERSE));
        let values = f64::from(NUM_VALUES);
        self.sum([[0.0, turns], [-start, values - 1.0 - start]], |_, y| {
            let v = start + y;
            (v / 2.0 + 0.5).min(MOST_HASHES).min((values - v) / 2.0)
        })
    }

    /// Sums `value(t, y)` over the points of a box, given as the ranges of `t` and `y`.
    pub(super) fn sum(&self, ranges: [[f64; 2]; 2], value: impl Fn(f64, f64) -> f64) -> f64 {
        let [first, second] = self.basis;
        let [low, high] = self.range_of_second(ranges);
        let mut sum = 0.0;
        for times_second in integers(low, high) {
            let start = second.map(|x| times_second * x);
            let [low, high] = self.range_of_first(start, ranges);
            // Lines of very many points (multiples of 65537 bits) are sampled.
            let stride = 1.0 + ((high - low) / 32.0).max(0.0).trunc();
            for strides in integers(low / stride, high / stride) {
                let times_first = strides * stride;
                let point = [times_first * first[0] + start[0], times_first * first[1] + start[1]];
                sum += stride * value(point[0], point[1]);
            }
        }
        sum
    }

    /// The coefficients of the second vector that points in a box may have.
    fn range_of_second(&self, [t, y]: [[f64; 2]; 2]) -> [f64; 2] {
        let [by_t, by_y] = self.second;
        let (t, y) = (t.map(|t| by_t * t), y.map(|y| by_y * y));
        [t[0].min(t[1]) + y[0].min(y[1]), t[0].max(t[1]) + y[0].max(y[1])]
    }

    /// The coefficients of the first vector that, from `start`, lead to points in a box.
    fn range_of_first(&self, start: [f64; 2], ranges: [[f64; 2]; 2]) -> [f64; 2] {
        let (mut low, mut high) = (-1e15_f64, 1e15_f64);
        for axis in 0..2 {
            let ends = ranges[axis].map(|end| (end - start[axis]) * self.per_first[axis]);
            low = low.max(ends[0].min(ends[1]));
            high = high.min(ends[0].max(ends[1]));
        }
        [low, high]
    }
}

/// A short basis for boxes of `turns` by [`NUM_VALUES`].
fn reduced_basis(unit: u32, turns: f64) -> [[f64; 2]; 2] {
    let (mut a, mut b) = ([1.0, f64::from(unit)], [0.0, NUM_HASHES]);
    let values = f64::from(NUM_VALUES);
    let dot =
        |a: [f64; 2], b: [f64; 2]| a[0] * b[0] / (turns * turns) + a[1] * b[1] / (values * values);
    loop {
        if dot(a, a) > dot(b, b) {
            (a, b) = (b, a);
        }
        let multiple = (dot(a, b) / dot(a, a)).round();
        let shorter = [b[0] - multiple * a[0], b[1] - multiple * a[1]];
        if dot(shorter, shorter) >= dot(b, b) {
            return [a, b];
        }
        b = shorter;
    }
}

/// How many different third probes so many keys are expected to have.
///
/// Each of the 2<sup>16</sup> values in the middle comes from one key in 2<sup>17</sup>, and the same
/// number on either side from fewer and fewer keys.
pub(in crate::bloom) fn different_third_probes(num_keys: f64) -> f64 {
    let middle = f64::from(1 << 16);
    let keys = num_keys / (2.0 * middle);
    if keys <= 0.0 {
        return 0.0;
    }
    let seen = -(-keys).exp_m1();
    middle * seen + 2.0 * middle * (1.0 - seen / keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn third_probe(hash: u32) -> u32 {
        hash.wrapping_add(hash.rotate_right(17).wrapping_mul(2))
    }

    #[test]
    fn a_third_probe_is_one_of_196606_multiples_of_65537() {
        assert_eq!(INVERSE.wrapping_mul(65537), 1);
        for i in 0..100_000u32 {
            let hash = i.wrapping_mul(0x9e3779b9);
            let v = third_probe(hash).wrapping_mul(INVERSE);
            assert_eq!(v, 2 * (hash >> 17) + (hash & 0x1ffff));
            assert!(v < NUM_VALUES);
        }
    }

    #[test]
    fn the_lattice_counts_third_probes_at_each_bit() {
        for bits in [65536, 100_000, 3_000_000, 3_000_112, 1 << 24] {
            let lattice = Lattice::new(bits);
            let mut hashes = vec![0.0; usize::try_from(bits).unwrap()];
            for v in 0..NUM_VALUES {
                let bit = u64::from(v.wrapping_mul(65537)) % bits;
                let ways = (v / 2 + 1).min(32768).min((NUM_VALUES - v).div_ceil(2));
                hashes[usize::try_from(bit).unwrap()] += f64::from(ways);
            }
            for (bit, &hashes) in (0..).zip(&hashes).step_by(997) {
                let counted = lattice.num_third_probes(bit);
                assert!(
                    (counted - hashes).abs() <= 2.0 + 0.02 * hashes,
                    "{bits} {bit}: {counted} {hashes}"
                );
            }
        }
    }
}
