//! The length and the number of probes that make fewer false positives.
//!
//! Both are chosen by a rule in closed form, made from measured filters, because a filter of a
//! filter block takes a fraction of a microsecond to make. Where the rule cannot tell, LevelDB's
//! shape stays.

use super::accuracy::{
    Lattice, MIN_BITS_FAVOURED, NUM_HASHES, NUM_VALUES, float, probability_of_hit,
};
use super::shape::{BloomFilterShape, MAX_BYTES, MAX_PROBES};

/// The shape of a filter of `num_keys` keys, to which LevelDB gives another.
pub(super) fn shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    if num_keys == 0 || leveldb.num_bytes as u64 > MAX_BYTES {
        return leveldb;
    }
    let longest = leveldb.num_bytes;
    let few_bits = longest as u64 * 8 < MIN_BITS_FAVOURED;
    let num_bytes = if few_bits { even_length(longest) } else { evenest_length(longest) };
    let num_probes = if few_bits { few_bits_num_probes } else { many_bits_num_probes };
    let num_probes = num_probes(num_bytes as u64 * 8, num_keys, leveldb.num_probes);
    BloomFilterShape { num_bytes, num_probes }
}

/// Whether the probes of a key seldom meet in a filter of this length.
///
/// They meet where the number of bits shares a factor with 2<sup>32</sup> - 1, since a step that
/// wraps then keeps its remainder, or where it is a small number times a power of two.
pub(super) fn spreads_evenly(num_bytes: usize) -> bool {
    [3, 5, 17, 257, 65537].iter().all(|factor| num_bytes as u64 % factor != 0)
        && num_bytes >> num_bytes.trailing_zeros() > 64
}

/// Multiples of 3 bits have 6 to 10 % more false positives than others, those of 5 bits 2 to 3 %,
/// and small multiples of 257 four times as many. Two bytes less cost no more, from 200 bytes up.
fn even_length(num_bytes: usize) -> usize {
    let shortest = if num_bytes < 200 { num_bytes } else { num_bytes - 2 };
    (shortest..=num_bytes).rev().find(|&num_bytes| spreads_evenly(num_bytes)).unwrap_or(num_bytes)
}

/// The one of a dozen lengths in which third probes, and so the probes of a query, meet the least.
///
/// They meet where the lattice has a short vector. Seventh probes, and every fourth one after them,
/// meet next to multiples of 2<sup>19</sup> bits: at odd multiples in odd numbers of bytes, at even
/// ones in even numbers.
fn evenest_length(longest: usize) -> usize {
    let num_bits = longest as u64 * 8;
    let multiple = (num_bits + (1 << 18)) >> 19;
    let is_next_to_multiple = num_bits.abs_diff(multiple << 19) <= num_bits >> 13;
    let mut evenest = (0.0, longest);
    for num_bytes in (longest - 11..=longest).rev().filter(|&length| spreads_evenly(length)) {
        if is_next_to_multiple && num_bytes as u64 % 2 == multiple % 2 {
            continue;
        }
        let shortest = Lattice::new(num_bytes as u64 * 8).shortest_squared();
        if shortest > evenest.0 {
            evenest = (shortest, num_bytes);
        }
    }
    evenest.1
}

/// The number of probes below [`MIN_BITS_FAVOURED`]: ln 2 times bits over keys, as by the textbook,
/// but for a bound where queries with less than all bits make up most false positives.
///
/// The numbers are fitted to 1,000 measured filters, of 1 to 16,000 keys.
fn few_bits_num_probes(num_bits: u64, num_keys: usize, leveldb: u8) -> u8 {
    let textbook = std::f64::consts::LN_2 * float(num_bits) / float(num_keys as u64);
    let bound = 0.7 * log2(num_bits) + 0.85 * log2(num_keys as u64) - 2.0;
    // The best number is near (textbook^-4 + bound^-4)^(-1/4), and this one at most 0.6 above.
    let fourth_power = |x: f64| (x * x) * (x * x);
    let (textbook_4, bound_4) = (fourth_power(textbook), fourth_power(bound));
    let is_few = |num_probes: f64| {
        fourth_power((num_probes - 0.6).max(0.0)) * (textbook_4 + bound_4) <= textbook_4 * bound_4
    };
    // Where another number is hardly better, LevelDB's stays.
    if is_few(f64::from(leveldb) - 0.2) && !is_few(f64::from(leveldb) + 1.2) {
        return leveldb;
    }
    // At most one above the smaller of the two.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let mut num_probes = (textbook.min(bound) as u8).min(MAX_PROBES - 1) + 1;
    while num_probes > 1 && !is_few(num_probes.into()) {
        num_probes -= 1;
    }
    num_probes
}

/// The binary logarithm, too small by at most 0.09; the same on every platform.
fn log2(x: u64) -> f64 {
    let floor = x.ilog2();
    f64::from(floor) + float(x) / float(1 << floor) - 1.0
}

/// The number of probes from [`MIN_BITS_FAVOURED`] up: the first of those within half a per cent of
/// the least rate, or LevelDB's.
fn many_bits_num_probes(num_bits: u64, num_keys: usize, leveldb: u8) -> u8 {
    let rates: [f64; MAX_PROBES as usize] =
        std::array::from_fn(|i| even_rate(num_bits, num_keys, i + 1));
    let least = rates.into_iter().fold(1.0, f64::min);
    let is_least = |&num_probes: &u8| rates[usize::from(num_probes) - 1] <= 1.005 * least;
    (1..=MAX_PROBES).find(is_least).unwrap_or(leveldb)
}

/// The false-positive rate to expect of a filter whose length [spreads evenly](spreads_evenly).
///
/// Third probes fall on few bits, which are set more often than others: a query's third probe
/// always meets those, and its other probes where they happen to.
pub(super) fn even_rate(num_bits: u64, num_keys: usize, num_probes: usize) -> f64 {
    let (bits, keys) = (float(num_bits), float(num_keys as u64));
    let hits = |num_probes: usize| float(num_probes as u64) * keys / bits;
    let all_of = |rate: f64, num_probes: usize| (0..num_probes).fold(1.0, |all, _| all * rate);
    let same_hash = keys / NUM_HASHES;
    if num_probes <= 2 || bits < f64::from(NUM_VALUES) {
        return all_of(probability_of_hit(hits(num_probes)), num_probes) + same_hash;
    }
    // Of the values, the middle third come from 2^15 hashes each, the others from ever fewer.
    let most = keys / 131072.0;
    let hit = probability_of_hit(most);
    let hit_by_others = probability_of_hit(hits(num_probes - 1));
    let share = f64::from(NUM_VALUES) / bits;
    let missed = (1.0 - hit) / 3.0 + 2.0 * hit / (3.0 * most);
    let other = 1.0 - (1.0 - hit_by_others) * (1.0 - share + share * missed);
    let missed_by_own = (1.0 - hit) / 2.0 + (1.0 - (1.0 - hit) * (1.0 + most)) / (most * most);
    // Of few keys rounding may make it more than 1.
    let third = 1.0 - (1.0 - hit_by_others) * missed_by_own.min(1.0);
    all_of(other, num_probes - 1) * third + same_hash
}
