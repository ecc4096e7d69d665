//! Reports on single tables, and on several.

use std::ops::Range;
use std::{fs, slice};

use leveldb_filter::BloomFilterPolicy;

use super::Report;
use crate::command_line::Options;
use crate::tests::directories::{
    copy_of, database, database_of_keys, directory_of, golden, golden_table, read,
    with_filter_block, with_metaindex,
};

#[test]
fn a_directory_gets_a_line_for_each_table_in_the_order_of_their_numbers_and_a_total() {
    let report = Report::with_tables(&golden("tables"));
    assert!(report.causes.is_empty(), "{:#?}", report.causes);
    let title = "tables: 9 tables (no MANIFEST says which are in use), 10,469 entries; leveldb.\
        BuiltinBloomFilter, leveldb.BuiltinBloomFilter2";
    assert!(report.has(title), "{:#?}", report.lines);
    assert_eq!(report.cells_of(" - 9 tables")[..2], ["-", "10,469"]);
    assert!(report.line_with("db_snappy_no_filter.ldb").ends_with(": no filters"));
    let empty = golden_table("table_empty.ldb");
    let long = format!("{}.ldb", "long".repeat(50));
    let names =
        ["5.LDB", "000007.sst", "000010.ldb", "11.sst", "+8.ldb", "a\n.ldb", &long, "宽.ldb"];
    let mut files: Vec<_> = names.iter().map(|name| (*name, &empty[..])).collect();
    files.extend([("LOG", &b""[..]), ("000003.log", b"")]);
    files.reverse();
    let report = Report::with_tables(&directory_of("order", &files));
    let lines = &report.lines;
    let lines = lines.iter().filter(|line| line.contains(" - ") && !line.contains(" tables"));
    let names = names.map(|name| name.replace('\n', "\u{fffd}"));
    assert_eq!(
        lines.map(|line| line.rsplit_once("- ").unwrap().1.trim()).collect::<Vec<_>>(),
        names
    );
}

#[test]
fn files_form_one_group_and_unreadable_ones_have_causes() {
    let good = golden_table("db_snappy_bloom10.ldb");
    let mut broken = good.clone();
    broken[100] ^= 1;
    let files = [("000005.ldb", &good[..]), ("000006.ldb", &broken), ("000007.ldb", b"")];
    let directory = directory_of("broken", &files);
    let empty = directory_of("without_tables", &[("LOG", b"")]);
    let paths =
        ["000005.ldb", "000006.ldb", "000007.ldb", "8.ldb"].map(|name| directory.join(name));
    let log = empty.join("LOG");
    let all = [&paths[..], slice::from_ref(&log), slice::from_ref(&empty), slice::from_ref(&log)];
    let report = Report::of(&Options { tables: true, paths: all.concat(), ..Options::default() });
    let title = "000005.ldb and others: 4 tables, 3,000 entries in those that can be read";
    assert!(report.has(title), "{:#?}", report.lines);
    for name in ["000006.ldb", "000007.ldb", "8.ldb"] {
        assert!(report.line_with(name).ends_with(": unread"));
    }
    assert_eq!(report.causes.len(), 5);
    let missing = fs::metadata(&paths[3]).unwrap_err().to_string();
    for (start, end) in [
        ("000006.ldb: ", "or let RepairDB save the other blocks"),
        ("000007.ldb: ", "not a LevelDB table: 0 bytes are too few for its 48-byte footer"),
        ("8.ldb: ", &missing),
        ("LOG: ", "not a table: name the database's directory"),
        ("without_tables: ", "no table: none of its files ends in .ldb or .sst"),
    ] {
        assert!(report.causes.iter().any(|cause| cause.contains(start) && cause.ends_with(end)));
    }
    let report = Report::on(&paths[1]);
    assert!(report.lines.is_empty() && report.cause().contains("does not match its checksum"));
}

