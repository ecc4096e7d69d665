//! The length and the number of probes of tuned filters.
//!
//! A reader takes the number of bits from a filter's length, and that of probes from its last byte,
//! so a writer may choose both. Three facts about LevelDB's hash tell good lengths from bad ones:
//!
//! 1. *Neighbours.* The hash adds four bytes of the key, multiplies, and folds once:
//!    `h ^= h >> 16`. If the last four bytes are a big-endian counter, neighbours differ in the
//!    upper half before the fold, and so in both halves alike after it. With `d`, which is `h`
//!    rotated right by 17 bits, `h` and `2 * d` of two neighbours differ by `2^16 * a + b` and
//!    `2^16 * b + a`, where `a` and `b` are sums of the same powers of two with other signs. All
//!    their probes meet if both are multiples of the number of bits; then 2<sup>16</sup> times the
//!    first less the second, `(2^32 - 1) * a`, is one, too. So a length should have no factor in
//!    common with `2 * (2^32 - 1)`.
//! 2. *Second-last bytes.* Counters that are eight steps of their second-last byte apart have
//!    hashes that differ by a multiple of 2<sup>16</sup> bytes. If a small multiple of the length
//!    is next to one of 2<sup>16</sup>, they set nearly the same bits. Then Euclid's algorithm on
//!    both has a large quotient.
//! 3. *Third probes.* There are [few](super::rate). In filters of many bits they meet more often in
//!    some lengths than in others.
//!
//! A filter of few bits gets the longest length, up to LevelDB's, that is good by the first two;
//! one of many bits gets the best by the third of six such lengths. Then probes are added to
//! LevelDB's while each is worth it. Of 3,000 filters of 1,000 to 100,000 counters with 10 bits per
//! key, every second number absent, 40 of LevelDB's match more than 5% of the absent ones, of odd
//! lengths 10, of good ones 2. In 24 filters of random keys the probes take a tenth of the false
//! positives, the third fact a twentieth. Lists of single lengths and fitted costs of each factor
//! were tried, too, and gain nothing more.

use super::rate::Rates;
use crate::bloom::shape::{BloomFilterShape, MAX_PROBES, NUM_HASHES, float, leveldb_num_probes};

/// The prime factors of `2 * (2^32 - 1)`, and those of neighbours one and three apart: the lowest
/// byte of the hash's multiplier is 0x93, which is 256 - 109, and 3 * 0x93 is -71 modulo 256.
const BAD_FACTORS: [usize; 8] = [2, 3, 5, 17, 257, 65_537, 71, 109];

/// The least quotient that is large. Fitted to nine kinds of real keys in filters of 1,000 to
/// 9,000; 32 to 1,024 do as well.
const LARGE_QUOTIENT: usize = 128;

/// One byte in this many may be given up for a good length, up to 3 bytes. Fitted to filters of 16
/// to 100 keys with 6 to 14 bits each: the kinds match 16.0% in the mean, without 17.5%, and random
/// keys, which pay 5% for each 1% of the length, 2.42% and 2.37%. The second number is for lengths
/// of which it is more than 3 bytes; 35 to 200 do the same.
const SHORTER: usize = 15;
const SHORTER_IF_LONG: usize = 50;

/// From this many bits on third probes decide: all their values, below 2<sup>32</sup>, meet in
/// fewer.
const MANY_BITS: u64 = 1 << 16;

/// How many good lengths are compared by their third probes. Fitted to 24 filters of 9,000 to
/// 100,000 random keys: 0.98% of one length, 0.95% of three, 0.94% of six, 0.93% of twelve.
const NUM_LENGTHS: usize = 6;

/// Each probe beyond LevelDB's number must remove 3% of the false positives. Fitted to the
/// filters above: if it may remove none, counters have 1.15% for 1.13%, with 10% 1.06%, but random
/// keys 0.98% for 0.94%.
const WORTH_A_PROBE: f64 = 0.97;

/// A seventh probe is eight steps from where counters' probes meet, so it finds more bits set for
/// them: 100,000 counters in 124,997 bytes have 0.98% with 6 probes, 1.24% with 7, 1.14% with 8.
const UNWANTED_PROBES: u8 = 7;

