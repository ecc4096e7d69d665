//! Searches for the best filter by the model.

use super::super::probes::MAX_PROBES;
use super::super::shape::BloomFilterShape;
use super::model::{Filters, MIN_BITS_FAVOURED};
use super::numbers::gcd;
use super::third_probe::Lattice;

/// To what share the false positives must sink to leave LevelDB's number of probes, or its length.
const MAX_TUNED_RATE: f64 = 0.98;

/// With fewer keys, making the filter takes less time than asking the model.
const MIN_KEYS_MODELLED: usize = 20_000;

/// The most bytes that a filter is shorter than LevelDB's; enough lengths to find good ones.
const MAX_BYTES_SHORTER: usize = 40;

/// The number of bits of a filter; of one that cannot be made, the most that there are.
pub(super) fn num_bits(bits_per_key: usize, num_keys: usize) -> u64 {
    let num_bits = (num_keys as u64).saturating_mul(bits_per_key as u64);
    num_bits.max(64).div_ceil(8).saturating_mul(8)
}

/// The shape with the fewest false positives for `num_keys` keys, to which LevelDB gives another.
pub(super) fn best_shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    if num_keys < MIN_KEYS_MODELLED || bits(leveldb.num_bytes) < MIN_BITS_FAVOURED {
        best_shape_without_favoured_bits(leveldb, num_keys)
    } else {
        best_shape_by_model(leveldb, num_keys)
    }
}

/// Multiples of 3 bits have 6 to 10 % more false positives than others, those of 5 bits 2 to 3 %.
fn best_shape_without_favoured_bits(
    leveldb: BloomFilterShape,
    num_keys: usize,
) -> BloomFilterShape {
    let filters = |num_bytes| Filters::new(bits(num_bytes), num_keys);
    let rate = |num_bytes| filters(num_bytes).rate_without_favoured_bits(leveldb.num_probes);
    let max_rate = rate(leveldb.num_bytes) / MAX_TUNED_RATE;
    let mut lengths = lengths_up_to(leveldb.num_bytes, 2);
    let num_bytes = lengths
        .find(|&num_bytes| gcd(bits(num_bytes), 15) == 1 && rate(num_bytes) <= max_rate)
        .unwrap_or(leveldb.num_bytes);

    let filters = filters(num_bytes);
    let rate = |num_probes| filters.rate_without_favoured_bits(num_probes);
    let best = best_without_favoured_bits(&filters);
    let gains = rate(best) < MAX_TUNED_RATE * rate(leveldb.num_probes);
    BloomFilterShape { num_bytes, num_probes: if gains { best } else { leveldb.num_probes } }
}

fn best_shape_by_model(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    let filters = |num_bytes| Filters::new(bits(num_bytes), num_keys);
    let (num_probes, rate) = tuned_num_probes(&filters(leveldb.num_bytes), leveldb.num_probes);
    let mut best = BloomFilterShape { num_probes, ..leveldb };
    let mut max_rate = MAX_TUNED_RATE * rate;
    for num_bytes in evenest_lengths(leveldb.num_bytes) {
        let filters = filters(num_bytes);
        // Where few bits are favoured, the best number is not far above.
        let first = best_without_favoured_bits(&filters).min(MAX_PROBES - 2);
        let (num_probes, rate) = least(first, filters.rates::<3>(first));
        if rate < max_rate {
            best = BloomFilterShape { num_bytes, num_probes };
            max_rate = rate;
        }
    }
    best
}

/// The bits that hashes can reach.
fn bits(num_bytes: usize) -> u64 {
    (num_bytes as u64).saturating_mul(8).min(1 << 32)
}

/// A length and those that are up to `num_bytes` bytes and 2 % shorter.
fn lengths_up_to(length: usize, num_bytes: usize) -> impl Iterator<Item = usize> {
    (length - num_bytes.min(length / 50)..=length).rev()
}

/// Shorter lengths in which third probes, and so the probes of a query, least often meet.
///
/// They meet where the lattice has a short vector; the model takes far longer to say how often.
fn evenest_lengths(num_bytes: usize) -> [usize; 3] {
    let mut evenest = [(0.0_f64, num_bytes); 3];
    for num_bytes in lengths_up_to(num_bytes, MAX_BYTES_SHORTER).skip(1) {
        let bits = bits(num_bytes);
        let least = evenest.iter_mut().min_by(|a, b| a.0.total_cmp(&b.0)).expect("three");
        let shortest = Lattice::new(bits).shortest_squared();
        if gcd(bits, 255) == 1 && shortest > least.0 {
            *least = (shortest, num_bytes);
        }
    }
    evenest.map(|(_, num_bytes)| num_bytes)
}

/// The number of probes to take instead of LevelDB's, or that, and its rate.
pub(super) fn tuned_num_probes(filters: &Filters, leveldb: u8) -> (u8, f64) {
    let (num_probes, rate) = best_num_probes(filters);
    let leveldb_rate = filters.rate(leveldb);
    if rate < MAX_TUNED_RATE * leveldb_rate { (num_probes, rate) } else { (leveldb, leveldb_rate) }
}

/// The number of probes with the least rate, or next to it, and that rate.
///
/// The best number is often 1 or 2 above the best if probes favoured no bits, and sometimes 1
/// below. It may be further off where all are nearly as good: with 28 bits per key or more, up to
/// 15 above, to no more gain than 2 %.
pub(super) fn best_num_probes(filters: &Filters) -> (u8, f64) {
    let first = best_without_favoured_bits(filters).saturating_sub(2).clamp(1, MAX_PROBES - 6);
    least(first, filters.rates::<7>(first))
}

fn best_without_favoured_bits(filters: &Filters) -> u8 {
    let rate = |&num_probes: &u8| filters.rate_without_favoured_bits(num_probes);
    (1..=MAX_PROBES).min_by(|a, b| rate(a).total_cmp(&rate(b))).expect("some numbers")
}

/// The fewest probes with the least of the rates, or next to it; the rates begin with `first`.
fn least<const N: usize>(first: u8, rates: [f64; N]) -> (u8, f64) {
    let least = rates.into_iter().fold(1.0, f64::min);
    (first..).zip(rates).find(|&(_, rate)| rate <= 1.005 * least).expect("the least")
}

/// Enough bits per key to reach the rate, where one less is not.
///
/// Searches in growing steps, then halves the last one. `num_keys` is not 0.
pub(super) fn fewest_bits_per_key(rate: f64, num_keys: usize) -> Option<usize> {
    let reaches = |bits_per_key| {
        let filters = Filters::new(num_bits(bits_per_key, num_keys), num_keys);
        best_num_probes(&filters).1 <= rate
    };
    let most_bits = usize::try_from(1u64 << 32).unwrap_or(usize::MAX);
    let most = (most_bits / num_keys).max(1);

    let (mut too_few, mut enough) = (0, 1);
    while !reaches(enough) {
        if enough >= most {
            return None;
        }
        (too_few, enough) = (enough, most.min(enough.saturating_mul(3)));
    }
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if reaches(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_number_of_probes_is_much_better_than_the_candidates() {
        for (bits_per_key, num_keys) in [1, 5, 10, 20, 40]
            .into_iter()
            .flat_map(|b| [1, 20, 1000, 300_000, 30_000_000].map(|n| (b, n)))
        {
            let filters = Filters::new(num_bits(bits_per_key, num_keys), num_keys);
            let (_, best) = least(1, filters.rates::<30>(1));
            let (_, found) = best_num_probes(&filters);
            assert!(found <= 1.02 * best, "{bits_per_key} {num_keys}: {found} {best}");
        }
    }
}
