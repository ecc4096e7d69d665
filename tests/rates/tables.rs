//! Tables of [kinds of real keys](crate::common::kinds) with values of several sizes: the absent
//! keys that their filter blocks match, and the bytes of these.

#![expect(clippy::cast_precision_loss, reason = "53 bits are enough for a rate")]

use std::fmt::Write;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::filter_blocks::{Lookups, TABLE_LEN, Table, rate_and_len};
use crate::common::kinds::{
    COUNTERS, DIGITS, IDS, Kind, MICROSECONDS, NAMES, NINE_BYTES, PARTS, RANDOM, Run,
    SPARSE_COUNTERS, SPARSE_DIGITS, U32, UTF_16,
};

type Builder = FilterBlockBuilder<BloomFilterPolicy>;

const LEVELDB: BloomFilterPolicy = BloomFilterPolicy::new(10);
const LARGE_TABLE_LEN: u64 = 64 << 20;
const NUM_KEYS: usize = 60_000;

/// As the documentation recommends it.
fn recommended() -> Builder {
    let policy = LEVELDB.tuned().with_min_filter_len(2_048);
    FilterBlockBuilder::new(policy).with_base_lg(19).with_min_keys(4_000)
}

/// Tuned filters for LevelDB's ranges.
fn plugged_in(min_filter_len: usize) -> Builder {
    FilterBlockBuilder::new(LEVELDB.tuned().with_min_filter_len(min_filter_len))
}

fn kinds() -> impl Iterator<Item = &'static Kind> {
    let kinds = [&COUNTERS[..], &SPARSE_COUNTERS, &DIGITS, &SPARSE_DIGITS, &MICROSECONDS];
    let others = [&PARTS[..], &IDS, &RANDOM, &NAMES, &[U32, UTF_16]];
    kinds.into_iter().chain(others).flatten()
}

/// The mean rate of `num_runs` runs of 60,000 keys, and the bytes of all filter blocks.
fn measure(
    kind: &Kind,
    num_runs: u64,
    (table_len, value_len): (u64, usize),
    builders: &[Builder],
) -> Vec<(f64, usize)> {
    let mut sums = vec![(0.0, 0); builders.len()];
    for seed in 0..num_runs {
        let keys = kind.sorted(NUM_KEYS, seed);
        let tables = Table::of_keys(&keys, table_len, |_| value_len);
        for (sum, builder) in sums.iter_mut().zip(builders) {
            let (rate, len) = rate_and_len(&tables, builder);
            *sum = (sum.0 + rate / num_runs as f64, sum.1 + len);
        }
    }
    sums
}

/// The highest rate of the recommended filter blocks.
fn limit(kind: &Kind, value_len: usize) -> f64 {
    match kind.name {
        "digits in UTF-16" if value_len < 5_000 => 0.09,
        "x + y" => 0.032,
        "date + 4 digits" => 0.027,
        "16 digits, step 10" => 0.020,
        name if name.contains("u64") || name.contains("u32") => 0.021,
        _ => 0.015,
    }
}

/// The highest rates of tuned filters of at least 48 and 32 bytes for LevelDB's ranges.
fn limits_plugged_in(value_len: usize) -> [f64; 2] {
    match value_len {
        1_000.. => [0.007, 0.015],
        500.. => [0.018, 1.0],
        _ => [1.0, 1.0],
    }
}

fn assert_limits(kind: &Kind, num_runs: u64, table_len: u64, value_len: usize) {
    let leveldb = FilterBlockBuilder::new(LEVELDB);
    let builders = [leveldb, recommended(), plugged_in(48), plugged_in(32)];
    let measured = measure(kind, num_runs, (table_len, value_len), &builders);
    let leveldb_len = measured[0].1;
    let mut line = format!("{:21} {:3} MiB {value_len:6}", kind.name, table_len >> 20);
    for (rate, len) in &measured {
        let _ = write!(line, " {:8.3}% {:4.2}", 100.0 * rate, *len as f64 / leveldb_len as f64);
    }
    println!("{line}");
    assert!(measured[1].0 <= limit(kind, value_len) && measured[1].1 <= leveldb_len, "{line}");
    for (&(rate, _), limit) in measured[2..].iter().zip(limits_plugged_in(value_len)) {
        assert!(rate <= limit, "{line}");
    }
}

#[test]
fn recommended_filters_match_at_most_2_percent_with_values_of_any_size() {
    for (kind, value_len) in
        [(&COUNTERS[0], 1_000), (&COUNTERS[0], 5_000), (&DIGITS[1], 100), (&IDS[0], 500)]
    {
        assert_limits(kind, 1, TABLE_LEN, value_len);
    }
}

