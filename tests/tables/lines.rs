//! What the lines between title and figures say, and the last lines, of made tables.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{TRAILER, of_one_block, table};
use crate::common::table::Table;
use crate::common::table::replace::with_filter_block;
use crate::common::table::writer::block;
use crate::common::temp::TempPath;
use crate::report::Report;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);
const GOLEVELDB: BloomFilterPolicy = POLICY.with_name(BloomFilterPolicy::GOLEVELDB_NAME);

/// The report of files of these bytes.
fn report(files: &[impl AsRef<[u8]>]) -> Report {
    let paths: Vec<_> = files.iter().map(|_| TempPath::new()).collect();
    for (path, file) in paths.iter().zip(files) {
        fs::write(&path.0, file).unwrap();
    }
    Report::of(&paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>())
}

/// A table of numbers of six digits, with filters of a policy or without.
fn of_keys(num_keys: usize, policy: Option<BloomFilterPolicy>) -> Vec<u8> {
    let keys: Vec<_> = (0..num_keys).map(|i| format!("{i:06}")).collect();
    table(&keys, TRAILER, policy.map(FilterBlockBuilder::new))
}

/// A table with the same keys, whose first filter lacks bits.
fn rejecting(num_keys: usize, policy: BloomFilterPolicy) -> Vec<u8> {
    let file = of_keys(num_keys, Some(policy));
    let mut filters = Table::open(&file).unwrap().filters().unwrap().unwrap().contents.into_owned();
    filters[..8].fill(0);
    with_filter_block(&file, &filters).unwrap()
}

/// A table with a filter block that is malformed.
fn damaged(num_keys: usize) -> Vec<u8> {
    with_filter_block(&of_keys(num_keys, Some(POLICY)), b"less").unwrap()
}

#[test]
fn tables_that_figures_leave_out_are_told_with_their_entries() {
    let with = |num_keys| of_keys(num_keys, Some(POLICY));
    let without = |num_keys| of_keys(num_keys, None);
    let own = |num_keys| of_keys(num_keys, Some(POLICY.with_name("example.Own")));
    for (tables, line) in [
        (
            vec![without(3_000), with(1)],
            "Of 3,001 entries, bits per entry and the figures below leave out 3,000 in tables without \
             filters.",
        ),
        (
            vec![with(5), without(2), without(1), damaged(4), own(6)],
            "Of 18 entries, bits per entry and the figures below leave out 3 in tables without \
             filters, 4 in tables with damaged filters, 6 in tables with filters of other policies.",
        ),
        // Here the figures are of the tables without filters.
        (
            vec![without(7), damaged(4), own(6)],
            "Of 17 entries, the figures below leave out 4 in tables with damaged filters, 6 in tables \
             with filters of other policies.",
        ),
    ] {
        let lines = report(&tables).lines();
        assert_eq!(lines[1], line, "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("filter block bytes")), "{lines:#?}");
    }
    // Nothing is left out, or there are no figures.
    for tables in
        [vec![with(5), with(1)], vec![without(5)], vec![with(3), without(0)], vec![own(6)]]
    {
        let lines = report(&tables).lines();
        assert!(!lines.iter().any(|line| line.contains("leave out")), "{lines:#?}");
    }
}

#[test]
fn what_leveldb_does_with_filters_of_its_older_name_is_told() {
    let unused = "LevelDB since 1.18 does not use filters named leveldb.BuiltinBloomFilter. \
                  goleveldb does.";
    let signed = "Before 1.18, LevelDB on x86 hashed bytes above 0x7f at a key's end as signed";
    let (old, new) = (of_keys(30, Some(GOLEVELDB)), of_keys(30, Some(POLICY)));
    let (old_rejects, new_rejects) = (rejecting(30, GOLEVELDB), rejecting(30, POLICY));
    for (tables, is_old, is_signed, status) in [
        (vec![&old], true, false, 0),
        (vec![&old, &new], true, false, 0),
        (vec![&old_rejects], true, true, 1),
        (vec![&old_rejects, &old, &new], true, true, 1),
        // Tables of the newer name have other reasons.
        (vec![&old, &new_rejects], true, false, 1),
        (vec![&new_rejects], false, false, 1),
        (vec![&new, &of_keys(30, None)], false, false, 0),
    ] {
        let report = report(&tables);
        let lines = report.lines();
        let says = |start: &str| lines.iter().any(|line| line.starts_with(start));
        assert_eq!((says(unused), says(signed)), (is_old, is_signed), "{lines:#?}");
        assert_eq!(report.exit_status(), status, "{lines:#?}");
    }
}

#[test]
fn compressions_are_called_what_they_can_be_and_are_no_sign_of_an_unfinished_table() {
    let entries = block(&[(0, b"key\x01\0\0\0\0\0\0\0", b"value")]);
    for (block_type, compression) in [
        (2, "2, which is zstd in LevelDB after 1.23, and zlib in forks"),
        (3, "3"),
        (4, "4, which is raw zlib in the fork of Minecraft's Bedrock Edition"),
        (255, "255"),
    ] {
        let why = format!(" has the compression type {compression}");
        for (block_types, title) in [
            ([block_type, 0, 0], "1 table (1 unreadable), 0 entries"),
            ([0, 0, block_type], "1 table (1 unreadable), 0 entries"),
            ([0, block_type, 0], "1 table, 1 entry"),
        ] {
            let file = of_one_block(&entries, block_types);
            let report = report(&[&file]);
            let (lines, status) = (report.lines(), report.exit_status());
            assert!(lines[0] == title && lines[1].ends_with(&why), "{lines:#?}");
            assert_eq!((lines.len(), status), (2, 1), "{lines:#?}");
        }
        // Beside a truncated table.
        let file = of_one_block(&entries, [block_type, 0, 0]);
        let lines = report(&[&file[..], &file[..file.len() - 1]]).lines();
        assert!(lines[1].ends_with(&why) && may_be_unfinished(&lines), "{lines:#?}");
    }
}

#[test]
fn damaged_blocks_can_be_of_unfinished_tables_whatever_their_compression() {
    let entries = block(&[(0, b"key\x01\0\0\0\0\0\0\0", b"value")]);
    // Now the checksum is wrong, too.
    let mut flipped = of_one_block(&entries, [0; 3]);
    flipped[entries.len()] = 2;
    let no_snappy_data = of_one_block(&entries, [1, 0, 0]);
    for file in [flipped, no_snappy_data] {
        let lines = report(&[&file]).lines();
        assert!(lines[0].contains("1 unreadable") && may_be_unfinished(&lines), "{lines:#?}");
    }
}

fn may_be_unfinished(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("A table that LevelDB never finished"))
}
