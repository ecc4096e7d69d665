//! The length and the number of probes of tuned filters.
//!
//! LevelDB's hash adds four bytes of the key, multiplies, and folds once: `h ^= h >> 16`. If the
//! last four bytes are a big-endian counter, neighbours differ in the upper half before the fold,
//! and so in both halves alike after it. With `d`, which is `h` rotated right by 17 bits, `h` and
//! `2 * d` of two neighbours differ by `2^16 * a + b` and `2^16 * b + a`, where `a` and `b` are
//! sums of the same powers of two with other signs. All their probes meet if both are multiples of
//! the number of bits; then 2<sup>16</sup> times the first less the second, `(2^32 - 1) * a`, is
//! one, too. So a length shall have no factor in common with `2 * (2^32 - 1)`.
//!
//! Counters that are eight steps of their second-last byte apart have hashes that differ by a
//! multiple of 2<sup>16</sup> bytes. If a small multiple of the length is next to one of
//! 2<sup>16</sup>, they set nearly the same bits.
//!
//! In filters of many bits, third probes, of which there are [few](super::rate), meet more often
//! in some lengths than in others.

use super::rate::Rates;
use crate::bloom::shape::{BloomFilterShape, MAX_PROBES, NUM_HASHES, float, leveldb_num_probes};

/// The prime factors of `2 * (2^32 - 1)`, and those of neighbours one and three apart: the lowest
/// byte of the hash's multiplier is 0x93, which is 256 - 109, and 3 * 0x93 is -71 modulo 256.
const FACTORS: [usize; 8] = [2, 3, 5, 17, 257, 65_537, 71, 109];

/// Where Euclid's algorithm has such a quotient, a multiple is next to one of 2<sup>16</sup>.
const NEXT_TO: usize = 128;

/// One byte in 15 of LevelDB's length is given up at most, up to 3 bytes, and one in 50 of longer
/// ones: random keys pay 5% for each 1%.
const SHORTER: [usize; 2] = [15, 50];

/// From so many bits on third probes decide: all their values, below 2<sup>32</sup>, meet in fewer.
const MANY_BITS: u64 = 1 << 16;

/// As many lengths are compared by their third probes; more hardly find a better one.
const NUM_LENGTHS: usize = 6;

/// Probes beyond LevelDB's number must each remove 3% of the false positives, since counters have
/// fewer without them.
const WORTH_A_PROBE: f64 = 0.97;

/// A seventh probe is eight steps from where counters' probes meet, so it finds more bits set for
/// them: 100,000 counters in 124,997 bytes have 0.98% with 6 probes, 1.24% with 7, 1.14% with 8.
const UNWANTED_PROBES: u8 = 7;

/// The most probes of a lengthened filter, unless LevelDB's has more: counters' later probes meet.
const MOST_PROBES: u8 = 6;

/// A shape, and the rate that its filters are expected to have.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) shape: BloomFilterShape,
    pub(super) rate: f64,
}

/// The shape of a filter: at most as long as LevelDB's, or of at least `min_bytes` bytes of bits.
pub(in crate::bloom) fn tuned(
    leveldb: BloomFilterShape,
    num_keys: usize,
    min_bytes: usize,
) -> BloomFilterShape {
    let shape = expected(leveldb, num_keys, true).shape;
    if shape.num_bytes < min_bytes { lengthened(leveldb, min_bytes, num_keys) } else { shape }
}

/// The shape without a least length. From [`MANY_BITS`] on only `searches` finds the length;
/// without it, which is faster, LevelDB's is taken.
pub(super) fn expected(leveldb: BloomFilterShape, num_keys: usize, searches: bool) -> Expected {
    if num_keys == 0 || leveldb.num_bits() > NUM_HASHES {
        return Expected { shape: leveldb, rate: f64::from(num_keys > 0) };
    }
    let num_bytes = match leveldb.num_bytes {
        longest if leveldb.num_bits() < MANY_BITS => length(longest),
        longest if searches => long_length(longest),
        longest => longest,
    };
    best_probes(num_bytes, leveldb.num_probes, num_keys)
}

