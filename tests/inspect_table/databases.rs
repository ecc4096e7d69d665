//! Databases written by other programs, with the facts in `tests/golden/databases/README.md`.

use std::collections::BTreeMap;
use std::{fs, slice};

use super::damage::name_comparator;
use super::manifest::{log_of, records};
use super::tables::with_metaindex;
use super::{
    NUM_LOOKUPS, Report, copy_of, database, directory_of, golden, golden_table, number_in, read,
};
use crate::inspect_table::database::Group;
use crate::inspect_table::lookups::RANDOM;
use crate::inspect_table::survey::Survey;
use crate::rewrite_filters;
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

/// For each table, how many random hashes in 100 match.
fn rates(group: &Group) -> BTreeMap<String, f64> {
    let survey = Survey::of(group, (NUM_LOOKUPS, false), |_| ());
    let rate = |i: usize| 100.0 * survey.table(i).unwrap().reads.unwrap()[RANDOM];
    group.tables.iter().enumerate().map(|(i, table)| (table.name.clone(), rate(i))).collect()
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
        let report = Report::tables(&database(name));
        assert_eq!((report.exit_status, &report.causes), (0, &vec![]), "{name}");
        let rates = rates(&Group::of_directory(&database(name)).unwrap());
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
                let line = report.lines.iter().skip(1).find(is_level).unwrap();
                assert!(line.split_whitespace().take(cells.len()).eq(cells), "{line}");
            }
        }
    }
    for (table, rate) in GOLDEN_TABLES {
        let path = golden("tables").join(table).with_extension("ldb");
        let rates = rates(&Group::of_files(&[path]).unwrap());
        assert_is_about(*rates.first_key_value().unwrap().1, rate, 1);
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
    let start = "Data blocks read in vain per 1,000 lookups";
    let bound = report.line_with(start).strip_prefix(start).unwrap();
    let bound = bound.strip_suffix(":").unwrap().to_string();
    let line = |keys: &str| report.line_with(keys).split_once(keys).unwrap();
    let [missing, existing] = ["  of keys that do not exist", "  of keys that exist"].map(line);
    let usual = missing.1.strip_prefix("; ").and_then(|usual| usual.split(' ').next());
    // Where there are no such keys.
    let number = |number| if number == "-" { -1.0 } else { number_in(number) };
    let reads = [missing.0.trim(), existing.0.trim(), usual.unwrap_or("-")].map(number);
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
            assert_eq!(report.lines[1], format!("UNKNOWN: {why}."));
            assert!(!report.has("  today") && !report.has("  of keys"), "{:#?}", report.lines);
            let (status, line) = report.cause();
            assert!(line.contains("000007.ldb and 1 other table: ") && line.contains(cause));
            assert_eq!(status, 1);
        }
        let report = on(&database("log_only"));
        let words = "log_only: no tables yet All keys are still in the log (43,526 bytes).";
        assert!(report.has(words) && report.lines.len() == 2, "{:#?}", report.lines);
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

/// Name, wasted reads of missing and of existing keys, and bytes, of the lines after a title.
fn rows(report: &Report, title: &str) -> Vec<(String, f64, f64)> {
    let is_title = |line: &String| line.split_whitespace().eq(title.split(' '));
    let start = report.lines.iter().position(is_title).unwrap();
    let bytes = if title.contains("random") { 3 } else { 2 };
    let row = |line: &String| {
        let cells: Vec<_> = line.split_whitespace().collect();
        let is_number = |cell: &&str| cell.trim_start_matches('<').starts_with(char::is_numeric);
        cells.first().filter(|cell| is_number(cell))?;
        let name = cells[bytes + 1..].iter().filter(|cell| !cell.ends_with('%'));
        let name = name.copied().collect::<Vec<_>>().join(" ");
        Some((name, number_in(cells[0]) + number_in(cells[1]), number_in(cells[bytes])))
    };
    report.lines[start + 1..].iter().map_while(row).collect()
}

#[test]
fn recommended_filters_help_and_no_other_row_of_the_same_writer_is_smaller_and_better() {
    for name in ["counters", "decimals", "posts", "levels", "partly_covered", "object_ids"] {
        let report = Report::what_if(&database(name));
        let recommended = rows(&report, "missing existing filter bytes change");
        let all = rows(&report, "missing existing random filter bytes");
        assert_eq!(recommended[0].0, "today");
        assert_eq!(recommended[0].1, all[0].1);
        assert!((2..=5).contains(&recommended.len()), "{:#?}", report.lines);
        for (writer, reads, bytes) in &recommended[1..] {
            let of_writer = all.iter().filter(|(name, ..)| name.starts_with(&writer[..]));
            assert!(of_writer.clone().count() >= 6);
            assert!(of_writer.clone().any(|row| (row.1, row.2) == (*reads, *bytes)));
            assert!(of_writer.clone().all(|row| row.1 >= *reads || row.2 >= *bytes), "{writer}");
            let (_, reads_today, bytes_today) = recommended[0];
            assert!(*reads < reads_today - 4.0 || *bytes <= 0.8 * bytes_today, "{writer}");
        }
    }
    let report = Report::on(&database("counters"));
    assert!(
        15.0 * rows(&report, "missing existing filter bytes change")[2].1
            < answer(&report).reads[0]
    );
    report.line_with(
        "Why: your keys have 8 bytes and most differ only in the last, and a filter has",
    );
    report.line_with("C++: options.filter_policy = NewBloomFilterPolicy(");
    report.line_with("Engine: with_base_lg(InternalKeyPolicy::new(BloomFilterPolicy::new(");
    report.line_with("  .tuned().with_min_filter_len(2_048)), 19).with_min_keys(4_000)");
}

