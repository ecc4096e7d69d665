//! Tuned filters against LevelDB's with the same keys.

use leveldb_filter::BloomFilterPolicy;

use crate::common::measure::{Effort, false_positive_rate};
use crate::common::{drawn, of_any_magnitude};

/// Numbers of keys and millibits per key at which a wrong choice has up to four times LevelDB's
/// false positives.
#[rustfmt::skip]
const HARD_SIZES: [(usize, usize); 18] = [
    (1_748, 20_000), (205, 20_000), (2_497, 14_000), (166, 10_000), (828, 10_000), (36, 57_000),
    (105, 19_580), (36, 7_000), (12, 6_000), (8, 6_000), (13, 10_000), (5_534, 23_690),
    (37_984, 5_000), (40_185, 4_726), (47_169, 6_000), (44_750, 3_780), (77_093, 12_000),
    (246_585, 4_644),
];

/// The [hard sizes](HARD_SIZES) and others of up to 100,000 keys.
///
/// A third each of the others: any size, 1 to 100 keys, and 8 to 42 KB with few bits per key.
fn sizes() -> Vec<(usize, usize)> {
    let mut below = drawn(1);
    let others = (0..32).map(|i| {
        let num_keys = of_any_magnitude(100_000, &mut below);
        let millibits = 1000 + below(63_001);
        match i % 3 {
            0 => (num_keys, millibits),
            1 => (1 + below(100), millibits),
            _ => {
                let millibits = 3500 + below(5001);
                ((8192 + below(34_817)) * 8000 / millibits, millibits)
            }
        }
    });
    HARD_SIZES.into_iter().chain(others).collect()
}

/// No tuned filter of random keys has more than 1.06 times LevelDB's false positives; for few keys,
/// the limit adds what three bytes are worth, up to 1.5 times. From 160,000 bits on it is chance
/// how often third probes meet, so the limit is 1.3 times. Allows for three standard errors.
#[test]
fn tuned_filters_are_hardly_worse_than_leveldbs_for_random_keys() {
    // Enough to notice a ratio of 1.2 at most sizes with rates of at least 1 in 400.
    let effort = Effort { matches: 3000, max_lookups: 1 << 19 };
    let (sizes, mut num_compared) = (sizes(), 0);
    for &(num_keys, millibits) in &sizes {
        let millibits = u32::try_from(millibits).expect("few");
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        if policy.shape(num_keys) == policy.tuned().shape(num_keys) {
            continue;
        }
        let [leveldb, tuned] =
            [policy, policy.tuned()].map(|policy| false_positive_rate(policy, num_keys, effort));
        let keys = f64::from(u32::try_from(num_keys).expect("few"));
        let is_large = policy.shape(num_keys).num_bits() > 160_000;
        let limit = if is_large { 1.3 } else { (1.06 * (14.0 / keys).exp()).min(1.5) };
        let error = tuned.standard_error.hypot(limit * leveldb.standard_error);
        assert!(
            tuned.mean <= limit * leveldb.mean + 3.0 * error,
            "{num_keys} keys, {millibits} millibits per key: {tuned:?} instead of {leveldb:?}"
        );
        num_compared += usize::from(leveldb.mean > 30.0 * leveldb.standard_error);
    }
    assert!(num_compared > sizes.len() / 3, "{num_compared} sizes with another shape");
}
