//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use std::{fs, slice};

use super::damage::name_comparator;
use super::manifest::{log_of, records};
use super::tables::with_metaindex;
use super::{
    NUM_LOOKUPS, Report, copy_of, database, directory_of, golden, golden_table, number_in, read,
};
use crate::terminal::wrapped;

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

/// Asserts a rate in per cent, within 10% and three standard errors.
#[track_caller]
fn assert_is_about(rate: &str, expected: f64, num_tables: usize) {
    let measured: f64 = rate.trim_end_matches('%').parse().unwrap();
    let num_lookups = f64::from(u32::try_from(NUM_LOOKUPS / num_tables).unwrap());
    let standard_error = (expected * (100.0 - expected) / num_lookups).sqrt();
    let most_apart = 0.1 * expected + 3.0 * standard_error;
    assert!((measured - expected).abs() <= most_apart, "{measured}%, not {expected}%");
}

#[test]
fn databases_and_tables_are_reported_as_their_manifests_and_engines_say() {
    for (name, tables, num_keys, not_in_use) in GOLDEN_DATABASES {
        let report = Report::on(&database(name));
        assert_eq!((report.exit_status, &report.causes), (0, &vec![]), "{name}");
        let num_tables = if tables.len() == 1 { "1 table" } else { "5 tables" };
        report.line_with(&format!("{name}: {num_tables} in use"));
        report.line_with(&format!("same filters for {num_tables}, byte for byte"));
        for &(level, number, rate) in tables {
            let cells = report.cells_of(&format!("  {number:06}.ldb"));
            assert_eq!(cells[0], level.to_string());
            assert_is_about(cells[5], rate, tables.len());
        }
        let listed = report.lines.iter().find_map(|line| line.strip_prefix("Not in use: "));
        assert_eq!(listed.unwrap_or_default(), not_in_use);
        let totals = report.lines.iter().position(|line| line.starts_with("Bytes: ")).unwrap() - 1;
        assert_eq!(report.lines[totals].split_whitespace().nth(3), Some(num_keys));
        let is_reverse = name == "reverse_comparator";
        let comparator = if is_reverse { "example.reverse" } else { "leveldb.BytewiseComparator" };
        report.line_with(&format!("Comparator: {comparator}"));
        assert!(!report.has("log"), "{:#?}", report.lines);
        if name == "goleveldb_base_lg_16" {
            assert!(report.line_with("  000004.ldb").ends_with(": one per 64 KiB"));
        }
        if name == "levels" {
            for cells in [
                ["0", "3", "2,280", "2,189", "180", "10.05", "3,217", "2.0%"],
                ["1", "1", "4,848", "4,848", "368", "10.05", "6,823", "2.0%"],
                ["2", "1", "700", "677", "0", "10.00", "993", "1.9%"],
                ["all", "5", "7,828", "7,714", "548", "10.04", "11,033", "2.0%"],
            ] {
                let is_level =
                    |line: &&String| line.trim_start().starts_with(&format!("{} ", cells[0]));
                let line = report.lines.iter().find(is_level).unwrap();
                assert!(line.split_whitespace().take(cells.len()).eq(cells), "{line}");
            }
        }
    }
    for (table, rate) in GOLDEN_TABLES {
        let report = Report::on(&golden("tables").join(table).with_extension("ldb"));
        let measured = report.value_of("false-positive rate").split(' ').next().unwrap();
        assert_is_about(measured, rate, 1);
    }
}

/// What 1,000 lookups of each kind read.
pub(crate) struct Answer {
    /// What the heading says after "1,000 lookups".
    pub(crate) bound: String,
    pub(crate) reads: [f64; 3],
}

#[track_caller]
pub(crate) fn answer(report: &Report) -> Answer {
    let start = "Wasted data block reads per 1,000 lookups";
    let bound = report.line_with(start).strip_prefix(start).unwrap();
    let bound = bound.strip_suffix(":").unwrap().to_string();
    let kinds = [
        "  of absent keys between the database's keys",
        "  of the database's own keys, before they are found",
        "  of absent keys with random hashes",
    ];
    let reads = kinds.map(|kind| {
        let line = report.line_with(kind);
        let number = line.strip_suffix(kind).unwrap().trim_start();
        // Where there are no such keys.
        if number == "-" { -1.0 } else { number_in(number) }
    });
    Answer { bound, reads }
}

/// Asserts that the numbers differ by at most a tenth.
#[track_caller]
pub(crate) fn assert_near(reckoned: f64, replayed: f64) {
    assert!((0.9..1.1).contains(&(reckoned / replayed)), "{reckoned}, not {replayed}");
}