#[test]
fn the_second_line_is_a_verdict() {
    for (name, verdict) in [
        ("accounts", "OK: the filters work, and nothing needs to be done."),
        ("counters", "PROBLEM: the filters fail for keys like yours; others help, see below."),
        ("decimals", "OK: the filters work; others would save some more reads."),
        ("object_ids", "PROBLEM: the filters fail for keys like yours; others help, see below."),
        ("posts", "OK: the filters work; others would save some more reads."),
    ] {
        let report = Report::on(&database(name));
        assert_eq!(report.lines[1], verdict, "{name}");
        let has_reason = report.lines.iter().any(|line| line.starts_with("Why: "));
        assert_eq!(has_reason, !["accounts", "posts"].contains(&name));
        assert_eq!(report.has("Tables keep their filters until"), name != "accounts");
    }
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
    assert!(report.has("lost_table: 4 tables in use, ? keys"), "{:#?}", report.lines);
    report.line_with("UNKNOWN: 1 of 4 tables cannot be read.");
    assert!(!report.has("today") && !report.has("Other filters"), "{:#?}", report.lines);
    assert!(report.cause().1.contains("lost_table: 000005.ldb: not a LevelDB table"));
    assert_eq!(report.cause().0, 1);
}

#[test]
fn a_report_has_24_lines_of_80_columns_at_most() {
    for entry in fs::read_dir(golden("databases")).unwrap() {
        let path = entry.unwrap().path();
        for what_if in [false, true] {
            let report = Report::with(slice::from_ref(&path), what_if, 1_000);
            let causes = report.causes.iter().flat_map(|cause| wrapped(cause, "  "));
            for line in report.lines.iter().cloned().chain(causes) {
                assert!(line.chars().count() <= 80, "{line}");
            }
            assert!(what_if || report.lines.len() <= 24, "{:#?}", report.lines);
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
    assert!(report.lines[1].starts_with("NO FILTERS: "), "{:#?}", report.lines);
    // Some absent keys are outside the table's range.
    assert!(answer(&report).reads.iter().zip([999.0, 0.0, -1.0]).all(|(a, b)| *a >= b));
    assert_eq!(report.cells_of("  today")[2..], ["0", "today"]);
    report.line_with("C++: options.filter_policy = NewBloomFilterPolicy(");
}

#[test]
fn a_database_rewritten_as_recommended_needs_nothing_and_reads_as_the_row_says() {
    for name in ["counters", "object_ids"] {
        let directory = copy_of(name, "as_recommended");
        let report = Report::on(&directory);
        let row = report.cells_of("  these files as they are; engines")[..3].join(" ");
        let command = report.line_with("--example rewrite_filters -- ");
        let args = command.split_once(" -- ").unwrap().1.split(' ').filter(|&arg| arg != "DIR");
        let args = args.map(Into::into).chain([directory.as_os_str().to_owned()]);
        let options = rewrite_filters::Options::parse(args).unwrap().unwrap();
        let read = || Group::of_directory(&directory);
        rewrite_filters::rewrite(read, &options, NUM_LOOKUPS).unwrap();
        let report = Report::on(&directory);
        assert_eq!(report.lines[1], "OK: the filters work, and nothing needs to be done.");
        let first = |line: &String| line.split_whitespace().next().unwrap().to_string();
        assert_eq!(report.lines[3..6].iter().map(first).collect::<Vec<_>>().join(" "), row);
    }
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
        report.line_with("lost: 1 table (no MANIFEST says which are in use), 0 keys");
        report.line_with("OK: the tables have no keys.");
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
    report.line_with("new: no tables, and no keys in a log");
}

/// Without a word on what the database may be.
#[cfg(unix)]
#[test]
fn a_manifest_that_may_not_be_read_is_reported_as_such() {
    use std::os::unix::fs::PermissionsExt;

    for file in ["MANIFEST-000002", "CURRENT"] {
        let directory = copy_of("accounts", "forbidden");
        fs::set_permissions(directory.join(file), fs::Permissions::from_mode(0o000)).unwrap();
        // The superuser may read all.
        if let Err(error) = fs::read(directory.join(file)) {
            let report = Report::on(&directory);
            assert!(report.lines.is_empty(), "{:#?}", report.lines);
            assert_eq!(report.exit_status, 1);
            assert!(report.cause().1.ends_with(&format!("forbidden: {file}: {error}")));
        }
    }
}

#[test]
fn a_cause_common_to_several_tables_is_reported_once() {
    let directory = copy_of("levels", "gone");
    for number in [5, 27, 29, 31] {
        fs::remove_file(directory.join(format!("{number:06}.ldb"))).unwrap();
    }
    let report = Report::tables(&directory);
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
    let [unknown, known] = [answer(&unknown), answer(&known)];
    assert_eq!(
        (&unknown.bound[..], &known.bound[..]),
        (", about (if keys sort bytewise or in reverse)", "")
    );
    assert_eq!(unknown.reads.map(|number| number.to_string()), known.reads.map(|n| n.to_string()));

    // Adds a table whose keys descend.
    let (mut edits, _) = records(&read(&manifest));
    edits.push(b"\x07\x06\x05\x09\x0azztrailer!\x0aaatrailer!".into());
    fs::write(&manifest, log_of(&edits)).unwrap();
    let report = Report::what_if(&directory);
    let why = "the order of the keys is unknown";
    report.line_with(&format!("UNKNOWN: {why}."));
}
