//! Databases of which something is damaged, unknown or changing: every table stays in the report.

use std::cell::Cell;
use std::fs;

use super::Report;
use crate::command_line::Options;
use crate::database::Group;
use crate::inspect::report;
use crate::rewrite::rewrite;
use crate::tests::directories::{
    blocks, copy_of, correct_checksum, database, directory_of, files, golden_table, read,
};
use crate::tests::drawn;
use crate::tests::manifest::{log_of, manifest_of_tables};
use crate::tests::rewrite::run_on;

#[test]
fn damaged_tables_are_read_or_refused_and_stay_as_they_are() {
    let mut number = drawn(8);
    let mut num_read = 0;
    let directory = directory_of("damaged", &[]);
    let path = directory.join("000005.ldb");
    for file in
        ["db_snappy_bloom16_large_values.ldb", "table_bloom10_user_keys.ldb"].map(golden_table)
    {
        let blocks = blocks(&file);
        for _ in 0..50 {
            let mut damaged = file.clone();
            // Often one of the last bytes, which lead to all others.
            let num_candidates = if number(2) == 0 { 4 } else { blocks.len() };
            let block = blocks[blocks.len() - 1 - number(num_candidates)].clone();
            for _ in 0..=number(3) {
                damaged[block.start + number(block.len())] ^= 1 << number(8);
            }
            let is_footer = block.end == file.len();
            let is_corrected = !is_footer && number(2) > 0;
            if is_corrected {
                correct_checksum(&mut damaged[block]);
            }
            fs::write(&path, &damaged).unwrap();
            num_read += usize::from(!Report::on(&path).lines.is_empty());
            let run = run_on(&path, if number(2) == 0 { &[] } else { &["--add"] });
            if read(&path) != damaged {
                // Only of a footer's padding nobody knows that it is damaged.
                assert!(run.causes.is_empty() && (is_footer || is_corrected), "{:?}", run.lines);
            } else if !is_footer && !is_corrected {
                assert_eq!(run.causes.len(), 1, "{:?}", run.lines);
            }
        }
    }
    // Some damage changes only values or filters.
    assert!((5..95).contains(&num_read), "{num_read}");
}

/// As a running database does.
#[test]
fn a_database_that_changes_while_it_is_read_gets_no_figures() {
    let directory = copy_of(&database("accounts"));
    let is_first = Cell::new(true);
    let read = || {
        if !is_first.take() {
            fs::write(directory.join("000011.log"), log_of(&[b"more keys".into()])).unwrap();
        }
        Group::of_directory(&directory)
    };
    let error = report(&read, &Options::default()).unwrap_err();
    assert!(error.ends_with("written to while it was read: close it and run again"), "{error}");
    // Whoever opens it need not write.
    let is_open = Cell::new(true);
    let read = || {
        is_open.set(!is_open.get());
        Ok(Group { is_open: is_open.get(), ..Group::of_paths(&[directory.join("000005.ldb")])? })
    };
    assert_eq!(report(&read, &Options::default()).unwrap().1, Vec::<String>::new());
    let error = rewrite(&read, &Options::default()).unwrap_err();
    assert!(error.ends_with("000005.ldb: a program has it open: close it"), "{error}");
}

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
    let table = golden_table("table_empty.ldb");
    for (current, manifest, why) in [
        (Some(&b"MANIFEST-000002\n"[..]), &damaged[..], "a record does not match its checksum"),
        (Some(b"MANIFEST-000002\n"), b"", "MANIFEST-000002: the next file number is missing"),
        (Some(b"MANIFEST-000003\n"), &manifest, "MANIFEST-000003: "),
        (Some(b"../MANIFEST-000002\n"), &manifest, "CURRENT names no MANIFEST"),
        (Some(b"MANIFEST-000002"), &manifest, "CURRENT does not end with a newline"),
        (Some(b"MANIFEST-000002\r\n"), &manifest, "a carriage return before its newline"),
        (None, &manifest, "no CURRENT names its MANIFEST"),
    ] {
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
    let new = manifest_of_tables(&[]);
    let files = [("CURRENT", &b"MANIFEST-000002\n"[..]), ("MANIFEST-000002", &new)];
    let report = Report::on(&directory_of("new", &files));
    assert!(report.causes.is_empty() && report.has("new: no tables, and no keys in a log"));
}

/// Without a word on what the database may be.
#[cfg(unix)]
#[test]
fn a_manifest_that_may_not_be_read_is_reported_as_such() {
    use std::os::unix::fs::PermissionsExt;

    let directory = copy_of(&database("accounts"));
    let manifest = directory.join("MANIFEST-000002");
    fs::set_permissions(&manifest, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read it.
    let Err(error) = fs::read(manifest) else { return };
    let cause = format!("a copy: MANIFEST-000002: {error}");
    assert!(Report::on(&directory).cause().ends_with(&cause));
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
