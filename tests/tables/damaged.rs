//! Damaged files are told apart from whole ones, and no byte of theirs makes anything panic.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};

use super::made::of_one_block;
use crate::common::drawn;
use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::replace::with_filter_block;
use crate::common::table::writer::block;
use crate::common::table::{Table, read_file};
use crate::common::temp::TempPath;
use crate::facts::{BloomFilters, Facts, TableFilters};
use crate::read_golden;
use crate::report::Report;

const TABLES: [&str; 3] = [
    "tables/db_bloom16_block1k.ldb",
    "tables/goleveldb_bloom10_user_keys.ldb",
    "databases/reverse_comparator/000005.ldb",
];

/// The filter block of a golden table.
fn filter_block(file: &[u8]) -> Vec<u8> {
    Table::open(file).unwrap().filters().unwrap().unwrap().contents.into_owned()
}

fn filters_of(file: &[u8]) -> BloomFilters {
    match Facts::of(file).unwrap().filters {
        TableFilters::Bloom(filters) => filters,
        _ => panic!("no filters of a known policy"),
    }
}

#[test]
fn every_flipped_bit_of_blocks_is_noticed() {
    let mut below = drawn(1);
    for name in TABLES {
        let file = read_golden(name);
        for _ in 0..60 {
            let (place, bit) = (below(file.len() - 48), below(8));
            let mut damaged = file.clone();
            damaged[place] ^= 1 << bit;
            let is_damaged = |of: Facts| matches!(of.filters, TableFilters::Damaged(_));
            let is_noticed = Facts::of(&damaged).map_or(true, is_damaged);
            assert!(is_noticed, "{name}: bit {bit} at {place}");
        }
    }
}

#[test]
fn damaged_footers_and_filter_blocks_of_right_checksums_make_nothing_panic() {
    let mut below = drawn(2);
    for name in &TABLES[..2] {
        let file = read_golden(name);
        let old = filter_block(&file);
        for i in 0..60 {
            let mut damaged = file.clone();
            damaged[file.len() - 1 - below(48)] ^= 1 << below(8);
            let _ = Facts::of(&damaged);
            // Half of the flips are in what leads to the filters.
            let mut block = old.clone();
            let place = block.len() - 1 - below(if i % 2 == 0 { 40 } else { block.len() });
            block[place] ^= 1 << below(8);
            let facts = Facts::of(&with_filter_block(&file, &block).unwrap()).unwrap();
            assert!(!matches!(facts.filters, TableFilters::None(_) | TableFilters::Foreign(_)));
        }
    }
}

#[test]
fn malformed_filter_blocks_and_those_without_filters_are_damaged_whatever_their_checksum() {
    for name in TABLES {
        let file = read_golden(name);
        let old = filter_block(&file);
        let with_end = |end: &[u8]| [&old[..old.len() - end.len()], end].concat();
        let array_offset = |offset: usize| {
            let offset = u32::try_from(offset).unwrap().to_le_bytes();
            with_end(&[&offset[..], &[11]].concat())
        };
        let mut blocks: Vec<_> = (0..5).map(|len| (old[..len].to_vec(), "is malformed")).collect();
        for base_lg in [64, 64 + 11, 255] {
            blocks.push((with_end(&[base_lg]), "is malformed"));
        }
        blocks.push((array_offset(old.len() - 4), "is malformed"));
        blocks.push((array_offset(1 << 31), "is malformed"));
        // No filters, and one that is empty.
        blocks.push((array_offset(old.len() - 5), "has none"));
        blocks.push((b"\0\0\0\0\x0b".to_vec(), "has none"));
        blocks.push((b"\0\0\0\0\0\0\0\0\x0b".to_vec(), "has none"));
        for (block, why) in blocks {
            let path = TempPath::new();
            fs::write(&path.0, with_filter_block(&file, &block).unwrap()).unwrap();
            let report = Report::of(std::slice::from_ref(&path.0));
            let line = format!("{}: its filters: the block {why}", path.0.display());
            let lines = report.lines();
            assert!(lines.contains(&line) && report.exit_status() == 1, "{name}: {lines:#?}");
        }
    }
}

#[test]
fn a_table_without_entries_needs_no_filters_but_a_filter_block() {
    let file = read_golden("tables/table_empty.ldb");
    assert_eq!(filters_of(&file).num_filters, 0);
    let malformed = with_filter_block(&file, b"\0\0\0\0\x40").unwrap();
    assert!(matches!(Facts::of(&malformed).unwrap().filters, TableFilters::Damaged(_)));
}

#[test]
fn entries_that_do_not_pass_are_counted_and_told_with_exit_status_1() {
    let file = read_golden("databases/reverse_comparator/000005.ldb");
    let mut block = filter_block(&file);
    // All bits of the first filter.
    block[..64].fill(0);
    let path = TempPath::new();
    fs::write(&path.0, with_filter_block(&file, &block).unwrap()).unwrap();
    let report = Report::of(std::slice::from_ref(&path.0));
    let rejected = filters_of(&fs::read(&path.0).unwrap()).num_rejected;
    assert!((51..300).contains(&rejected), "{rejected}");
    let line = format!("{}: its filters reject {rejected} of 1,501 entries", path.0.display());
    assert!(report.lines().contains(&line) && report.exit_status() == 1, "{:#?}", report.lines());
}

#[test]
fn a_table_whose_keys_have_a_thousand_times_its_bytes_is_refused() {
    for (num_keys, is_refused) in [(1_000, false), (20_000, true)] {
        // One long key, and the same again and again.
        let mut entries = vec![(0, &[b'k'; 20_000][..], &b""[..])];
        entries.resize(num_keys, (20_000, &b""[..], &b""[..]));
        let file = of_one_block(&block(&entries), [UNCOMPRESSED; 3]);
        assert_eq!(Facts::of(&file).is_err(), is_refused, "{num_keys} keys");
    }
}

#[test]
#[cfg_attr(windows, ignore = "Windows would write 10 GiB of zeros")]
fn of_files_whose_end_makes_no_sense_nothing_else_is_read() {
    let path = TempPath::new();
    let mut sparse = File::create(&path.0).unwrap();
    sparse.set_len(10 << 30).unwrap();
    let refused = |why: &str| {
        let error = read_file(&path.0).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(Report::of(std::slice::from_ref(&path.0)).exit_status(), 1);
    };
    refused("not a LevelDB table");
    // The footer of a table, whose index block is not there.
    sparse.seek(SeekFrom::End(-48)).unwrap();
    sparse.write_all(read_golden(TABLES[0]).last_chunk::<48>().unwrap()).unwrap();
    refused("does not match its checksum");
}
