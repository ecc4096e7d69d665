//! The length and the number of probes of tuned filters.
//!
//! Random keys want each byte that LevelDB gives them. Keys that end in a counter want an odd
//! number of bytes: LevelDB's hash multiplies a key's last four bytes only once, so of 256
//! neighbours, two that are `t` apart share all probes if the number of bits divides `t * 128 *
//! 65537`, which an even number of bytes does for more of them. The constants weigh the two,
//! measured with counters, digits, hexadecimal digits and times against random hashes;
//! the test `rates::fit` prints what others would do.

use super::lattice::Lattice;
use super::rate::Rates;
use crate::bloom::shape::{BloomFilterShape, MAX_PROBES, NUM_HASHES, float, leveldb_num_probes};

/// From this many bits on, a length is judged by how often third probes meet in it.
const MANY_BITS: u64 = 1 << 16;

/// Probes beyond LevelDB's number must each remove 3% of the false positives, since counters have
/// fewer without them.
const WORTH_A_PROBE: f64 = 0.97;

/// A seventh probe is eight steps from where counters' probes meet, so it finds more bits set for
/// them: 100,000 counters in 124,997 bytes have 0.98% with 6 probes, 1.24% with 7, 1.14% with 8.
const UNWANTED_PROBES: u8 = 7;

/// Filters of fewer keys, whose counters meet in ways of their own, get [shapes](of_few_keys) of
/// their own where LevelDB's have at most 13 probes: up to 20 bits per key.
const FEW_KEYS: usize = 16;
/// The most probes of such a filter if its length has no [`FLAW`], and one more at LevelDB's.
const MOST_OF_FEW: u8 = 7;

/// The cost of a length's flaws, as shares of the false positives of random keys: an even number of
/// bytes, a power of two, [resonance](is_resonant), and factors. Counters pay far more, but not all
/// keys are counters.
///
/// 3, 5, 11 and 17 divide 2<sup>25</sup> - 2<sup>16</sup> - 1, and 257 divides
/// 2<sup>25</sup> + 2<sup>16</sup> + 1: then a hash that wraps at 2<sup>32</sup> has the probes of
/// the counter next to it.
const FLAW: f64 = 0.4;
const MINOR: f64 = 0.25;
const MAJOR: f64 = 0.5;
const FACTORS: [(usize, f64); 5] = [(3, MINOR), (5, MINOR), (11, MINOR), (17, MAJOR), (257, MAJOR)];

/// The cost of one byte less, times the number of keys or of bytes, whichever is larger.
const A_BYTE: f64 = 4.2;

/// The cost of a flaw from [`MANY_BITS`] on, in units of [meetings](Lattice::meetings).
const FLAW_OF_MANY: f64 = 0.5;

/// Lengths whose costs differ by less count as equally good.
const AS_GOOD: f64 = 0.1;

/// A shape, and the rate that its filters are expected to have.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    pub(super) shape: BloomFilterShape,
    pub(super) rate: f64,
}

/// The shape of a filter of `num_keys` keys, to which LevelDB gives another one. At most as long as
/// that, unless it would have fewer than `min_bytes` bytes of bits.
pub(in crate::bloom) fn tuned(
    leveldb: BloomFilterShape,
    num_keys: usize,
    min_bytes: usize,
) -> BloomFilterShape {
    let shape = expected(leveldb, num_keys, true).shape;
    if shape.num_bytes < min_bytes { lengthened(leveldb, min_bytes, num_keys) } else { shape }
}

