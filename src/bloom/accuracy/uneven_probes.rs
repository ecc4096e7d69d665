//! How unevenly each probe but the third hits the bits of a filter.
//!
//! With the hash `h = H * 2^17 + L`, probe `j` (the first is 0) is `h + j * rotr(h, 17)`, which is
//! `H * (2^17 + j) + L * (1 + j * 2^15)`, and two kinds of filters show the structure of that:
//!
//! - **Multiples of 3, 5 or 17 bits.** If `p` is one of these, it divides both factors where `p`
//!   divides `j + 2`. Each time that the sum wraps at 2<sup>32</sup>, which is 1 modulo `p`, it
//!   becomes 1 less modulo `p`. So the bit is minus the number of wraps, modulo `p`: between 0 and
//!   `j`, and all but evenly spread.
//! - **Multiples of 2<sup>17</sup> bits.** With `a = j * H + L`, the probe is also `a * (1 + j *
//!   2^15) - H * 2^15 * (j * j - 4)`. For some `j` the last factor has many factors of two, and
//!   then the bit modulo a power of two only depends on `a`, of which there are not enough.

use super::model::Filter;
use super::numbers::{float, gcd};

/// How many times likelier than the average bit each bit is hit, summed over the probes.
pub(super) struct UnevenProbes {
    /// By the bit's residue modulo the length.
    by_residue: Vec<f64>,
    of_few: Vec<ProbeOfFew>,
}

impl UnevenProbes {
    /// All probes, or all but the third.
    pub(super) fn new(filter: &Filter, with_third: bool) -> Self {
        let num_residues = match filter.bits {
            // Nothing is reduced any more, so that bits are hashes.
            bits if bits >= 1 << 32 => 255,
            bits => gcd(bits, 255),
        };
        let of_few = ProbeOfFew::all(filter);
        let by_residue = |residue| {
            let others = (0..u64::from(filter.probes))
                .filter(|&j| j != 2 && of_few.iter().all(|probe| u64::from(probe.j) != j));
            let third = if with_third && filter.probes > 2 { 1.0 } else { 0.0 };
            third + others.map(|j| density_at_residue(residue, num_residues, j)).sum::<f64>()
        };
        Self { by_residue: (0..num_residues).map(by_residue).collect(), of_few }
    }

    /// Whether all bits are hit as often.
    pub(super) fn are_even(&self) -> bool {
        self.by_residue.len() == 1 && self.of_few.is_empty()
    }

    pub(super) fn density(&self, bit: u32) -> f64 {
        let residue = bit as usize % self.by_residue.len();
        self.by_residue[residue] + self.of_few.iter().map(|probe| probe.density(bit)).sum::<f64>()
    }
}

/// How many times likelier than the average bit one with this residue is hit by probe `j`.
fn density_at_residue(residue: u64, num_residues: u64, j: u64) -> f64 {
    let p = gcd(num_residues, j + 2);
    if p == 1 {
        return 1.0;
    }
    // The sum of two uniform numbers wraps 1 to j - 1 times with probability 1/j each, and 0 and j
    // times with half of it.
    let wraps = (0..=j).filter(|wraps| (residue + wraps) % p == 0);
    let halves: u64 = wraps.map(|wraps| if wraps % j == 0 { 1 } else { 2 }).sum();
    float(p * halves) / float(2 * j)
}

/// A probe that depends on `a` only, modulo `2^log2`.
struct ProbeOfFew {
    j: u32,
    log2: u32,
    /// Of `1 + j * 2^15`, modulo 2<sup>30</sup>.
    inverse: u32,
}

impl ProbeOfFew {
    fn all(filter: &Filter) -> Vec<Self> {
        let powers_of_two = filter.bits.trailing_zeros();
        [(6, 20), (10, 20), (14, 21), (18, 21)]
            .into_iter()
            .map(|(j, log2)| (j, powers_of_two.min(log2)))
            .filter(|&(j, log2)| j < u32::from(filter.probes) && log2 >= 17)
            .map(|(j, log2)| {
                let factor = 1 + (j << 15);
                // Newton's iteration, from 15 right bits to 30.
                let guess = 2u32.wrapping_sub(factor);
                let correction = 2u32.wrapping_sub(factor.wrapping_mul(guess));
                Self { j, log2, inverse: guess.wrapping_mul(correction) }
            })
            .collect()
    }

    fn density(&self, bit: u32) -> f64 {
        let end = (self.j << 15) + (1 << 17);
        let first = bit.wrapping_mul(self.inverse) % (1 << self.log2);
        let values = (first..end).step_by(1 << self.log2);
        let hashes: u32 = values.map(|a| a.min(1 << 17).min(end - a)).sum();
        f64::from(hashes) / f64::from(self.j << (32 - self.log2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(bits: u64, probes: u8) -> Filter {
        Filter { bits, probes, keys: 1.0 }
    }

    /// Probe `j` of hashes without a pattern.
    fn hashes_of_probe(j: u32) -> impl Iterator<Item = u32> {
        let hashes = (1..=1u32 << 19).map(|i| i.wrapping_mul(0x9e3779b9));
        hashes.map(move |hash| hash.wrapping_add(hash.rotate_right(17).wrapping_mul(j)))
    }

    #[test]
    fn residues_are_hit_as_often_as_their_density_says() {
        for (j, p) in [(1, 3), (3, 5), (4, 3), (8, 5), (15, 17), (5, 5)] {
            let mut counts = [0.0; 17];
            for hash in hashes_of_probe(j) {
                // A multiple of 8 bits, all of whose residues are as many.
                counts[(hash % (8 * p) % p) as usize] += 1.0;
            }
            for residue in 0..p {
                let measured = counts[residue as usize] * f64::from(p) / f64::from(1 << 19);
                let expected = density_at_residue(residue.into(), p.into(), j.into());
                assert!((measured - expected).abs() < 0.02, "{j} {p}: {measured} {expected}");
            }
        }
    }

    #[test]
    fn probes_of_few_only_hit_bits_of_some_density() {
        for (i, j) in [6, 10, 14, 18].into_iter().enumerate() {
            let probe = &ProbeOfFew::all(&filter(1 << 22, 19))[i];
            assert!(hashes_of_probe(j).all(|hash| probe.density(hash % (1 << 22)) > 0.0));
        }
    }

    #[test]
    fn the_mean_density_is_the_number_of_probes() {
        for (bits, probes) in [(1 << 20, 8), (1 << 22, 30), (255 << 13, 30), (1000, 7)] {
            let uneven = UnevenProbes::new(&filter(bits, probes), true);
            let sum: f64 = (0..bits).map(|bit| uneven.density(u32::try_from(bit).unwrap())).sum();
            let mean = sum / float(bits);
            assert!((mean / f64::from(probes) - 1.0).abs() < 1e-6, "{bits} {probes}: {mean}");
        }
    }
}
