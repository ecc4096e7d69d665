//! Reports on single tables and on several, and the command line.

use std::ffi::OsString;
use std::ops::Range;
use std::{fs, slice};

use leveldb_filter::BloomFilterPolicy;

use super::levels::database_of_keys;
use super::{Report, answer, directory_of, golden, golden_table};
use crate::inspect::Options;
use crate::random::words;
use crate::survey::filters::FilterBlock;
use crate::survey::inspection::{Filters, Inspection};
use crate::survey::lookups::Lookups;
use crate::table::Table;
use crate::table::crc32c::masked_crc32c;
use crate::table::varint::read_varint;
use crate::tests::contents::table_of;

/// The places of an undamaged table's blocks, with their trailers; the footer comes last.
pub(crate) fn blocks(file: &[u8]) -> Vec<Range<usize>> {
    let table = Table::open(file).unwrap();
    let end_of_data = table.data_blocks().last().unwrap().end.try_into().unwrap();
    let footer = file.len() - 48;
    let mut handles = &file[footer..];
    let [metaindex, _, index, _] =
        [(); 4].map(|()| usize::try_from(read_varint(&mut handles).unwrap()).unwrap());
    let mut blocks: Vec<_> = table
        .data_blocks()
        .iter()
        .map(|block| block.offset().try_into().unwrap()..block.end.try_into().unwrap())
        .collect();
    blocks.extend([end_of_data..metaindex, metaindex..index, index..footer, footer..file.len()]);
    blocks.retain(|block| !block.is_empty());
    blocks
}

pub(crate) fn correct_checksum(block: &mut [u8]) {
    let (summed, checksum) = block.split_last_chunk_mut().unwrap();
    *checksum = masked_crc32c(summed).to_le_bytes();
}

/// A table whose filter block a test changes.
fn with_filter_block(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut file = golden_table("db_snappy_bloom10.ldb");
    let [.., filter_block, _, _, _] = &blocks(&file)[..] else { panic!("no filter block") };
    let filter_block = &mut file[filter_block.clone()];
    change(filter_block);
    correct_checksum(filter_block);
    file
}

/// Replaces bytes in the metaindex block.
pub(crate) fn with_metaindex(mut file: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let place = file.windows(from.len()).rposition(|bytes| bytes == from).unwrap();
    let metaindex = blocks(&file).into_iter().find(|block| block.contains(&place)).unwrap();
    file[place..place + to.len()].copy_from_slice(to);
    correct_checksum(&mut file[metaindex]);
    file
}

#[test]
fn a_directory_gets_a_line_for_each_table_in_the_order_of_their_numbers_and_a_total() {
    let report = Report::with(&[golden("tables")], false, 1_000);
    assert_eq!((report.exit_status, &report.causes), (0, &vec![]));
    report.line_with("tables: 9 tables (no MANIFEST says which are in use), 10,469 keys");
    report.line_with("PROBLEM: tables without filters: 1 of 9.");
    assert_eq!(report.cells_of(" - 9 tables")[..2], ["-", "10,469"]);
    assert!(report.line_with("db_snappy_no_filter.ldb").ends_with(": no filters"));
    assert!(!report.has(": different"), "{:#?}", report.lines);
    let empty = golden_table("table_empty.ldb");
    let long = format!("{}.ldb", "long".repeat(50));
    let names =
        ["5.LDB", "000007.sst", "000010.ldb", "11.sst", "+8.ldb", "a\n.ldb", &long, "宽.ldb"];
    let mut files: Vec<_> = names.iter().map(|name| (*name, &empty[..])).collect();
    files.extend([("LOG", &b""[..]), ("000003.log", b"")]);
    files.reverse();
    let report = Report::on(&directory_of("order", &files));
    let lines =
        report.lines.iter().filter(|line| line.contains(" - ") && !line.contains(" tables"));
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
    let report = Report::with(&all.concat(), false, 1_000);
    assert!(report.has("000005.ldb and others: 4 tables, ? keys"), "{:#?}", report.lines);
    for name in ["000006.ldb", "000007.ldb", "8.ldb"] {
        assert!(report.line_with(name).ends_with(": unread"));
    }
    assert_eq!((report.exit_status, report.causes.len()), (1, 5));
    // The path is mistyped, not removed by a database.
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
    assert!(report.lines.is_empty() && report.cause().1.contains("does not match its checksum"));
}