/// Prints, for each kind and size of values, the rates and the bytes over LevelDB's: of LevelDB's
/// filters, the recommended ones, and tuned ones of 48 and 32 bytes for LevelDB's ranges.
#[test]
#[ignore = "takes two minutes"]
fn recommended_filters_match_at_most_3_percent_of_each_kind_of_keys() {
    let sizes = [0, 20, 100, 500, 1_000, 5_000, 20_000].map(|value_len| (TABLE_LEN, value_len));
    for kind in kinds() {
        for (table_len, value_len) in sizes.into_iter().chain([(LARGE_TABLE_LEN, 1_000)]) {
            assert_limits(kind, 4, table_len, value_len);
        }
    }
}

/// In LevelDB's filter blocks, with values of 100 bytes, by bits per key.
#[test]
fn more_bits_per_key_are_a_gamble() {
    for (kind, bits_per_key, rates) in [
        (&COUNTERS[0], 10, 0.21..0.25),
        (&COUNTERS[0], 12, 0.90..0.93),
        (&COUNTERS[0], 13, 0.17..0.19),
        (&DIGITS[1], 10, 0.07..0.08),
        (&DIGITS[1], 13, 0.012..0.014),
        // A byte more in the key does what more bits do not.
        (&NINE_BYTES, 10, 0.008..0.011),
    ] {
        let builder = FilterBlockBuilder::new(BloomFilterPolicy::new(bits_per_key));
        let rate = measure(kind, 1, (TABLE_LEN, 100), &[builder])[0].0;
        println!("{:14} {bits_per_key} bits: {rate:.4}", kind.name);
        assert!(rates.contains(&rate), "{}, {bits_per_key} bits: {rate}", kind.name);
    }
}

/// Rates, and bytes over LevelDB's.
#[test]
fn least_lengths_for_leveldbs_ranges_cost_most_with_small_values() {
    for (value_len, min_filter_len, rates, times) in [
        (100, 0, 0.21..0.25, 1.0),
        (100, 48, 0.21..0.25, 1.0),
        (100, 98, 0.055..0.065, 2.0),
        (100, 132, 0.03..0.04, 2.6),
        (300, 48, 0.03..0.04, 2.25),
        (300, 64, 0.015..0.025, 2.8),
        (500, 48, 0.007..0.01, 3.25),
        (1_000, 48, 0.001..0.003, 3.35),
    ] {
        let builders = [FilterBlockBuilder::new(LEVELDB), plugged_in(min_filter_len)];
        let measured = measure(&COUNTERS[0], 1, (TABLE_LEN, value_len), &builders);
        let [(_, leveldb_len), (rate, len)] = measured[..] else { unreachable!("two") };
        let ratio = len as f64 / leveldb_len as f64;
        let line = format!("{value_len:5} bytes, {min_filter_len:3}: {rate:.4}, {ratio:.2} times");
        println!("{line}");
        assert!(rates.contains(&rate) && ratio <= times + 0.05, "{line}");
    }
}

/// Of several thousand keys of this kind, one in twenty absent neighbours has the hash of a key.
#[test]
fn digits_in_utf_16_match_5_percent_in_longer_ranges_and_2_percent_of_500_keys() {
    let policy = LEVELDB.tuned().with_min_filter_len(2_048);
    let few = FilterBlockBuilder::new(policy).with_base_lg(14).with_min_keys(500);
    for (value_len, builder, rates) in [
        (100, recommended(), 0.045..0.065),
        (1_000, recommended(), 0.045..0.065),
        (1_000, few, 0.01..0.025),
        (1_000, plugged_in(48), 0.0..0.002),
    ] {
        let rate = measure(&UTF_16, 1, (TABLE_LEN, value_len), &[builder])[0].0;
        println!("{value_len} bytes: {rate:.4}");
        assert!(rates.contains(&rate), "{value_len} bytes: {rate}");
    }
}

/// The rates of both halves of 120,000 keys whose values differ in length.
fn halves(
    keys: &[(Vec<u8>, bool)],
    table_len: u64,
    value_lens: [usize; 2],
    builder: &Builder,
) -> [f64; 2] {
    let half = |i| usize::from(i >= NUM_KEYS);
    let mut halves = [Lookups::default(); 2];
    for table in Table::of_keys(keys, table_len, |i| value_lens[half(i)]) {
        for (first, lookups) in table.measure(builder.clone()).1 {
            halves[half(first)].add(lookups);
        }
    }
    halves.map(Lookups::rate)
}

/// Kinds, and the highest mean and single rates of halves whose values differ in length. Where
/// small values follow large ones, a filter has 60,000 keys of 12 digits, or more, [of which many
/// share hashes](beside_equal_hashes_no_more_digits_match_than_other_keys).
const MIXED: [(&Kind, f64, f64); 5] = [
    (&COUNTERS[2], 0.011, 0.016),
    (&DIGITS[0], 0.0115, 0.04),
    (&SPARSE_DIGITS[1], 0.0115, 0.014),
    (&MICROSECONDS[0], 0.0115, 0.014),
    (&RANDOM[0], 0.0115, 0.014),
];

