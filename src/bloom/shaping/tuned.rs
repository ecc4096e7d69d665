//! The length and the number of probes of tuned filters. To choose them must take little beside the
//! fraction of a microsecond in which a filter of a filter block is made.

use super::rate::{NUM_HASHES, NUM_VALUES, Rates, float};
use crate::bloom::shape::{BloomFilterShape, MAX_PROBES};

/// The bits that hashes reach.
const NUM_REACHED: u64 = 1 << 32;

/// From so many bits on, a length is worth how seldom third probes meet in it.
const MANY_BITS: u64 = 1 << 16;

/// One more probe must remove a thousandth of the false positives, which is far more than rounding.
const WORTH_A_PROBE: f64 = 0.999;

/// Fewer probes than LevelDB's must remove 3% of the false positives: below 20 keys the formula
/// favours few probes. Fitted to 8 to 13 keys with 6 to 10 bits each.
const WORTH_FEWER_PROBES: f64 = 0.97;

/// What it costs a length if its number of bits shares a factor with 2<sup>32</sup> - 1, in
/// [meetings](Lattice::meetings), as measured for 3, 5 and 17; others are to be avoided.
const SHARED_FACTORS: [(u64, f64); 5] = [(3, 0.7), (5, 0.25), (17, 0.05), (257, 2.0), (65537, 4.0)];

/// The same if its number of bits is a small number times a power of two, or [seventh probes
/// meet](sevenths_meet): as much as other lengths differ by.
const ROUND: f64 = 1.0;
const SEVENTHS_MEET: f64 = 2.0;

/// Lengths whose costs differ by less are as good as each other.
const AS_GOOD: f64 = 0.02;

/// The shape of a filter of `num_keys` keys, to which LevelDB gives another one, at least as long.
pub(in crate::bloom) fn tuned(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    if num_keys == 0 || leveldb.num_bits() > NUM_REACHED {
        return leveldb;
    }
    let num_bytes = if leveldb.num_bits() < MANY_BITS {
        even_length(leveldb)
    } else {
        evenest_length(leveldb.num_bytes)
    };
    let num_bits = num_bytes as u64 * 8;
    let start = start(leveldb, num_bits, num_keys);
    let (num_probes, _) = best(&Rates::new(num_bits, num_keys), start, leveldb.num_probes);
    BloomFilterShape { num_bytes, num_probes }
}

/// About the rate of the [`tuned`] filter of `num_keys` keys, if a `usize` holds its number of bits:
/// in some tens of nanoseconds for any length.
pub(super) fn tuned_rate(millibits_per_key: u128, num_keys: usize) -> Option<f64> {
    let leveldb = BloomFilterShape::leveldb(num_keys, millibits_per_key)?;
    if num_keys == 0 {
        return Some(0.0);
    }
    let (num_bits, rates) = if leveldb.num_bits() < MANY_BITS {
        let num_bits = even_length(leveldb) as u64 * 8;
        (num_bits, Rates::new(num_bits, num_keys))
    } else {
        let num_bits = leveldb.num_bits().min(NUM_REACHED);
        (num_bits, Rates::even(num_bits, num_keys))
    };
    Some(best(&rates, start(leveldb, num_bits, num_keys), leveldb.num_probes).1)
}

/// The fewest probes from which one more is not worth it, sought from `start` on, and their rate.
fn best(rates: &Rates, start: u8, leveldb: u8) -> (u8, f64) {
    let mut best = (start, rates.rate(start));
    for more in start + 1..=MAX_PROBES {
        let rate = rates.rate(more);
        if rate >= WORTH_A_PROBE * best.1 {
            break;
        }
        best = (more, rate);
    }
    // From 4 up, two probes, which have no third one, may still be better.
    if best.0 > start && start > 4 {
        return best;
    }
    for fewer in (1..start).rev() {
        let rate = rates.rate(fewer);
        if WORTH_A_PROBE * rate <= best.1 {
            best = (fewer, rate);
        } else if fewer != 3 {
            // A third probe alone may gain nothing, and with a fourth one much.
            break;
        }
    }
    if best.0 < leveldb {
        let of_leveldb = rates.rate(leveldb);
        if best.1 > WORTH_FEWER_PROBES * of_leveldb {
            return (leveldb, of_leveldb);
        }
    }
    best
}

