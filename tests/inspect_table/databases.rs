//! Databases that other programs wrote: the facts in `tests/golden/databases/README.md`.

use std::{fs, slice};

use crate::inspect_table::inspection::{Scope, Tables};
use crate::{Report, SCOPE, WITH_WHAT_IF, directory_of, golden, golden_table, read};

const NUM_LOOKUPS: u32 = 200_000;
const MEASURED: Scope = Scope { num_lookups: NUM_LOOKUPS as usize, what_if: Tables::None };

struct GoldenDatabase {
    name: &'static str,
    comparator: &'static str,
    /// Level, number, and false positives in per cent.
    tables: &'static [(u32, u64, f64)],
    not_in_use: &'static [u64],
    /// Distinct ones.
    num_keys: &'static str,
    base_lg: u8,
}

const BYTEWISE: &str = "leveldb.BytewiseComparator";

const GOLDEN_DATABASES: [GoldenDatabase; 7] = [
    GoldenDatabase {
        name: "accounts",
        comparator: BYTEWISE,
        tables: &[(2, 5, 0.30)],
        not_in_use: &[],
        num_keys: "4,811",
        base_lg: 11,
    },
    GoldenDatabase {
        name: "classic_level",
        comparator: BYTEWISE,
        tables: &[(2, 5, 0.89)],
        not_in_use: &[],
        num_keys: "3,000",
        base_lg: 11,
    },
    GoldenDatabase {
        name: "dead_tables",
        comparator: BYTEWISE,
        tables: &[(2, 13, 0.79)],
        not_in_use: &[5, 7, 8, 99],
        num_keys: "1,200",
        base_lg: 11,
    },
    GoldenDatabase {
        name: "goleveldb_base_lg_16",
        comparator: BYTEWISE,
        tables: &[(1, 4, 0.91)],
        not_in_use: &[3],
        num_keys: "4,016",
        base_lg: 16,
    },
    GoldenDatabase {
        name: "levels",
        comparator: BYTEWISE,
        tables: &[(0, 27, 0.73), (0, 29, 0.75), (0, 31, 0.80), (1, 25, 0.77), (2, 5, 0.87)],
        not_in_use: &[33],
        num_keys: "7,714",
        base_lg: 11,
    },
    GoldenDatabase {
        name: "long_prefixes",
        comparator: BYTEWISE,
        tables: &[(2, 5, 0.90)],
        not_in_use: &[],
        num_keys: "3,000",
        base_lg: 11,
    },
    GoldenDatabase {
        name: "reverse_comparator",
        comparator: "example.reverse",
        tables: &[(2, 5, 0.87)],
        not_in_use: &[],
        num_keys: "1,501",
        base_lg: 11,
    },
];

