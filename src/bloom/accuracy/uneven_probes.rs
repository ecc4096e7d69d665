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

use super::numbers::{float, gcd, probability_of_hit};

/// How likely the probes of all keys miss a bit, but for those with few values.
///
/// Those are the third one, and [those that depend on `a` only](PROBES_OF_A).
pub(super) struct UnevenProbes {
    /// By the bit's residue modulo the number of residues.
    misses: [f64; 255],
    num_residues: usize,
}

impl UnevenProbes {
    /// One probe of all keys hits the average bit `hits_per_probe` times.
    pub(super) fn new(bits: u64, num_probes: u8, hits_per_probe: f64) -> Self {
        // With 2^32 bits nothing is reduced, so that bits are hashes.
        let num_residues = if bits == 1 << 32 { 255 } else { gcd(bits, 255) };
        let mut misses = [1.0; 255];
        for (misses, residue) in misses.iter_mut().zip(0..num_residues) {
            let others = (0..num_probes.into()).filter(|&j| j != 2 && !depends_on_a(bits, j));
            let density: f64 = others.map(|j| density_at_residue(residue, num_residues, j)).sum();
            *misses = 1.0 - probability_of_hit(hits_per_probe * density);
        }
        let num_residues = usize::try_from(num_residues).expect("at most 255");
        Self { misses, num_residues }
    }

    pub(super) fn misses(&self, bit: u32) -> f64 {
        self.misses[bit as usize % self.num_residues]
    }
}

/// How many times likelier than the average bit one with this residue is hit by probe `j`.
fn density_at_residue(residue: u64, num_residues: u64, j: u32) -> f64 {
    let j = u64::from(j);
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

/// The probes that depend on `a` only, modulo a power of two of which all bits are a multiple.
pub(super) const PROBES_OF_A: [u32; 4] = [6, 10, 14, 18];

pub(super) fn depends_on_a(bits: u64, j: u32) -> bool {
    bits.trailing_zeros() >= 17 && PROBES_OF_A.contains(&j)
}

/// How many times likelier than the average bit this one is hit by a probe that [depends on
/// `a`](depends_on_a).
pub(super) fn density_by_a(bits: u64, j: u32, bit: u32) -> f64 {
    let log2 = bits.trailing_zeros().min(15 + (j * j - 4).trailing_zeros());
    let end = (j << 15) + (1 << 17);
    // The inverse of `1 + j * 2^15` modulo 2^30.
    let inverse = 1u32.wrapping_sub(j << 15);
    let first = bit.wrapping_mul(inverse) % (1 << log2);
    let values = (0..).map(|turns| first + (turns << log2)).take_while(|&a| a < end);
    let hashes: u32 = values.map(|a| a.min(1 << 17).min(end - a)).sum();
    f64::from(hashes) / f64::from(j << (32 - log2))
}

#[cfg(test)]
mod tests {
    use super::*;

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
                let expected = density_at_residue(residue.into(), p.into(), j);
                assert!((measured - expected).abs() < 0.02, "{j} {p}: {measured} {expected}");
            }
        }
    }

    #[test]
    fn the_mean_density_is_the_number_of_probes() {
        for (bits, probes) in [(1 << 20, 8), (1 << 22, 30), (255 << 13, 30), (1000, 7)] {
            let uneven = UnevenProbes::new(bits, probes, 0.01);
            let of_a = PROBES_OF_A.map(|j| (j, j < probes.into() && depends_on_a(bits, j)));
            let density = |bit| {
                let of_a = of_a.iter().filter(|(_, counts)| *counts);
                let of_a: f64 = of_a.map(|&(j, _)| density_by_a(bits, j, bit)).sum();
                of_a - 100.0 * uneven.misses(bit).ln()
            };
            let all_bits = 0..u32::try_from(bits).unwrap();
            let mean = all_bits.map(density).sum::<f64>() / float(bits);
            assert!((mean / f64::from(probes - 1) - 1.0).abs() < 1e-6, "{bits} {probes}: {mean}");
        }
    }
}
