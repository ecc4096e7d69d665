//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use super::{Report, answer, assert_near, database, golden};
use crate::database::ranges::num_meeting;
use crate::table::manifest::Contents;
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
        assert!(!report.has(": different"), "{:#?}", report.lines);
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
fn reads_match_leveldbs_get_and_unknown_reads_are_not_reported() {
    for (name, reads) in [
        ("counters", [2_288.7, 1_116.7, 10.6]),
        ("decimals", [55.5, 24.4, 28.2]),
        ("posts", [13.7, 15.1, 26.7]),
    ] {
        for (number, replayed) in answer(Report::on_golden(name)).reads.into_iter().zip(reads) {
            assert_near(number, replayed);
        }
    }
    let replayed = Replay::of(&database("counters")).reads_of_own_keys();
    assert_near(1_116.7, replayed);
    // Its keys come in bursts.
    let [between, own, _] = answer(Report::on_golden("object_ids")).reads;
    assert_near(between, 116.4);
    assert_near(own, 4.9);
    for (name, reads) in [("in_order", 8.4), ("partly_covered", 16.9), ("repaired", 23.1)] {
        let report = Report::on_golden(name);
        let answer = answer(report);
        assert_eq!((&answer.bound[..], report.exit_status), ("", 0));
        assert_near(answer.reads[2], reads);
    }
    for (name, why, cause) in [
        ("own_policy", "the policy is \"example.OwnFilter\"", "of an unknown policy"),
        ("prefix_filters", "today's filters hide keys", "LevelDB does not find them"),
    ] {
        let report = Report::on_golden(name);
        assert_eq!(report.lines[1], format!("UNKNOWN: {why}."));
        assert!(!report.has("  today") && !report.has("  of keys"), "{:#?}", report.lines);
        let (status, line) = report.cause();
        assert!(line.contains("000007.ldb and 1 other table: ") && line.contains(cause));
        assert_eq!(status, 1);
    }
    let report = Report::on_golden("log_only");
    let words = "log_only: no tables yet All keys are still in the log (43,526 bytes).";
    assert!(report.has(words) && report.sections().next().unwrap().len() == 2);
    assert_eq!(report.exit_status, 0);
    let report = Report::on_golden("rocksdb");
    assert!(report.lines.is_empty(), "{:#?}", report.lines);
    assert!(report.cause().1.ends_with("rocksdb: a database of RocksDB, not of LevelDB"));
    assert_eq!(report.cause().0, 1);
    let report = Report::on(&golden("databases"));
    let (status, cause) = report.cause();
    assert!(status == 1 && cause.contains("; databases: accounts, classic_level, "), "{cause}");
    let report = Report::on_golden("in_order");
    assert!(report.has("only in the log (24,049 bytes)"), "{:#?}", report.lines);
}

#[test]
fn tables_whose_ranges_meet_are_counted_and_reported() {
    let of = |ranges: &[(u8, u8)]| {
        let key = |&(smallest, largest): &(u8, u8)| Contents {
            smallest: vec![smallest],
            largest: vec![largest],
            ..Contents::default()
        };
        num_meeting(ranges.iter().map(key).collect::<Vec<_>>().iter())
    };
    for (ranges, number) in [
        (&[(5, 9), (1, 4), (10, 10)][..], 0),
        (&[(5, 9), (1, 5), (10, 10)], 2),
        (&[(1, 90), (2, 3), (4, 5), (91, 95)], 3),
    ] {
        assert_eq!(of(ranges), number, "{ranges:?}");
    }
    for (name, words) in [
        ("levels", "5 of 5 tables have keys between those of others: LevelDB compacts them after"),
        ("repaired", "4 of 4 tables have keys between those of others: LevelDB compacts them when"),
    ] {
        assert!(Report::on_golden(name).has(words), "{name}");
    }
    for name in ["accounts", "in_order", "own_policy", "reverse_comparator"] {
        assert!(!Report::on_golden(name).has("compacts them"), "{name}");
    }
}