/// Where to seek the number of probes, which only decides how long it takes: LevelDB's number, or,
/// with many bits for each key, about that from which queries with less than all bits make up most
/// false positives: fitted to the formula at 24 to 64 bits for each of up to a million keys.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn start(leveldb: BloomFilterShape, num_bits: u64, num_keys: usize) -> u8 {
    let [bits, keys] = [num_bits, num_keys as u64].map(|n| f64::from(n.ilog2()) + 0.5);
    let few = (2.0 + 0.43 * keys * (7.4 - (bits - keys))) as u8;
    leveldb.num_probes.min(few).clamp(4, MAX_PROBES)
}

/// A length at most 3 bytes shorter in which the probes of a key seldom meet.
///
/// They meet where the number of bits shares a factor with 2<sup>32</sup> - 1, since a step that
/// wraps then keeps its remainder, and, of filters with many bits per key, at powers of two.
fn even_length(leveldb: BloomFilterShape) -> usize {
    let longest = leveldb.num_bytes;
    let is_even = |&num_bytes: &usize| {
        !num_bytes.is_power_of_two() && [3, 5, 17, 257].iter().all(|factor| num_bytes % factor != 0)
    };
    let shortest = match longest {
        // A byte is worth much: only what is worse than one byte less.
        ..200 => {
            let meets = longest % 51 == 0
                || longest % 85 == 0
                || longest.is_power_of_two() && longest >= 32 && leveldb.num_probes >= 8;
            return if meets { longest - 1 } else { longest };
        }
        257 | 514 => longest - 3,
        _ => longest - 2,
    };
    (shortest..=longest).rev().find(is_even).unwrap_or(longest)
}

/// The one of a dozen lengths in which third probes, and so the probes of a query, meet the least.
fn evenest_length(longest: usize) -> usize {
    let candidates: [_; 12] = std::array::from_fn(|shorter| Length::new(longest - shorter));
    let least = candidates.iter().map(|length| length.cost).fold(f64::INFINITY, f64::min);
    // Many large filters have lengths in which no two meet, some only just.
    let least = candidates.iter().filter(|length| length.cost <= least + AS_GOOD);
    least
        .max_by(|a, b| a.shortest.total_cmp(&b.shortest))
        .map_or(longest, |length| length.num_bytes)
}

/// What a length of at least [`MANY_BITS`] costs.
struct Length {
    num_bytes: usize,
    /// How often third probes meet, and what costs as much. Each unit makes some 10 to 16% more
    /// false positives with 3 or 4 probes.
    cost: f64,
    /// The square of the length of the lattice's shortest vector.
    shortest: f64,
}

impl Length {
    fn new(num_bytes: usize) -> Self {
        let num_bits = num_bytes as u64 * 8;
        let lattice = Lattice::new(num_bits);
        let shared = SHARED_FACTORS.into_iter().filter(|&(factor, _)| num_bits % factor == 0);
        let is_round = num_bits >> num_bits.trailing_zeros() <= 64;
        let cost = lattice.meetings()
            + shared.map(|(_, cost)| cost).sum::<f64>()
            + if is_round { ROUND } else { 0.0 }
            + if sevenths_meet(num_bits) { SEVENTHS_MEET } else { 0.0 };
        Self { num_bytes, cost, shortest: dot(lattice.basis[0], lattice.basis[0]) }
    }
}

/// Whether seventh probes, and every fourth one after them, meet.
///
/// They do next to multiples of 2<sup>19</sup> bits: at odd multiples in odd numbers of bytes, at
/// even ones in even numbers.
fn sevenths_meet(num_bits: u64) -> bool {
    let multiple = (num_bits + (1 << 18)) >> 19;
    num_bits.abs_diff(multiple << 19) <= num_bits >> 13 && num_bits / 8 % 2 == multiple % 2
}