/// Of `min_bytes` and the next seven lengths the longest with the fewest flaws, with the probes
/// that fit, but at most LevelDB's or 6, or 8 from 58 bits per key on: counters' later probes meet.
fn lengthened(leveldb: BloomFilterShape, min_bytes: usize, num_keys: usize) -> BloomFilterShape {
    let flaws = |&num_bytes: &usize| {
        // Counters one and three apart have hashes 109 and 71 times 2^24 apart.
        let is_hit = matches!(num_bytes, 71 | 109);
        flaws(num_bytes, leveldb.num_probes) + if is_hit { FLAW } else { 0.0 }
    };
    let lengths = (min_bytes..=min_bytes + 7).rev();
    let num_bytes = lengths.min_by(|a, b| flaws(a).total_cmp(&flaws(b))).unwrap_or(min_bytes);
    let millibits = num_bytes as u128 * 8000 / num_keys as u128;
    let most = leveldb.num_probes.max(leveldb_num_probes(millibits / 5).clamp(6, 8));
    BloomFilterShape { num_bytes, num_probes: leveldb_num_probes(millibits).min(most) }
}

/// The shape without a least length. From [`MANY_BITS`] on only `searches` finds the length;
/// without it, which is faster, LevelDB's is taken, and the rate is that of one that was found.
pub(super) fn expected(leveldb: BloomFilterShape, num_keys: usize, searches: bool) -> Expected {
    if num_keys == 0 || leveldb.num_bits() > NUM_HASHES {
        return Expected { shape: leveldb, rate: f64::from(num_keys > 0) };
    }
    if num_keys < FEW_KEYS && leveldb.num_bytes > 8 && leveldb.num_probes <= 13 {
        let shape = of_few_keys(leveldb, num_keys);
        let rates = Rates::new(shape.num_bits(), num_keys);
        return Expected { shape, rate: rates.rate(shape.num_probes) };
    }
    let num_bytes = match leveldb.num_bytes {
        _ if leveldb.num_bits() < MANY_BITS => short_length(leveldb, num_keys),
        longest if searches => long_length(longest),
        longest => longest,
    };
    best_probes(num_bytes, leveldb.num_probes, num_keys)
}

/// A shape that measured at most 1.05 times the false positives of LevelDB's for counters in steps
/// of 1 to 1,000 but 130, and for digits and hexadecimal digits in steps of up to 100 but 60. Where
/// a byte less is taken, random keys have up to 1.5 times as many, and sparse ones up to 1.9 times.
fn of_few_keys(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    // Counters in steps of 6, 5, 2, and 5 have fewest in these lengths.
    if matches!(leveldb.num_bytes, 14 | 22 | 32 | 33) {
        return leveldb;
    }
    let num_bytes = short_length(leveldb, num_keys);
    let num_probes = match flaws(num_bytes, leveldb.num_probes) {
        FLAW.. => leveldb.num_probes,
        _ => leveldb.num_probes.min(MOST_OF_FEW + u8::from(num_bytes == leveldb.num_bytes)),
    };
    BloomFilterShape { num_bytes, num_probes }
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
    if best.shape.num_probes > leveldb {
        return best;
    }
    for fewer in (1..leveldb).rev().map(with) {
        if fewer.rate > best.rate {
            break;
        }
        best = fewer;
    }
    best
}

/// LevelDB's length or an odd one next to it: at most 1 byte shorter below 30 bytes and keys, 2
/// below 45, 3 below 256 bytes, and then 7.
fn short_length(leveldb: BloomFilterShape, num_keys: usize) -> usize {
    let longest = leveldb.num_bytes;
    // A byte is worth most to few keys.
    let size = num_keys.max(longest);
    let most_shorter = if longest < 256 { (size / 15).clamp(1, 3) } else { 7 };
    let byte = A_BYTE / float(size as u64);
    let (mut best, mut least) = (longest, f64::INFINITY);
    for shorter in 0..=most_shorter {
        let num_bytes = longest - shorter;
        if num_bytes % 2 == 0 && shorter > 0 {
            continue;
        }
        let flaws = flaws(num_bytes, leveldb.num_probes);
        let cost = flaws + byte * float(shorter as u64);
        if cost < least {
            (best, least) = (num_bytes, cost);
        }
        if flaws == 0.0 {
            break;
        }
    }
    best
}

