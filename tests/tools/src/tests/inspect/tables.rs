//! Reports on single tables, and on several.

use std::{fs, slice};

use leveldb_filter::BloomFilterPolicy;

use super::Report;
use crate::command_line::Options;
use crate::tests::directories::{
    database, database_of_keys, directory_of, golden, golden_table, read, with_filters,
};
use crate::tests::noise;

#[test]
fn a_directory_gets_a_line_for_each_table_in_the_order_of_their_numbers_and_a_total() {
    let report = Report::with_tables(&golden("tables"));
    assert!(report.causes.is_empty(), "{:#?}", report.causes);
    let title = "tables: 9 tables (no MANIFEST says which are in use), 10,469 entries; leveldb.\
        BuiltinBloomFilter, leveldb.BuiltinBloomFilter2";
    assert!(report.has(title), "{:#?}", report.lines);
    assert_eq!(report.cells_of(" - 9 tables")[..2], ["-", "10,469"]);
    assert!(report.line_with("db_snappy_no_filter.ldb").ends_with(": no filters"));
    for (name, note) in [("prefix_filters", ".ldb: rejects "), ("own_policy", ".ldb: unknown")] {
        let report = Report::with_tables(&database(name).join("000005.ldb"));
        assert!(report.line_with(note).contains(" - ") && report.advice().is_none());
        assert_eq!(report.causes.len(), 1);
    }
    let empty = golden_table("table_empty.ldb");
    let long = format!("{}.ldb", "long".repeat(50));
    let names =
        ["5.LDB", "000007.sst", "000010.ldb", "11.sst", "+8.ldb", "a\n.ldb", &long, "宽.ldb"];
    let mut files: Vec<_> = names.iter().map(|name| (*name, &empty[..])).collect();
    files.extend([("LOG", &b""[..]), ("000003.log", b"")]);
    files.reverse();
    let report = Report::with_tables(&directory_of("order", &files));
    let lines = report.lines.iter().filter_map(|line| line.rsplit_once("- "));
    let listed: Vec<_> = lines.map(|(_, name)| name.trim()).collect();
    assert_eq!(listed[1..], names.map(|name| name.replace('\n', "\u{fffd}")));
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
}

#[test]
fn filters_that_let_all_pass_are_a_problem_or_none() {
    let keys = (0..100).map(|seed| noise(8, seed)).collect();
    let directory = database_of_keys(20, vec![(1, keys)]);
    let path = directory.join("000010.ldb");
    let file = read(&path);
    for (num_probes, bits, base_lg, verdict) in [
        (0, None, 11, "NO FILTERS: "),
        (31, None, 11, "NO FILTERS: "),
        // A range of more bytes than a file can have.
        (6, None, 64, "NO FILTERS: "),
        (6, Some(0xff), 11, "PROBLEM: of the filters asked for missing keys, 100% let them pass"),
        (1, None, 11, "PROBLEM: of the filters asked for missing keys, "),
    ] {
        let changed = with_filters(&file, BloomFilterPolicy::NAME, |block| {
            // One filter, its offset, where that is, and base_lg.
            let end = block.len();
            block[end - 1] = base_lg;
            block[end - 10] = num_probes;
            if let Some(bits) = bits {
                block[..end - 10].fill(bits);
            }
        });
        fs::write(&path, changed).unwrap();
        let report = Report::on(&directory);
        assert!(report.lines[2].starts_with(verdict), "{:#?}", report.lines);
        assert!(report.advice().is_some() && !report.has("Why"), "{:#?}", report.lines);
    }
}