#[test]
fn filters_that_reject_keys_or_that_nobody_knows_are_causes_of_files_too() {
    let file = golden_table("db_snappy_bloom10.ldb");
    // Zeros in the first filter reject keys; one more bit set in it does not.
    let rejecting = with_filter_block(file.clone(), |contents| contents[..32].fill(0));
    let fuller = with_filter_block(file, |contents| {
        let byte = contents.iter_mut().find(|byte| **byte != 0xff).unwrap();
        *byte |= 1 << byte.trailing_ones();
    });
    let name = BloomFilterPolicy::NAME.as_bytes();
    let unknown = with_metaindex(golden_table("db_bloom10.ldb"), name, b"someone");
    for (file, note, verdict, cause) in [
        (rejecting, ": rejects ", "WRONG: the filters of 1 of 1 tables reject ", "reject keys"),
        (unknown, ": unknown", "the filters of the policy \"someone.", "\"someone."),
    ] {
        let directory = directory_of("files", &[("000005.ldb", &file)]);
        for path in [&*directory, &directory.join("000005.ldb")] {
            let report = Report::with_tables(path);
            assert!(report.line_with(note).contains("000005.ldb: "), "{:#?}", report.lines);
            assert!(report.has(verdict) && report.cause().contains(cause));
            assert_eq!(report.advice(), None);
        }
    }
    let directory = directory_of("files", &[("000005.ldb", &fuller)]);
    assert!(Report::on(&directory).causes.is_empty());
}

/// Where the filters of a block with its trailer lie.
fn ranges(block: &[u8]) -> Vec<Range<usize>> {
    let contents = &block[..block.len() - 5];
    let number = |at: usize| {
        let bytes = contents[at..at + 4].try_into().unwrap();
        usize::try_from(u32::from_le_bytes(bytes)).unwrap()
    };
    let array = number(contents.len() - 5);
    let offsets = (array..contents.len() - 5).step_by(4);
    offsets.map(|at| number(at)..number(at + 4)).filter(|range| !range.is_empty()).collect()
}

/// Gives each filter of `accounts` another probe count, and other bits if said.
fn accounts_with(num_probes: Option<u8>, bits: Option<u8>) -> Report {
    let directory = copy_of(&database("accounts"));
    let path = directory.join("000005.ldb");
    let changed = with_filter_block(read(&path), |block| {
        for range in ranges(block) {
            let (last, of_bits) = block[range].split_last_mut().unwrap();
            *last = num_probes.unwrap_or(*last);
            if let Some(bits) = bits {
                of_bits.fill(bits);
            }
        }
        if (num_probes, bits) == (None, None) {
            // A range of more bytes than a file can have.
            block[block.len() - 6] = 64;
        }
    });
    fs::write(&path, changed).unwrap();
    Report::on(&directory)
}

#[test]
fn filters_that_let_all_pass_are_a_problem_or_none() {
    for (num_probes, bits, verdict) in [
        (Some(0), None, "NO FILTERS: "),
        (Some(31), None, "NO FILTERS: "),
        (None, None, "NO FILTERS: "),
        (None, Some(0xff), "PROBLEM: of the filters asked for missing keys, 100% let them pass"),
        (Some(1), None, "PROBLEM: of the filters asked for missing keys, "),
    ] {
        let report = accounts_with(num_probes, bits);
        assert!(report.lines[2].starts_with(verdict), "{:#?}", report.lines);
        assert!(report.advice().is_some() && !report.has("Why"), "{:#?}", report.lines);
    }
}

#[test]
fn a_large_file_that_is_not_a_table_is_refused_without_reading_it() {
    let directory = directory_of("sparse", &[("000005.ldb", b"")]);
    let path = directory.join("000005.ldb");
    // More than memory has room for; not every file system allows that.
    let file = fs::File::options().write(true).open(&path).unwrap();
    if file.set_len(1 << 40).is_ok() {
        let report = Report::on(&path);
        assert!(report.cause().ends_with("no magic number at the end"), "{:?}", report.causes);
    }
}

/// `LevelDB` makes such tables if one key is written again and again.
#[test]
fn a_thousand_tables_of_one_key_are_reported_in_16_lines() {
    let key = |number: u32| [&b"key"[..], &number.to_be_bytes()].concat();
    let directory = database_of_keys(20, (0..1_000).map(|i| (1, vec![key(i)])).collect());
    let report = Report::on(&directory);
    assert!(report.causes.is_empty(), "{:#?}", report.causes);
    // A key after a table's only key is outside its range.
    assert!(report.has("OK: no lookup asks a filter needlessly."), "{:#?}", report.lines);
    assert!(report.has("1,000 tables in use, 1,000 entries") && report.lines.len() <= 16);
}
