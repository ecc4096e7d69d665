//! Databases that are hard to judge: what must be said of each, and what must not.

use std::fs;
use std::path::Path;

use super::Report;
use crate::command_line::Options;
use crate::database::Group;
use crate::inspect::report;
use crate::tests::directories::{
    blocks, copy_of, correct_checksum, database, directory_of, fault, golden_table,
};

/// A folder; words that must be printed; words that must not; the options of the last line.
pub(super) type Case =
    (&'static str, &'static [&'static str], &'static [&'static str], Option<&'static str>);

const NONE: &str = "NO FILTERS: lookups read a block of every table that may have their key.";

#[rustfmt::skip]
pub(super) const CASES: [Case; 23] = [
    ("old_name_signed",
        &["WRONG: the filters of 1 of 1 tables reject 1 of 1 entries there",
          "LevelDB since 1.18 ignores their name, goleveldb does not find those.",
          "They are of LevelDB before 1.18.", ": the filters reject keys of their own table"],
        &["LevelDB does not find", "needlessly"], Some("")),
    ("table_missing",
        &["3 tables in use, 60 entries in those that can be read; no filters",
          "MISSING: 1 of 3 tables; LevelDB does not open such a database."],
        &["running", "needlessly", "?"], None),
    ("table_missing_whole",
        &["3 tables in use, 2,060 entries", "NO FILTERS in 2 of 3 tables", " 70.4 "],
        &["MISSING"], Some("--add ")),
    ("basho_manifest", &["a field has the unknown tag 11"], &["RocksDB"], None),
    ("comparator_ignores_case",
        &["UNKNOWN", "the comparator \"example.NoCase\"", "none can be added"],
        &["needlessly", "?", "NO FILTERS"], None),
    ("damaged",
        &["1 entry;", "DAMAGED: the filters of 1 of 1 tables. Unless paranoid_checks \
           is set, LevelDB uses them, and misses 1 of 1 entries there.", "To put right filters into", ": damaged filters"],
        &["NO FILTERS", "needlessly"], Some("")),
    ("no_bits",
        &["PROBLEM: of the filters asked for missing keys, 94% let them pass; about 1% is usual.",
          "Why: 0.3 bits per entry are few"],
        &["OK", "hash"], Some("--add ")),
    ("one_bit",
        &["PROBLEM: of the filters asked for missing keys, 62% let them pass",
          "Why: 1.0 bits per entry are few"],
        &["OK", "hash"], Some("--add ")),
    ("turned_on_later",
        &["leveldb.BuiltinBloomFilter2 in 1 of 2 tables, 32.0 bits per entry",
          "NO FILTERS in 1 of 2 tables", "today   rewritten"], &["OK"], Some("--add ")),
    ("log_of_zeros", &["1 entry;", NONE], &["log", "rewritten"], None),
    ("overwritten", &["101 entries; no filters", NONE], &["101 keys"], Some("--add ")),
    ("no_current",
        &["1 table (no MANIFEST says which are in use), 500 entries; no filters",
          "not a database that LevelDB would open: no CURRENT names its MANIFEST"],
        &["needlessly", "NO FILTERS"], None),
    ("versions_of_one_key", &["3 tables in use, 3 entries; no filters", NONE], &["rewritten"], None),
    ("few_keys", &[NONE], &["OK"], Some("--add ")),
    ("room_at_the_end", &["100.0 bits per entry", "OK: "], &["rewritten"], None),
    ("../databases/accounts",
        &["OK: of the filters asked for missing keys, 0.4% let them pass."],
        &["Why", "rewritten"], None),
    ("../databases/posts", &["OK: of the filters asked for "], &["Why", "rewritten"], None),
    ("../databases/counters",
        &["PROBLEM: of the filters asked for missing keys, 57% let them pass; about 1% is usual.",
          "Why: your keys have 8 bytes and most differ only in the last, and a filter has 55 of them: \
           LevelDB's hash hardly tells such neighbours apart."],
        &[], Some("")),
    ("../databases/levels", &["OK: of the filters asked for missing keys, 2.7%", "rewritten"], &[], Some("")),
    ("../databases/object_ids",
        &["PROBLEM: of the filters asked for existing keys, 11% let them", "Why: your keys have "],
        &[], Some("")),
    ("../databases/own_policy",
        &["UNKNOWN: only their program knows the filters of the policy \"example.OwnFilter\".",
          "000007.ldb and 1 other table: filters of an unknown policy, \"example.OwnFilter\""],
        &["needlessly"], None),
    ("../databases/prefix_filters",
        &["WRONG: the filters of 2 of 2 tables reject 2,426 of 2,426 entries there: LevelDB with its \
           own policy does not find those.", "1 other table: the filters reject keys of their own"],
        &["needlessly"], None),
    ("../databases/reverse_comparator",
        &["UNKNOWN: only their program knows the order of the keys, of the comparator \"example.reverse\"."],
        &["needlessly"], Some("")),
];

#[test]
fn each_is_said_what_is_so() {
    for (name, words, others, advice) in CASES {
        let report = Report::on(&fault(name));
        let printed = [&report.lines[..], &report.causes].concat().join(" ").replace("   ", " ");
        // Without the path, which has some of the words.
        let printed = printed.replace(&*fault(name).to_string_lossy(), "");
        let lost = words.iter().find(|words| !printed.contains(&words.replace("   ", " ")));
        let wrong = others.iter().find(|words| printed.contains(**words));
        assert_eq!((lost, wrong), (None, None), "{name}: {printed}");
        let command = advice.map(|options| format!("{options}{}", fault(name).display()));
        assert_eq!(report.advice(), command.as_deref(), "{name}: {printed}");
    }
}

#[test]
fn tables_of_basho_are_named_where_they_are() {
    let directory = copy_of(&fault("basho_manifest"));
    fs::create_dir(directory.join("sst_3")).unwrap();
    let table = directory.join("sst_3/000009.sst");
    fs::write(&table, golden_table("db_bloom10.ldb")).unwrap();
    assert!(Report::on(&directory).cause().ends_with("; name sst_3"));
    let report = Report::on(&directory.join("sst_3"));
    assert!(report.has("sst_3: 1 table (no MANIFEST says which are in use), 3,685 entries"));
    assert!(report.causes.is_empty() && report.advice().is_none());
}

#[test]
fn a_missing_table_of_an_open_database_may_have_been_removed() {
    let read = || Ok(Group { is_open: true, ..Group::of_directory(&fault("table_missing"))? });
    let (lines, _) = report(&read, &Options::default()).unwrap();
    let words = "MISSING: 1 of 3 tables; a running database removes tables: close or copy it.";
    assert!(lines.contains(&words.into()), "{lines:#?}");
}

#[test]
fn pointers_of_git_lfs_are_named() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    for file in ["CURRENT", "000005.ldb"] {
        let directory = copy_of(&database("accounts"));
        fs::write(directory.join(file), pointer).unwrap();
        let cause = Report::on(&directory).causes.concat();
        assert!(cause.contains("a Git LFS pointer"), "{cause}");
    }
}

#[test]
fn a_cause_common_to_several_tables_is_said_once() {
    let directory = directory_of("zlib", &[]);
    for number in 5..9 {
        let mut table = golden_table("db_bloom10.ldb");
        for block in blocks(&table).into_iter().take(number) {
            table[block.end - 5] = 4;
            correct_checksum(&mut table[block]);
        }
        fs::write(directory.join(format!("{number:06}.ldb")), table).unwrap();
    }
    let report = Report::on(&directory);
    let cause = report.cause();
    assert!(cause.contains("000005.ldb and 3 other tables: blocks are compressed with raw zlib"));
}

#[test]
fn a_wrong_path_is_printed_whole() {
    let path = format!("/tmp/{}/no such place", "long name ".repeat(20));
    assert!(Report::on(Path::new(&path)).cause().starts_with(&path));
}
