//! Damaged files: each table gets its line, whatever they hold.

use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::slice;

use crate::inspect_table::inspection::{Inspection, Scope, Tables};
use crate::random::words;
use crate::table::crc32c::masked_crc32c_of;
use crate::tables::{blocks, correct_checksum};
use crate::{Report, SCOPE, WITH_WHAT_IF, directory_of, golden, golden_table, read};

/// Numbers below a limit, the same in every run.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut numbers = words(seed).map(|number| (number >> 32) as usize);
    move |below| numbers.next().unwrap() % below
}

#[test]
fn damaged_tables_are_read_or_refused() {
    let mut number = numbers(8);
    let mut num_read = 0;
    for file in ["db_snappy_bloom16_large_values.ldb", "db_snappy_no_filter.ldb"].map(golden_table)
    {
        let blocks = blocks(&file);
        for i in 0..1_000 {
            let mut damaged = file.clone();
            // Often one of the last, which lead to all others.
            let num_candidates = if number(2) == 0 { 4 } else { blocks.len() };
            let block = blocks[blocks.len() - 1 - number(num_candidates)].clone();
            for _ in 0..=number(3) {
                damaged[block.start + number(block.len())] ^= 1 << number(8);
            }
            if block.end < file.len() && number(8) > 0 {
                correct_checksum(&mut damaged[block]);
            }
            // Making filters takes an unoptimized build long.
            let what_if = if i % 10 == 0 { Tables::All } else { Tables::None };
            let scope = Scope { num_lookups: 100, what_if };
            let outcome: Result<_, Box<dyn Error>> = Inspection::of(&damaged, scope, |_step| ());
            num_read += usize::from(outcome.is_ok());
            if let Err(error) = outcome {
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
        }
    }
    // Some damage changes only values, or filters.
    assert!((100..1_900).contains(&num_read), "{num_read}");
}

/// Where the records of a MANIFEST lie, each in one fragment.
fn records(manifest: &[u8]) -> Vec<Range<usize>> {
    let mut records = Vec::new();
    let mut start = 0;
    while start < manifest.len() {
        let len = u16::from_le_bytes([manifest[start + 4], manifest[start + 5]]);
        let end = start + 7 + usize::from(len);
        records.push(start..end);
        start = end;
    }
    records
}

fn correct_record(record: &mut [u8]) {
    let (checksum, rest) = record.split_first_chunk_mut().unwrap();
    let [_, _, summed @ ..] = &*rest else { panic!("no type") };
    *checksum = masked_crc32c_of([summed]).to_le_bytes();
}

fn mutate(manifest: &mut Vec<u8>, number: &mut impl FnMut(usize) -> usize) {
    let records = records(manifest);
    let record = records[number(records.len())].clone();
    match number(8) {
        0 => manifest.truncate(number(manifest.len())),
        1 => manifest.extend_from_within(record),
        2 => {
            let place = number(manifest.len());
            manifest[place] ^= 1 << number(8);
        }
        _ => {
            for _ in 0..=number(3) {
                manifest[record.start + 7 + number(record.len() - 7)] ^= 1 << number(8);
            }
            correct_record(&mut manifest[record]);
        }
    }
}

/// The database without what its tables hold.
fn hollow(database: &Path) -> (Vec<String>, Vec<u8>) {
    let empty = golden_table("table_empty.ldb");
    let mut names: Vec<_> = fs::read_dir(database)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with(char::is_uppercase))
        .collect();
    names.sort();
    (names, empty)
}

#[test]
fn mutated_manifests_and_currents_leave_each_table_its_line() {
    let mut number = numbers(18);
    let mut by_status = [0, 0];
    for (name, manifest_name) in [("dead_tables", "MANIFEST-000006"), ("levels", "MANIFEST-000002")]
    {
        let database = golden("databases").join(name);
        let [current, manifest] = ["CURRENT", manifest_name].map(|file| read(&database.join(file)));
        let (tables, contents) = hollow(&database);
        let files: Vec<_> = tables.iter().map(|table| (&table[..], &contents[..])).collect();
        let directory = directory_of(&format!("mutated_{name}"), &files);
        for i in 0..1_000 {
            let [mut current, mut manifest] = [current.clone(), manifest.clone()];
            if i % 10 == 0 {
                let place = number(current.len());
                current[place] ^= 1 << number(8);
            } else {
                mutate(&mut manifest, &mut number);
            }
            for (file, contents) in [("CURRENT", current), (manifest_name, manifest)] {
                // Some file systems write to the disk what replaces the bytes of a file.
                let _ = fs::remove_file(directory.join(file));
                fs::write(directory.join(file), contents).unwrap();
            }
            let scope = if i % 4 == 0 { WITH_WHAT_IF } else { SCOPE };
            let report = Report::on_all(slice::from_ref(&directory), scope);
            by_status[usize::from(report.exit_status)] += 1;
            for table in &tables {
                let has_line = report.lines.iter().any(|line| line.contains(&table[..]));
                assert!(has_line, "no {table} in {:#?}", report.lines);
            }
            assert!(!report.lines.concat().contains(char::is_control), "{:#?}", report.lines);
        }
    }
    // Some damage changes only what no one asks for.
    assert!(by_status.iter().all(|&number| number > 200), "{by_status:?}");
}
