//! A fixed set of queries that stands for all.
//!
//! If a query's step between probes is near a multiple of 65537 plus a multiple of the number of
//! bits, or near a half or a third of that, many of its probes fall where third probes go, on bits
//! that almost all are set. Such queries are rare (with 16 million bits, 1 in 400 has five or more
//! probes there) but yield a fifth of the false positives. So a share of the queries is chosen
//! among these, and each is weighted by how much likelier it is here than by chance.

use super::numbers::NUM_HASHES;
use super::third_probe::{Lattice, NUM_VALUES};

/// How many queries there are.
pub(super) const NUM_QUERIES: u32 = 640;

/// How many of them are chosen to have a step near a point of the lattice, near a half of one, and
/// near a third of one; the rest are chosen evenly.
const NUM_NEAR: [u32; 3] = [192, 128, 64];

/// A query, by the step between its probes.
pub(super) struct Query {
    pub(super) step: u32,
    pub(super) weight: f64,
}

/// Queries that are as likely as each other, for filters where third probes do not stand out.
pub(super) fn evenly_spread() -> impl Iterator<Item = Query> {
    (0..NUM_QUERIES).map(|i| Query { step: spread(i, 0).wrapping_mul(65537), weight: 1.0 })
}

/// Queries of which more than by chance have probes where third probes go.
pub(super) fn near_third_probes(lattice: &Lattice) -> impl Iterator<Item = Query> {
    // Points of the lattice lie from -t to t and from -y to y.
    let largest = [u32::try_from((1 << 32) / lattice.bits).unwrap_or(u32::MAX), NUM_VALUES];
    (0..NUM_QUERIES).map(move |i| {
        let scaled = scaled_step(i, lattice, largest.map(f64::from));
        let weight = 1.0 / density(scaled, lattice, largest.map(f64::from));
        Query { step: scaled.wrapping_mul(65537), weight }
    })
}

/// The step of the `i`-th query divided by 65537, modulo 2<sup>32</sup>.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2^32")]
fn scaled_step(i: u32, lattice: &Lattice, largest: [f64; 2]) -> u32 {
    let mut i_near = i;
    for (part, num_near) in (1..).zip(NUM_NEAR) {
        if i_near < num_near {
            // A point of the lattice plus something small, divided by `part`.
            let [t, y] = [0, 1].map(|axis| more_often_small(spread(i, axis), largest[axis]));
            let near = (i64::from(lattice.unit) * t + y) as u32;
            // Modulo 2^32, there are `part` ways to divide.
            let turns = (i64::from(spread(i, 2)) * part) >> 32;
            return ((i64::from(near) + (turns << 32)) / part) as u32;
        }
        i_near -= num_near;
    }
    spread(i, 0)
}

/// How much likelier this query is here than by chance.
fn density(scaled_step: u32, lattice: &Lattice, largest: [f64; 2]) -> f64 {
    let [t_max, y_max] = largest;
    let mut density = f64::from(NUM_QUERIES - NUM_NEAR.iter().sum::<u32>());
    for (part, num_near) in (1..).zip(NUM_NEAR) {
        let at = f64::from(scaled_step.wrapping_mul(part));
        let near = lattice.sum([[-t_max, t_max], [at - y_max, at + y_max]], |t, y| {
            probability_of_small(t, t_max) * probability_of_small(at - y, y_max)
        });
        density += f64::from(num_near) * NUM_HASHES * near;
    }
    density / f64::from(NUM_QUERIES)
}

/// An integer from `-largest` to `largest`, as likely below a quarter of that as above.
#[expect(clippy::cast_possible_truncation, reason = "not above `largest`")]
fn more_often_small(random: u32, largest: f64) -> i64 {
    let random = f64::from(random) * 2.0 / NUM_HASHES - 1.0;
    (random * random.abs() * (largest + 1.0)) as i64
}

/// How likely [`more_often_small`] is `number`.
fn probability_of_small(number: f64, largest: f64) -> f64 {
    let below = |number: f64| (number / (largest + 1.0)).sqrt();
    let both_signs = below(number.abs() + 1.0) - below(number.abs());
    if number == 0.0 { both_signs } else { both_signs / 2.0 }
}

/// The `i`-th of numbers that are evenly spread, alone and together with other dimensions.
fn spread(i: u32, dimension: usize) -> u32 {
    // 1/c, 1/c^2 and 1/c^3 times 2^64, where c^4 = c + 1.
    const FACTORS: [u64; 3] = [0xd1b54a32d192ed03, 0xabc98388fb8fac03, 0x8cb92ba72f3d8dd7];
    ((u64::from(i) + 1).wrapping_mul(FACTORS[dimension]) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_make_up_for_the_choice() {
        for bits in [1 << 18, 1_000_000, 3_000_000, 16_000_000, 100_000_000] {
            let lattice = Lattice::new(bits);
            let mean = near_third_probes(&lattice).map(|query| query.weight).sum::<f64>();
            let mean = mean / f64::from(NUM_QUERIES);
            assert!((0.9..1.1).contains(&mean), "{bits}: {mean}");
        }
    }
}
