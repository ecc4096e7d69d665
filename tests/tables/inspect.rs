//! What `inspect` says of golden tables is what an independent reader of tables has found.

use crate::common::table::Table;
use crate::common::table::replace::with_filter_block;
use crate::common::terminal::printable;
use crate::facts::{Facts, TableFilters};
use crate::figures::{Figures, Tested};
use crate::report::Report;
use crate::same_bytes::Choice;
use crate::{golden, read_golden};

/// A table's file; its entries, its filters, and the bits per key that make the same bytes; next
/// keys and how many of them pass, the same of mixed keys, and the bytes of the filter block.
type Known = (&'static str, usize, usize, &'static [usize], (usize, usize), (usize, usize), usize);

const KNOWN: [Known; 13] = [
    ("tables/db_bloom10.ldb", 3_685, 32, &[10], (3_685, 45), (64, 0), 4_911),
    ("tables/db_bloom10_large_values.ldb", 24, 24, &[9, 10], (24, 5), (0, 0), 457),
    ("tables/db_bloom16_block1k.ldb", 600, 9, &[16], (600, 1), (16, 0), 1_250),
    ("tables/db_snappy_bloom10.ldb", 3_000, 56, &[10], (3_000, 40), (3_000, 22), 4_051),
    ("tables/db_snappy_bloom16_large_values.ldb", 60, 21, &[16], (60, 2), (60, 2), 370),
    ("tables/table_bloom10_user_keys.ldb", 800, 8, &[10], (800, 7), (24, 0), 1_048),
    ("tables/goleveldb_bloom10_user_keys.ldb", 800, 5, &[10], (800, 13), (24, 0), 1_048),
    ("databases/classic_level/000005.ldb", 3_000, 34, &[10], (3_000, 24), (0, 0), 3_942),
    ("databases/counters/000012.ldb", 251, 5, &[10], (234, 109), (231, 108), 363),
    ("databases/goleveldb_base_lg_16/000004.ldb", 4_016, 2, &[10], (4_016, 42), (4_016, 26), 5_036),
    ("databases/long_prefixes/000005.ldb", 3_000, 4, &[10], (1, 0), (0, 0), 3_795),
    ("databases/reverse_comparator/000005.ldb", 1_501, 7, &[10], (1, 0), (0, 0), 1_926),
    ("databases/sequence/000005.ldb", 6_000, 89, &[10], (2_980, 1_768), (2_952, 1_808), 8_310),
];

#[test]
fn facts_are_those_of_an_independent_reader_and_blocks_are_rebuilt_byte_for_byte() {
    let tested = |(absent, passing)| Tested { absent, passing };
    for (name, num_entries, num_filters, bits_per_key, next, mixed, bytes) in KNOWN {
        let facts = Facts::of(&read_golden(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        let filters = match facts.filters {
            TableFilters::Bloom(filters) => filters,
            TableFilters::Damaged(why) => panic!("{name}: {why}"),
            _ => panic!("{name}: no filters"),
        };
        assert_eq!((facts.num_entries, filters.num_filters), (num_entries, num_filters), "{name}");
        // A choice is one whose filter block, made of the table's keys, has the same bytes.
        let choices: Vec<_> = bits_per_key.iter().copied().map(Choice::Leveldb).collect();
        assert_eq!((filters.choices, filters.num_rejected), (choices, 0), "{name}");
        let [today, tuned] = filters.figures;
        let known = Figures { next: tested(next), mixed: tested(mixed), bytes };
        assert_eq!(today, known, "{name}");
        for (today, tuned) in [(today.next, tuned.next), (today.mixed, tuned.mixed)] {
            let most = today.passing.max(2 + today.absent / 50);
            assert!(tuned.absent == today.absent && tuned.passing <= most, "{name}: {tuned:?}");
        }
    }
}

/// Paths; the exit status; and parts of lines that are printed.
type Case = (&'static [&'static str], u8, &'static [&'static str]);

