//! Searches for the best filter by the model.

use std::{array, iter};

use super::super::probes::MAX_PROBES;
use super::super::shape::BloomFilterShape;
use super::model::Filters;
use super::numbers::gcd;
use super::third_probe::Lattice;

/// To what share the false positives must sink to leave LevelDB's number of probes, or its length.
const MAX_TUNED_RATE: f64 = 0.98;

/// With fewer keys, making the filter takes less time than asking the model.
const MIN_KEYS_MODELLED: usize = 20_000;

/// How many lengths are looked at, from LevelDB's 8 KiB or more down; enough to find good ones.
const NUM_LENGTHS: usize = 41;

/// Of how many of them the model is asked.
const NUM_LENGTHS_MODELLED: usize = 3;

/// The length of a filter's bits; of one that cannot be made, the most that there are.
pub(super) fn num_bytes(bits_per_key: usize, num_keys: usize) -> usize {
    num_keys.saturating_mul(bits_per_key).max(64).div_ceil(8)
}

/// The shape with the fewest false positives for `num_keys` keys, to which LevelDB gives another.
pub(super) fn best_shape(leveldb: BloomFilterShape, num_keys: usize) -> BloomFilterShape {
    let filters = Filters::new(leveldb.num_bytes, num_keys);
    if num_keys < MIN_KEYS_MODELLED || !filters.favour_bits() {
        return best_shape_without_favoured_bits(leveldb, &filters);
    }
    let (num_probes, rate) = tuned_num_probes(&filters, leveldb.num_probes);
    let mut best = BloomFilterShape { num_probes, ..leveldb };
    let mut max_rate = MAX_TUNED_RATE * rate;
    // Where probes seldom meet, the best number is not far above.
    let first = best_without_favoured_bits(&filters).min(MAX_PROBES - 2);
    for num_bytes in evener_lengths(leveldb.num_bytes) {
        let numbers = [first, first + 1, first + 2];
        let (num_probes, rate) = least(numbers, Filters::new(num_bytes, num_keys).rates(numbers));
        if rate < max_rate {
            best = BloomFilterShape { num_bytes, num_probes };
            max_rate = rate;
        }
    }
    best
}

/// Multiples of 3 bits have 6 to 10 % more false positives than others, those of 5 bits 2 to 3 %.
/// With up to 10 bits per key, a quarter of a per cent fewer bits cost 1.2 %.
fn best_shape_without_favoured_bits(
    leveldb: BloomFilterShape,
    filters: &Filters,
) -> BloomFilterShape {
    let rate = |num_probes| filters.rate_without_favoured_bits(num_probes);
    let best = best_without_favoured_bits(filters);
    let gains = rate(best) < MAX_TUNED_RATE * rate(leveldb.num_probes);
    let shortest = leveldb.num_bytes - 2.min(leveldb.num_bytes / 400);
    let mut lengths = (shortest..=leveldb.num_bytes).rev();
    BloomFilterShape {
        num_bytes: lengths.find(|&n| gcd(Filters::bits(n), 15) == 1).unwrap_or(leveldb.num_bytes),
        num_probes: if gains { best } else { leveldb.num_probes },
    }
}

/// Shorter lengths in which third probes, and so the probes of a query, meet less often.
///
/// They meet where the lattice has a short vector; the model takes far longer to say how often.
fn evener_lengths(num_bytes: usize) -> impl Iterator<Item = usize> {
    let mut lengths: [_; NUM_LENGTHS] = array::from_fn(|shorter| {
        let num_bytes = num_bytes - shorter;
        let bits = Filters::bits(num_bytes);
        let has_factor = gcd(bits, 255) > 1;
        (if has_factor { 0.0 } else { Lattice::new(bits).shortest_squared() }, num_bytes)
    });
    lengths.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let evener = lengths.into_iter().map(|(_, length)| length);
    evener.take_while(move |&length| length != num_bytes).take(NUM_LENGTHS_MODELLED)
}

/// The number of probes to take instead of LevelDB's, or that, and its rate.
pub(super) fn tuned_num_probes(filters: &Filters, leveldb: u8) -> (u8, f64) {
    let numbers = candidates(filters);
    let rates = filters.rates(numbers);
    let (num_probes, rate) = least(numbers, rates);
    let leveldb_rate = match numbers.iter().position(|&number| number == leveldb) {
        Some(i) => rates[i],
        None => filters.rate(leveldb),
    };
    if rate < MAX_TUNED_RATE * leveldb_rate { (num_probes, rate) } else { (leveldb, leveldb_rate) }
}

/// The number of probes with the least rate, or next to it, and that rate.
pub(super) fn best_num_probes(filters: &Filters) -> (u8, f64) {
    let numbers = candidates(filters);
    least(numbers, filters.rates(numbers))
}

/// The best number of probes is often 1 or 2 above the best if they favoured no bits, and sometimes
/// 1 below. It may be further off where it hardly matters, and, above 18 bits per key, where the
/// length is a bad one.
fn candidates(filters: &Filters) -> [u8; 6] {
    let first = best_without_favoured_bits(filters).saturating_sub(1).clamp(1, MAX_PROBES - 5);
    [0, 1, 2, 3, 4, 5].map(|more| first + more)
}

/// The first number of probes with the least rate, or next to it, and that rate.
fn least<const N: usize>(numbers: [u8; N], rates: [f64; N]) -> (u8, f64) {
    let least = rates.into_iter().fold(1.0, f64::min);
    numbers.into_iter().zip(rates).find(|&(_, rate)| rate <= 1.005 * least).expect("the least")
}

fn best_without_favoured_bits(filters: &Filters) -> u8 {
    let rate = |&num_probes: &u8| filters.rate_without_favoured_bits(num_probes);
    (1..=MAX_PROBES).min_by(|a, b| rate(a).total_cmp(&rate(b))).expect("some numbers")
}

/// Enough bits per key to reach the rate, where one less is not.
pub(super) fn fewest_bits_per_key(rate: f64, num_keys: usize) -> Option<usize> {
    let reaches = |&bits_per_key: &usize| {
        let filters = Filters::new(num_bytes(bits_per_key, num_keys), num_keys);
        best_num_probes(&filters).1 <= rate
    };
    let most_bits = usize::try_from(1u64 << 32).unwrap_or(usize::MAX);
    let most = (most_bits / num_keys.max(1)).max(1);
    let mut powers_of_two = iter::successors(Some(1), |&bits_per_key| {
        (bits_per_key < most).then(|| most.min(bits_per_key.saturating_mul(2)))
    });
    let mut enough = powers_of_two.find(reaches)?;
    let mut too_few = enough / 2;
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if reaches(&middle) { enough = middle } else { too_few = middle }
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
            let filters = Filters::new(num_bytes(bits_per_key, num_keys), num_keys);
            let best = (1..=MAX_PROBES).map(|num| filters.rate(num)).fold(1.0, f64::min);
            let (_, found) = best_num_probes(&filters);
            assert!(found <= 1.02 * best, "{bits_per_key} {num_keys}: {found} {best}");
        }
    }
}
