//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use std::collections::BTreeMap;

use super::{NUM_LOOKUPS, Report, answer, assert_near, database, golden, read};
use crate::common::database::{Group, ListedTable};
use crate::common::survey::filters::KeySurvey;
use crate::common::survey::lookups::{Asked, Lookups, RANDOM};
use crate::common::table::Table;

/// Level, number, and false positives in per cent.
type Tables = &'static [(u32, u64, f64)];

/// Name, tables in use, distinct keys, and tables not in use.
const GOLDEN_DATABASES: [(&str, Tables, &str, &str); 7] = [
    ("accounts", &[(2, 5, 0.30)], "4,811", ""),
    ("classic_level", &[(2, 5, 0.89)], "3,000", ""),
    ("dead_tables", &[(2, 13, 0.79)], "1,200", "000005.ldb, 000007.ldb, 000008.ldb, 000099.ldb"),
    ("goleveldb_base_lg_16", &[(1, 4, 0.91)], "4,016", "000003.ldb"),
    (
        "levels",
        &[(0, 27, 0.73), (0, 29, 0.75), (0, 31, 0.80), (1, 25, 0.77), (2, 5, 0.87)],
        "7,714",
        "000033.ldb",
    ),
    ("long_prefixes", &[(2, 5, 0.90)], "3,000", ""),
    ("reverse_comparator", &[(2, 5, 0.87)], "1,501", ""),
];

const GOLDEN_TABLES: [(&str, f64); 7] = [
    ("db_bloom10", 0.89),
    ("db_bloom10_large_values", 0.22),
    ("db_bloom16_block1k", 0.11),
    ("db_snappy_bloom10", 1.00),
    ("db_snappy_bloom16_large_values", 1.79),
    ("goleveldb_bloom10_user_keys", 0.91),
    ("table_bloom10_user_keys", 0.94),
];

/// For each table, how many random hashes in 100 match.
fn rates(group: &Group) -> BTreeMap<String, f64> {
    let num_tables = group.tables.len();
    let rate = |(ordinal, table): (usize, &ListedTable)| {
        let file = read(&table.path);
        let opened = Table::open(&file).unwrap();
        let blocks = &KeySurvey::of(&opened).unwrap().blocks;
        let at_random = Lookups { total: NUM_LOOKUPS, num_tables, ordinal, compares: false };
        let asked = Asked { blocks, at_random, sampled: Vec::new() };
        let filters = opened.filter_block().unwrap().unwrap();
        (table.name.clone(), 100.0 * asked.reads(&filters.contents)[RANDOM])
    };
    group.tables.iter().enumerate().map(rate).collect()
}

/// Asserts a rate in per cent, within 10% and three standard errors.
#[track_caller]
fn assert_is_about(measured: f64, expected: f64, num_tables: usize) {
    let num_lookups = f64::from(u32::try_from(NUM_LOOKUPS / num_tables).unwrap());
    let standard_error = (expected * (100.0 - expected) / num_lookups).sqrt();
    let most_apart = 0.1 * expected + 3.0 * standard_error;
    assert!((measured - expected).abs() <= most_apart, "{measured}%, not {expected}%");
}

#[test]
fn databases_and_tables_are_reported_as_their_manifests_and_engines_say() {
    for (name, tables, num_keys, not_in_use) in GOLDEN_DATABASES {
        let report = Report::on_golden(name);
        assert_eq!((report.exit_status, &report.causes), (0, &vec![]), "{name}");
        let group = Group::of_directory(&database(name)).unwrap();
        let rates = rates(&group);
        let num_tables = if tables.len() == 1 { "1 table" } else { "5 tables" };
        report.line_with(&format!("{name}: {num_tables} in use"));
        assert!(!report.has(": different"), "{:#?}", report.lines);
        for &(level, number, rate) in tables {
            let table = format!("{number:06}.ldb");
            assert_eq!(report.cells_of(&format!(" {table}"))[0], level.to_string());
            assert_is_about(rates[&table], rate, tables.len());
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
        if name == "levels" {
            for cells in [
                ["0", "2,280", "2,189", "180", "10.05", "3,217"],
                ["1", "4,848", "4,848", "368", "10.05", "6,823"],
                ["2", "700", "677", "0", "10.00", "993"],
                ["-", "7,828", "7,714", "548", "10.04", "11,033"],
            ] {
                let is_level =
                    |line: &&String| line.trim_start().starts_with(&format!("{} ", cells[0]));
                let line = report.sections().last().unwrap().iter().find(is_level).unwrap();
                assert!(line.split_whitespace().take(cells.len()).eq(cells), "{line}");
            }
        }
    }
    for (table, rate) in GOLDEN_TABLES {
        let path = golden("tables").join(table).with_extension("ldb");
        let group = Group::of_files(&[path]).unwrap();
        assert_is_about(*rates(&group).first_key_value().unwrap().1, rate, 1);
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
