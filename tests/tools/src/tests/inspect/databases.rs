//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use super::{Report, assert_near};
use crate::database::Group;
use crate::tests::directories::{database, database_of_keys, golden};
use crate::tests::replay::Replay;

/// Level and number.
type Tables = &'static [(u32, u64)];

/// Name, tables in use, distinct keys, and tables not in use.
const GOLDEN_DATABASES: [(&str, Tables, &str, &str); 7] = [
    ("accounts", &[(2, 5)], "4,811", ""),
    ("classic_level", &[(2, 5)], "3,000", ""),
    ("dead_tables", &[(2, 13)], "1,200", "000005.ldb, 000007.ldb, 000008.ldb, 000099.ldb"),
    ("goleveldb_base_lg_16", &[(1, 4)], "4,016", "000003.ldb"),
    ("levels", &[(0, 27), (0, 29), (0, 31), (1, 25), (2, 5)], "7,714", "000033.ldb"),
    ("long_prefixes", &[(2, 5)], "3,000", ""),
    ("reverse_comparator", &[(2, 5)], "1,501", ""),
];

#[test]
fn databases_and_tables_are_reported_as_their_manifests_and_engines_say() {
    for (name, tables, num_keys, not_in_use) in GOLDEN_DATABASES {
        let report = Report::on_golden(name);
        assert_eq!((report.exit_status, &report.causes), (0, &vec![]), "{name}");
        let num_tables = if tables.len() == 1 { "1 table" } else { "5 tables" };
        report.line_with(&format!("{name}: {num_tables} in use"));
        assert!(!report.has(": rejects"), "{:#?}", report.lines);
        for &(level, number) in tables {
            let table = format!("{number:06}.ldb");
            assert_eq!(report.cells_of(&format!(" {table}"))[0], level.to_string());
        }
        let listed = report.lines.iter().find_map(|line| line.strip_prefix("Not in use: "));
        assert_eq!(listed.unwrap_or_default(), not_in_use);
        let totals = report.lines.iter().rfind(|line| line.ends_with(&format!(" {num_tables}")));
        assert_eq!(totals.unwrap().split_whitespace().nth(2), Some(num_keys));
        let is_reverse = name == "reverse_comparator";
        let comparator = if is_reverse { "example.reverse" } else { "leveldb.BytewiseComparator" };
        report.line_with(&format!("Comparator: {comparator}"));
        assert!(!report.has("log"), "{:#?}", report.lines);
        if name == "goleveldb_base_lg_16" {
            assert!(report.line_with(" 000004.ldb").ends_with(": base_lg 16"));
        }
    }
}

#[test]
fn reads_match_leveldbs_get() {
    for (name, missing, existing) in [
        ("counters", 2_288.7, 1_116.7),
        ("decimals", 55.5, 24.4),
        ("posts", 13.7, 15.1),
        // Its keys come in bursts.
        ("object_ids", 116.4, 4.9),
    ] {
        let [reads, own, _] = Report::on_golden(name).figures();
        assert_near(reads[0], missing);
        assert_near(own[0], existing);
    }
    let replayed = Replay::of(&database("counters")).reads_of_own_keys();
    assert_near(1_116.7, replayed);
}

#[test]
fn the_second_line_is_a_verdict() {
    for (name, verdict, advice) in [
        ("accounts", "OK: of the filters asked for missing keys, 0.4% let them pass.", false),
        ("counters", "PROBLEM: of the filters asked for missing keys, 57% let them pass", true),
        ("object_ids", "PROBLEM: of the filters asked for existing keys, 11% let them", true),
        ("posts", "OK: of the filters asked for ", false),
        (
            "own_policy",
            "UNKNOWN: only their program knows the filters of the policy \"example.Own\
          Filter\".",
            false,
        ),
        (
            "prefix_filters",
            "WRONG: the filters of 2 of 2 tables reject 2,426 of 2,426 entries \
          there: LevelDB with its own policy does not find those.",
            false,
        ),
        (
            "reverse_comparator",
            "UNKNOWN: only their program knows the order of the keys, of the \
          comparator \"example.reverse\".",
            true,
        ),
    ] {
        let report = Report::on(&database(name));
        assert!(report.has(verdict), "{name}: {:#?}", report.lines);
        assert_eq!(report.advice().is_some(), advice, "{name}: {:#?}", report.lines);
        let has_figures = !verdict.starts_with("UNKNOWN") && !verdict.starts_with("WRONG");
        assert_eq!(report.has("needlessly"), has_figures, "{name}: {:#?}", report.lines);
        let has_reason = ["counters", "object_ids"].contains(&name);
        assert_eq!(report.has("Why: your keys have "), has_reason, "{name}");
    }
    for (name, cause) in [("own_policy", "of an unknown policy"), ("prefix_filters", "reject keys")]
    {
        let report = Report::on_golden(name);
        let (status, line) = (report.exit_status, report.cause());
        assert!(line.contains("000007.ldb and 1 other table: ") && line.contains(cause));
        assert_eq!(status, 1);
    }
    let words = "and a filter has 55 of them: LevelDB's hash hardly tells such neighbours apart.";
    assert!(Report::on_golden("counters").has(words));
}

#[test]
fn what_is_no_database_of_leveldbs_or_has_no_tables_is_said() {
    let report = Report::on_golden("log_only");
    assert!(report.lines[0].ends_with("log_only: no tables, all keys are in the log"));
    assert_eq!(report.lines[1], "Not counted: keys only in the log (43,526 bytes).");
    assert_eq!(report.exit_status, 0);
    let report = Report::on_golden("rocksdb");
    assert!(report.lines.is_empty(), "{:#?}", report.lines);
    assert!(report.cause().ends_with("rocksdb: a database of RocksDB, not of LevelDB"));
    assert_eq!(report.exit_status, 1);
    let report = Report::on(&golden("databases"));
    let (status, cause) = (report.exit_status, report.cause());
    assert!(status == 1 && cause.contains("; name accounts, classic_level, "), "{cause}");
    assert!(Report::on_golden("in_order").has("only in the log (24,049 bytes)"));
}

#[test]
fn tables_that_reads_compact_are_counted_with_the_line_that_does_it_before() {
    for (name, words) in [
        (
            "levels",
            "5 of 5 tables overlap others: LevelDB compacts them after some reads, with its",
        ),
        ("counters", "LevelDB compacts them after some reads"),
    ] {
        let report = Report::on_golden(name);
        assert!(report.has(words), "{name}");
        report.line_with(r"db.compact_range(start=b'', stop=b'\xff' * 9)");
    }
    let group = Group::of_directory(&database("repaired")).unwrap();
    assert!(group.compactions().unwrap().contains("when it opens, or after some reads"));
    for name in ["accounts", "in_order", "reverse_comparator"] {
        assert_eq!(Group::of_directory(&database(name)).unwrap().compactions(), None, "{name}");
    }
}

#[test]
fn tables_whose_ranges_meet_are_counted() {
    for (ranges, number) in [
        (&[(5, 9), (1, 4), (10, 10)][..], None),
        (&[(5, 9), (1, 5), (10, 10)], Some("2 of 3 tables")),
        (&[(1, 90), (2, 3), (4, 5), (91, 95)], Some("3 of 4 tables")),
    ] {
        let tables = ranges.iter().map(|&(first, last)| (2, vec![vec![first], vec![last]]));
        let directory = database_of_keys(20, tables.collect());
        let compactions = Group::of_directory(&directory).unwrap().compactions();
        let start = compactions.as_ref().map(|line| line.split_once(" overlap").unwrap().0);
        assert_eq!(start, number, "{ranges:?}");
    }
}
