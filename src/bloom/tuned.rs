//! The length and the number of probes with the fewest false positives.

use super::accuracy::{Lattice, gcd, probability_of_hit};
use super::probes::MAX_PROBES;
use super::shape::BloomFilterShape;

/// From so many bits up, third probes favour some bits.
const MIN_BITS_FAVOURED: usize = 1 << 16;

/// The shape for `num_keys` keys, to which LevelDB gives another.
pub(super) fn shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    if num_keys == 0 || leveldb.num_bytes > 1 << 29 {
        return leveldb;
    }
    if leveldb.num_bytes * 8 < MIN_BITS_FAVOURED {
        small_shape(leveldb, num_keys)
    } else {
        large_shape(leveldb, num_keys)
    }
}

fn small_shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    let shortest = if leveldb.num_bytes < 200 { leveldb.num_bytes } else { leveldb.num_bytes - 2 };
    let good = |num_bytes: &usize| {
        let bits = *num_bytes as u64 * 8;
        gcd(bits, 0xffffffff) == 1 && bits >> bits.trailing_zeros() > 64
    };
    let num_bytes = (shortest..=leveldb.num_bytes).rev().find(good).unwrap_or(leveldb.num_bytes);
    let bits = num_bytes * 8;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let num_probes = {
        let best = (std::f64::consts::LN_2 * bits as f64 / num_keys as f64).round();
        let most = 1.25 * (bits as f64).log2() - 3.0;
        best.min(most.floor()).clamp(1.0, 30.0) as u8
    };
    BloomFilterShape { num_bytes, num_probes }
}

fn large_shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    let lengths = (leveldb.num_bytes - 11..=leveldb.num_bytes).rev();
    let even = lengths.filter(|&n| gcd(n as u64, 255) == 1);
    let shortest = |n: usize| Lattice::new(n as u64 * 8).shortest_squared();
    let num_bytes =
        even.max_by(|&a, &b| shortest(a).total_cmp(&shortest(b))).unwrap_or(leveldb.num_bytes);
    let rates = (1..=MAX_PROBES).map(|k| (k, rate(num_bytes, num_keys, k)));
    let least = rates.clone().map(|(_, rate)| rate).fold(1.0, f64::min);
    let num_probes = rates.into_iter().find(|&(_, rate)| rate <= 1.005 * least);
    BloomFilterShape { num_bytes, num_probes: num_probes.map_or(leveldb.num_probes, |(k, _)| k) }
}

#[expect(clippy::cast_precision_loss)]
fn rate(num_bytes: usize, num_keys: usize, num_probes: u8) -> f64 {
    let (bits, keys) = (num_bytes as f64 * 8.0, num_keys as f64);
    let l = keys / bits;
    let power = |x: f64, n: u8| (0..n).fold(1.0, |product, _| product * x);
    let same_hash = keys / 4294967296.0;
    if bits < 196606.0 {
        return power(probability_of_hit(l * f64::from(num_probes)), num_probes) + same_hash;
    }
    let a = keys / 131072.0;
    let t = (196606.0 / bits).min(1.0);
    let e = 1.0 - probability_of_hit(l * f64::from(num_probes - 1));
    let hit = probability_of_hit(a);
    let others = 1.0 - e * (1.0 - t + t * ((1.0 - hit) / 3.0 + 2.0 * hit / (3.0 * a)));
    let third = 1.0 - e * ((1.0 - hit) / 2.0 + (1.0 - (1.0 - hit) * (1.0 + a)) / (a * a));
    power(others, num_probes - 1) * third + same_hash
}