/// What a length below [`MANY_BITS`] costs.
fn flaws(num_bytes: usize, num_probes: u8) -> f64 {
    let is_odd = num_bytes % 2 == 1;
    // Of two and three probes all second ones have nearly one remainder by 3.
    let is_hit_by_3 = num_bytes % 3 == 0 && matches!(num_probes, 2 | 3);
    let flaws = [
        (!is_odd, FLAW),
        (num_bytes.is_power_of_two(), FLAW),
        (is_hit_by_3, FLAW),
        (is_odd && num_bytes >= 1024 && is_resonant(num_bytes), FLAW),
    ];
    let factors = FACTORS.map(|(factor, cost)| (num_bytes % factor == 0, cost));
    flaws.into_iter().chain(factors).filter(|flaw| flaw.0).map(|flaw| flaw.1).sum()
}

/// Of a dozen odd lengths, at most 0.3% shorter, the one in which third probes, and so the probes
/// of a query, meet least.
fn long_length(longest: usize) -> usize {
    let odd = (longest - 1) | 1;
    // Many bytes, since whole neighbourhoods are resonant; as a power of two it brings all
    // remainders by the factors, so at least three of twelve lengths have none of them.
    let apart = ((longest >> 13) + 1).next_power_of_two().max(2);
    let has_none = |num_bytes: &usize| FACTORS.iter().all(|(factor, _)| num_bytes % factor != 0);
    let lengths = (0..12).map(|times| odd - times * apart).filter(has_none).map(Long::new);
    lengths.reduce(Long::better).map_or(odd, |long| long.num_bytes)
}

/// A length from [`MANY_BITS`] on.
struct Long {
    num_bytes: usize,
    cost: f64,
    /// The square of the length of the [lattice](Lattice)'s shortest vector.
    shortest: f64,
}

impl Long {
    fn new(num_bytes: usize) -> Self {
        let lattice = Lattice::new(num_bytes as u64 * 8);
        // Each unit makes some 10 to 16% more false positives with 3 or 4 probes.
        let cost = lattice.meetings()
            + if is_resonant(num_bytes) { FLAW_OF_MANY } else { 0.0 }
            // Only where all lengths without a factor do.
            + if sevenths_meet(num_bytes) { f64::MAX } else { 0.0 };
        Self { num_bytes, cost, shortest: lattice.shortest() }
    }

    fn better(self, other: Self) -> Self {
        // In many large filters no two meet, in some only just: where the shortest vector is short.
        let is_better = if (self.cost - other.cost).abs() < AS_GOOD {
            other.shortest > self.shortest
        } else {
            other.cost < self.cost
        };
        if is_better { other } else { self }
    }
}

/// Whether a multiple of the length is close to one of 2<sup>16</sup> bytes; the larger, the closer
/// it must be. Hashes of counters that are eight steps of their second-last byte apart differ by a
/// multiple of 2<sup>16</sup> bytes, and then set nearly the same bits.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
fn is_resonant(num_bytes: usize) -> bool {
    const NEXT_TO: [u16; 128] = {
        let (mut next_to, mut times) = ([480; 128], 1);
        while times <= next_to.len() {
            next_to[times - 1] /= times as u16;
            times += 1;
        }
        next_to
    };
    // Without a branch, for vector instructions.
    let (mut num_near, mut multiple) = (0, 0_u16);
    for next_to in NEXT_TO {
        multiple = multiple.wrapping_add(num_bytes as u16);
        num_near += u16::from(multiple.wrapping_add(next_to) <= 2 * next_to);
    }
    num_near > 0
}

/// Whether the seventh probes of random keys, and every fourth one after them, meet: next to odd
/// multiples of 2<sup>16</sup> bytes.
fn sevenths_meet(num_bytes: usize) -> bool {
    let multiple = (num_bytes + (1 << 15)) >> 16;
    num_bytes.abs_diff(multiple << 16) <= num_bytes >> 13 && multiple % 2 == 1
}
