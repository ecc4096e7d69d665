//! The length and the number of probes of tuned filters.
//!
//! A reader takes the number of bits from a filter's length, and that of probes from its last byte,
//! so a writer may choose both. Three facts about LevelDB's hash tell good lengths from bad ones:
//!
//! 1. *Neighbours.* The hash adds four bytes of the key, multiplies, and folds once:
//!    `h ^= h >> 16`. A step in the last byte of a big-endian counter changes only the top byte of
//!    the product, and the fold flips the same bits again in the byte at 2<sup>8</sup>. So the
//!    hashes of two such neighbours differ by `2^24 * a + 2^8 * b`, where `a` and `b` are sums of
//!    the same powers of two below 2<sup>8</sup>, each with signs of its own. Then
//!    `p = (a + b) / 2` and `q = (a - b) / 2` are sums of *different* powers: those with one sign
//!    in both, and the others. Their `i`-th probes are `h + i * d`, where `d` is `h` rotated right
//!    by 17 bits, and differ by `2^7 * ((2 + i) * 65537 * p + (2 - i) * 65535 * q)`. They meet if
//!    the length in bytes, which is odd, divides that, unless just one passes 2<sup>32</sup>.
//!
//!    Every power leaves one key in four, on average, with such a neighbour: a bit of the key's
//!    hash must fit the sign in `a`, and another that in `b`. So lengths are bad that divide such a
//!    number of *few* powers. 1,621 bytes divide `-65537 + 8 * 65535`: the first probe of one key
//!    in sixteen is that of its neighbour with `p = -1` and `q = 8`, and so with `-2` and 16, up to
//!    `-16` and 128; and nine tenths of the u64 counters in such a filter let 6% of the others
//!    pass. (For `i = 2` the second term vanishes, so third probes of neighbours without `p` meet
//!    in any length.) Modulo a factor that the length shares with 65535 or 65537, the probes of all
//!    neighbours meet that have no `p` or no `q`.
//! 2. *Second-last bytes.* The hashes of counters that are eight steps of their second-last byte
//!    apart differ by `2^16 * a + b` bytes, with smaller `a` and `b` of the same kind. In a length
//!    of which a small multiple is next to one of 2<sup>16</sup>, the first term leads to few
//!    places, so more of them meet. Then Euclid's algorithm on both has a large quotient.
//! 3. *Third probes.* There are [few](super::rate), so in a filter of many bits those that meet
//!    form a lattice. The shorter its shortest vector, the more queries match by such probes.
//!
//! A filter gets the longest length, hardly shorter than LevelDB's, that is good by all three
//! facts, or at least by factors and the second. Then probes are added while each is worth it.

use std::array;

use super::rate::{NUM_VALUES, Rates};
use crate::bloom::shape::{BloomFilterShape, MAX_PROBES, NUM_HASHES, float};

/// The prime factors of `2 * 65535 * 65537`, and those of neighbours one and three apart: modulo
/// 256, the hash's multiplier is 0x93, which is 256 - 109, and three times that is -71.
const BAD_FACTORS: [usize; 8] = [2, 3, 5, 17, 257, 65_537, 71, 109];

/// The least quotient that is large. Fitted to nine kinds of real keys in filters of 1,000 to
/// 9,000; 32 to 1,024 do as well.
const LARGE_QUOTIENT: usize = 128;

/// The least square of the shortest vector of third probes that meet, in cells of their lattice; at
/// best it is 1.15. Fitted to 200 filters of 9,000 to 100,000 random keys, which have 0.92 of
/// LevelDB's false positives without, 0.89 with 0.3, and 0.88 with 0.5 to 0.9. Up to 0.5 all
/// lengths below 5 KB pass, where third probes say nothing.
const LEAST_DISTANCE: f64 = 0.5;

/// One byte in this many may be given up for a good length, up to 3 bytes. Fitted to filters of 16
/// to 100 keys with 6 to 14 bits each: the kinds match 16.0% in the mean, without 17.5%, and random
/// keys, which pay 5% for each 1% of the length, 2.42% and 2.37%. The second number is for lengths
/// of which it is more than 3 bytes; 35 to 200 do the same.
const SHORTER: usize = 15;
const SHORTER_IF_LONG: usize = 50;

/// Each probe beyond LevelDB's number must remove 3% of the false positives. Fitted to the
/// filters above: if it may remove none, counters have 1.15% for 1.13%, with 10% 1.06%, but random
/// keys 0.98% for 0.94%.
const WORTH_A_PROBE: f64 = 0.97;

/// A seventh probe is eight steps from where counters' probes meet, so it finds more bits set for
/// them: 100,000 counters in 124,997 bytes have 0.98% with 6 probes, 1.24% with 7, 1.14% with 8.
const UNWANTED_PROBES: u8 = 7;

