//! Databases of which something cannot be read or is unknown.

use std::fs;

use super::Report;
use crate::database::Group;
use crate::tests::directories::{copy_of, database, directory_of, files, golden_table, read};
use crate::tests::rewrite::run_on;

#[test]
fn an_unreadable_table_leaves_facts_of_the_others() {
    let directory = copy_of(&database("partly_covered"));
    let path = directory.join("000005.ldb");
    fs::write(&path, &read(&path)[..1_000]).unwrap();
    let before = files(&directory);
    let report = Report::with_tables(&directory);
    assert!(report.has(": 4 tables in use, 3,000 entries in those that can be read"));
    assert!(report.has("UNREADABLE: 1 of 4 tables; what lookups read is not known."));
    assert!(!report.has("today") && !report.has("%"), "{:#?}", report.lines);
    assert!(report.cause().contains("000005.ldb: not a LevelDB table"));
    assert_eq!(report.advice(), None);
    assert!(run_on(&directory, &["--add"]).cause().contains("not a LevelDB table"));
    assert_eq!(files(&directory), before);
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
        assert!(report.has("lost: 1 table (no MANIFEST says which are in use), 0 entries"));
        assert_eq!(report.advice(), None);
        let cause = report.cause();
        assert!(cause.contains("not a database that LevelDB would open"), "{cause}");
        assert!(cause.contains(why), "{cause}");
    }
    // Without its last edit, which adds the table, the database is new.
    let manifest = read(&database("accounts").join("MANIFEST-000002"));
    let files: [(&str, &[u8]); 2] =
        [("CURRENT", b"MANIFEST-000002\n"), ("MANIFEST-000002", &manifest[..50])];
    let report = Report::on(&directory_of("new", &files));
    assert!(report.causes.is_empty() && report.lines.len() == 1);
    assert!(report.has("new: no tables, and no keys in a log"));
}

/// Without a word on what the database may be.
#[cfg(unix)]
#[test]
fn a_manifest_that_may_not_be_read_is_reported_as_such() {
    use std::os::unix::fs::PermissionsExt;

    for file in ["MANIFEST-000002", "CURRENT"] {
        let directory = copy_of(&database("accounts"));
        fs::set_permissions(directory.join(file), fs::Permissions::from_mode(0o000)).unwrap();
        let Err(error) = fs::read(directory.join(file)) else {
            eprintln!("skipped: the superuser may read {file}");
            continue;
        };
        let report = Report::on(&directory);
        assert!(report.lines.is_empty(), "{:#?}", report.lines);
        assert!(report.cause().ends_with(&format!("a copy: {file}: {error}")));
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
        let directory = copy_of(&database("accounts"));
        fs::rename(directory.join("000005.ldb"), directory.join(there)).unwrap();
        fs::write(directory.join(other), b"not a table").unwrap();
        let group = Group::of_directory(&directory).unwrap();
        assert_eq!(group.tables[0].name, used);
        assert!(group.not_in_use.contains(&other.into()), "{:?}", group.not_in_use);
        assert_eq!(Report::on(&directory).causes.is_empty(), there == used);
    }
}
