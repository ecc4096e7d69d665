//! The lines and the exit status for each kind of finding.

use std::path::{Path, PathBuf};
use std::{fs, slice};

use super::made::{TRAILER, table};
use crate::common::temp::TempPath;
use crate::common::terminal::printable;
use crate::report::Report;

/// Asserts that a report has these parts of lines, and this exit status.
fn assert_says(paths: &[PathBuf], status: u8, parts: &[&str]) {
    let report = Report::of(paths);
    let lines = report.lines();
    let is_said = |part: &&&str| lines.iter().any(|line| line.contains(**part));
    assert_eq!(parts.iter().find(|part| !is_said(part)), None, "{lines:#?}");
    assert_eq!(report.exit_status(), status, "{lines:#?}");
    let start = printable(&paths[0].to_string_lossy());
    assert!(lines.iter().all(|line| line.len() <= 60 || line.starts_with(&start)), "{lines:#?}");
}

/// The same of one file.
fn assert_says_of(file: &[u8], status: u8, parts: &[&str]) {
    let path = TempPath::new();
    fs::write(&path.0, file).unwrap();
    assert_says(slice::from_ref(&path.0), status, parts);
}

#[rustfmt::skip]
const GOLDEN: [(&str, u8, &[&str]); 8] = [
    ("databases/sequence", 0, &["                   LevelDB's     tuned",
        "absent keys match      45.9%      1.3%", "filter bytes           8,310     7,747",
        "LevelDB's: BloomFilterPolicy::new(10), base_lg 11", "absent keys are the other 3,000.",
        "Tables: 1, entries: 6,000", "  leveldb.BuiltinBloomFilter2",
        "  each entry passes, new(10) makes the same bytes"]),
    ("tables", 0, &["Tables: 1, entries: 1,500", "  no filters", "  every lookup reads a data block",
        "Tables: 2, entries: 660", "  each entry passes, new(16) makes the same bytes",
        "LevelDB's: BloomFilterPolicy::new(16), base_lg 11"]),
    ("databases/own_policy", 0, &["Tables: 2, entries: 2,426", "  example.OwnFilter",
        "absent keys match       0.7%      0.1%", "  only its own program knows this policy"]),
    ("databases/prefix_filters", 1, &["  not each entry passes, new(n) makes other bytes",
        "/000005.ldb: its filters reject 1,213 of 1,213 entries"]),
    ("databases/rocksdb", 1, &["/000009.sst: a table of RocksDB, not of LevelDB"]),
    ("databases", 1, &[": holds no table (.ldb, .sst)"]),
    ("README.md", 1, &[": not a LevelDB table, or a truncated one"]),
    ("a\u{202e}b\u{2028}c", 1, &["a\u{fffd}b\u{fffd}c: "]),
];

#[test]
fn each_kind_of_golden_table_has_its_words_and_its_exit_status() {
    let path = |place| Path::new("tests/golden").join(place);
    for (place, status, parts) in GOLDEN {
        assert_says(&[path(place)], status, parts);
    }
    assert_says(&vec![path("none"); 9], 1, &["none: ", "and 4 more"]);
}

#[test]
fn pointers_to_large_files_are_named() {
    for pointer in [
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n",
        "/annex/objects/SHA256E-s9--ab.ldb\n",
    ] {
        let named = ": a pointer to a file that git-lfs or git-annex has not fetched";
        assert_says_of(pointer.as_bytes(), 1, &[named]);
    }
}

#[test]
fn a_directory_with_a_log_alone_has_its_entries_there() {
    let directory = TempPath::new();
    fs::create_dir(&directory.0).unwrap();
    fs::write(directory.0.join("000003.log"), b"log").unwrap();
    assert_says(slice::from_ref(&directory.0), 1, &[": holds a log (.log) and no table"]);
}

#[test]
fn a_key_that_is_no_internal_key_is_named_alone() {
    for odd in [&b"short"[..], b"kind\x021234567"] {
        let mut keys: Vec<_> = (0..301_u16).map(|i| [&i.to_be_bytes(), TRAILER].concat()).collect();
        keys[200] = odd.into();
        let named = format!("no internal keys: 1 of 301 entries, first \"{}\"", odd.escape_ascii());
        assert_says_of(&table(&keys, b"", 100, None), 1, &[&named]);
    }
}
