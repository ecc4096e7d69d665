//! Whole tables: LevelDB's filter blocks, and this crate's for LevelDB's ranges and longer ones.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::filter_blocks::{TABLE_LEN, Table, rate_and_len};
use crate::common::kinds::{
    COUNTERS, DIGITS, IDS, Kind, MICROSECONDS, NAMES, NINE_BYTES, PARTS, RANDOM, Run,
};
use crate::common::terminal::grouped;
use crate::rates::POLICY;

const NUM_KEYS: usize = 60_000;
const VALUE_LENS: [usize; 2] = [100, 1_000];
const NUM_RUNS: u8 = 8;

/// The filters whose worst one is shown.
const NUM_FILTERS: u16 = 600;

const KINDS: [&Kind; 10] = [
    &COUNTERS[0],
    &PARTS[0],
    &IDS[0],
    &DIGITS[1],
    &DIGITS[2],
    &MICROSECONDS[0],
    &RANDOM[0],
    &RANDOM[1],
    &NAMES[0],
    &NINE_BYTES,
];

const RECOMMENDED: BloomFilterPolicy = POLICY.tuned().with_min_filter_len(2_048);
const TITLES: [&str; 5] = ["LevelDB", "tuned()", "48 bytes", "new(10)", "2,048 bytes"];

/// In the order of the titles: filters for LevelDB's ranges, and for longer ones.
fn builders() -> [FilterBlockBuilder<BloomFilterPolicy>; 5] {
    let long = |policy| FilterBlockBuilder::new(policy).with_base_lg(19).with_min_keys(4_000);
    let [tuned, at_least_48] = [POLICY.tuned(), POLICY.tuned().with_min_filter_len(48)];
    let [first, second, third] = [POLICY, tuned, at_least_48].map(FilterBlockBuilder::new);
    [first, second, third, long(POLICY), long(RECOMMENDED)]
}

/// The lines of the tables, each measured only when the iterator reaches it.
pub(crate) fn tables() -> impl Iterator<Item = String> {
    VALUE_LENS.into_iter().flat_map(table).chain(worst())
}

fn table(value_len: usize) -> impl Iterator<Item = String> {
    let columns = TITLES.map(|title| format!("  {title:>15}")).concat();
    let header = [
        format!(
            "Absent keys between present ones that match, and bytes of filter blocks: values of {} \
             bytes\n(10 bits per key, {} keys in tables of 2 MiB, 4,000 keys at least in 512 KiB)",
            grouped(value_len),
            grouped(NUM_KEYS)
        ),
        format!("{:17}  {:-^49}  {:-^32}", "", " a filter per 2 KiB ", " per 512 KiB "),
        format!("{:17}{columns}", "keys"),
    ];
    let rows = KINDS.into_iter().map(move |kind| row(kind, value_len));
    header.into_iter().chain(rows).chain([String::new()])
}

fn row(kind: &Kind, value_len: usize) -> String {
    let (builders, mut sums) = (builders(), [(0.0, 0); TITLES.len()]);
    for seed in 0..NUM_RUNS {
        let keys = kind.sorted(NUM_KEYS, seed.into());
        let tables = Table::of_keys(&keys, TABLE_LEN, |_| value_len);
        for (sum, builder) in sums.iter_mut().zip(&builders) {
            let (rate, len) = rate_and_len(&tables, builder);
            *sum = (sum.0 + rate, sum.1 + len);
        }
    }
    let columns = sums.map(|(rate, len)| {
        let percent = 100.0 * rate / f64::from(NUM_RUNS);
        format!("  {percent:>6.2}% {:>7}", grouped(len / usize::from(NUM_RUNS)))
    });
    format!("{:17}{}", kind.name, columns.concat())
}

/// Filters of 4,000 to 8,000 keys, as the longer ranges have them.
fn worst() -> impl Iterator<Item = String> {
    let header = [
        format!("Single filters of 4,000 to 8,000 keys: means, and the worst of {NUM_FILTERS}"),
        format!("{:17}  {:>15}  {:>15}", "keys", "new(10)", "tuned()"),
    ];
    header.into_iter().chain(KINDS.into_iter().map(worst_of_kind))
}

fn worst_of_kind(kind: &Kind) -> String {
    let mut columns = [(0.0, 0.0_f64); 2];
    for seed in 0..NUM_FILTERS {
        // All remainders of numbers by 4,001, in a mixed order.
        let num_keys = 4_000 + usize::from(seed) * 1_237 % 4_001;
        let run = Run::draw(kind, num_keys, (1 << 32) + u64::from(seed));
        for ((sum, worst), policy) in columns.iter_mut().zip([POLICY, RECOMMENDED]) {
            let rate = run.rate(policy);
            *sum += rate;
            *worst = worst.max(rate);
        }
    }
    let columns = columns.map(|(sum, worst)| {
        format!("  {:>6.2}% {:>6.1}%", 100.0 * sum / f64::from(NUM_FILTERS), 100.0 * worst)
    });
    format!("{:17}{}", kind.name, columns.concat())
}
