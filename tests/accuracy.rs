//! Holds the expected false-positive rates against those of filters that the library makes.
//!
//! The keys are the same in every run, so that a test always passes or never does.

mod common;

use common::measure::{Effort, false_positive_rate};
use common::{create_filter, noise, reference};
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
    false_positive_rate(policy, num_keys, effort(num_keys), SEED)
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
fn tuned_filters_never_have_more_false_positives_than_leveldbs() {
    for bits_per_key in [5, 8, 10] {
        let policy = BloomFilterPolicy::new(bits_per_key);
        for num_keys in [100, 1000, 10_000, 100_000] {
            let rate = |policy| measured(policy, num_keys, quick);
            let (tuned, leveldb) = (rate(policy.tuned()), rate(policy));
            assert!(tuned < 1.02 * leveldb, "{bits_per_key} bits each, {num_keys} keys");
        }
    }
}

#[test]
fn tuning_for_100_000_keys_takes_away_15_per_cent_of_false_positives() {
    let policy = BloomFilterPolicy::new(10);
    let rate = |policy| measured(policy, 100_000, quick);
    assert!(rate(policy.tuned()) < 0.85 * rate(policy));
}

/// The rates of LevelDB's and of the tuned filters of the same keys, for the same absent keys.
fn leveldb_and_tuned(bits_per_key: usize, num_keys: usize, num_lookups: usize) -> [f64; 2] {
    let policy = BloomFilterPolicy::new(bits_per_key);
    let effort = Effort::with_total_keys(500_000, num_keys, num_lookups);
    [policy, policy.tuned()].map(|policy| false_positive_rate(policy, num_keys, effort, SEED))
}

#[test]
fn a_better_length_takes_away_a_quarter_or_more_of_false_positives() {
    for (num_keys, share) in [(75_000, 0.65), (100_000, 0.75), (150_000, 0.60)] {
        let [leveldb, tuned] = leveldb_and_tuned(10, num_keys, 1 << 19);
        assert!(tuned < share * leveldb, "{num_keys} keys: {tuned:.6} {leveldb:.6}");
    }
}

#[test]
fn a_length_that_is_no_multiple_of_3_or_5_takes_away_false_positives() {
    for (num_keys, share) in [(1000, 0.97), (1200, 0.93), (15_000, 0.93)] {
        let [leveldb, tuned] = leveldb_and_tuned(10, num_keys, 1 << 20);
        assert!(tuned < share * leveldb, "{num_keys} keys: {tuned:.6} {leveldb:.6}");
    }
}

#[test]
fn filters_made_for_a_rate_have_it() {
    for (rate, num_keys) in
        [(0.1, 300), (0.03, 100), (0.01, 1000), (0.01, 100_000), (0.02, 300_000)]
    {
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys).unwrap();
        let measured = measured(policy, num_keys, quick);
        assert!(measured <= 1.03 * rate, "{policy:?}, {num_keys} keys: {measured} for {rate}");
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

#[test]
#[ignore = "takes 5 seconds with optimization"]
fn tuning_large_filters_takes_away_10_to_20_per_cent_of_false_positives() {
    let policy = BloomFilterPolicy::new(10);
    for (num_keys, share) in [(1_000_000, 0.82), (10_000_000, 0.89)] {
        let rate = |policy| measured(policy, num_keys, thorough);
        assert!(rate(policy.tuned()) < share * rate(policy), "{num_keys} keys");
    }
}

#[test]
#[ignore = "takes 5 seconds with optimization"]
fn large_filters_made_for_a_rate_have_it() {
    for (rate, num_keys) in [(0.01, 1_000_000), (0.01, 10_000_000), (0.004, 10_000_000)] {
        let policy = BloomFilterPolicy::for_false_positive_rate(rate, num_keys).unwrap();
        let measured = measured(policy, num_keys, thorough);
        assert!(measured <= 1.03 * rate, "{policy:?}, {num_keys} keys: {measured} for {rate}");
    }
}

#[test]
#[ignore = "takes 10 seconds with optimization"]
fn better_lengths_take_away_a_fifth_of_false_positives_at_round_sizes() {
    let mut shares = Vec::new();
    for thousands in [
        52, 55, 60, 65, 70, 75, 80, 90, 100, 110, 120, 125, 130, 140, 150, 160, 175, 180, 200, 225,
        250, 275, 300, 325, 350, 375, 400, 450, 500, 550, 600,
    ] {
        for bits_per_key in [8, 10, 14] {
            let [leveldb, tuned] = leveldb_and_tuned(bits_per_key, thousands * 1000, 1 << 22);
            let share = tuned / leveldb;
            println!("{thousands},000 keys, {bits_per_key} bits each: {leveldb:.6} {tuned:.6}");
            assert!(share < 1.03, "{thousands},000 keys, {bits_per_key} bits each: {share}");
            shares.push(share);
        }
    }
    let mean = shares.iter().sum::<f64>() / f64::from(31 * 3);
    assert!(mean < 0.80, "{mean}");
}

#[test]
#[ignore = "takes 10 seconds with optimization"]
fn ten_bits_per_key_are_below_1_27_per_cent_at_all_sizes() {
    let digits =
        [100, 120, 130, 150, 175, 200, 212, 250, 262, 300, 333, 400, 450, 500, 600, 750, 800];
    for scale in [10, 100, 1000, 10_000] {
        for num_keys in digits.map(|digits| digits * scale).into_iter().filter(|&n| n <= 3_000_000)
        {
            let [leveldb, tuned] = leveldb_and_tuned(10, num_keys, 1 << 21);
            println!("{num_keys} keys: {leveldb:.6} {tuned:.6}");
            assert!(tuned < 0.0127, "{num_keys} keys: {tuned}");
        }
    }
}