/// In per cent. 10 % more or less, and three standard errors.
#[track_caller]
fn assert_is_about(rate: &str, expected: f64) {
    let measured: f64 = rate.parse().unwrap();
    let standard_error = (expected * (100.0 - expected) / f64::from(NUM_LOOKUPS)).sqrt();
    let most_apart = 0.1 * expected + 3.0 * standard_error;
    assert!((measured - expected).abs() <= most_apart, "{measured} %, not {expected} %");
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn databases_are_reported_as_their_manifests_and_engines_say() {
    for database in &GOLDEN_DATABASES {
        let report = Report::on_all(&[golden("databases").join(database.name)], MEASURED);
        assert_eq!((report.exit_status, &report.reason), (0, &None), "{}", database.name);
        let [title, comparator, header, lines @ ..] = &report.lines[..] else { panic!("no lines") };
        let in_use = match database.tables.len() {
            1 => "1 table in use by MANIFEST-".into(),
            number => format!("{number} tables in use by MANIFEST-"),
        };
        assert!(title.contains(database.name) && title.contains(&in_use), "{title}");
        assert_eq!(*comparator, format!("comparator {}", database.comparator));
        assert!(header.starts_with("level "), "{header}");
        for (&(level, number, rate), line) in database.tables.iter().zip(lines) {
            let words = words(line);
            assert_eq!(words[0], level.to_string(), "{line}");
            assert_is_about(words[6], rate);
            assert_eq!(words[8], "identical", "{line}");
            let note = match database.base_lg {
                11 => String::new(),
                base_lg => format!(": base_lg {base_lg}"),
            };
            assert!(line.ends_with(&format!(" {number:06}.ldb{note}")), "{line}");
        }
        for (number, line) in database.not_in_use.iter().zip(&lines[database.tables.len()..]) {
            let end = format!("  not in use  {number:06}.ldb");
            assert!(line.starts_with("    - ") && line.ends_with(&end), "{line}");
        }
        let of_levels = &lines[database.tables.len() + database.not_in_use.len()..];
        assert_eq!(of_levels[0], "");
        let all = of_levels.iter().rfind(|line| line.ends_with(" %")).unwrap();
        assert_eq!(words(all)[3], database.num_keys, "{all}");
        assert!(report.lines.last().unwrap().contains("in the log"), "{:?}", report.lines.last());
        assert!(report.lines.iter().all(|line| line.len() <= 110), "{:#?}", report.lines);
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
        assert_is_about(words(report.value_of("false-positive rate"))[0], rate);
    }
}

#[test]
fn levels_have_their_keys_deletions_and_filter_blocks() {
    let report = Report::on_all(&[golden("databases/levels")], SCOPE);
    let rows: Vec<_> = report.lines.iter().filter(|line| line.ends_with(" %")).collect();
    let levels = [
        ["0", "3", "2,280", "2,189", "180", "10.05", "3,217", "2.0"],
        ["1", "1", "4,848", "4,848", "368", "10.05", "6,823", "2.0"],
        ["2", "1", "700", "677", "0", "10.00", "993", "1.9"],
        ["all", "5", "7,828", "7,714", "548", "10.04", "11,033", "2.0"],
    ];
    assert_eq!(rows.len(), levels.len(), "{:#?}", report.lines);
    for (row, level) in rows.iter().zip(levels) {
        assert_eq!(words(row)[..level.len()], level, "{row}");
    }
    assert!(report.line_with("each distinct user key").ends_with("10.19 bits"));
    report.line_with("each in 3 tables of level 0 and 2 levels below");
    report.line_with("and 1 table not in use");
}

/// Bytes, bits per key and reads, today and then.
#[track_caller]
fn shared_by_for_runs(report: &Report, row: &str) -> [f64; 6] {
    let start = report.lines.iter().position(|line| line.contains("shared by for_runs()")).unwrap();
    let row = report.lines[start..].iter().find(|line| line.starts_with(row)).unwrap();
    let numbers: Vec<f64> =
        row.split_whitespace().map(|word| word.replace(',', "").parse().unwrap_or(0.0)).collect();
    *numbers.last_chunk().unwrap()
}

#[test]
fn the_bytes_of_today_give_fewer_reads_when_levels_share_them() {
    let scope = Scope { what_if: Tables::All, ..MEASURED };
    let report = Report::on_all(&[golden("databases/levels")], scope);
    let rows = ["level 0, 3 tables ", "level 1 ", "level 2 ", "all "];
    let [levels @ .., all] = rows.map(|row| shared_by_for_runs(&report, row));
    let [bytes, bits_per_key, reads, bytes_then, _, reads_then] = all;
    assert_eq!([bytes, bits_per_key].map(|number| number.to_string()), ["11033", "10.04"]);
    report.line_with(&format!("2 levels below, read {reads:.1} data blocks"));
    assert!(bytes_then <= bytes && bytes_then > 0.9 * bytes, "{bytes_then} bytes of {bytes}");
    assert!(reads_then < 0.7 * reads, "{reads_then} reads, not {reads}");
    report.line_with(" times fewer reads");
    // Smaller runs get more bits for each key.
    assert!(levels[2][4] > levels[1][4], "{levels:?}");
    // Rounded each.
    for column in [2, 5] {
        let sum: f64 = levels.iter().map(|level| level[column]).sum();
        assert!((sum - all[column]).abs() < 0.2, "{sum}, not {}", all[column]);
    }
    assert!(report.lines.iter().all(|line| line.len() <= 110), "{:#?}", report.lines);
}

#[test]
fn a_database_without_filters_gets_the_bytes_that_leveldb_would_take() {
    let manifest = read(&golden("databases/accounts/MANIFEST-000002"));
    let table = golden_table("db_snappy_no_filter.ldb");
    let files: [(&str, &[u8]); 3] =
        [("CURRENT", b"MANIFEST-000002\n"), ("MANIFEST-000002", &manifest), ("000005.ldb", &table)];
    let report = Report::on_all(&[directory_of("without_filters", &files)], WITH_WHAT_IF);
    assert_eq!(report.exit_status, 0);
    report.line_with("that LevelDB's filter blocks take with 10 bits per key");
    let [.., reads, bytes_then, bits_per_key, reads_then] = shared_by_for_runs(&report, "level 2 ");
    assert_eq!(reads.to_string(), "1000");
    assert!(bytes_then > 1_500.0 && bits_per_key > 10.0 && reads_then < 20.0);
}

#[test]
fn without_current_all_tables_are_counted_and_a_line_says_so() {
    let report = Report::on_all(&[golden("tables")], SCOPE);
    assert_eq!(report.exit_status, 0);
    report.line_with("no CURRENT here");
    assert_eq!(words(report.line_with("  all "))[1], "9");
}

#[test]
fn a_manifest_that_cannot_be_read_is_said_and_all_tables_are_counted() {
    let table = golden_table("table_empty.ldb");
    let levels = golden("databases/levels");
    let manifest = read(&levels.join("MANIFEST-000002"));
    let mut damaged = manifest.clone();
    damaged[300] ^= 1;
    let cases: [(&[u8], &[u8], &str); 5] = [
        (b"MANIFEST-000002\n", &damaged, "MANIFEST-000002: a record does not match its checksum"),
        (b"MANIFEST-000002\n", b"", "MANIFEST-000002: the next file number is missing"),
        (b"MANIFEST-000003\n", &manifest, "MANIFEST-000003: "),
        (b"../MANIFEST-000002\n", &manifest, "CURRENT names no MANIFEST"),
        (b"MANIFEST-000002", &manifest, "CURRENT names no MANIFEST"),
    ];
    for (i, (current, manifest, why)) in cases.into_iter().enumerate() {
        let directory = directory_of(
            &format!("lost_{i}"),
            &[("CURRENT", current), ("MANIFEST-000002", manifest), ("000005.ldb", &table)],
        );
        let report = Report::on_all(&[directory], SCOPE);
        assert!(report.lines[1].starts_with(why), "{}", report.lines[1]);
        assert!(report.lines[1].contains("all tables are counted"), "{}", report.lines[1]);
        assert!(report.lines[3].ends_with("identical   000005.ldb"), "{}", report.lines[3]);
        assert_eq!(report.exit_status, 1);
        assert_eq!(report.reason(), "1 directory could not be read as a database");
    }
}

#[test]
fn tables_that_are_gone_get_a_line_with_a_hint() {
    let levels = golden("databases/levels");
    let names = ["CURRENT", "MANIFEST-000002", "000025.ldb"];
    let files = names.map(|name| (name, read(&levels.join(name))));
    let files = files.each_ref().map(|(name, contents)| (*name, &contents[..]));
    let report = Report::on_all(&[directory_of("gone", &files)], WITH_WHAT_IF);
    for number in [5, 27, 29, 31] {
        let line = report.line_with(&format!(" {number:06}.ldb: "));
        assert!(line.contains("a running database removes tables"), "{line}");
    }
    assert!(report.line_with("000025.ldb").ends_with("identical   000025.ldb"));
    assert_eq!((report.exit_status, report.reason()), (1, "4 of 5 tables could not be read"));
}

#[test]
fn a_new_database_has_no_tables_and_nothing_wrong() {
    let manifest = read(&golden("databases/accounts/MANIFEST-000002"));
    // Without its last edit, in which the table comes.
    let directory = directory_of(
        "new",
        &[("CURRENT", b"MANIFEST-000002\n"), ("MANIFEST-000002", &manifest[..50])],
    );
    let report = Report::on_all(slice::from_ref(&directory), WITH_WHAT_IF);
    assert_eq!(report.exit_status, 0, "{:?}", report.reason);
    assert!(report.lines[0].contains("0 tables in use"), "{}", report.lines[0]);
    fs::remove_file(directory.join("CURRENT")).unwrap();
    let report = Report::on_all(&[directory], SCOPE);
    assert_eq!(report.exit_status, 1);
    assert!(report.lines[0].contains("no table in this directory"), "{}", report.lines[0]);
}
