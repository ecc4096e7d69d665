//! Whole tables: LevelDB's filter blocks, and this crate's with one filter per 512 KiB.

use leveldb_filter::BloomFilterPolicy;

use crate::filter_blocks::Table;
use crate::kinds::{COUNTERS, DIGITS, Kind, MICROSECONDS, NAMES, NINE_BYTES, RANDOM};
use crate::rates::POLICY;
use crate::terminal::grouped;

const NUM_KEYS: usize = 60_000;
const VALUE_LEN: usize = 100;
const NUM_TABLES: u8 = 8;

const KINDS: [&Kind; 8] = [
    &COUNTERS[0],
    &DIGITS[1],
    &DIGITS[2],
    &MICROSECONDS[0],
    &RANDOM[0],
    &RANDOM[1],
    &NAMES[0],
    &NINE_BYTES,
];

/// The lines of the table, each measured only when the iterator reaches it.
pub(crate) fn table() -> impl Iterator<Item = String> {
    let header = [
        format!(
            "Filter blocks: absent keys between present ones that match, and bytes\n\
             (10 bits per key, tables of {} keys with values of {VALUE_LEN} bytes)",
            grouped(NUM_KEYS)
        ),
        format!("{:18}  {:-^20}  {:-^20}", "", " LevelDB, 2 KiB ", " tuned(), 512 KiB "),
        format!(
            "{:18}  {:>9}  {:>9}  {:>9}  {:>9}",
            "keys", "matched", "bytes", "matched", "bytes"
        ),
    ];
    header.into_iter().chain(KINDS.into_iter().map(row))
}

fn row(kind: &Kind) -> String {
    let tables: Vec<_> =
        (0..NUM_TABLES).map(|seed| Table::new(kind, NUM_KEYS, VALUE_LEN, seed.into())).collect();
    let [leveldb, tuned] = [(POLICY, 11), (POLICY.tuned(), 19)]
        .map(|(policy, base_lg)| mean(&tables, policy, base_lg));
    format!("{:18}  {leveldb}  {tuned}", kind.name)
}

fn mean(tables: &[Table], policy: BloomFilterPolicy, base_lg: u8) -> String {
    let measured = tables.iter().map(|table| table.rate_and_len(policy, base_lg));
    let (rates, lens): (Vec<_>, Vec<_>) = measured.unzip();
    let rate = rates.iter().sum::<f64>() / f64::from(NUM_TABLES);
    let len = lens.iter().sum::<usize>() / tables.len();
    format!("{:>8.2}%  {:>9}", 100.0 * rate, grouped(len))
}
