//! Every policy that makes a table's filter block is named.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{TRAILER, table};
use crate::common::temp::TempPath;
use crate::report::Report;

/// The line about tables, each of keys and a number of bits per key.
fn line(tables: &[(&[&str], usize)]) -> String {
    let paths: Vec<_> = tables.iter().map(|_| TempPath::new()).collect();
    for (path, (keys, bits_per_key)) in paths.iter().zip(tables) {
        let builder = FilterBlockBuilder::new(BloomFilterPolicy::new(*bits_per_key));
        fs::write(&path.0, table(keys, TRAILER, Some(builder))).unwrap();
    }
    let report = Report::of(&paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>());
    assert_eq!(report.exit_status(), 0, "{:#?}", report.lines());
    report.lines().swap_remove(1)
}

#[test]
fn each_whole_number_of_bits_per_key_that_makes_the_same_bytes_of_all_tables_is_named() {
    let seven = ["a", "b", "c", "d", "e", "f", "g"];
    for (tables, policies) in [
        // One key has 64 bits up to 64 bits per key; 9 and 10 have 6 probes, 0 to 2 have one.
        (&[(&["key"][..], 10)][..], "new(9) and new(10) make the same bytes."),
        (&[(&["key"], 1)], "new(0), new(1) and new(2) make the same bytes."),
        // Seven keys have 72 bits at 10.
        (&[(&["key"], 10), (&seven, 10)], "new(10) makes the same bytes."),
        (&[(&["key"], 10), (&[], 16)], "new(9) and new(10) make the same bytes."),
        (
            &[(&["key"], 10), (&["key"], 11)],
            "new(9), new(10) and new(11) each make other bytes for 1 of 2 tables.",
        ),
    ] {
        let expected = format!("Each entry passes its filter. BloomFilterPolicy::{policies}");
        assert_eq!(line(tables), expected, "{tables:?}");
    }
}
