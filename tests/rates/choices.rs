//! What holds for each choice of a shape, on every platform, whatever its filters measure.

use leveldb_filter::BloomFilterPolicy;
use proptest::collection::vec;
use proptest::prelude::*;

use super::runs::{policies, total_len};
use crate::common::random_hashes;
use crate::common::strategies::config;
use crate::common::ways::assert_makes_as_reference;
use crate::common::{drawn, keys_with_hashes, of_any_magnitude};

/// How many bytes a tuned filter may be shorter than one with so many bytes of bits.
fn most_bytes_less(num_bytes: usize) -> usize {
    match num_bytes {
        0..200 => 1,
        200..8192 => 3,
        8192.. => 11,
    }
}

/// Asserts that the tuned filter of so many keys is as long as it may be, and says how many bytes
/// shorter than LevelDB's it is.
#[track_caller]
fn assert_within_bounds(policy: BloomFilterPolicy, num_keys: usize) -> (usize, u8) {
    let (leveldb, shape) = (policy.shape(num_keys), policy.tuned().shape(num_keys));
    let less = leveldb.filter_len().checked_sub(shape.filter_len()).expect("not longer");
    assert!(less <= most_bytes_less(leveldb.filter_len() - 1), "{leveldb:?} {shape:?}");
    assert!((1..=30).contains(&shape.num_probes()), "{leveldb:?} {shape:?}");
    (less, shape.num_probes())
}

/// A number that hardly ever stays the same when one of `numbers` changes.
fn digest(numbers: impl Iterator<Item = usize>) -> u64 {
    numbers.fold(0, |digest: u64, n| digest.wrapping_mul(0x100000001b3) ^ n as u64)
}

#[test]
fn choices_are_the_same_everywhere() {
    let mut below = drawn(1);
    let shapes = (0..5000).flat_map(|_| {
        let num_keys = of_any_magnitude(10_000_000, &mut below);
        let policy = BloomFilterPolicy::from_millibits_per_key(1000 + below(63_000));
        let (less, num_probes) = assert_within_bounds(policy, num_keys);
        [less, num_probes.into()]
    });
    assert_eq!(digest(shapes), 12852620641707056348);

    let millibits = |policy: Option<BloomFilterPolicy>| policy.map_or(0, |p| p.millibits_per_key());
    let sized = (0..2000).map(|_| {
        let lookups = u32::try_from(of_any_magnitude(100_000, &mut below)).expect("few");
        let num_keys = of_any_magnitude(10_000_000, &mut below);
        millibits(BloomFilterPolicy::for_false_positive_rate(0.5 / f64::from(lookups), num_keys))
    });
    assert_eq!(digest(sized), 13251867047545701441);

    let shared = (0..200).flat_map(|_| {
        let runs = [1, 10, 100, 1000]
            .map(|max| (of_any_magnitude(max, &mut below), of_any_magnitude(100_000, &mut below)));
        let num_keys: usize = runs.iter().map(|(filters, keys)| filters * keys).sum();
        policies(below(3 * num_keys), &runs).into_iter().map(millibits)
    });
    assert_eq!(digest(shared), 8492748871888375580);
    // Bytes that one run could have for itself, to the last.
    let shared = policies(147, &[(1, 3), (3, 173)]).into_iter().map(millibits);
    assert!(shared.eq([2_080, 2_080]));

    // At 65,536 bits, from where on lengths are chosen in another way.
    assert_eq!(BloomFilterPolicy::new(8).tuned().shape(8192).filter_len(), 8190);
    let reached = BloomFilterPolicy::for_false_positive_rate(0.021595, 8192);
    assert_eq!(millibits(reached), 8000);
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
    // So many bits that they are set by regions.
    assert_makes_as_reference(BloomFilterPolicy::new(4000).tuned(), &keys[..20_000]);
}

#[test]
fn without_keys_and_above_all_hashes_shapes_are_leveldbs() {
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
        // Where a usize holds as many bits.
        if let Some(num_bits) = bits_per_key.checked_mul(num_keys) {
            let is_leveldbs = policy.tuned().shape(num_keys) == policy.shape(num_keys);
            assert_eq!(is_leveldbs, num_bits == 0 || num_bits as u64 > 1 << 32, "{policy:?}");
        }
    }
    // And so are those without bits per key, of 64 bits.
    for num_keys in [0, 1, 1000, 1_000_000, usize::MAX] {
        assert_eq!(BloomFilterPolicy::new(0).tuned().shape(num_keys).num_bits(), 64);
    }
}

#[test]
fn only_rates_that_filters_have_are_reached() {
    let reached = BloomFilterPolicy::for_false_positive_rate;
    for (rate, num_keys) in [(0.002, 10_000_000), (1e-5, 100_000), (1e-11, 1), (0.5, usize::MAX)] {
        assert_eq!(reached(rate, num_keys), None, "{rate}, {num_keys} keys");
    }
    // A few keys need no more than the shortest filter.
    for num_keys in 0..=3 {
        assert_eq!(reached(0.01, num_keys).unwrap().millibits_per_key(), 0);
    }
    // Millibits that 32 bits do not hold, of a filter that they do.
    assert_eq!(reached(2.328306442e-10, 1).unwrap().shape(1).filter_len(), 486_952_620);
    for rate in [0.0, -0.1, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!([0, 1000].map(|num_keys| reached(rate, num_keys)), [None; 2], "{rate}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn tuned_filters_are_as_long_as_said(
        num_keys in prop_oneof![0..3_000_000usize, 0..300usize],
        millibits in 0..100_000usize,
    ) {
        assert_within_bounds(BloomFilterPolicy::from_millibits_per_key(millibits), num_keys);
    }

    #[test]
    fn any_rate_of_any_number_of_keys_is_answered(
        rate in prop_oneof![any::<f64>(), (-40..0i32).prop_map(|power| 2f64.powi(power))],
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