#[rustfmt::skip]
const CASES: [Case; 11] = [
    (&["databases/sequence"], 0, &[
        "Each entry passes its filter. BloomFilterPolicy::new(10) makes the same bytes.",
        "                          these filters   tuned(), long ranges",
        "next keys that pass               59.3%                   1.3%",
        "mixed keys that pass              61.2%                   1.1%",
        "filter block bytes                8,310                  7,753"]),
    (&["databases/reverse_comparator"], 0, &["mixed keys that pass                  -                      -"]),
    (&["tables"], 0, &[
        "9 tables (1 without filters), 10,469 entries, leveldb.BuiltinBloomFilter, leveldb.BuiltinBloomFilter2: 155 filters, 10.7 bits per entry",
        "Of 10,469 entries, bits per entry and the figures below leave out 1,500 in tables without filters.",
        "LevelDB since 1.18 does not use filters named leveldb.BuiltinBloomFilter. goleveldb does.",
        "Each entry passes its filter. BloomFilterPolicy::new(10) makes other bytes for 2 of 7 tables."]),
    (&["tables/db_snappy_no_filter.ldb"], 0, &["1 table (1 without filters), 1,500 entries", "                       tuned(), long ranges"]),
    (&["tables/table_empty.ldb"], 0, &["next keys that pass                   -                      -"]),
    (&["databases/own_policy"], 0, &["its filters are of the policy \"example.OwnFilter\""]),
    (&["databases/prefix_filters"], 1, &["its filters reject 1,213 of 1,213 entries",
        "2,426 of 2,426 entries do not pass. BloomFilterPolicy::new(n) makes other bytes for 2 of 2 tables."]),
    (&["databases/rocksdb", "databases/counters/000009.ldb"], 1, &["not a LevelDB table, or a truncated one",
        "2 tables (1 unreadable), 251 entries, leveldb.BuiltinBloomFilter2: 5 filters, 10.1 bits per entry",
        "A table that LevelDB never finished, or no longer needs, stays in its directory until the"]),
    (&["databases"], 1, &["holds no table (.ldb, .sst)"]),
    (&["none"; 9], 1, &["none: ", "and 4 more"]),
    (&["a\u{202e}b\u{2028}c"], 1, &["a\u{fffd}b\u{fffd}c: "]),
];

#[test]
fn each_case_has_its_words_and_its_exit_status() {
    for (places, status, words) in CASES {
        let paths: Vec<_> = places.iter().map(|place| golden(place)).collect();
        let report = Report::of(&paths);
        let lines = report.lines();
        for words in words {
            let is_said = |line: &String| line.contains(words);
            assert!(lines.iter().any(is_said), "{places:?}: no {words:?} in {lines:#?}");
        }
        assert_eq!(report.exit_status(), status, "{places:?}: {lines:#?}");
    }
}

#[test]
fn filter_blocks_up_to_the_length_of_the_old_one_take_its_place() {
    let filters = |file: &[u8]| {
        let filters = Table::open(file).and_then(|table| table.filters());
        filters.ok().flatten().map(|filters| filters.contents.into_owned())
    };
    for (name, ..) in KNOWN {
        let file = read_golden(name);
        let old = filters(&file).unwrap_or_else(|| panic!("{name}: no filters"));
        let less = with_filter_block(&file, b"less").unwrap_or_else(|| panic!("{name}: no room"));
        assert_eq!((less.len(), filters(&less)), (file.len(), Some(b"less".to_vec())), "{name}");
        // The zeros after a shorter one are room.
        for file in [&file, &less] {
            assert!(
                with_filter_block(file, &old).and_then(|new| filters(&new)) == Some(old.clone())
            );
            assert!(with_filter_block(file, &vec![7; old.len() + 64]).is_none(), "{name}");
        }
    }
    assert!(with_filter_block(&read_golden("tables/db_snappy_no_filter.ldb"), b"").is_none());
}

#[test]
fn names_are_printed_on_one_line_in_the_order_of_their_characters() {
    let replaced = "\0\t\n\r\u{1b}\u{7f}\u{85}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\
        \u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    assert_eq!(printable(replaced), "\u{fffd}".repeat(replaced.chars().count()));
    let kept = "a b\u{61b}\u{200d}\u{2010}\u{2027}\u{202f}\u{2065}\u{206a} äöü";
    assert_eq!(printable(kept), kept);
}
