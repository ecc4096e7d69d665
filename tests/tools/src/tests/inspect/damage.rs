//! Damaged files: every table stays in the report, whatever the damage.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::Report;
use crate::command_line::Options;
use crate::database::Group;
use crate::inspect::report;
use crate::rewrite::rewrite;
use crate::tests::contents::table_of_database;
use crate::tests::directories::{
    blocks, correct_checksum, database, directory_of, golden_table, read,
};
use crate::tests::manifest::{log_of, manifest_of_tables, records};
use crate::tests::random_input::drawn;

fn assert_damaged_tables_are_read_or_refused(num_damaged: usize) {
    let mut number = drawn(8);
    let mut num_read = 0;
    let directory = directory_of("damaged", &[]);
    let path = directory.join("000005.ldb");
    for file in
        ["db_snappy_bloom16_large_values.ldb", "table_bloom10_user_keys.ldb"].map(golden_table)
    {
        let blocks = blocks(&file);
        for _ in 0..num_damaged / 2 {
            let mut damaged = file.clone();
            // Often one of the last bytes, which lead to all others.
            let num_candidates = if number(2) == 0 { 4 } else { blocks.len() };
            let block = blocks[blocks.len() - 1 - number(num_candidates)].clone();
            for _ in 0..=number(3) {
                damaged[block.start + number(block.len())] ^= 1 << number(8);
            }
            if block.end < file.len() && number(8) > 0 {
                correct_checksum(&mut damaged[block]);
            }
            fs::write(&path, &damaged).unwrap();
            num_read += usize::from(!Report::on(&path).lines.is_empty());
        }
    }
    // Some damage changes only values or filters.
    assert!((num_damaged..19 * num_damaged).contains(&(20 * num_read)), "{num_read}");
}

#[test]
fn damaged_tables_are_read_or_refused() {
    assert_damaged_tables_are_read_or_refused(100);
}

#[test]
#[ignore = "takes seconds"]
fn ten_thousand_damaged_tables_are_read_or_refused() {
    assert_damaged_tables_are_read_or_refused(10_000);
}

fn mutated(manifest: &[u8], number: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut damaged = manifest.to_vec();
    match number(8) {
        0 => damaged.truncate(number(manifest.len())),
        1 => damaged[number(manifest.len())] ^= 1 << number(8),
        // With correct checksums.
        kind => {
            let (mut edits, _) = records(manifest);
            let edit = number(edits.len());
            if kind == 2 {
                edits.push(edits[edit].clone());
            }
            for _ in 0..=number(3) {
                let place = number(edits[edit].len());
                edits[edit][place] ^= 1 << number(8);
            }
            damaged = log_of(&edits);
        }
    }
    damaged
}

/// The names of a database's tables.
fn table_names(database: &Path) -> Vec<String> {
    let entries = fs::read_dir(database).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with(char::is_uppercase));
    names.sort();
    names
}

#[test]
fn mutated_manifests_and_currents_leave_every_table_in_the_report() {
    let mut number = drawn(18);
    let mut by_status = [0, 0];
    for (name, manifest_name) in [("dead_tables", "MANIFEST-000006"), ("levels", "MANIFEST-000002")]
    {
        let [current, manifest] =
            ["CURRENT", manifest_name].map(|file| read(&database(name).join(file)));
        // Without the tables' contents.
        let empty = golden_table("table_empty.ldb");
        let tables = table_names(&database(name));
        let files: Vec<_> = tables.iter().map(|table| (&table[..], &empty[..])).collect();
        let directory = directory_of(&format!("mutated_{name}"), &files);
        for i in 0..500 {
            let [mut current, mut manifest] = [current.clone(), manifest.clone()];
            if i % 10 == 0 {
                let place = number(current.len());
                current[place] ^= 1 << number(8);
            } else {
                manifest = mutated(&manifest, &mut number);
            }
            for (file, contents) in [("CURRENT", current), (manifest_name, manifest)] {
                // On some file systems, overwriting a file waits for the disk.
                let _ = fs::remove_file(directory.join(file));
                fs::write(directory.join(file), contents).unwrap();
            }
            let report = Report::with_tables(&directory);
            by_status[usize::from(report.causes.is_empty())] += 1;
            let lines = report.lines.concat();
            assert!(tables.iter().all(|table| lines.contains(&table[..])), "{lines}");
        }
    }
    // Some damage changes only fields that are not read.
    assert!(by_status.iter().all(|&number| number > 100), "{by_status:?}");
}

/// As a running database does.
#[test]
fn a_database_that_changes_while_it_is_read_gets_no_figures() {
    let (file, contents) = table_of_database(&[b"key".into()], 5);
    let files = [("CURRENT", &b"MANIFEST-000002\n"[..]), ("000010.ldb", &file)];
    let directory = directory_of("changing", &files);
    let manifest = directory.join("MANIFEST-000002");
    fs::write(&manifest, manifest_of_tables(&[(1, 10, contents.clone())])).unwrap();
    let read = |change: &dyn Fn()| {
        let is_first = Cell::new(true);
        let read = || {
            if !is_first.take() {
                change();
            }
            Group::of_directory(&directory)
        };
        report(&read, &Options::default())
    };
    assert_eq!(read(&|| ()).unwrap().1, Vec::<String>::new());
    let log = directory.join("000011.log");
    let write_log = || fs::write(&log, log_of(&[b"more keys".into()])).unwrap();
    let write_table = || {
        let tables = [(1, 10, contents.clone()), (1, 12, contents.clone())];
        fs::write(&manifest, manifest_of_tables(&tables)).unwrap();
    };
    for change in [&write_log as &dyn Fn(), &write_table] {
        let error = read(change).unwrap_err();
        assert!(error.ends_with("written to while it was read: close it and run again"), "{error}");
    }
    // Whoever opens it need not write.
    let is_open = Cell::new(true);
    let read = || {
        is_open.set(!is_open.get());
        Ok(Group { is_open: is_open.get(), ..Group::of_paths(&[directory.join("000010.ldb")])? })
    };
    assert_eq!(report(&read, &Options::default()).unwrap().1, Vec::<String>::new());
    let error = rewrite(&read, &Options::default()).unwrap_err();
    assert!(error.ends_with("000010.ldb: a program has it open: close it"), "{error}");
}
