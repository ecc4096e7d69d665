//! Databases that other programs wrote: the facts in `tests/golden/databases/README.md`.

use std::fs;

use crate::inspect_table::Questions;
use crate::tables::with_metaindex;
use crate::terminal::wrapped;
use crate::{
    BRIEFLY, MEASURED, Report, copy_of, database, directory_of, golden, golden_table, read,
};

struct GoldenDatabase {
    name: &'static str,
    /// Level, number, and false positives in per cent.
    tables: &'static [(u32, u64, f64)],
    not_in_use: &'static str,
    num_keys: &'static str,
}

const GOLDEN_DATABASES: [GoldenDatabase; 7] = [
    GoldenDatabase { name: "accounts", tables: &[(2, 5, 0.30)], not_in_use: "", num_keys: "4,811" },
    GoldenDatabase {
        name: "classic_level",
        tables: &[(2, 5, 0.89)],
        not_in_use: "",
        num_keys: "3,000",
    },
    GoldenDatabase {
        name: "dead_tables",
        tables: &[(2, 13, 0.79)],
        not_in_use: "000005.ldb, 000007.ldb, 000008.ldb, 000099.ldb",
        num_keys: "1,200",
    },
    GoldenDatabase {
        name: "goleveldb_base_lg_16",
        tables: &[(1, 4, 0.91)],
        not_in_use: "000003.ldb",
        num_keys: "4,016",
    },
    GoldenDatabase {
        name: "levels",
        tables: &[(0, 27, 0.73), (0, 29, 0.75), (0, 31, 0.80), (1, 25, 0.77), (2, 5, 0.87)],
        not_in_use: "000033.ldb",
        num_keys: "7,714",
    },
    GoldenDatabase {
        name: "long_prefixes",
        tables: &[(2, 5, 0.90)],
        not_in_use: "",
        num_keys: "3,000",
    },
    GoldenDatabase {
        name: "reverse_comparator",
        tables: &[(2, 5, 0.87)],
        not_in_use: "",
        num_keys: "1,501",
    },
];

/// In per cent, and as often asked. 10% more or less, and three standard errors.
#[track_caller]
fn assert_is_about(rate: &str, expected: f64, num_tables: usize) {
    let measured: f64 = rate.trim_end_matches('%').parse().unwrap();
    let num_lookups = f64::from(u32::try_from(MEASURED.num_lookups / num_tables).unwrap());
    let standard_error = (expected * (100.0 - expected) / num_lookups).sqrt();
    let most_apart = 0.1 * expected + 3.0 * standard_error;
    assert!((measured - expected).abs() <= most_apart, "{measured}%, not {expected}%");
}

#[test]
fn databases_are_reported_as_their_manifests_and_engines_say() {
    for golden in &GOLDEN_DATABASES {
        let name = golden.name;
        let report = Report::on_one(&database(name), MEASURED);
        assert_eq!((report.exit_status, &report.causes), (0, &vec![]), "{name}");
        let s = if golden.tables.len() == 1 { "" } else { "s" };
        report.line_with(&format!("{name}: {} table{s} in use", golden.tables.len()));
        for &(level, number, rate) in golden.tables {
            let cells = report.cells_of(&format!("  {number:06}.ldb"));
            assert_eq!(cells[0], level.to_string());
            assert_is_about(cells[5], rate, golden.tables.len());
        }
        let not_in_use = report.lines.iter().find_map(|line| line.strip_prefix("Not in use: "));
        assert_eq!(not_in_use.unwrap_or_default(), golden.not_in_use);
        let totals = report.lines.iter().position(|line| line.starts_with("Bytes: ")).unwrap() - 1;
        assert_eq!(report.lines[totals].split_whitespace().nth(3), Some(golden.num_keys));
        let comparator = match name {
            "reverse_comparator" => "example.reverse",
            _ => "leveldb.BytewiseComparator",
        };
        report.line_with(&format!("Comparator: {comparator}"));
        assert!(!report.has("log"), "{:#?}", report.lines);
        let tables = format!("of the keys of {} table{s}, byte for byte", golden.tables.len());
        report.line_with(&tables);
    }
    let report = Report::on_one(&database("goleveldb_base_lg_16"), BRIEFLY);
    assert!(report.line_with("000004.ldb").ends_with(": one per 64 KiB"));
}

