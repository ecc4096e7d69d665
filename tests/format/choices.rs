//! Choices of shapes: the same on every platform, and within documented limits.

use leveldb_filter::BloomFilterPolicy;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::runs::{Run, policies, total_len};
use crate::common::strategies::config;

/// The bytes and probes of a tuned filter; asserts that its length is LevelDB's or hardly less.
#[track_caller]
fn tuned(policy: BloomFilterPolicy, num_keys: usize) -> (usize, u8) {
    let (leveldb, shape) = (policy.shape(num_keys), policy.tuned().shape(num_keys));
    let less = leveldb.filter_len().checked_sub(shape.filter_len()).expect("not longer");
    assert!(less <= (leveldb.filter_len() / 50).max(3), "{leveldb:?} {shape:?}");
    assert!(less == 0 || shape.filter_len() % 2 == 0, "{leveldb:?} {shape:?}");
    assert!((1..=30).contains(&shape.num_probes()), "{leveldb:?} {shape:?}");
    (shape.filter_len() - 1, shape.num_probes())
}

/// Keys, millibits per key, bytes of bits, and probes: where no length is good, of each range of
/// lengths, next to 65,536 bits and bytes, and of the most bits; in the last row a slip in how
/// third probes meet would show.
#[rustfmt::skip]
const SHAPES: [(usize, usize, usize, u8); 14] = [
    (1, 10_000, 7, 4), (14, 10_000, 18, 6), (28, 10_000, 35, 6), (41, 10_000, 49, 6),
    (100, 1_000, 13, 1), (205, 20_000, 511, 11), (1_000, 10_000, 1_249, 6),
    (6_553, 10_000, 8_179, 6), (20_000, 10_000, 24_989, 6), (52_429, 10_000, 64_997, 8),
    (150_000, 10_000, 187_499, 8), (10_000_000, 20_000, 24_999_997, 13),
    (7_948, 10_000, 9_931, 6), (4_852_608, 10_000, 6_065_759, 8),
];

/// Wanted rate, keys, and millibits per key.
#[rustfmt::skip]
const SIZES: [(f64, usize, usize); 5] = [
    (0.2, 1, 0), (0.001, 10, 20_801), (0.01, 20_000, 9_620), (0.0003, 1_000_000, 23_189),
    (0.003, 10_000_000, 15_463),
];

/// The bytes of all filters, the runs, and the millibits per key of each run.
type Share = (usize, &'static [Run], &'static [usize]);

#[rustfmt::skip]
const SHARES: [Share; 7] = [
    (2_775_222, &[(1, 20_000), (10, 20_000), (100, 20_000)], &[19_123, 14_354, 9_474]),
    (2_777_504, &[(1, 2_000), (1, 20_000), (1, 200_000), (1, 2_000_000)],
        &[23_825, 19_110, 14_341, 9_461]),
    (4_486, &[(117, 139), (80, 230), (54, 100), (39, 860)], &[1_000, 0, 2_603, 0]),
    (13_838_406, &[(1, 107), (120, 62_244)], &[315_904, 14_817]),
    (3_455, &[(85, 248), (11, 221)], &[0, 4_472]),
    (1_000_000_000, &[(1, 1_000)], &[262_144]),
    (1_000_000_000, &[(1, 1_000_000)], &[25_450]),
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

/// Whether a small multiple of the length is next to one of 2^16, or it has a bad factor.
fn is_bad(length: i64) -> bool {
    let (mut a, mut b) = (length, 1 << 16);
    let mut is_first = true;
    while b > 0 {
        // The first quotients, up to that of the larger by the smaller, say nothing.
        if a / b >= 128 && !is_first {
            return true;
        }
        is_first &= a < b;
        (a, b) = (b, a % b);
    }
    [2, 3, 5, 17, 71, 109, 257, 65_537].iter().any(|factor| length % factor == 0)
}

/// From 1,024 bytes, where neighbours begin to count, to 4,096, below where third probes do.
#[test]
fn lengths_are_the_longest_in_which_probes_of_neighbours_do_not_meet() {
    let powers = powers_of_neighbours();
    let meet = |length: i64| {
        let meet = |i: i64, p, q| ((2 + i) * 65_537 * p + (2 - i) * 65_535 * q) % length == 0;
        length >= 1024
            && [0, 1, 3, 4, 5].iter().any(|&i| powers.iter().any(|&(p, q)| meet(i, p, q)))
    };
    for most in 1024..4096 {
        let mut good = (most - most / 50..=most).rev().filter(|&length| !is_bad(length));
        let expected = good.clone().find(|&length| !meet(length)).or(good.next());
        let (num_bytes, _) = tuned(BloomFilterPolicy::new(8), most.try_into().expect("positive"));
        assert_eq!(expected, i64::try_from(num_bytes).ok(), "instead of {most} bytes");
    }
}

/// Above 336 bytes there is always one without these factors; lengths next to a multiple of 2^16
/// bytes have a small remainder by it, or a large one.
#[test]
fn lengths_whose_probes_meet_are_avoided() {
    let multiples = [2, 3, 5, 17, 71, 109, 257, 65_537, 1 << 16];
    let multiples = multiples.into_iter().flat_map(|of| (1..500).map(move |times| times * of));
    let lengths = multiples.chain((1 << 15..1 << 17).step_by(7)).filter(|&length| length > 336);
    for leveldb in lengths.flat_map(|length| [length, length + 1, length + 300]) {
        let (num_bytes, _) = tuned(BloomFilterPolicy::new(8), leveldb);
        let is_bad = is_bad(num_bytes.try_into().expect("short"));
        assert!(!is_bad, "{num_bytes} bytes instead of {leveldb}");
    }
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
    let len = reached(2.328306442e-10, 1).unwrap().shape(1).filter_len();
    assert!((200_000_000..300_000_000).contains(&len), "{len}");
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
