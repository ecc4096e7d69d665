//! A fixed set of queries that stands for all.
//!
//! If a query's step between probes is near a multiple of 65537 plus a multiple of the number of
//! bits, or near a half or a third of that, many of its probes fall where third probes go, on bits
//! that almost all are set. Such queries are rare (with 16 million bits, 1 in 400 has five or more
//! probes there) but yield a fifth of the false positives. So a share of the queries is chosen
//! among these, and each is weighted by how much likelier it is here than by chance.

use super::model::Filter;
use super::numbers::NUM_HASHES;
use super::third_probe::{Lattice, NUM_VALUES};

/// How many queries there are.
pub(super) const NUM_QUERIES: u32 = 640;

/// How many of them have steps near a 1st, a 2nd and a 3rd of a vector of the lattice.
const NUM_NEAR: [u32; 3] = [192, 128, 64];

/// In how many sizes of boxes around 0 these vectors lie, each half as wide as the one before.
const NUM_BOXES: u32 = 4;

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
pub(super) fn near_third_probes(lattice: &Lattice, filter: &Filter) -> impl Iterator<Item = Query> {
    let sampling = Sampling { lattice, boxes: StepBox::nested(filter) };
    (0..NUM_QUERIES).map(move |i| {
        let scaled = sampling.scaled_step(i);
        Query { step: scaled.wrapping_mul(65537), weight: 1.0 / sampling.density(scaled) }
    })
}

/// The points of a lattice from `-t` to `t` and from `-y` to `y`.
#[derive(Clone, Copy)]
struct StepBox {
    t: u32,
    y: u32,
    /// How likely a point in this box, and so in all larger ones, is chosen.
    density: f64,
}

impl StepBox {
    fn nested(filter: &Filter) -> [Self; NUM_BOXES as usize] {
        let turns = u32::try_from((1 << 32) / filter.bits).unwrap_or(u32::MAX);
        let (mut level, mut density) = (0, 0.0);
        [(); NUM_BOXES as usize].map(|()| {
            let (t, y) = (turns >> level, NUM_VALUES >> level);
            let num_points = (2.0 * f64::from(t) + 1.0) * (2.0 * f64::from(y) + 1.0);
            density += 1.0 / (num_points * f64::from(NUM_BOXES));
            level += 1;
            Self { t, y, density }
        })
    }

    fn contains(&self, t: f64, y: f64) -> bool {
        t.abs() <= f64::from(self.t) && y.abs() <= f64::from(self.y)
    }
}

struct Sampling<'a> {
    lattice: &'a Lattice,
    boxes: [StepBox; NUM_BOXES as usize],
}

impl Sampling<'_> {
    /// The step of the `i`-th query divided by 65537, modulo 2<sup>32</sup>.
    fn scaled_step(&self, i: u32) -> u32 {
        let mut i_near = i;
        for (part, num_near) in (1..).zip(NUM_NEAR) {
            if i_near < num_near {
                let step_box = self.boxes[(i_near * NUM_BOXES / num_near) as usize];
                return self.scaled_step_near(i, part, step_box);
            }
            i_near -= num_near;
        }
        spread(i, 0)
    }

    /// A point of the lattice plus something small, divided by `part`.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "modulo 2^32")]
    fn scaled_step_near(&self, i: u32, part: u32, step_box: StepBox) -> u32 {
        let within = |random, max| below(random, 2 * max + 1) - i64::from(max);
        let t = within(spread(i, 0), step_box.t);
        let y = within(spread(i, 1), step_box.y);
        let near = (i64::from(self.lattice.unit) * t + y) as u32;
        // Modulo 2^32, there are `part` ways to divide.
        let turns = below(spread(i, 2), part);
        ((i64::from(near) + (turns << 32)) / i64::from(part)) as u32
    }

    /// How much likelier this query is here than by chance.
    fn density(&self, scaled_step: u32) -> f64 {
        let [StepBox { t, y, .. }, ..] = self.boxes;
        let (t_max, y_max) = (f64::from(t), f64::from(y));
        let mut num_near = 0;
        let mut density = 0.0;
        for (part, num) in (1..).zip(NUM_NEAR) {
            let at = f64::from(scaled_step.wrapping_mul(part));
            let near = self.lattice.sum([[-t_max, t_max], [at - y_max, at + y_max]], |t, y| {
                let within = self.boxes.iter().take_while(|step_box| step_box.contains(t, at - y));
                within.last().map_or(0.0, |step_box| step_box.density)
            });
            density += f64::from(num) * NUM_HASHES * near;
            num_near += num;
        }
        (density + f64::from(NUM_QUERIES - num_near)) / f64::from(NUM_QUERIES)
    }
}

/// The whole part of `random / 2^32 * end`.
fn below(random: u32, end: u32) -> i64 {
    (i64::from(random) * i64::from(end)) >> 32
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
            let filter = Filter { bits, probes: 6, keys: 1.0 };
            let queries = near_third_probes(&Lattice::new(&filter), &filter).collect::<Vec<_>>();
            let mean = queries.iter().map(|query| query.weight).sum::<f64>() / 640.0;
            assert!((0.9..1.1).contains(&mean), "{bits}: {mean}");
        }
    }
}
