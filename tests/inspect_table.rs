//! The example `inspect_table` as a user meets it, without its command line.
#![allow(dead_code, reason = "the command line uses the rest")]

mod common;
#[path = "examples/inspect_table/mod.rs"]
mod inspect_table;
#[path = "examples/terminal.rs"]
mod terminal;

use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs, slice};

use common::table;
use inspect_table::inspection::{Inspection, Scope, Tables};
use inspect_table::listing::Listing;
use inspect_table::shape::{FilterTotals, Reader};
use inspect_table::{report_all, report_one};
use leveldb_filter::BloomFilterPolicy;
use table::Table;
use table::crc32c::masked_crc32c;

const SCOPE: Scope = Scope { num_absent_keys: 1_000, what_if: Tables::None };
const WITH_WHAT_IF: Scope = Scope { what_if: Tables::All, ..SCOPE };

fn golden_tables() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tables")
}

fn golden_table(file: &str) -> Vec<u8> {
    let path = golden_tables().join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A directory of its own for each test.
fn directory_of(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect_table").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for (file, contents) in files {
        fs::write(directory.join(file), contents).unwrap();
    }
    directory
}

/// What is printed, and the error that comes to stderr.
fn all_of(paths: &[PathBuf], scope: Scope) -> (Vec<String>, Result<(), String>) {
    let mut lines = Vec::new();
    let outcome = report_all(paths, scope, &mut |printed| {
        lines.extend_from_slice(printed);
        Ok(())
    });
    (lines, outcome.map_err(|error| error.to_string()))
}

fn one_of(path: &Path, scope: Scope) -> (Vec<String>, Result<(), String>) {
    let mut lines = Vec::new();
    let outcome = report_one(path, scope, &mut |printed| {
        lines.extend_from_slice(printed);
        Ok(())
    });
    (lines, outcome.map_err(|error| error.to_string()))
}

/// The first words of the lines.
fn names(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split(' ').next().unwrap()).collect()
}

/// Where the blocks of an undamaged table lie, with their trailers; the footer is the last one.
fn blocks(file: &[u8]) -> Vec<Range<usize>> {
    let table = Table::open(file).unwrap();
    let end_of_data = table.data_blocks().last().unwrap().end.try_into().unwrap();
    let footer = file.len() - 48;
    let mut handles = file[footer..].iter();
    let mut number = || {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = usize::from(*handles.next().unwrap());
            number |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    };
    let [metaindex, _, index, _] = [number(), number(), number(), number()];
    let mut blocks: Vec<_> = table
        .data_blocks()
        .iter()
        .map(|block| block.offset().try_into().unwrap()..block.end.try_into().unwrap())
        .collect();
    blocks.extend([end_of_data..metaindex, metaindex..index, index..footer, footer..file.len()]);
    blocks.retain(|block| !block.is_empty());
    blocks
}

fn correct_checksum(block: &mut [u8]) {
    let (summed, checksum) = block.split_last_chunk_mut().unwrap();
    *checksum = masked_crc32c(summed).to_le_bytes();
}

#[test]
fn a_directory_gets_a_line_for_each_table_and_a_total() {
    let (lines, outcome) = all_of(&[golden_tables()], SCOPE);
    assert_eq!(outcome, Ok(()));
    let [_, header, tables @ .., total, hint] = &lines[..] else { panic!("{lines:#?}") };
    assert!(header.starts_with("table "));
    assert_eq!(
        names(tables),
        [
            "db_bloom10.ldb",
            "db_bloom10_large_values.ldb",
            "db_bloom16_block1k.ldb",
            "db_snappy_bloom10.ldb",
            "db_snappy_bloom16_large_values.ldb",
            "db_snappy_no_filter.ldb",
            "goleveldb_bloom10_user_keys.ldb",
            "table_bloom10_user_keys.ldb",
            "table_empty.ldb",
        ]
    );
    for line in tables {
        let has_filters = !line.starts_with("db_snappy_no_filter.ldb");
        assert_eq!(line.ends_with("  identical"), has_filters, "{line}");
        assert_eq!(line.contains("  none  "), !has_filters, "{line}");
        assert!(line.len() <= 100, "{line}");
    }
    assert!(total.starts_with("9 of 9 tables") && total.contains("  10,469  "), "{total}");
    assert!(hint.contains("--what-if"));
}

#[test]
fn tables_come_in_the_order_of_their_numbers_and_others_last() {
    let empty = golden_table("table_empty.ldb");
    let files =
        ["000010.ldb", "5.ldb", "abc.ldb", "000007.sst", "+8.ldb", "11.sst", "LOG", "3.log"];
    let directory = directory_of("order", &files.map(|file| (file, &empty[..])));
    let (lines, outcome) = all_of(&[directory], SCOPE);
    assert_eq!(outcome, Ok(()));
    assert_eq!(
        names(&lines[2..lines.len() - 1]),
        ["5.ldb", "000007.sst", "000010.ldb", "11.sst", "+8.ldb", "abc.ldb"]
    );
}

