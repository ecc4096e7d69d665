//! Holds the expected false-positive rates against those of filters that the library makes.
//!
//! The keys are the same in every run, so that a test always passes or never does.

mod common;

use common::measure::{Effort, false_positive_rate};
use common::{create_filter, drawn, noise, of_any_magnitude, reference};
use leveldb_filter::{BloomFilterPolicy, FilterPolicy};

const SEED: u64 = 0xbc9f1d34;

/// Some 4,000 false positives at 1 %: a statistical error of 1.6 %, a third of the tolerance.
fn quick(num_keys: usize) -> Effort {
    Effort::with_total_keys(150_000, num_keys, 400_000)
}

/// A statistical error of 0.5 % at 1 %.
fn thorough(num_keys: usize) -> Effort {
    Effort::with_total_keys(2_000_000, num_keys, 4_000_000)
}

fn measured(policy: BloomFilterPolicy, num_keys: usize, effort: fn(usize) -> Effort) -> f64 {
    false_positive_rate(policy, num_keys, effort(num_keys), SEED).mean
}

#[track_caller]
fn assert_as_expected(
    policy: BloomFilterPolicy,
    num_keys: usize,
    effort: fn(usize) -> Effort,
    tolerance: f64,
) {
    let measured = measured(policy, num_keys, effort);
    let expected = policy.shape(num_keys).expected_false_positive_rate(num_keys);
    let error = expected / measured - 1.0;
    assert!(
        error.abs() <= tolerance,
        "{policy:?}, {num_keys} keys: expected {expected:.6}, measured {measured:.6}, {error:+.3}"
    );
}

#[test]
fn filters_of_all_sizes_have_the_expected_rate() {
    for (num_keys, tolerance) in [
        (10, 0.27),
        (30, 0.10),
        (100, 0.06),
        (1000, 0.05),
        (10_000, 0.05),
        (100_000, 0.05),
        (300_000, 0.06),
    ] {
        for bits_per_key in [5, 8, 10] {
            assert_as_expected(BloomFilterPolicy::new(bits_per_key), num_keys, quick, tolerance);
        }
    }
}

#[test]
fn other_numbers_of_probes_have_the_expected_rate() {
    for num_keys in [1000, 100_000] {
        for num_probes in [1, 3, 9, 12] {
            let policy = BloomFilterPolicy::new(8).with_num_probes(num_probes);
            assert_as_expected(policy, num_keys, quick, 0.06);
        }
    }
}

#[test]
fn numbers_of_bits_that_favour_some_have_the_expected_rate() {
    // 2^20 and 2^21; 2040 = 8 * 255; 3,000,000 = 3 * 10^6, and the next without the factors.
    for (num_keys, bits_per_key) in
        [(131_072, 8), (262_144, 8), (204, 10), (300_000, 10), (300_011, 10)]
    {
        for num_probes in [6, 8] {
            let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
            assert_as_expected(policy, num_keys, quick, 0.08);
        }
    }
}

#[test]
fn small_multiples_of_255_bits_have_about_the_expected_rate() {
    for (num_keys, num_bytes, num_probes) in
        [(445, 51, 1), (1408, 255, 1), (704, 255, 2), (94, 51, 3), (352, 510, 4), (119, 255, 6)]
    {
        let millibits = num_bytes * 8000 / num_keys;
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let policy = policy.with_num_probes(num_probes);
        assert_eq!(policy.shape(num_keys).filter_len(), num_bytes + 1);
        assert_as_expected(policy, num_keys, quick, 0.12);
    }
}

#[test]
fn every_shape_has_a_rate_from_0_to_1_for_any_number_of_keys() {
    let sizes = [0, 1, 7, 100, 10_000, 1_000_000, u32::MAX as usize, usize::MAX / 10, usize::MAX];
    for (bits_per_key, num_keys) in
        [0, 1, 10, 1000, usize::MAX / 2, usize::MAX].into_iter().flat_map(|b| sizes.map(|n| (b, n)))
    {
        if bits_per_key.checked_mul(num_keys).is_none() {
            continue;
        }
        for num_probes in [1, 2, 7, 30] {
            let policy = BloomFilterPolicy::new(bits_per_key).with_num_probes(num_probes);
            let shape = policy.shape(num_keys);
            for num_keys in sizes {
                let rate = shape.expected_false_positive_rate(num_keys);
                assert!((0.0..=1.0).contains(&rate), "{shape:?} {num_keys}: {rate}");
                assert_eq!(rate == 0.0, num_keys == 0, "{shape:?} {num_keys}: {rate}");
            }
        }
    }
}