/// A shape, and the rate of random keys that its filters are expected to have.
#[derive(Clone, Copy)]
pub(in crate::bloom) struct RatedShape {
    pub(in crate::bloom) shape: BloomFilterShape,
    pub(super) rate: f64,
}

/// The shape of a filter, at most as long as LevelDB's.
pub(in crate::bloom) fn tuned_shape(leveldb: BloomFilterShape, num_keys: usize) -> RatedShape {
    if num_keys == 0 || leveldb.num_bits() > NUM_HASHES {
        return RatedShape { shape: leveldb, rate: f64::from(num_keys > 0) };
    }
    choose_probes(choose_length(leveldb.num_bytes), leveldb.num_probes, num_keys)
}

/// The longest good length of those up to LevelDB's, which is `most`, that are hardly shorter.
fn choose_length(most: usize) -> usize {
    let least = most - (most / SHORTER).min(3).max(most / SHORTER_IF_LONG);
    let mut lengths = (least..=most).rev().filter(|&length| is_good_length(length));
    let best =
        lengths.clone().find(|&length| spreads_third_probes(length) && !neighbours_meet(length));
    // Without one, an odd length still helps; but a factor of 17 costs more than one of 2.
    let odd = if (most - 1) % 17 == 0 { most } else { (most - 1) | 1 };
    best.or_else(|| lengths.next()).unwrap_or(odd)
}

/// Whether the length has none of the bad factors, and is good by the second fact.
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

/// Whether probes of neighbours with up to three powers in `p` and `q` meet in an odd length: the
/// first, second, fourth or sixth ones. (The fifth do so with the second, for `-q`; later ones
/// are those of large filters, for which most lengths are good.)
fn neighbours_meet(num_bytes: usize) -> bool {
    // Few shorter ones pass.
    let length = u32::try_from(num_bytes).ok().filter(|&length| length >= 1024);
    let Some(length) = length else { return false };
    // Modulo 2^32, by Newton: each step doubles the bits that are right, at first three.
    let improve = |x: u32, _| x.wrapping_mul(2_u32.wrapping_sub(length.wrapping_mul(x)));
    let inverse = (0..4).fold(length, improve);
    // A number of up to 2^31, times the inverse, is so small only if the length divides it.
    let most = (1 << 31) / length;
    let is_multiple = |times_inverse: u32| times_inverse.wrapping_add(most) <= 2 * most;

    // The factors of `p` and of `q`, whose sign is free.
    [(1, 1), (3, 1), (5, 1), (7, 3)].into_iter().any(|(of_p, of_q)| {
        // The lowest power, 1 as the length is odd: in `p` or in `q`.
        let lowest = [of_p * 65_537, of_q * 65_535].map(|n| inverse.wrapping_mul(n));
        // Four of each higher power: in `p` or in `q`, plus or minus.
        let higher: [u32; 28] = array::from_fn(|i| {
            let power = lowest[i % 2] << (i / 4 + 1);
            if i % 4 < 2 { power } else { power.wrapping_neg() }
        });
        // Eight of each.
        let two: [u32; 56] = array::from_fn(|i| lowest[i % 2].wrapping_add(higher[i / 2]));
        // Without a branch this vectorizes, which is faster than to stop at the first.
        let is_any_multiple = |two: &[u32], third: u32| {
            two.iter().fold(false, |is_any, &two| is_any | is_multiple(two.wrapping_add(third)))
        };
        is_any_multiple(&two, 0) || (4..28).any(|i| is_any_multiple(&two[..i / 4 * 8], higher[i]))
    })
}

/// Whether third probes that meet are far apart: by their distance as a share of 2<sup>32</sup>,
/// squared, plus that of their values as a share of all.
///
/// Two third probes are `65537 * v` for two numbers `v`, modulo 2<sup>32</sup>.
/// They fall on one bit if they are `times` the number of bits apart, and then `65537` divides
/// `times * num_bits + wraps * 2^32`. All such pairs form a lattice with cells of
/// `num_bits / NUM_VALUES`.
fn spreads_third_probes(num_bytes: usize) -> bool {
    let num_bits = num_bytes as u64 * 8;
    // By Fermat num_bits^65535 modulo 65537, in which 2^32 is 1.
    let squared = |x: u64, times| (0..times).fold(x, |x, _| x * x % 65_537);
    let inverse = [1, 2, 4, 8].iter().fold(num_bits % 65_537, |x, n| squared(x, *n) * x % 65_537);
    let cell = float(num_bits) / NUM_VALUES;
    // Two third probes are at most two wraps apart; counting on leaves fewer false positives, too.
    (1..=6).all(|wraps| {
        let times = float(65_537 - wraps * inverse % 65_537);
        [times, times - 65_537.0].into_iter().all(|times| {
            let bits = times * float(num_bits) / float(NUM_HASHES);
            let values = (bits + float(wraps)) / 3.0;
            bits * bits + values * values >= LEAST_DISTANCE * cell
        })
    })
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
