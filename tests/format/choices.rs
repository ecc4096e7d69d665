//! Choices of shapes: the same on every platform, and within documented limits.

use leveldb_filter::BloomFilterPolicy;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::keys_with_hashes;
use crate::common::random_hashes;
use crate::common::runs::{Run, policies, total_len};
use crate::common::strategies::config;
use crate::common::ways::assert_makes_as_reference;

/// How many bytes shorter than LevelDB's filter of `num_bytes` a tuned one may be.
fn most_bytes_less(num_bytes: usize) -> usize {
    match num_bytes {
        0..256 => 3,
        256..8192 => 7,
        8192.. => num_bytes * 3 / 1000,
    }
}

/// The bytes and probes of a tuned filter; asserts that its length is LevelDB's or an odd number.
#[track_caller]
fn tuned(policy: BloomFilterPolicy, num_keys: usize) -> (usize, u8) {
    let (leveldb, shape) = (policy.shape(num_keys), policy.tuned().shape(num_keys));
    let less = leveldb.filter_len().checked_sub(shape.filter_len()).expect("not longer");
    assert!(less <= most_bytes_less(leveldb.filter_len() - 1), "{leveldb:?} {shape:?}");
    assert!(less == 0 || shape.filter_len() % 2 == 0, "{leveldb:?} {shape:?}");
    assert!((1..=30).contains(&shape.num_probes()), "{leveldb:?} {shape:?}");
    (shape.filter_len() - 1, shape.num_probes())
}

/// Keys, millibits per key, bytes of bits, and probes: for few keys, for many bits, and where
/// LevelDB's length is a multiple of 3, 5, 17 or 257, or close to one of 2^16 or to 65,536 bits.
/// The last 28, and the shares' last nine, are where changes of constants show.
#[rustfmt::skip]
const SHAPES: [(usize, usize, usize, u8); 72] = [
    (1, 10_000, 7, 4), (2, 6000, 7, 5), (3, 14_000, 7, 5), (5, 16_000, 10, 11), (8, 10_000, 10, 6),
    (8, 24_000, 23, 6), (9, 10_000, 11, 6), (12, 6000, 9, 4), (19, 9000, 21, 5),
    (20, 10_000, 25, 6), (20, 64_000, 157, 6), (25, 4835, 16, 3), (35, 10_000, 43, 6),
    (36, 57_000, 251, 7), (38, 54_050, 251, 7), (50, 8000, 49, 5), (72, 14_000, 125, 9),
    (90, 10_000, 113, 6), (100, 1000, 13, 1), (205, 20_000, 511, 11), (206, 10_000, 251, 6),
    (333, 10_000, 413, 6), (1000, 2000, 247, 1), (1000, 10_000, 1249, 6), (1817, 2000, 449, 1),
    (3958, 10_000, 4943, 6), (4766, 10_000, 5953, 6), (5000, 63_100, 39_397, 10),
    (5827, 10_000, 7283, 6), (6553, 10_000, 8179, 6), (8192, 8000, 8179, 5),
    (14_299, 10_000, 17_849, 6), (20_000, 10_000, 24_979, 6), (23_469, 63_100, 185_111, 12),
    (41_943, 10_000, 52_381, 8), (60_000, 10_000, 74_839, 8), (72_439, 11_000, 99_587, 8),
    (100_000, 4600, 57_499, 4), (150_000, 10_000, 187_147, 8), (300_000, 14_000, 524_999, 11),
    (1_000_000, 10_000, 1_249_231, 8), (2_000_000, 10_000, 2_497_439, 8),
    (10_000_000, 20_000, 24_959_039, 13), (40_328, 2154, 10_841, 1), (124_860, 3362, 52_409, 2),
    (94, 15_948, 185, 10), (260_208, 8323, 270_649, 6), (9671, 22_391, 27_031, 15),
    (84, 2379, 23, 1), (6, 20_422, 15, 6), (931, 7937, 923, 5), (850, 9959, 1059, 6),
    (1453, 9901, 1797, 6), (38_448, 9743, 46_793, 8), (6041, 38_244, 28_867, 14), (24, 2913, 9, 2),
    (16, 11_946, 23, 6), (15, 8872, 17, 6), (16, 8972, 18, 5), (5, 19_524, 13, 8),
    (9, 15_975, 18, 11), (67, 2118, 17, 1), (15, 17_173, 33, 11), (13, 19_517, 32, 13),
    (9, 19_412, 22, 13), (19, 4507, 11, 2), (18, 11_461, 26, 6), (76, 15_097, 143, 9),
    (23, 3423, 10, 2), (42, 4956, 25, 3), (130_707, 20_079, 327_611, 14), (8965, 9104, 10_201, 6),
];