#[test]
fn levels_have_their_keys_deletions_and_filters() {
    let report = Report::on_one(&database("levels"), BRIEFLY);
    let start = report.lines.iter().position(|line| line.starts_with("level ")).unwrap() + 1;
    let levels = [
        ["0", "3", "2,280", "2,189", "180", "10.05", "3,217", "2.0%"],
        ["1", "1", "4,848", "4,848", "368", "10.05", "6,823", "2.0%"],
        ["2", "1", "700", "677", "0", "10.00", "993", "1.9%"],
        ["all", "5", "7,828", "7,714", "548", "10.04", "11,033", "2.0%"],
    ];
    for (line, level) in report.lines[start..].iter().zip(levels) {
        let cells: Vec<_> = line.split_whitespace().collect();
        assert_eq!(cells[..level.len()], level, "{line}");
    }
}

#[test]
fn golden_tables_have_the_false_positives_that_were_measured_elsewhere() {
    let rates = [
        ("db_bloom10", 0.89),
        ("db_bloom10_large_values", 0.22),
        ("db_bloom16_block1k", 0.11),
        ("db_snappy_bloom10", 1.00),
        ("db_snappy_bloom16_large_values", 1.79),
        ("goleveldb_bloom10_user_keys", 0.91),
        ("table_bloom10_user_keys", 0.94),
    ];
    for (table, rate) in rates {
        let path = golden("tables").join(table).with_extension("ldb");
        let report = Report::on_one(&path, MEASURED);
        let words = report.value_of("false-positive rate");
        assert_is_about(words.split(' ').next().unwrap(), rate, 1);
    }
}

/// The answer: what is before the number, and the number.
#[track_caller]
pub(crate) fn answer(report: &Report) -> (&str, f64) {
    let start = "1,000 lookups of absent keys read ";
    let answer = report.line_with(start).strip_prefix(start).unwrap();
    let answer = answer.strip_suffix(" data blocks").unwrap();
    let (bound, number) = answer.rsplit_once(' ').unwrap_or(("", answer));
    (bound, number.parse().unwrap())
}

#[test]
fn lookups_read_what_get_reads_and_nothing_is_said_of_what_cannot_be_known() {
    for what_if in [false, true] {
        let on = |name| Report::on_one(&database(name), Questions { what_if, ..MEASURED });
        for (name, reads) in [("in_order", 8.4), ("partly_covered", 16.9), ("repaired", 23.1)] {
            let report = on(name);
            let (bound, number) = answer(&report);
            assert!(bound.is_empty() && (0.9..1.1).contains(&(number / reads)), "{name}: {number}");
            assert_eq!(report.exit_status, 0);
        }
        for (name, why, cause) in [
            ("own_policy", "the policy is \"example.OwnFilter\"", "of an unknown policy"),
            ("prefix_filters", "today's filters hide keys", "LevelDB does not find them"),
        ] {
            let report = on(name);
            assert_eq!(
                report.lines[1],
                format!("What lookups of absent keys read is unknown: {why}")
            );
            assert_eq!(report.has(&format!("No comparison: {why}.")), what_if);
            assert!(!report.has("today  ") && !report.has("times"), "{:#?}", report.lines);
            assert_eq!(report.cells_of("000005.ldb")[5], "-");
            let (status, line) = report.cause();
            assert!(line.contains("000007.ldb and 1 other table: ") && line.contains(cause));
            assert_eq!(status, 1);
        }
        let report = on("log_only");
        let [line] = &report.lines[..] else { panic!("{:#?}", report.lines) };
        assert!(line.ends_with("log_only: no tables yet, 43,526 bytes in the log"), "{line}");
        assert_eq!(report.exit_status, 0);
        let report = on("rocksdb");
        assert!(report.lines.is_empty(), "{:#?}", report.lines);
        assert!(report.cause().1.ends_with("rocksdb: a database of RocksDB, not of LevelDB"));
        assert_eq!(report.cause().0, 1);
    }
    Report::on_one(&database("in_order"), BRIEFLY).line_with("only in the log, which has 24,049");
}