/// Of `min_bytes` and the next seven lengths the longest that spreads.
fn lengthened(leveldb: BloomFilterShape, min_bytes: usize, num_keys: usize) -> BloomFilterShape {
    let mut lengths = (min_bytes..=min_bytes + 7).rev();
    let num_bytes = lengths.find(|&length| spreads(length)).unwrap_or(min_bytes | 1);
    let num_probes = leveldb_num_probes((num_bytes as u64).saturating_mul(8000) / num_keys as u64);
    BloomFilterShape { num_bytes, num_probes: num_probes.min(leveldb.num_probes.max(MOST_PROBES)) }
}

/// LevelDB's length, or the next shorter one that spreads.
fn length(leveldb: usize) -> usize {
    let shortest = leveldb - (leveldb / SHORTER[0]).min(3).max(leveldb / SHORTER[1]);
    let longest = (shortest..=leveldb).rev().find(|&length| spreads(length));
    // Without one, an odd length still helps; but a factor of 17 costs more than one of 2.
    longest.unwrap_or(if (leveldb - 1) % 17 == 0 { leveldb } else { (leveldb - 1) | 1 })
}

/// Of the longest lengths that spread the one in which third probes meet least.
fn long_length(leveldb: usize) -> usize {
    let odd = (leveldb - 1) | 1;
    // Some bytes, since whole neighbourhoods do not spread. A power of two brings all remainders.
    let apart = (odd >> 13).next_power_of_two().clamp(2, 64);
    let lengths = (1..=odd).rev().step_by(apart).filter(|&length| spreads(length));
    let lengths = lengths.take(NUM_LENGTHS).map(|length| (distance(length), length));
    lengths.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(odd, |best| best.1)
}

/// Whether few counters near each other set the same bits.
fn spreads(num_bytes: usize) -> bool {
    if FACTORS.iter().any(|factor| num_bytes % factor == 0) {
        return false;
    }
    // The first quotient only says how long it is.
    let (mut a, mut b) = (num_bytes.min(1 << 16), num_bytes.max(1 << 16) % num_bytes.min(1 << 16));
    while b > 0 && a / b < NEXT_TO {
        (a, b) = (b, a % b);
    }
    b == 0
}

/// How far apart third probes are that meet, squared: the least over pairs, of which bits count as
/// shares of 2<sup>32</sup>, and values as shares of their range.
///
/// Two third probes are `65537 * v` for two numbers `v`, less 2<sup>32</sup> where they exceed it.
/// They fall on one bit if they are `times` the number of bits apart, and then `65537` divides
/// `times * num_bits + wraps * 2^32`.
fn distance(num_bytes: usize) -> f64 {
    let num_bits = num_bytes as u64 * 8;
    // By Fermat num_bits^65535 modulo 65537, in which 2^32 is 1.
    let squared = |x: u64, times| (0..times).fold(x, |x, _| x * x % 65_537);
    let inverse = [1, 2, 4, 8].iter().fold(num_bits % 65_537, |x, n| squared(x, *n) * x % 65_537);
    let mut least = f64::MAX;
    // With more wraps, bits or values are further apart than any two.
    for wraps in 1..=6 {
        let times = float(65_537 - wraps * inverse % 65_537);
        for times in [times, times - 65_537.0] {
            let bits = times * float(num_bits) / float(NUM_HASHES);
            let values = (bits + float(wraps)) / 3.0;
            least = least.min(bits * bits + values * values);
        }
    }
    least
}

/// LevelDB's number of probes, more while each is worth it, or fewer while the rate does not rise.
fn best_probes(num_bytes: usize, leveldb: u8, num_keys: usize) -> Expected {
    let rates = Rates::new(num_bytes as u64 * 8, num_keys);
    let with = |num_probes| {
        let shape = BloomFilterShape { num_bytes, num_probes };
        Expected { shape, rate: rates.rate(num_probes) }
    };
    let mut best = with(leveldb);
    for more in (leveldb + 1..=MAX_PROBES).filter(|&more| more != UNWANTED_PROBES).map(with) {
        if more.rate >= WORTH_A_PROBE * best.rate {
            break;
        }
        best = more;
    }
    for fewer in (1..leveldb).rev().map(with) {
        if fewer.rate > best.rate {
            break;
        }
        best = fewer;
    }
    best
}