/// Wanted rate, keys, and millibits per key.
#[rustfmt::skip]
const SIZES: [(f64, usize, usize); 11] = [
    (0.2, 1, 0), (0.01, 5, 12_801), (0.001, 10, 20_801), (0.01, 35, 10_515), (0.05, 1000, 6289),
    (0.01, 20_000, 9619), (0.021595, 8192, 8010), (0.0001, 50_000, 19_810), (0.01, 1_000_000, 9999),
    (0.003, 10_000_000, 15_463), (0.000486, 1_631_978, 20_796),
];

/// The bytes of all filters, the runs, and the millibits per key of each run.
type Share = (usize, &'static [Run], &'static [usize]);

#[rustfmt::skip]
const SHARES: [Share; 15] = [
    (147, &[(1, 3), (3, 173)], &[34_666, 2127]),
    (9999, &[(1, 4), (10, 4), (100, 4), (1000, 4)], &[156_000, 62_000, 30_000, 16_000]),
    (2_775_222, &[(1, 20_000), (10, 20_000), (100, 20_000)], &[19_624, 14_670, 9437]),
    (3537, &[(11, 14), (382, 14)], &[23_428, 4571]),
    (56, &[(2, 18), (4, 47)], &[4888, 1702]),
    (2_777_504, &[(1, 2000), (1, 20_000), (1, 200_000), (1, 2_000_000)],
        &[24_020, 19_620, 14_668, 9423]),
    (4486, &[(117, 139), (80, 23), (54, 10), (39, 86)], &[0, 6608, 8800, 5302]),
    (22_523, &[(1, 164), (17, 2), (2, 15), (32, 2147)], &[9268, 2600, 13_333, 2600]),
    (584, &[(14, 127), (2, 1843), (1, 5)], &[2393, 82, 19_200]),
    (11, &[(1, 1), (23, 1), (1, 1)], &[0, 0, 80_000]),
    (1_000_000_000, &[(1, 1000)], &[943_576]),
    (914, &[(1, 3)], &[2_442_666]),
    (4575, &[(1, 2)], &[18_296_000]),
    (12, &[(1, 8)], &[12_000]),
    (11, &[(1, 13)], &[6153]),
];

fn millibits(policy: Option<BloomFilterPolicy>) -> usize {
    policy.map_or(0, |policy| policy.millibits_per_key())
}

#[test]
fn choices_are_the_same_on_every_platform() {
    for (num_keys, millibits, num_bytes, num_probes) in SHAPES {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let what = format!("{num_keys} keys, {millibits} millibits per key");
        assert_eq!(tuned(policy, num_keys), (num_bytes, num_probes), "{what}");
    }
    for (rate, num_keys, expected) in SIZES {
        let reached = BloomFilterPolicy::for_false_positive_rate(rate, num_keys);
        assert_eq!(millibits(reached), expected, "{rate} for {num_keys} keys");
    }
    for (total_len, runs, expected) in SHARES {
        let shares: Vec<_> = policies(total_len, runs).into_iter().map(millibits).collect();
        assert_eq!(shares, expected, "{total_len} bytes for {runs:?}");
    }
}