#[test]
fn reads_match_leveldbs_get_and_unknown_reads_are_not_reported() {
    for on in [Report::on, Report::what_if] {
        for (name, reads) in [
            ("counters", [2_288.7, 1_116.7, 10.6]),
            ("decimals", [55.5, 24.4, 28.2]),
            ("posts", [13.7, 15.1, 26.7]),
        ] {
            let answer = answer(&on(&database(name)));
            for (number, replayed) in answer.reads.into_iter().zip(reads) {
                assert_near(number, replayed);
            }
        }
        // Its keys come in bursts.
        let [between, own, _] = answer(&on(&database("object_ids"))).reads;
        assert_near(between, 116.4);
        assert_near(own, 4.9);
        for (name, reads) in [("in_order", 8.4), ("partly_covered", 16.9), ("repaired", 23.1)] {
            let report = on(&database(name));
            let answer = answer(&report);
            assert_eq!((&answer.bound[..], report.exit_status), ("", 0));
            assert_near(answer.reads[2], reads);
        }
        for (name, why, cause) in [
            ("own_policy", "the policy is \"example.OwnFilter\"", "of an unknown policy"),
            ("prefix_filters", "today's filters hide keys", "LevelDB does not find them"),
        ] {
            let report = on(&database(name));
            report.line_with(&format!("Wasted reads are unknown: {why}"));
            assert!(!report.has("  today") && !report.has("  of absent"), "{:#?}", report.lines);
            assert_eq!(report.cells_of("000005.ldb")[5], "-");
            assert!(!report.has("This crate makes"), "{:#?}", report.lines);
            let (status, line) = report.cause();
            assert!(line.contains("000007.ldb and 1 other table: ") && line.contains(cause));
            assert_eq!(status, 1);
        }
        let report = on(&database("log_only"));
        let [line] = &report.lines[..] else { panic!("{:#?}", report.lines) };
        assert!(line.ends_with("log_only: no tables yet, 43,526 bytes in the log"), "{line}");
        assert_eq!(report.exit_status, 0);
        let report = on(&database("rocksdb"));
        assert!(report.lines.is_empty(), "{:#?}", report.lines);
        assert!(report.cause().1.ends_with("rocksdb: a database of RocksDB, not of LevelDB"));
        assert_eq!(report.cause().0, 1);
    }
    let report = Report::on(&golden("databases"));
    let (status, cause) = report.cause();
    assert!(status == 1 && cause.contains("; databases: accounts, classic_level, "), "{cause}");
    let report = Report::on(&database("in_order"));
    assert!(report.has("only in the log (24,049 bytes)"), "{:#?}", report.lines);
}

#[test]
fn recommended_filters_come_first_and_no_other_row_is_smaller_and_better() {
    let number = number_in;
    for name in ["counters", "decimals", "posts", "levels", "partly_covered", "accounts"] {
        let report = Report::what_if(&database(name));
        let start = report.lines.iter().position(|line| line.starts_with("between")).unwrap();
        let rows = |start: usize| {
            let rows = report.lines[start + 1..].iter();
            rows.map_while(|line| {
                let cells: Vec<_> = line.split_whitespace().take(4).collect();
                cells
                    .iter()
                    .all(|cell| cell.starts_with(|c: char| c == '<' || c.is_ascii_digit()))
                    .then(|| {
                        [number(cells[0]) + number(cells[1]), number(cells[2]), number(cells[3])]
                    })
            })
        };
        let recommended: Vec<_> = rows(start).collect();
        assert!(report.lines[start + 1].ends_with("  today"));
        assert_eq!(recommended[0][1], answer(&report).reads[2]);
        let title = report.lines.iter().position(|line| line.starts_with("Other filters: "));
        let all: Vec<_> = rows(title.unwrap() + 1).collect();
        assert_eq!(all.len(), 1 + 2 * 7 + 1, "{:#?}", report.lines);
        assert!(recommended.len() > 1, "{:#?}", report.lines);
        for proposal in &recommended[1..] {
            assert!(all.contains(proposal));
            let is_better = |row: &&[f64; 3]| (0..3).all(|i| row[i] < proposal[i]);
            assert_eq!(all.iter().find(is_better), None, "better than {proposal:?}");
        }
        // Today's filters are LevelDB's with 10 bits per key.
        if name != "accounts" {
            assert_eq!(all[3], all[0]);
        }
    }
    let report = Report::what_if(&database("counters"));
    let row = report.lines.iter().find(|line| line.contains("this crate's filters")).unwrap();
    let reads = number(row.split_whitespace().next().unwrap());
    assert!(15.0 * reads < answer(&report).reads[0], "{row}");
}

#[test]
fn an_unreadable_table_leaves_a_lower_bound_and_no_comparison() {
    let directory = copy_of("partly_covered", "lost_table");
    let path = directory.join("000005.ldb");
    fs::write(&path, &read(&path)[..1_000]).unwrap();
    let report = Report::what_if(&directory);
    let Answer { bound, reads } = answer(&report);
    // Of 16.9, all tables together.
    assert!(bound == ", at least" && (3.0..7.0).contains(&reads[2]), "{bound} {reads:?}");
    report.line_with("Further wasted reads are unknown: 1 of 4 tables cannot be read.");
    assert!(!report.has("today") && !report.has("Other filters"), "{:#?}", report.lines);
    assert_eq!(report.cells_of("  all  ")[1], "4");
    assert!(report.cause().1.contains("lost_table: 000005.ldb: not a LevelDB table"));
    assert_eq!(report.cause().0, 1);
}