#[test]
fn more_keys_have_more_false_positives_in_the_same_filter() {
    for (num_bytes, num_probes) in [(8, 5), (125, 6), (8750, 8), (375_000, 9), (1 << 21, 20)] {
        let shape = BloomFilterPolicy::new(8).with_num_probes(num_probes).shape(num_bytes);
        let rates = [1, 10, 100, 10_000, 1_000_000, 100_000_000, u32::MAX as usize]
            .map(|num_keys| shape.expected_false_positive_rate(num_keys));
        assert!(rates.is_sorted(), "{num_bytes} {num_probes}: {rates:?}");
    }
}

#[test]
fn every_reader_of_the_format_reads_tuned_filters() {
    for num_keys in [1, 30, 1000, 100_000] {
        let keys: Vec<Vec<u8>> = noise(4 * num_keys, 1).chunks(4).map(<[u8]>::to_vec).collect();
        let tuned = BloomFilterPolicy::new(10).tuned();
        let made_for_rate = BloomFilterPolicy::for_false_positive_rate(0.003, num_keys).unwrap();
        for policy in [tuned, made_for_rate] {
            let filter = create_filter(policy, &keys);
            let shape = policy.shape(num_keys);
            let hashes: Vec<u32> = keys.iter().map(|key| reference::bloom_hash(key)).collect();
            let (num_bytes, num_probes) = (shape.filter_len() - 1, shape.num_probes());
            assert_eq!(filter, reference::create_filter_of_len(num_bytes, num_probes, &hashes));
            let absent = (0..1000u64).map(|i| i.to_be_bytes().to_vec());
            for key in keys.iter().take(1000).cloned().chain(absent) {
                let matches = reference::key_may_match(&key, &filter);
                assert_eq!(BloomFilterPolicy::default().key_may_match(&key, &filter), matches);
            }
            assert!(keys.iter().all(|key| reference::key_may_match(key, &filter)));
        }
    }
}

#[test]
#[ignore = "takes 15 seconds with optimization"]
fn large_filters_have_the_expected_rate() {
    for num_keys in [1_000_000, 10_000_000] {
        for bits_per_key in [8, 10, 12] {
            let policy = BloomFilterPolicy::new(bits_per_key);
            assert_as_expected(policy, num_keys, thorough, 0.05);
            assert_as_expected(policy.tuned(), num_keys, thorough, 0.05);
        }
    }
}

/// What the docs of `expected_false_positive_rate` state: for up to so many keys, the relative error
/// in half of the filters, in 90 %, and at most.
const STATED_ERRORS: [(usize, [f64; 3]); 5] = [
    (19, [0.17, 0.52, 0.75]),
    (99, [0.02, 0.06, 0.09]),
    (999, [0.01, 0.035, 0.05]),
    (99_999, [0.01, 0.025, 0.06]),
    (10_000_000, [0.011, 0.045, 0.125]),
];

#[test]
#[ignore = "takes minutes with optimization"]
fn errors_of_expected_rates_are_as_stated() {
    let mut errors = STATED_ERRORS.map(|_| Vec::new());
    let mut below = drawn(SEED);
    for _ in 0..600 {
        let num_keys = of_any_magnitude(10_000_000, &mut below);
        let leveldb = BloomFilterPolicy::new(4 + below(21));
        let other = leveldb.with_num_probes([1, 2, 3, 4, 5, 7, 8, 10, 12, 15][below(10)]);
        let policy = [leveldb, leveldb.tuned(), other][below(3)];
        let shape = policy.shape(num_keys);
        let expected = shape.expected_false_positive_rate(num_keys);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let num_lookups = ((10_000.0 / expected) as usize).clamp(1_000_000, 30_000_000);
        let effort = Effort::with_total_keys(1_000_000, num_keys, num_lookups);
        let measured = false_positive_rate(policy, num_keys, effort, SEED);
        // Otherwise the error would mostly be that of measuring.
        if measured.standard_error < 0.02 * measured.mean {
            let bucket = STATED_ERRORS.iter().position(|&(most, _)| num_keys <= most);
            let error = expected / measured.mean - 1.0;
            errors[bucket.expect("at most 10 million keys")].push((error, num_keys, shape));
        }
    }
    let mut beyond = Vec::new();
    for ((most, stated), mut errors) in STATED_ERRORS.into_iter().zip(errors) {
        assert!(errors.len() >= 50, "few filters of up to {most} keys: {}", errors.len());
        errors.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let last = errors.len() - 1;
        let found = [errors[last / 2], errors[last * 9 / 10], errors[last]];
        println!("up to {most} keys, {} filters: {found:.3?}", errors.len());
        let stated = found.into_iter().zip(stated);
        beyond.extend(stated.filter(|&(found, stated)| found.0.abs() > stated));
    }
    assert!(beyond.is_empty(), "{beyond:.4?}");
}
