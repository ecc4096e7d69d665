//! Choices of shapes: the same on every platform, and within documented limits.

use std::fmt::Debug;

use leveldb_filter::BloomFilterPolicy;
use proptest::prelude::*;

use crate::common::strategies::config;
use crate::common::{drawn, of_any_magnitude};

const BAD_FACTORS: [usize; 6] = [2, 3, 5, 17, 257, 65_537];

/// The bytes and probes of a tuned filter; asserts that its length is LevelDB's or hardly another,
/// or that of 40 keys, and has no bad factor.
#[track_caller]
fn tuned(policy: BloomFilterPolicy, num_keys: usize) -> (usize, u8) {
    let counted = if num_keys == 0 { 0 } else { num_keys.max(40) };
    let (leveldb, shape) = (policy.shape(counted), policy.tuned().shape(num_keys));
    assert!(shape.filter_len() <= leveldb.filter_len() + 6, "{leveldb:?} {shape:?}");
    let less = leveldb.filter_len().saturating_sub(shape.filter_len());
    assert!(less <= (leveldb.filter_len() / 50).max(1), "{leveldb:?} {shape:?}");
    let has_factor = BAD_FACTORS.iter().any(|factor| (shape.filter_len() - 1) % factor == 0);
    assert!(num_keys == 0 || !has_factor, "{leveldb:?} {shape:?}");
    assert!((1..=30).contains(&shape.num_probes()), "{leveldb:?} {shape:?}");
    (shape.filter_len() - 1, shape.num_probes())
}

/// Keys, millibits per key, bytes of bits, and probes: of few keys, where LevelDB has 7 probes, and
/// of the most bits. The rows from 7,948 keys on notice small changes of constants and operators.
#[rustfmt::skip]
const SHAPES: &[(usize, u32, usize, u8)] = &[
    (1, 10000, 49, 6), (39, 16000, 79, 8),
    (60, 10000, 77, 6), (41, 10000, 53, 6),
    (96, 10000, 121, 6), (150, 10000, 191, 6),
    (4000, 10300, 5149, 6), (4000, 11000, 5497, 8),
    (100, 1000, 13, 1), (205, 20000, 511, 11),
    (1000, 10000, 1249, 6), (6553, 10000, 8191, 6),
    (20000, 10000, 24997, 6), (52429, 10000, 65519, 8),
    (150000, 10000, 187499, 8), (10000000, 20000, 24999997, 13),
    (7948, 10000, 9931, 6), (4852608, 10000, 6065759, 8),
    (2, 1000, 7, 1), (43, 6000, 37, 4),
    (60000, 12000, 89999, 8), (100000, 2500, 31249, 2),
    (142322, 10000, 177901, 8), (196238, 10000, 245297, 8),
    (38424, 10000, 48029, 8), (156427, 10000, 195533, 8),
    (33782, 8000, 33781, 6), (27585, 10000, 34481, 6),
    (58512, 6000, 43883, 5), (58494, 6000, 43871, 4),
    (113136, 16000, 226271, 12), (113097, 16000, 226193, 11),
];

/// Wanted rate, keys, the millibits per key, and the bytes of a filter of so many keys. The rows of
/// 6e-5 and 0.0007 notice the smallest changes in rates. The last row takes nearly the most bits.
#[rustfmt::skip]
const SIZES: &[(f64, usize, u32, usize)] = &[
    (0.97, 1000, 289, 38), (0.64, 64, 981, 12),
    (0.2, 1, 3385, 20), (0.001, 10, 14465, 74),
    (0.0001, 12, 19409, 98), (5.2e-7, 100, 111649, 2594),
    (5.2e-7, 2000, 143561, 35892), (0.01, 20000, 9619, 24048),
    (6e-5, 250000, 33334, 1041684), (0.0003, 1000000, 23189, 2898624),
    (0.0007, 3000000, 79911, 29966624), (0.003, 10000000, 15492, 19365000),
    (0.149, 536870912, 7998, 536736692),
];

/// Asserts that a table has the rows that are chosen now. Otherwise prints the rows as they would
/// stand in the source.
#[track_caller]
fn assert_rows<R: PartialEq + Debug>(table: &[R], chosen: impl Iterator<Item = R>) {
    let chosen: Vec<_> = chosen.collect();
    let line =
        |rows: &[R]| rows.iter().fold("\n   ".into(), |line, row| format!("{line} {row:?},"));
    let lines: String = chosen.chunks(2).map(line).collect();
    assert!(chosen == table, "the rows are now{lines}");
}

#[test]
fn shapes_are_the_same_on_every_platform() {
    let chosen = SHAPES.iter().map(|&(num_keys, millibits, ..)| {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let (num_bytes, num_probes) = tuned(policy, num_keys);
        (num_keys, millibits, num_bytes, num_probes)
    });
    assert_rows(SHAPES, chosen);
}