#[test]
fn a_table_that_cannot_be_read_leaves_a_lower_bound_and_no_comparison() {
    let directory = copy_of("partly_covered", "lost_table");
    let path = directory.join("000005.ldb");
    fs::write(&path, &read(&path)[..1_000]).unwrap();
    for what_if in [false, true] {
        let report = Report::on_one(&directory, Questions { what_if, ..MEASURED });
        let (bound, number) = answer(&report);
        // Of 16.9, all tables together.
        assert!(bound == "at least" && (3.0..7.0).contains(&number), "{bound} {number}");
        report.line_with("What more they read is unknown: 1 of 4 tables cannot be read.");
        assert_eq!(report.has("No comparison: 1 of 4 tables cannot be read."), what_if);
        assert!(!report.has("today") && !report.has("reads"), "{:#?}", report.lines);
        assert_eq!(report.cells_of("  all  ")[1], "4");
        let (status, cause) = report.cause();
        assert!(cause.contains("lost_table: 000005.ldb: not a LevelDB table"), "{cause}");
        assert_eq!(status, 1);
    }
}

#[test]
fn lines_have_80_columns_at_most() {
    for entry in fs::read_dir(golden("databases")).unwrap() {
        let path = entry.unwrap().path();
        for what_if in [false, true] {
            let report = Report::on_one(&path, Questions { what_if, ..BRIEFLY });
            let directory = path.parent().unwrap().display().to_string();
            let causes: Vec<_> = report.causes.iter().flat_map(|line| wrapped(line, "")).collect();
            for line in report.lines.iter().chain(&causes) {
                let line = line.replace(&directory, "");
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}

#[test]
fn a_database_without_filters_is_shown_what_leveldbs_would_give() {
    let directory = copy_of("accounts", "without_filters");
    let path = directory.join("000005.ldb");
    fs::write(&path, with_metaindex(read(&path), b"filter.", b"nothing")).unwrap();
    let report = Report::on_one(&directory, BRIEFLY);
    assert_eq!(report.exit_status, 0);
    assert_eq!(answer(&report).1.to_string(), "999.8");
    assert_eq!(report.cells_of("today")[1], "0");
    assert_eq!(report.cells_of("10 bits per key")[1], "6,482");
}

#[test]
fn a_manifest_that_leveldb_would_not_open_is_said_and_all_tables_are_counted() {
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
        let report = Report::on_one(&directory, BRIEFLY);
        report.line_with("lost: 1 table, all counted: no MANIFEST tells");
        report.line_with("  000005.ldb");
        let (status, cause) = report.cause();
        assert!(
            cause.contains("not a database that LevelDB opens") && cause.contains(why),
            "{cause}"
        );
        assert_eq!(status, 1);
    }
}

#[test]
fn one_cause_for_many_tables_is_said_once() {
    let directory = copy_of("levels", "gone");
    for number in [5, 27, 29, 31] {
        fs::remove_file(directory.join(format!("{number:06}.ldb"))).unwrap();
    }
    let report = Report::on_one(&directory, BRIEFLY);
    let (status, cause) = report.cause();
    assert!(cause.contains("gone: 000027.ldb and 3 other tables: "), "{cause}");
    assert!(cause.contains("a running database removes tables"), "{cause}");
    assert_eq!((status, answer(&report).0), (1, "at least"));
    report.line_with("000029.ldb: unread");
}

#[test]
fn the_order_of_keys_is_told_from_the_ranges_where_only_the_program_knows_it() {
    let directory = copy_of("levels", "comparator");
    crate::damage::name_comparator(&directory.join("MANIFEST-000002"));
    let report = Report::on_one(&directory, MEASURED);
    let (bound, number) = answer(&report);
    let (_, expected) = answer(&Report::on_one(&database("levels"), MEASURED));
    assert_eq!((bound, number.to_string()), ("about", expected.to_string()));
}

#[test]
fn a_new_database_has_no_tables_and_nothing_wrong() {
    let manifest = read(&database("accounts").join("MANIFEST-000002"));
    // Without its last edit, in which the table comes.
    let files: [(&str, &[u8]); 2] =
        [("CURRENT", b"MANIFEST-000002\n"), ("MANIFEST-000002", &manifest[..50])];
    let report = Report::on_one(&directory_of("new", &files), BRIEFLY);
    assert_eq!((report.exit_status, report.lines.len()), (0, 1));
    assert!(report.lines[0].ends_with("new: no tables yet, 0 bytes in the log"));
    let report = Report::on_one(&directory_of("empty", &[("LOG", b"")]), BRIEFLY);
    assert!(report.lines.is_empty() && report.cause().1.contains("empty: no table"));
    assert_eq!(report.exit_status, 1);
}
