//! Damaged files: every table stays in the report, whatever the damage.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use super::Report;
use crate::command_line::Options;
use crate::database::Group;
use crate::inspect::report;
use crate::rewrite::rewrite;
use crate::tests::directories::{
    blocks, copy_of, correct_checksum, database, directory_of, files, golden_table, is_table, read,
};
use crate::tests::manifest::{log_of, manifest_of_tables, records};
use crate::tests::random_input::drawn;

#[test]
fn damaged_tables_are_read_or_refused() {
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
            if block.end < file.len() && number(8) > 0 {
                correct_checksum(&mut damaged[block]);
            }
            fs::write(&path, &damaged).unwrap();
            num_read += usize::from(!Report::on(&path).lines.is_empty());
        }
    }
    // Some damage changes only values or filters.
    assert!((5..95).contains(&num_read), "{num_read}");
}

#[test]
fn mutated_manifests_leave_every_table_in_the_report() {
    let mut number = drawn(18);
    let mut by_status = [0, 0];
    let directory = copy_of(&database("levels"));
    let (manifest, empty) = (directory.join("MANIFEST-000002"), golden_table("table_empty.ldb"));
    let tables: Vec<_> = files(&directory).into_keys().filter(|path| is_table(path)).collect();
    for table in &tables {
        fs::write(table, &empty).unwrap();
    }
    let (whole, _) = records(&read(&manifest));
    for _ in 0..300 {
        let mut edits = whole.clone();
        let edit = number(edits.len());
        for _ in 0..=number(3) {
            let place = number(edits[edit].len());
            edits[edit][place] ^= 1 << number(8);
        }
        // On some file systems, overwriting a file waits for the disk.
        fs::remove_file(&manifest).unwrap();
        fs::write(&manifest, log_of(&edits)).unwrap();
        let report = Report::with_tables(&directory);
        by_status[usize::from(report.causes.is_empty())] += 1;
        let lines = report.lines.concat();
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(tables.iter().all(|table| lines.contains(&name(table))), "{lines}");
    }
    // Some damage changes only fields that are not read.
    assert!(by_status.iter().all(|&number| number > 30), "{by_status:?}");
}

/// As a running database does.
#[test]
fn a_database_that_changes_while_it_is_read_gets_no_figures() {
    let directory = copy_of(&database("accounts"));
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
    let log = log_of(&[b"more keys".into()]);
    let write_log = || fs::write(directory.join("000011.log"), &log).unwrap();
    let no_tables = manifest_of_tables(&[]);
    let drop_table = || fs::write(directory.join("MANIFEST-000002"), &no_tables).unwrap();
    for change in [&write_log as &dyn Fn(), &drop_table] {
        let error = read(change).unwrap_err();
        assert!(error.ends_with("written to while it was read: close it and run again"), "{error}");
    }
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