#[test]
fn sizes_for_rates_are_the_same_on_every_platform() {
    let chosen = SIZES.iter().map(|&(rate, num_keys, ..)| {
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys);
        policy.map_or((rate, num_keys, 0, 0), |policy| {
            (rate, num_keys, policy.millibits_per_key(), policy.shape(num_keys).filter_len())
        })
    });
    assert_rows(SIZES, chosen);
}

/// The powers of two in `p` and in `q` of `tuned.rs`: up to three, with signs, the lowest 1.
fn powers_of_neighbours() -> Vec<(i64, i64)> {
    let sums = (0..5_i64.pow(8)).filter_map(|digits| {
        let digits = (0..8).map(|i| digits / 5_i64.pow(i) % 5 - 2);
        let num_powers = digits.clone().filter(|&digit| digit != 0).count();
        let (mut p, mut q) = (0, 0);
        for (i, digit) in digits.enumerate() {
            *(if digit.abs() == 1 { &mut p } else { &mut q }) += digit.signum() << i;
        }
        ((p | q) % 2 != 0 && num_powers <= 3).then_some((p, q))
    });
    sums.collect()
}

#[test]
fn lengths_are_chosen_by_what_neighbours_do() {
    let powers = powers_of_neighbours();
    let meet = |i: i64, length: i64| {
        let difference = |&(p, q)| (2 + i) * 65_537 * p + (2 - i) * 65_535 * q;
        powers.iter().any(|powers| difference(powers) % length == 0)
    };
    let has_factor = |length: &usize| BAD_FACTORS.iter().any(|factor| length % factor == 0);
    let passes = |&length: &usize| {
        let as_i64 = i64::try_from(length).expect("short");
        length < 1024 || [0, 1, 3, 4, 5, 7].iter().all(|&i| !meet(i, as_i64))
    };
    let mut below = drawn(1);
    let long = (0..1000).map(|_| 4096 + of_any_magnitude(1 << 28, &mut below));
    for most in (8..4096).chain(long) {
        let lengths = (most - (most / 50).max(1)..=most).rev();
        let mut good = lengths.filter(|length| !has_factor(length));
        let longer = || (most..2 * most).find(|length| !has_factor(length));
        let expected = good.clone().find(passes).or(good.next()).or_else(longer).expect("endless");
        let (num_bytes, _) = tuned(BloomFilterPolicy::new(1), 8 * most);
        assert_eq!(num_bytes, expected, "instead of {most} bytes");
    }
}

#[test]
fn shapes_without_keys_are_leveldbs_and_no_tuned_shape_has_more_than_2_to_the_32_bits() {
    for bits_per_key in [0, 10, 4_294_967] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        assert_eq!(policy.tuned().shape(0), policy.shape(0));
    }
    for (bits_per_key, num_keys) in [
        (1 << 20, 5_000),
        (10, 480_000_000),
        (4_294_967, 1),
        (1, u32::MAX as usize),
        (1 << 20, 4_096),
    ] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        // If the number of bits fits into a usize. At least 40 keys count.
        if let Some(num_bits) = (bits_per_key as usize).checked_mul(num_keys.max(40)) {
            let tuned = policy.tuned().shape(num_keys).num_bits();
            let most = (num_bits as u64).min(1 << 32);
            assert!((most / 50 * 49..=most).contains(&tuned), "{policy:?}: {tuned}");
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
    // As long as the filters of tens of millions of keys.
    let len = reached(2.328306442e-10, 1).unwrap().shape(1).filter_len();
    assert!((200_000_000..300_000_000).contains(&len), "{len}");
    for rate in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!([0, 1000].map(|num_keys| reached(rate, num_keys)), [None; 2], "{rate}");
    }
}

/// Nobody uses a policy for filters of one size only.
#[test]
fn policies_for_few_keys_give_many_keys_about_what_those_need() {
    for rate in [0.2, 0.1, 0.01, 0.001, 1e-6] {
        let for_keys = |num_keys| BloomFilterPolicy::for_false_positive_rate(rate, num_keys);
        let needed = for_keys(2_000).expect("reached").shape(2_000).filter_len();
        for num_keys in (0..2_000).step_by(7) {
            let policy = for_keys(num_keys).expect("reached");
            let len = policy.shape(2_000).filter_len();
            let own = policy.shape(num_keys).filter_len();
            assert_eq!(len, needed.max(own), "{rate} for {num_keys} keys");
        }
    }
    // 2,000 keys do not reach this rate, but come within a fifth of their share of equal hashes.
    let reached = BloomFilterPolicy::for_false_positive_rate;
    let [few, many] = [(1e-7, 40), (1.2 * 2_000.0 / 4294967296.0, 2_000)]
        .map(|(rate, num_keys)| reached(rate, num_keys).expect("reached"));
    assert_eq!(few.millibits_per_key(), many.millibits_per_key());
    assert!(few.shape(40).filter_len() > many.shape(40).filter_len());
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tuned_lengths_have_no_bad_factor_and_are_close_to_leveldbs(
        num_keys in prop_oneof![0..3_000_000usize, 0..300usize],
        millibits in 0..100_000u32,
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
}
