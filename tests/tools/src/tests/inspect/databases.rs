//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use super::Report;
use crate::database::Group;
use crate::tests::directories::{database, database_of_keys, golden};

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
        assert!(report.causes.is_empty(), "{name}");
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
        for ratio in [reads[0] / missing, own[0] / existing] {
            assert!((0.9..1.1).contains(&ratio), "{name}: {reads:?}, {own:?}");
        }
    }
}

#[test]
fn what_is_no_database_of_leveldbs_or_has_no_tables_is_said() {
    let report = Report::on_golden("log_only");
    assert!(report.lines[0].ends_with("log_only: no tables, all keys are in the log"));
    assert_eq!(report.lines[1], "Not counted: keys only in the log (43,526 bytes).");
    assert!(report.causes.is_empty());
    let names = "; name accounts, classic_level, ";
    assert!(Report::on(&golden("databases")).cause().contains(names));
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
    // A key after a table's only key is outside its range.
    let tables = (0..1_000).map(|i: u32| (1, vec![i.to_be_bytes().into()]));
    let report = Report::on(&database_of_keys(20, tables.collect()));
    assert!(report.has("OK: no lookup asks a filter needlessly."), "{:#?}", report.lines);
}