/// How often third probes of random keys with different values fall on one bit, as a multiple of
/// how often random bits do.
fn meetings(num_bytes: usize) -> f64 {
    const NUM_VALUES: u32 = 196_606;
    let mut shares = vec![0.0; num_bytes * 8];
    let mut same = 0.0;
    for value in 0..NUM_VALUES {
        let num_hashes = (value / 2 + 1).min(32_768).min((NUM_VALUES - value).div_ceil(2));
        let share = f64::from(num_hashes) / 4294967296.0;
        shares[value.wrapping_mul(65_537) as usize % (num_bytes * 8)] += share;
        same += share * share;
    }
    let num_bits = f64::from(u32::try_from(num_bytes * 8).unwrap());
    (shares.iter().map(|share| share * share).sum::<f64>() - same) * num_bits
}

#[test]
fn third_probes_rarely_meet_in_long_tuned_lengths() {
    for leveldb in [8_198, 8_751, 12_500, 23_740, 37_984, 125_000, 187_500, 375_000] {
        let tuned = meetings(tuned_from(leveldb));
        let step = leveldb * 3 / 1000 / 12 * 2 + 1;
        let mut others: Vec<_> = (0..12).map(|i| meetings(leveldb - i * step / 2)).collect();
        others.sort_by(f64::total_cmp);
        assert!(tuned <= 0.1 + others[3], "{leveldb}: {tuned}, others {others:?}");
    }
}

/// A factor of 257 costs counters far more than seventh probes that meet. Near these lengths, all
/// that are tried and have no factor are next to odd multiples of 2^16 bytes.
#[test]
fn lengths_without_a_factor_are_taken_even_if_seventh_probes_meet() {
    for leveldb in [245_742_629, 275_255_046, 319_192_566, 386_959_582, 443_916_876] {
        let (num_bytes, _) = tuned(BloomFilterPolicy::new(8), leveldb);
        let factor = [2, 3, 5, 11, 17, 257].into_iter().find(|factor| num_bytes % factor == 0);
        assert_eq!(factor, None, "{leveldb}: {num_bytes}");
    }
}

#[test]
fn more_keys_take_more_bytes_for_a_rate() {
    for rate in [0.9, 0.3, 0.1, 0.01, 0.001, 1e-6] {
        let len = |log2| {
            let num_keys = 1_usize << log2;
            let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys);
            policy.map_or(usize::MAX, |policy| policy.shape(num_keys).filter_len())
        };
        let lens: Vec<_> = (0..usize::BITS).map(len).collect();
        assert!(lens.is_sorted() && lens[0] < lens[20], "{rate}: {lens:?}");
    }
}

/// Bytes that LevelDB's filters have at 8 bits per key, and tuned ones instead.
fn tuned_from(leveldb: usize) -> usize {
    tuned(BloomFilterPolicy::new(8), leveldb).0
}

#[test]
fn multiples_of_257_and_65537_bytes_are_avoided() {
    for factor in [257, 65_537] {
        for leveldb in (1..2000).map(|times| times * factor) {
            let num_bytes = tuned_from(leveldb);
            assert!(num_bytes % factor != 0, "{num_bytes} bytes instead of {leveldb}");
        }
    }
}

/// The first or second of the dozen lengths is next to one, and most others are not.
#[test]
fn lengths_next_to_odd_multiples_of_2_to_the_19_bits_are_avoided() {
    for odd in (1..400).step_by(2) {
        for more in [2, 6, 10, 14] {
            let leveldb = (odd << 16) + 4 * odd + more;
            let num_bytes = tuned_from(leveldb);
            let is_next_to = num_bytes.abs_diff(odd << 16) <= 8 * odd;
            assert!(!is_next_to, "{num_bytes} bytes instead of {leveldb}: next to {odd} * 2^16");
        }
    }
}