/// All `(t, y)` for which `y` is `t * bits / 65537` modulo 2<sup>32</sup>: the hashes of two third
/// probes that are `t` times the number of bits apart, so that their bits are one, come from values
/// that are `y` apart.
///
/// Both are in units of their largest: `t` in 2<sup>32</sup> / bits, `y` in [`NUM_VALUES`].
struct Lattice {
    num_bits: f64,
    /// As short as can be, the shorter one first.
    basis: [[f64; 2]; 2],
}

impl Lattice {
    fn new(num_bits: u64) -> Self {
        const INVERSE_OF_65537: u64 = 0xffff0001;
        #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32")]
        let unit = num_bits.wrapping_mul(INVERSE_OF_65537) as u32;
        let num_bits = float(num_bits);
        let mut a = [num_bits / NUM_HASHES, f64::from(unit) / NUM_VALUES];
        let mut b = [0.0, NUM_HASHES / NUM_VALUES];
        loop {
            if dot(a, a) > dot(b, b) {
                (a, b) = (b, a);
            }
            let multiple = (dot(a, b) / dot(a, a)).round();
            let shorter = [b[0] - multiple * a[0], b[1] - multiple * a[1]];
            if dot(shorter, shorter) >= dot(b, b) {
                return Self { num_bits, basis: [a, b] };
            }
            b = shorter;
        }
    }

    /// How often third probes meet, times the number of bits: the points but for 0, each weighted
    /// by the share of hashes that are so many turns apart, and of values that are so far apart.
    fn meetings(&self) -> f64 {
        /// How many pairs of third probes have the same value.
        const SAME_VALUE: f64 = 6.6e-6;
        let [a, b] = self.basis;
        // Points with both coordinates below 1 are hardly ever farther, and weigh next to nothing
        // there; more are not looked at where nearly all meet.
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let reach = (2.0 / dot(a, a)).sqrt().min(64.0) as i32;
        let mut sum = 0.0;
        // With at least MANY_BITS no point of a fourth line has both coordinates below 1.
        for times_b in 0..3 {
            let line = b.map(|x| f64::from(times_b) * x);
            // Each point stands for its opposite, too.
            for times_a in if times_b == 0 { 1 } else { -reach }..=reach {
                let times_a = f64::from(times_a);
                let [t, y] = [0, 1].map(|axis| (line[axis] + times_a * a[axis]).abs());
                if t < 1.0 && y < 1.0 {
                    sum += 2.0 * (1.0 - t) * (1.0 - y) * (1.0 - y);
                }
            }
        }
        SAME_VALUE * self.num_bits * sum
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many hashes have each third probe, by the value that it is 65537 times of.
    fn hashes_of(value: u32) -> u32 {
        (value / 2 + 1).min(32768).min((196606 - value).div_ceil(2))
    }

    #[test]
    fn the_lattice_tells_about_how_many_third_probes_meet() {
        for num_bits in [65_536, 70_008, 100_000, 189_920, 303_872, 3_000_000, 3_000_112] {
            let mut hashes = vec![0.0; usize::try_from(num_bits).unwrap()];
            let mut same = 0.0;
            for value in 0..196606 {
                let bit = u64::from(65537_u32.wrapping_mul(value)) % num_bits;
                let share = f64::from(hashes_of(value)) / NUM_HASHES;
                hashes[usize::try_from(bit).unwrap()] += share;
                same += share * share;
            }
            let counted =
                (hashes.iter().map(|share| share * share).sum::<f64>() - same) * float(num_bits);
            let meetings = Lattice::new(num_bits).meetings();
            let error = (meetings - counted).abs();
            assert!(error < 0.1 + 0.25 * counted, "{num_bits}: {meetings} {counted}");
        }
    }
}
