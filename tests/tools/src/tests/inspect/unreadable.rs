//! Databases of which something cannot be read or is unknown.

use std::{fs, slice};

use super::damage::name_comparator;
use super::manifest::{log_of, records};
use super::{Answer, Report, answer, copy_of, database, directory_of, golden_table, read};
use crate::database::Group;
use crate::inspect::Options;

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
        let Err(error) = fs::read(directory.join(file)) else {
            eprintln!("skipped: the superuser may read {file}");
            continue;
        };
        let report = Report::on(&directory);
        assert!(report.lines.is_empty(), "{:#?}", report.lines);
        assert_eq!(report.exit_status, 1);
        assert!(report.cause().1.ends_with(&format!("forbidden: {file}: {error}")));
    }
}

#[test]
fn a_table_is_in_the_file_that_leveldb_opens_first() {
    for [there, other, used] in [
        ["000005.ldb", "0000005.ldb", "000005.ldb"],
        ["000005.ldb", "000005.sst", "000005.ldb"],
        ["000005.sst", "0000005.ldb", "000005.sst"],
        ["5.ldb", "000005.LDB", "000005.ldb"],
    ] {
        let directory = copy_of("accounts", "names");
        fs::rename(directory.join("000005.ldb"), directory.join(there)).unwrap();
        fs::write(directory.join(other), b"not a table").unwrap();
        let group = Group::of_directory(&directory).unwrap();
        assert_eq!(group.tables[0].name, used);
        assert!(group.not_in_use.contains(&other.into()), "{:?}", group.not_in_use);
        assert_eq!(Report::on(&directory).exit_status, u8::from(there != used));
    }
}

#[test]
fn a_cause_common_to_several_tables_is_reported_once() {
    let directory = copy_of("levels", "gone");
    for number in [5, 27, 29, 31] {
        fs::remove_file(directory.join(format!("{number:06}.ldb"))).unwrap();
    }
    let paths = vec![directory.to_path_buf()];
    let options = Options { tables: true, paths, ..Options::default() };
    let report = Report::of(&options, 1_000);
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
    let (unknown, known) = (answer(&Report::on(&directory)), answer(Report::on_golden("levels")));
    assert_eq!((&unknown.bound[..], &known.bound[..]), (" (the order of keys is guessed)", ""));
    assert_eq!(unknown.reads.map(|number| number.to_string()), known.reads.map(|n| n.to_string()));

    // Adds a table whose keys descend.
    let (mut edits, _) = records(&read(&manifest));
    edits.push(b"\x07\x06\x05\x09\x0azztrailer!\x0aaatrailer!".into());
    fs::write(&manifest, log_of(&edits)).unwrap();
    let report = Report::with(slice::from_ref(&directory), true, 1_000);
    let why = "the order of the keys is unknown";
    report.line_with(&format!("UNKNOWN: {why}."));
}