#[test]
fn tuned_filters_of_all_sizes_have_the_oracles_bytes() {
    let keys = keys_with_hashes(&random_hashes(100_000, 1));
    for num_keys in [0, 1, 6, 7, 100, 1000, 19_999, 75_000, 100_000] {
        for bits_per_key in [1, 10, 14] {
            let policy = BloomFilterPolicy::new(bits_per_key).tuned();
            assert_makes_as_reference(policy, &keys[..num_keys]);
        }
    }
    // Enough bits to be set region by region.
    assert_makes_as_reference(BloomFilterPolicy::new(4000).tuned(), &keys[..20_000]);
}

#[test]
fn shapes_without_keys_and_above_2_to_the_32_bits_are_leveldbs() {
    for (bits_per_key, num_keys) in [
        (10, 0),
        (usize::MAX, 0),
        (1 << 20, 5000),
        (11, 1 << 29),
        (usize::MAX, 1),
        (1, usize::MAX),
        (1000, usize::MAX / 1000),
        (1 << 20, 1 << 12),
    ] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        // If the number of bits fits into a usize.
        if let Some(num_bits) = bits_per_key.checked_mul(num_keys) {
            let is_leveldbs = policy.tuned().shape(num_keys) == policy.shape(num_keys);
            assert_eq!(is_leveldbs, num_bits == 0 || num_bits as u64 > 1 << 32, "{policy:?}");
        }
    }
    // At 0 bits per key, one byte less than LevelDB's eight.
    for (num_keys, num_bits) in [(0, 64), (1, 56), (1000, 56), (usize::MAX, 56)] {
        assert_eq!(BloomFilterPolicy::new(0).tuned().shape(num_keys).num_bits(), num_bits);
    }
}

#[test]
fn rates_that_no_filter_reaches_get_no_policy() {
    let reached = BloomFilterPolicy::for_false_positive_rate;
    for (rate, num_keys) in [(0.002, 10_000_000), (1e-5, 100_000), (1e-11, 1), (0.5, usize::MAX)] {
        assert_eq!(reached(rate, num_keys), None, "{rate}, {num_keys} keys");
    }
    // For a few keys, the shortest filter suffices.
    for num_keys in 0..=3 {
        assert_eq!(reached(0.01, num_keys).unwrap().millibits_per_key(), 0);
    }
    // The millibits exceed 32 bits, but the filter's length does not.
    assert_eq!(reached(2.328306442e-10, 1).unwrap().shape(1).filter_len(), 232_791_278);
    for rate in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!([0, 1000].map(|num_keys| reached(rate, num_keys)), [None; 2], "{rate}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tuned_lengths_are_odd_and_close_to_leveldbs(
        num_keys in prop_oneof![0..3_000_000usize, 0..300usize],
        millibits in 0..100_000usize,
    ) {
        tuned(BloomFilterPolicy::from_millibits_per_key(millibits), num_keys);
    }

    #[test]
    fn any_rate_and_number_of_keys_get_an_answer(
        rate in prop_oneof![
            any::<f64>(),
            (1..=40usize).prop_map(|halves| [0.5; 40][..halves].iter().product()),
        ],
        num_keys in prop_oneof![any::<usize>(), 0..300usize, 0..10_000_000usize],
    ) {
        if let Some(policy) = BloomFilterPolicy::for_false_positive_rate(rate, num_keys) {
            prop_assert_eq!(policy, policy.tuned());
            prop_assert!(policy.shape(num_keys).num_bits() <= 1 << 32);
        }
    }

    #[test]
    fn any_runs_take_at_most_the_budget(
        budget in prop_oneof![any::<usize>(), 0..1_000_000usize, 0..300usize],
        runs in prop_oneof![
            9 => vec((any_number(), any_number()), 0..6),
            1 => vec((any_number(), any_number()), 20..100),
        ],
    ) {
        let policies = policies(budget, &runs);
        prop_assert!(total_len(&policies, &runs) <= budget as u128);
        prop_assert!(policies.iter().flatten().all(|&policy| policy == policy.tuned()));
    }
}

fn any_number() -> impl Strategy<Value = usize> {
    prop_oneof![any::<usize>(), 0..10usize, 0..100_000usize, Just(usize::MAX)]
}