#[test]
fn tables_that_cannot_be_read_get_their_reason_and_the_others_their_line() {
    let good = golden_table("db_snappy_bloom10.ldb");
    let mut broken = good.clone();
    broken[100] ^= 1;
    let files =
        [("000005.ldb", &good[..]), ("000006.ldb", &broken), ("000007.ldb", b""), ("LOCK", b"")];
    let directory = directory_of("broken", &files);
    let (lines, outcome) = all_of(slice::from_ref(&directory), SCOPE);
    let [_, _, good, broken, empty, total] = &lines[..] else { panic!("{lines:#?}") };
    assert!(good.starts_with("000005.ldb ") && good.ends_with(" identical"), "{good}");
    let reason = "the block at offset 0 does not match its checksum";
    assert!(broken.starts_with("000006.ldb ") && broken.ends_with(reason), "{broken}");
    assert!(empty.starts_with("000007.ldb ") && empty.contains("not a LevelDB table"), "{empty}");
    assert!(total.starts_with("1 of 3 tables"), "{total}");
    assert_eq!(outcome, Err("2 of 3 tables could not be read".into()));

    // By name, beside what holds no table or does not exist.
    let empty_directory = directory_of("without_tables", &[("LOG", b"")]);
    let paths = [directory.join("000005.ldb"), empty_directory.clone(), directory.join("8.ldb")];
    let (lines, outcome) = all_of(&paths, SCOPE);
    assert_eq!(lines.len(), 5, "{lines:#?}");
    assert!(lines[1].ends_with("identical"), "{}", lines[1]);
    assert_eq!(outcome, Err("2 of 3 tables could not be read".into()));
    let (lines, outcome) = all_of(&[empty_directory], SCOPE);
    assert!(lines.is_empty() && outcome.unwrap_err().contains("no table"), "{lines:#?}");
}

#[test]
fn filters_that_hide_keys_are_an_error() {
    let mut file = golden_table("db_snappy_bloom10.ldb");
    let [.., filter_block, _, _, _] = &blocks(&file)[..] else { panic!("no filter block") };
    let filter_block = &mut file[filter_block.clone()];
    filter_block[..32].fill(0);
    correct_checksum(filter_block);

    let directory = directory_of("hidden", &[("000005.ldb", &file)]);
    let (lines, outcome) = all_of(slice::from_ref(&directory), SCOPE);
    assert!(lines[2].contains("different, hides "), "{}", lines[2]);
    assert_eq!(outcome, Err("the filters of 1 of 1 tables hide keys".into()));
    let (_, outcome) = one_of(&directory.join("000005.ldb"), SCOPE);
    assert!(outcome.unwrap_err().contains("the filters hide "));
}

#[test]
fn what_if_makes_the_filters_that_a_table_has() {
    let file = golden_table("db_bloom10.ldb");
    let filter_block = Table::open(&file).unwrap().filter_block().unwrap().unwrap().contents;
    let (lines, outcome) = one_of(&golden_tables().join("db_bloom10.ldb"), WITH_WHAT_IF);
    assert_eq!(outcome, Ok(()));
    let row: Vec<_> = lines[lines.len() - 5].split_whitespace().collect();
    assert_eq!(row[..2], ["10".into(), terminal::grouped(filter_block.len())]);
    // 3,685 keys of 10 bits and the byte of the probe count; tuned, a byte less.
    assert_eq!([row[5], row[9]], ["4,608", "4,607"]);
    let measured = lines.iter().find(|line| line.contains("false-positive rate")).unwrap();
    assert!(measured.contains(&format!(" {} %", row[3])), "{measured}, {row:?}");
    assert!(lines.iter().all(|line| line.len() <= 100));
}

#[test]
fn a_table_without_filters_says_so_and_what_they_would_give() {
    let scope = Scope { what_if: Tables::WithoutFilters, ..SCOPE };
    let (lines, outcome) = one_of(&golden_tables().join("db_snappy_no_filter.ldb"), scope);
    assert_eq!(outcome, Ok(()));
    assert!(lines[1].contains("the table has no filter"), "{}", lines[1]);
    let rows = &lines[lines.len() - 7..];
    let bits_per_key: Vec<_> =
        rows.iter().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(bits_per_key, ["6", "8", "10", "12", "14", "16", "20"]);
}

#[test]
fn filters_that_overlap_may_have_more_bits_than_32_bits_can_say() {
    let (len, num_filters) = (1 << 16, 1 << 14);
    // Every other filter is all bytes before the offsets.
    let offsets = [0, len].map(u32::to_le_bytes).concat().repeat(num_filters);
    let contents = [vec![0; 1 << 16], offsets, len.to_le_bytes().to_vec(), vec![0]].concat();
    let reader = Reader::new(BloomFilterPolicy::default(), &contents);
    let totals = FilterTotals::of(&reader, &contents, 2 * num_filters);
    assert_eq!(totals.bytes, num_filters << 16);
    let num_bits = (num_filters as u64) * ((1 << 16) - 1) * 8;
    assert_eq!(totals.bits, usize::try_from(num_bits).unwrap_or(usize::MAX));
}

#[test]
fn damaged_tables_get_one_line_each() {
    let mut numbers = common::random::words(8).map(|number| (number >> 32) as usize);
    let mut number = |below: usize| numbers.next().unwrap() % below;
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
            let scope = Scope { num_absent_keys: 100, what_if };
            let outcome: Result<_, Box<dyn Error>> = Inspection::of(&damaged, scope, |_step| ());
            num_read += usize::from(outcome.is_ok());
            let line = Listing::new(["name"].into_iter()).line("name", &outcome);
            assert!(line.starts_with("name ") && !line.contains(char::is_control), "{line:?}");
        }
    }
    // Some damage changes only values, or filters.
    assert!((100..1_900).contains(&num_read), "{num_read}");
}