/// The most probes of a lengthened filter, unless LevelDB's has more: counters' later probes meet.
/// Fitted to 6 to 12 keys of the nine kinds in 48 bytes: 1.0% with 6 probes, 1.3% with 8.
const MOST_PROBES: u8 = 6;

/// A shape, and the rate of random keys that its filters are expected to have.
#[derive(Clone, Copy)]
pub(super) struct RatedShape {
    pub(super) shape: BloomFilterShape,
    pub(super) rate: f64,
}

/// The shape of a filter: at most as long as LevelDB's, or of at least `min_bytes` bytes of bits.
pub(in crate::bloom) fn tuned_shape(
    leveldb: BloomFilterShape,
    num_keys: usize,
    min_bytes: usize,
) -> BloomFilterShape {
    let RatedShape { shape, .. } = choose_shape(leveldb, num_keys, true);
    if shape.num_bytes < min_bytes {
        choose_longer_shape(leveldb, num_keys, min_bytes)
    } else {
        shape
    }
}

/// The shape without a least length. From [`MANY_BITS`] on only a `search` finds the length;
/// without it, which is faster, LevelDB's is taken.
pub(super) fn choose_shape(leveldb: BloomFilterShape, num_keys: usize, search: bool) -> RatedShape {
    if num_keys == 0 || leveldb.num_bits() > NUM_HASHES {
        return RatedShape { shape: leveldb, rate: f64::from(num_keys > 0) };
    }
    let num_bytes = match leveldb.num_bytes {
        most if leveldb.num_bits() < MANY_BITS => choose_short_length(most),
        most if search => choose_long_length(most),
        most => most,
    };
    choose_probes(num_bytes, leveldb.num_probes, num_keys)
}

/// Of `min_bytes` and the next seven lengths the longest good one.
fn choose_longer_shape(
    leveldb: BloomFilterShape,
    num_keys: usize,
    min_bytes: usize,
) -> BloomFilterShape {
    let mut lengths = (min_bytes..=min_bytes + 7).rev();
    let num_bytes = lengths.find(|&length| is_good_length(length)).unwrap_or(min_bytes | 1);
    let num_probes = leveldb_num_probes((num_bytes as u64).saturating_mul(8000) / num_keys as u64);
    BloomFilterShape { num_bytes, num_probes: num_probes.min(leveldb.num_probes.max(MOST_PROBES)) }
}

/// The longest good length up to LevelDB's, which is `most`.
fn choose_short_length(most: usize) -> usize {
    let least = most - (most / SHORTER).min(3).max(most / SHORTER_IF_LONG);
    let longest = (least..=most).rev().find(|&length| is_good_length(length));
    // Without one, an odd length still helps; but a factor of 17 costs more than one of 2.
    longest.unwrap_or(if (most - 1) % 17 == 0 { most } else { (most - 1) | 1 })
}

/// Of the longest good lengths the one in which third probes meet least.
fn choose_long_length(most: usize) -> usize {
    let odd = (most - 1) | 1;
    // Some bytes, since whole neighbourhoods are bad. A power of two brings all remainders.
    let apart = (odd >> 13).next_power_of_two().clamp(2, 64);
    let lengths = (1..=odd).rev().step_by(apart).filter(|&length| is_good_length(length));
    let lengths = lengths.take(NUM_LENGTHS).map(|length| (distance_of_meeting(length), length));
    lengths.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(odd, |best| best.1)
}

/// Whether few counters near each other set the same bits: by the first two facts.
fn is_good_length(num_bytes: usize) -> bool {
    if BAD_FACTORS.iter().any(|factor| num_bytes % factor == 0) {
        return false;
    }
    // The first quotient only says how long it is.
    let (mut a, mut b) = (num_bytes.min(1 << 16), num_bytes.max(1 << 16) % num_bytes.min(1 << 16));
    while b > 0 && a / b < LARGE_QUOTIENT {
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
fn distance_of_meeting(num_bytes: usize) -> f64 {
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
fn choose_probes(num_bytes: usize, leveldb: u8, num_keys: usize) -> RatedShape {
    let rates = Rates::new(num_bytes as u64 * 8, num_keys);
    let with = |num_probes| {
        let shape = BloomFilterShape { num_bytes, num_probes };
        RatedShape { shape, rate: rates.rate(num_probes) }
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