#[test]
fn lines_have_80_columns_at_most() {
    for entry in fs::read_dir(golden("databases")).unwrap() {
        let path = entry.unwrap().path();
        for what_if in [false, true] {
            let report = Report::with(slice::from_ref(&path), what_if, 1_000);
            let causes = report.causes.iter().flat_map(|cause| wrapped(cause, "  "));
            for line in report.lines.iter().cloned().chain(causes) {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

#[test]
fn a_database_without_filters_is_shown_what_filters_would_do() {
    let directory = copy_of("accounts", "without_filters");
    let path = directory.join("000005.ldb");
    fs::write(&path, with_metaindex(read(&path), b"filter.", b"nothing")).unwrap();
    let report = Report::on(&directory);
    assert_eq!(report.exit_status, 0);
    // Some absent keys are outside the table's range.
    assert!(answer(&report).reads.iter().zip([999.0, 0.0, 999.0]).all(|(a, b)| *a >= b));
    assert_eq!(report.cells_of("  today")[3], "0");
}

#[test]
fn a_manifest_that_leveldb_would_not_open_is_reported_and_all_tables_are_counted() {
    let manifest = read(&database("levels").join("MANIFEST-000002"));
    let mut damaged = manifest.clone();
    damaged[300] ^= 1;
    let cases = [
        (Some(&b"MANIFEST-000002\n"[..]), &damaged[..], "a record does not match its checksum"),
        (Some(b"MANIFEST-000002\n"), b"", "MANIFEST-000002: the next file number is missing"),
        (Some(b"MANIFEST-000003\n"), &manifest, "MANIFEST-000003: "),
        (Some(b"../MANIFEST-000002\n"), &manifest, "CURRENT names no MANIFEST"),
        (Some(b"MANIFEST-000002"), &manifest, "CURRENT does not end with a newline"),
        (Some(b""), &manifest, "CURRENT does not end with a newline"),
        (Some(b"MANIFEST-000002\r\n"), &manifest, "a carriage return before its newline"),
        (None, &manifest, "no CURRENT names its MANIFEST"),
    ];
    let table = golden_table("table_empty.ldb");
    for (current, manifest, why) in cases {
        let files = [("MANIFEST-000002", manifest), ("000005.ldb", &table)];
        let directory = directory_of("lost", &files);
        if let Some(current) = current {
            fs::write(directory.join("CURRENT"), current).unwrap();
        }
        let report = Report::on(&directory);
        report.line_with("lost: 1 table");
        report.line_with("  000005.ldb");
        let (status, cause) = report.cause();
        assert!(status == 1 && cause.contains("not a database that LevelDB would open"), "{cause}");
        assert!(cause.contains(why), "{cause}");
    }
    // Without its last edit, which adds the table, the database is new.
    let manifest = read(&database("accounts").join("MANIFEST-000002"));
    let files: [(&str, &[u8]); 2] =
        [("CURRENT", b"MANIFEST-000002\n"), ("MANIFEST-000002", &manifest[..50])];
    let report = Report::on(&directory_of("new", &files));
    assert_eq!((report.exit_status, report.lines.len()), (0, 1));
    report.line_with("new: no tables yet, 0 bytes in the log");
}

#[test]
fn a_cause_common_to_several_tables_is_reported_once() {
    let directory = copy_of("levels", "gone");
    for number in [5, 27, 29, 31] {
        fs::remove_file(directory.join(format!("{number:06}.ldb"))).unwrap();
    }
    let report = Report::on(&directory);
    let (status, cause) = report.cause();
    assert!(cause.contains("gone: 000027.ldb and 3 other tables: "), "{cause}");
    assert!(cause.ends_with("a running database removes tables: close or copy it"), "{cause}");
    assert_eq!((status, &answer(&report).bound[..]), (1, ", at least"));
    report.line_with("000029.ldb: unread");
}

#[test]
fn an_unknown_comparators_order_is_guessed_from_the_ranges_if_they_agree() {
    let directory = copy_of("levels", "comparator");
    let manifest = directory.join("MANIFEST-000002");
    name_comparator(&manifest);
    let [unknown, known] = [&directory, &database("levels")].map(|path| Report::on(path));
    assert!(unknown.has("assuming keys sort bytewise or in reverse"));
    let [unknown, known] = [answer(&unknown), answer(&known)];
    assert_eq!((&unknown.bound[..], &known.bound[..]), (", about", ""));
    assert_eq!(unknown.reads.map(|number| number.to_string()), known.reads.map(|n| n.to_string()));

    // Adds a table whose keys descend.
    let (mut edits, _) = records(&read(&manifest));
    edits.push(b"\x07\x06\x05\x09\x0azztrailer!\x0aaatrailer!".into());
    fs::write(&manifest, log_of(&edits)).unwrap();
    let report = Report::what_if(&directory);
    let why = "the order of the keys is unknown";
    report.line_with(&format!("Wasted reads are unknown: {why}"));
}
