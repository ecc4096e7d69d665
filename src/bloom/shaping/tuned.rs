//! Chooses the length and the number of probes of a tuned filter.
//!
//! A reader takes both from the filter, so a writer is free to choose them. With LevelDB's hash
//! some lengths are bad: keys that differ a little set the same bits there, so absent keys next to
//! present keys match. [`tuned_shape`] takes the longest good length, among LevelDB's and those a
//! little shorter, and then as many probes as pay for themselves.
//!
//! A length is good if [`has_bad_factor`] and [`neighbours_meet`] are both false. If none is, only
//! the first counts, because some length a little longer always has no bad factor.
//!
//! # Why lengths are bad
//!
//! *Neighbours* are keys that differ only in their last byte, as successive big-endian counters do,
//! and whose length is a multiple of 4.
//!
//! **How their hashes differ.** The hash adds the last four bytes to `h`, as a little-endian word,
//! multiplies, and folds: `h ^= h >> 16`. The last byte is the highest of that word, so it changes
//! only bits 24 to 31 of the product, and the fold flips the same bits in bits 8 to 15. Each
//! flipped bit adds or subtracts a power of two, with a sign of its own in each of the two bytes:
//!
//! ```text
//! difference of hashes = 2^24 * a + 2^8 * b      a, b: sums of ± the same powers 1, 2, .. 128
//! ```
//!
//! Let `p = (a + b) / 2`, which sums the powers with the same sign in both bytes, and
//! `q = (a - b) / 2`, which sums the powers with opposite signs. No power is in both.
//!
//! **How their probes differ.** Probe `i` is `h + i * d`, where `d` is `h` rotated right by 17. The
//! rotation moves the two bytes to bits 7 and 23, so the `i`-th probes of the two keys differ by
//!
//! ```text
//! 2^7 * ((2 + i) * 65537 * p + (2 - i) * 65535 * q)
//! ```
//!
//! If the filter's length in bytes is odd and divides the number in parentheses, both probes fall
//! on the same bit, unless they have wrapped around 2<sup>32</sup> a different number of times.
//!
//! **How many keys have such a neighbour.** Two bits of a key's hash must fit the two signs of each
//! power, so each power leaves one key in four. A length is therefore bad if it divides such a
//! number with *few* powers, and [`neighbours_meet`] tests all with up to three. For example, 1,621
//! divides `-65537 + 8 * 65535`, where `i = 0`, `p = -1` and `q = 8`. So one key in sixteen shares
//! its first probe with that neighbour, and as many with those of twice, four, eight and sixteen
//! times `p` and `q`.
//!
//! **Bad factors.** A length that shares a factor with 65535 or 65537 makes the probes of all
//! neighbours with `p = 0`, or of all with `q = 0`, equal modulo that factor. And because of the
//! `2^7`, probes meet in an even length wherever they meet in half of it, so 2 is a bad factor, too.
//! Third probes, of `i = 2`, are the same for all neighbours with `p = 0` in any length, which no
//! choice can mend.

use core::array;

use super::rate::RateModel;
use crate::bloom::shape::{BloomFilterShape, MAX_BYTES, MAX_PROBES};

// tests/README.md tells what gets worse with half or double of each.

/// Filters of fewer keys are as long as filters of this many keys: the shortest filters are the
/// worst, and LevelDB's ranges of 2 KiB often have few keys.
pub(in crate::bloom) const MIN_KEYS: usize = 40;

/// A filter may shrink by a fiftieth for a good length, and by at least one byte. Random keys have
/// 5% more false positives for each 1% of the length.
const SHORTER: usize = 50;

/// Shorter filters skip [`neighbours_meet`], which hardly any length would pass, to save a
/// microsecond.
const LEAST_COMPARED: i32 = 1024;

/// Each probe beyond LevelDB's number must remove 3% of the false positives of random keys, because
/// counters gain less by it.
const WORTH_A_PROBE: f64 = 0.97;

/// With seven probes, counters have more false positives than with six or eight, and random keys as
/// many: the last is eight steps from where counters' probes meet, so it finds more bits set.
const UNWANTED_PROBES: u8 = 7;

/// The shape of a filter made for `num_keys` keys, at least [`MIN_KEYS`] of them unless somebody
/// else has counted room; `None` if LevelDB's number of bits exceeds a `usize`.
pub(in crate::bloom) fn tuned_shape(
    num_keys: usize,
    millibits_per_key: u32,
) -> Option<BloomFilterShape> {
    if num_keys == 0 {
        return BloomFilterShape::leveldb(0, millibits_per_key);
    }
    let BloomFilterShape { num_bytes, num_probes } =
        BloomFilterShape::leveldb(num_keys, millibits_per_key)?;
    Some(choose_probes(choose_length(num_bytes.min(MAX_BYTES)), num_probes, num_keys))
}