#[test]
fn hiding_different_and_unknown_filters_have_exit_statuses() {
    // Zeros in the first filter hide keys; one more bit set in it does not.
    let hiding = with_filter_block(|contents| contents[..32].fill(0));
    let different = with_filter_block(|contents| {
        let byte = contents.iter_mut().find(|byte| **byte != 0xff).unwrap();
        *byte |= 1 << byte.trailing_ones();
    });
    let name = BloomFilterPolicy::NAME.as_bytes();
    let unknown = with_metaindex(golden_table("db_bloom10.ldb"), name, b"someone");
    for (name, file, note, verdict, (status, cause)) in [
        ("hiding", hiding, "hides ", "UNKNOWN: today's filters hide keys.", (1, "hide keys")),
        ("different", different, "different", "OK: ", (3, "filters differ")),
        ("unknown", unknown, "unknown", "UNKNOWN: the policy is \"someone.", (1, "\"someone.")),
    ] {
        let directory = directory_of(name, &[("000005.ldb", &file)]);
        let report = Report::with(&[directory.to_path_buf()], false, 1_000);
        assert!(report.line_with(" 000005.ldb: ").contains(&format!("ldb: {note}")));
        assert_eq!(report.cause().0, status);
        assert!(report.cause().1.contains(&format!("{name}: 000005.ldb: ")));
        let report = Report::with(&[directory.join("000005.ldb")], true, 1_000);
        report.line_with(verdict);
        assert!(report.cause().1.contains(cause) && report.cause().0 == status);
        report.line_with("Other filters (");
    }
}

#[track_caller]
fn inspected(file: &Vec<u8>) -> FilterBlock {
    let lookups = Lookups { total: 100, num_tables: 1, ordinal: 0, compares: true };
    let table = Inspection::of(file, lookups, None).unwrap();
    let Filters::Known(filters) = table.filters else { panic!("no filters") };
    filters
}

#[test]
fn filters_of_any_length_and_number_of_probes_are_remade() {
    let mut keys: Vec<_> = words(18).map(u64::to_be_bytes).take(2_000).collect();
    keys.sort_unstable();
    let keys: Vec<_> = keys.iter().map(|key| &key[..]).collect();
    let [ten, few] = [10, 3].map(BloomFilterPolicy::new);
    let fractional = BloomFilterPolicy::from_millibits_per_key(8_750);
    let lens = [1, 48, 98, 300, 2_048].map(|len| ten.with_min_filter_len(len));
    for policy in [few.with_num_probes(9), fractional].into_iter().chain(lens) {
        for policy in [policy, policy.tuned()] {
            let filters = inspected(&table_of(policy, &keys, 20));
            assert!(filters.is_remade && filters.bits_per_key <= 10, "{policy:?}");
            assert!(inspected(&table_of(policy, &keys, 700)).is_remade, "{policy:?}");
        }
    }
    for (bits, policy) in [(3, few), (10, ten), (14, BloomFilterPolicy::new(14))] {
        assert_eq!(inspected(&table_of(policy, &keys, 20)).bits_per_key, bits);
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
        assert!(report.cause().1.ends_with("no magic number at the end"), "{:?}", report.causes);
    }
}

/// `LevelDB` makes such tables if one key is written again and again.
#[test]
fn a_thousand_tables_of_one_key_are_reported_in_24_lines() {
    let key = |number: u32| [&b"key"[..], &number.to_be_bytes()].concat();
    let tables = (0..1_000).map(|number| (1, vec![key(number)])).collect();
    let directory = database_of_keys("a_thousand_tables", tables);
    for what_if in [false, true] {
        let report = Report::with(slice::from_ref(&directory), what_if, 10_000);
        assert_eq!(report.exit_status, 0, "{:?}", report.causes);
        // A key after a table's only key is outside its range.
        assert_eq!(answer(&report).reads, [0.0; 3]);
        report.line_with("a_thousand_tables: 1,000 tables in use, 1,000 keys");
        assert!(what_if || report.lines.len() <= 24, "{:#?}", report.lines);
    }
}

#[test]
fn the_command_line_takes_options_and_paths_in_any_order_or_says_what_is_wrong() {
    let parse = |args: &[&str]| Options::parse(args.iter().map(OsString::from));
    let paths = vec!["a.ldb".into(), "--tables".into()];
    let options = Options { what_if: true, paths, ..Options::default() };
    assert_eq!(parse(&["a.ldb", "--what-if", "--", "--tables"]), Ok(Some(options)));
    assert!(parse(&["--tables", "db"]).unwrap().unwrap().tables);
    assert_eq!((parse(&["-h"]), parse(&["a.ldb", "--help"])), (Ok(None), Ok(None)));
    assert_eq!(parse(&["a.ldb", "-x"]), Err("unknown option -x".into()));
}
