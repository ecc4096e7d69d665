//! Damaged files: whatever they hold, each table has its place in the report.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::slice;

use crate::inspect_table::filters::Lookups;
use crate::inspect_table::table::Inspection;
use crate::random::words;
use crate::table::crc32c::masked_crc32c_of;
use crate::tables::{blocks, correct_checksum};
use crate::{Report, database, directory_of, golden_table, read};

/// Numbers below a limit, the same in every run.
pub(crate) fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut numbers = words(seed).map(|number| (number >> 32) as usize);
    move |below| numbers.next().unwrap() % below
}

#[test]
fn damaged_tables_are_read_or_refused() {
    let mut number = numbers(8);
    let mut num_read = 0;
    for file in
        ["db_snappy_bloom16_large_values.ldb", "table_bloom10_user_keys.ldb"].map(golden_table)
    {
        let blocks = blocks(&file);
        for _ in 0..500 {
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
            let outcome = Inspection::of(&damaged, Lookups::of_table(100, 1, 0), None);
            num_read += usize::from(outcome.is_ok());
            if let Err(error) = outcome {
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
        }
    }
    // Some damage changes only values, or filters.
    assert!((50..950).contains(&num_read), "{num_read}");
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

/// Gives the comparator another name.
pub(crate) fn name_comparator(manifest: &Path) {
    let mut bytes = read(manifest);
    let record = records(&bytes)[0].clone();
    let name = bytes.windows(7).position(|name| name == b"leveldb").unwrap();
    bytes[name] = b'L';
    correct_record(&mut bytes[record]);
    fs::write(manifest, bytes).unwrap();
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
fn mutated_manifests_and_currents_leave_each_table_its_place() {
    let mut number = numbers(18);
    let mut by_status = [0, 0];
    for (name, manifest_name) in [("dead_tables", "MANIFEST-000006"), ("levels", "MANIFEST-000002")]
    {
        let [current, manifest] =
            ["CURRENT", manifest_name].map(|file| read(&database(name).join(file)));
        // Without what the tables hold.
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
                mutate(&mut manifest, &mut number);
            }
            for (file, contents) in [("CURRENT", current), (manifest_name, manifest)] {
                // Some file systems write to the disk what replaces the bytes of a file.
                let _ = fs::remove_file(directory.join(file));
                fs::write(directory.join(file), contents).unwrap();
            }
            let report = Report::with(slice::from_ref(&directory), i % 4 == 0, 1_000);
            by_status[usize::from(report.exit_status)] += 1;
            let lines = report.lines.concat();
            let is_rocksdb = report.causes.iter().any(|cause| cause.contains("RocksDB"));
            assert!(is_rocksdb || tables.iter().all(|table| lines.contains(&table[..])), "{lines}");
        }
    }
    // Some damage changes only what no one asks for.
    assert!(by_status.iter().all(|&number| number > 100), "{by_status:?}");
}