/// The best length, by the order that the module's header gives.
fn choose_length(leveldb: usize) -> usize {
    let shorter = (leveldb / SHORTER).max(1);
    let mut fallback = None;
    for length in (leveldb - shorter..=leveldb).rev().filter(|&length| !has_bad_factor(length)) {
        if !neighbours_meet(length) {
            return length;
        }
        fallback.get_or_insert(length);
    }
    fallback.unwrap_or_else(|| next_without_bad_factor(leveldb))
}

/// At most 6 bytes longer.
fn next_without_bad_factor(length: usize) -> usize {
    (length..2 * length).find(|&length| !has_bad_factor(length)).unwrap_or(length)
}

/// Whether the length shares a factor with `2 * 65535 * 65537`.
fn has_bad_factor(num_bytes: usize) -> bool {
    [2, 3, 5, 17, 257, 65_537].iter().any(|factor| num_bytes % factor == 0)
}

/// Whether, in an odd length, probes of neighbours with up to three powers in `p` and `q` meet.
///
/// Tests the first, second, fourth, sixth and eighth probes. Third probes depend on no length, and
/// fifth probes meet where second probes do, with `-q` for `q`. Lengths that only seventh probes
/// would reject are as good as others.
fn neighbours_meet(num_bytes: usize) -> bool {
    let Ok(length @ LEAST_COMPARED..) = i32::try_from(num_bytes) else { return false };
    // The inverse modulo 2^32, by Newton's method. The length is its own inverse modulo 2^3, and
    // each step doubles the number of bits that are right.
    let improve = |x: i32, _| x.wrapping_mul(2_i32.wrapping_sub(length.wrapping_mul(x)));
    let inverse = (0..4).fold(length, improve);
    // A number of up to 2^31, times the inverse, is from -most to most only if the length divides
    // it. All numbers below are less than 2^27, so 2^27 would do as well. One comparison tells, of
    // signed numbers, because SSE2 compares no others.
    let most = i32::MAX / length;
    let (shift, limit) = (i32::MIN + most, i32::MIN + 2 * most);
    let is_multiple = |times_inverse: i32| times_inverse.wrapping_add(shift) <= limit;

    // 2 + i and 2 - i, without common factors. The sign of `q` is free.
    [(1, 1), (3, 1), (5, 1), (7, 3), (9, 5)].into_iter().any(|(of_p, of_q)| {
        // The lowest power is 1, because the length is odd. It is in `p` or in `q`.
        let lowest = [of_p * 65_537, of_q * 65_535].map(|n| inverse.wrapping_mul(n));
        // There are four of each higher power: in `p` or in `q`, plus or minus.
        let higher: [i32; 28] = array::from_fn(|i| {
            let power = lowest[i % 2] << (i / 4 + 1);
            if i % 4 < 2 { power } else { power.wrapping_neg() }
        });
        // The sums of two powers, eight with each higher power. They need no test of their own,
        // because one of the two is the next power minus itself, which makes three powers.
        let two: [i32; 48] = array::from_fn(|i| lowest[i % 2].wrapping_add(higher[i / 2]));
        // Without a branch this vectorizes, which is faster than to stop at the first.
        let is_any_multiple = |two: &[i32], third: i32| {
            two.iter().fold(false, |is_any, &two| is_any | is_multiple(two.wrapping_add(third)))
        };
        (4..28).any(|i| is_any_multiple(&two[..i / 4 * 8], higher[i]))
    })
}

/// Starts from LevelDB's number of probes. Adds probes while each is worth it, or drops probes
/// while the rate does not rise.
fn choose_probes(num_bytes: usize, leveldb: u8, num_keys: usize) -> BloomFilterShape {
    let rates = RateModel::new(num_bytes as u64 * 8, num_keys);
    let with = |num_probes| (num_probes, rates.rate(num_probes));
    let is_wanted = |&num_probes: &u8| num_probes != UNWANTED_PROBES;
    let mut best = with(if is_wanted(&leveldb) { leveldb } else { leveldb - 1 });
    for more in (leveldb + 1..=MAX_PROBES).filter(is_wanted).map(with) {
        if more.1 >= WORTH_A_PROBE * best.1 {
            break;
        }
        best = more;
    }
    for fewer in (1..leveldb).rev().filter(is_wanted).map(with) {
        if fewer.1 > best.1 {
            break;
        }
        best = fewer;
    }
    BloomFilterShape { num_bytes, num_probes: best.0 }
}