fn assert_halves(kinds: &[(&Kind, f64, f64)], num_runs: u64, value_lens: [&[usize]; 2]) {
    let lens = value_lens[0].iter().flat_map(|&a| value_lens[1].iter().map(move |&b| [a, b]));
    let lens: Vec<_> = lens.collect();
    for (seed, table_len) in (0..num_runs).flat_map(|i| [(i, TABLE_LEN), (i, LARGE_TABLE_LEN)]) {
        for &(kind, mean_limit, limit) in kinds {
            let keys = kind.sorted(2 * NUM_KEYS, seed);
            let rates = lens.iter().map(|&lens| halves(&keys, table_len, lens, &recommended()));
            let rates: Vec<_> = rates.flatten().collect();
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let worst = rates.iter().copied().fold(0.0, f64::max);
            let table_len = table_len >> 20;
            let line = format!("{:21} {table_len:2} MiB: {mean:.4}, worst {worst:.4}", kind.name);
            println!("{line}");
            assert!(mean <= mean_limit && worst <= limit, "{line}");
        }
    }
}

/// One in ten of 16 digits, as values of 20 bytes and less bring 30,000 keys into a filter; and 12
/// digits. No filter tells equal hashes apart.
#[test]
fn beside_equal_hashes_no_more_digits_match_than_other_keys() {
    for (kind, num_keys, equal) in [
        (&SPARSE_DIGITS[0], 30_000, 0.008..0.012),
        (&DIGITS[0], 20_000, 0.0..0.0001),
        (&DIGITS[0], 60_000, 0.015..0.035),
        (&DIGITS[0], 120_000, 0.025..0.04),
    ] {
        let runs: Vec<_> = (0..8).map(|seed| Run::draw(kind, num_keys, seed)).collect();
        let mean = |rate: &dyn Fn(&Run) -> f64| runs.iter().map(rate).sum::<f64>() / 8.0;
        let of_equal = mean(&Run::rate_of_equal_hashes);
        let rate = mean(&|run| run.rate(LEVELDB.tuned()));
        println!("{num_keys} keys, {}: {rate:.4}, equal hashes {of_equal:.4}", kind.name);
        assert!(equal.contains(&of_equal), "{}", kind.name);
        assert!(rate <= of_equal + 0.0115, "{}", kind.name);
    }
}

#[test]
fn tables_whose_values_change_their_size_match_hardly_more() {
    assert_halves(&MIXED[..2], 1, [&[20], &[1_000]]);
}

#[test]
#[ignore = "takes two minutes"]
fn tables_whose_values_change_between_many_sizes_match_hardly_more() {
    assert_halves(&MIXED, 3, [&[0, 20, 100, 1_000], &[0, 20, 100, 1_000, 4_000]]);
}

/// Runs of 60,000 keys with values of 100 bytes, for tuned filters with each of `base_lgs`.
fn by_ranges<const N: usize>(kind: &Kind, num_runs: u64, base_lgs: [u8; N]) -> Vec<(f64, usize)> {
    let tuned =
        base_lgs.map(|base_lg| FilterBlockBuilder::new(LEVELDB.tuned()).with_base_lg(base_lg));
    let builders: Vec<_> = std::iter::once(FilterBlockBuilder::new(LEVELDB)).chain(tuned).collect();
    let measured = measure(kind, num_runs, (LARGE_TABLE_LEN, 100), &builders);
    println!("{:21} {measured:?}", kind.name);
    measured
}

#[track_caller]
fn assert_512_kib_suffice(kind: &Kind, num_runs: u64) {
    let measured = by_ranges(kind, num_runs, [19]);
    let [(_, leveldb_len), (rate, len)] = measured[..] else { unreachable!("two") };
    assert!(rate <= 0.0135 && len < leveldb_len, "{}: {measured:?}", kind.name);
}

#[test]
fn filters_for_512_kib_match_at_most_1_35_percent_in_fewer_bytes_than_leveldbs() {
    for kind in [&COUNTERS[0], &DIGITS[1], &DIGITS[2], &RANDOM[0]] {
        assert_512_kib_suffice(kind, 1);
    }
}

#[test]
#[ignore = "takes ten seconds"]
fn filters_for_512_kib_match_at_most_1_35_percent_of_each_kind_of_keys() {
    let kinds = [&COUNTERS[..], &SPARSE_COUNTERS, &DIGITS, &MICROSECONDS, &RANDOM, &NAMES];
    for kind in kinds.into_iter().flatten() {
        assert_512_kib_suffice(kind, 8);
    }
}

#[test]
fn filters_for_16_and_64_kib_match_at_most_20_and_3_percent_of_counters() {
    let measured = by_ranges(&COUNTERS[0], 4, [14, 16]);
    let [_, by_14, by_16] = measured[..] else { unreachable!("three") };
    assert!(by_14.0 <= 0.20 && by_16.0 <= 0.03, "{measured:?}");
}
