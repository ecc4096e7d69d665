//! Tables by themselves, and many together.

use std::ops::Range;
use std::time::{Duration, Instant};
use std::{fs, slice};

use leveldb_filter::{BloomFilterPolicy, BloomHash};

use crate::inspect_table::hashes::filter_block;
use crate::inspect_table::inspection::{Scope, Tables};
use crate::inspect_table::keys::SurveyedBlock;
use crate::inspect_table::shape::{FilterShape, FilterTotals, Reader};
use crate::inspect_table::verdict::counted;
use crate::random::words;
use crate::table::Table;
use crate::table::crc32c::masked_crc32c;
use crate::terminal::grouped;
use crate::{Report, SCOPE, WITH_WHAT_IF, directory_of, golden, golden_table};

/// Where the blocks of an undamaged table lie, with their trailers; the footer is the last one.
pub(crate) fn blocks(file: &[u8]) -> Vec<Range<usize>> {
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

/// The last words of the lines.
fn names(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split(' ').next_back().unwrap()).collect()
}

#[test]
fn a_directory_gets_a_line_for_each_table_and_a_total() {
    let report = Report::on_all(&[golden("tables")], SCOPE);
    assert_eq!(report.exit_status, 0);
    let [_, _, header, tables @ .., _, _, total, hint] = &report.lines[..] else {
        panic!("{:#?}", report.lines)
    };
    assert!(header.ends_with(" table"));
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
        let has_filters = !line.ends_with("db_snappy_no_filter.ldb");
        assert_eq!(line.contains("  identical  "), has_filters, "{line}");
        assert_eq!(line.contains("  no filter  "), !has_filters, "{line}");
    }
    assert!(total.contains("  10,469  "), "{total}");
    assert!(hint.contains("--what-if"), "{hint}");
    assert!(report.lines.iter().all(|line| line.len() <= 110), "{:#?}", report.lines);
}

#[test]
fn tables_come_in_the_order_of_their_numbers_and_others_last() {
    let empty = golden_table("table_empty.ldb");
    let files = ["000010.ldb", "5.LDB", "abc.ldb", "000007.sst", "+8.ldb", "11.sst", "LOG"];
    let directory = directory_of("order", &files.map(|file| (file, &empty[..])));
    let report = Report::on_all(&[directory], SCOPE);
    assert_eq!(report.exit_status, 0);
    let tables = &report.lines[3..report.lines.len() - 3];
    let expected = ["5.LDB", "000007.sst", "000010.ldb", "11.sst", "+8.ldb", "abc.ldb"];
    assert_eq!(names(tables), expected);
}

#[test]
fn names_of_any_length_and_width_leave_the_columns_in_place() {
    let empty = golden_table("table_empty.ldb");
    let long = format!("{}.ldb", "long".repeat(50));
    let directory =
        directory_of("names", &[("宽.ldb", &empty), (&long, &empty), ("a\n.ldb", &empty)]);
    let report = Report::on_all(&[directory], SCOPE);
    let starts: Vec<_> =
        report.lines[3..6].iter().map(|line| line.split_once("identical").unwrap().0).collect();
    assert!(starts.iter().all(|start| *start == starts[0]), "{starts:#?}");
    assert!(!report.lines.concat().contains(char::is_control));
}

#[test]
fn tables_that_cannot_be_read_get_their_reason_and_the_others_their_line() {
    let good = golden_table("db_snappy_bloom10.ldb");
    let mut broken = good.clone();
    broken[100] ^= 1;
    let files = [("000005.ldb", &good[..]), ("000006.ldb", &broken), ("000007.ldb", b"")];
    let directory = directory_of("broken", &files);
    let report = Report::on_all(slice::from_ref(&directory), SCOPE);
    assert!(report.line_with("000005.ldb").ends_with("identical   000005.ldb"));
    let broken = report.line_with("000006.ldb");
    assert!(broken.ends_with(": the block at offset 0 does not match its checksum"), "{broken}");
    let empty = report.line_with("000007.ldb");
    assert!(empty.contains(": not a LevelDB table"), "{empty}");
    assert_eq!((report.exit_status, report.reason()), (1, "2 of 3 tables could not be read"));

    // By name, beside what holds no table or does not exist.
    let empty_directory = directory_of("without_tables", &[("LOG", b"")]);
    let paths = [directory.join("000005.ldb"), empty_directory, directory.join("8.ldb")];
    let report = Report::on_all(&paths, SCOPE);
    assert!(report.line_with("000005.ldb").contains("  identical  "));
    report.line_with("no table in this directory");
    assert!(report.line_with("8.ldb").contains("  unread "));
    let reason = "1 directory could not be read as a database; 1 of 2 tables could not be read";
    assert_eq!((report.exit_status, report.reason()), (1, reason));
    let report = Report::on_one(&directory.join("000006.ldb"), SCOPE);
    assert_eq!(report.exit_status, 1);
    assert!(report.reason().contains("does not match its checksum"));
}

#[test]
fn filters_that_hide_keys_are_an_error() {
    let file = with_filter_block(|contents| contents[..32].fill(0));
    let directory = directory_of("hidden", &[("000005.ldb", &file)]);
    let report = Report::on_all(slice::from_ref(&directory), SCOPE);
    let line = report.line_with("000005.ldb: hides ");
    assert!(line.contains("  different  ") && line.ends_with(" of its keys"), "{line}");
    let reason = "1 of 1 table with filters that hide keys";
    assert_eq!((report.exit_status, report.reason()), (1, reason));
    let report = Report::on_one(&directory.join("000005.ldb"), SCOPE);
    assert_eq!((report.exit_status, report.reason()), (1, reason));
}

#[test]
fn a_filter_block_that_is_another_has_an_exit_status_of_its_own() {
    // One more bit in the first filter loses no key.
    let file = with_filter_block(|contents| {
        let byte = contents.iter_mut().find(|byte| **byte != 0xff).unwrap();
        *byte |= 1 << byte.trailing_ones();
    });
    let directory = directory_of("different", &[("000005.ldb", &file)]);
    let report = Report::on_all(slice::from_ref(&directory), SCOPE);
    assert!(report.line_with("000005.ldb").ends_with("different   000005.ldb"));
    let reason = "1 of 1 table with another filter block than the policy makes";
    assert_eq!((report.exit_status, report.reason()), (3, reason));
    let report = Report::on_one(&directory.join("000005.ldb"), SCOPE);
    assert_eq!(report.value_of("rebuilt filter block"), "different");
    assert_eq!(report.exit_status, 3);
}

#[test]
fn an_unknown_policy_is_named_and_the_rest_is_told() {
    let mut file = golden_table("db_bloom10.ldb");
    let name = BloomFilterPolicy::NAME.as_bytes();
    let place = file.windows(name.len()).position(|bytes| bytes == name).unwrap();
    let metaindex = blocks(&file).into_iter().find(|block| block.contains(&place)).unwrap();
    file[place..place + 7].copy_from_slice(b"someone");
    correct_checksum(&mut file[metaindex]);
    let directory = directory_of("unknown", &[("000005.ldb", &file)]);

    let report = Report::on_one(&directory.join("000005.ldb"), WITH_WHAT_IF);
    assert!(report.value_of("filter policy").starts_with("\"someone.BuiltinBloomFilter2\""));
    assert!(report.value_of("keys").starts_with("3,685 internal keys"));
    report.line_with("What other filters would take");
    assert_eq!(report.exit_status, 1);
    let report = Report::on_all(&[directory], SCOPE);
    let line = report.line_with("000005.ldb: the filter policy is \"someone.");
    assert!(line.contains("3,685 ") && line.contains("  unknown  "), "{line}");
}

#[test]
fn a_single_one_is_no_plural() {
    let counts = [0, 1, 2, 1_000].map(|number| counted(number, "internal key"));
    assert_eq!(
        counts,
        ["0 internal keys", "1 internal key", "2 internal keys", "1,000 internal keys"]
    );
}

#[test]
fn what_if_makes_the_filters_that_a_table_has() {
    let file = golden_table("db_bloom10.ldb");
    let filter_block = Table::open(&file).unwrap().filter_block().unwrap().unwrap().contents;
    let report = Report::on_one(&golden("tables/db_bloom10.ldb"), WITH_WHAT_IF);
    assert_eq!(report.exit_status, 0);
    let row: Vec<_> = report.line_with("      10  ").split_whitespace().collect();
    assert_eq!(row[..2], ["10".into(), grouped(filter_block.len())]);
    // A tuned filter of 3,685 keys is a byte shorter than 4,608; around it come 9 bytes.
    assert_eq!(row[5], "4,616");
    let measured = report.value_of("false-positive rate");
    assert!(measured.starts_with(&format!("{} %", row[3])), "{measured}, {row:?}");
    assert!(report.lines.iter().all(|line| line.len() <= 100));
}

#[test]
fn a_table_without_filters_says_so_and_what_they_would_give() {
    let scope = Scope { what_if: Tables::WithoutFilters, ..SCOPE };
    let report = Report::on_one(&golden("tables/db_snappy_no_filter.ldb"), scope);
    assert_eq!(report.exit_status, 0);
    assert!(report.value_of("filter policy").contains("the table has no filter"));
    let end = report.lines.len() - 1;
    let rows = &report.lines[end - 7..end];
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
    let totals = FilterTotals::of(&reader, &contents, 2 * num_filters as u64);
    let num_bits = (num_filters as u64) * ((1 << 16) - 1) * 8;
    assert_eq!(totals.bits, usize::try_from(num_bits).unwrap_or(usize::MAX));
}

#[test]
fn policies_are_told_by_the_sizes_of_their_filters() {
    let num_keys = [40, 40, 1, 700, 39, 5_000, 40];
    let hashes: Vec<_> =
        words(18).map(|word| BloomHash::from_u32((word >> 32) as u32)).take(5_860).collect();
    let blocks: Vec<_> = num_keys
        .iter()
        .zip((0..).step_by(4_096))
        .map(|(&num_keys, offset)| SurveyedBlock { offset, end: offset + 4_096, num_keys })
        .collect();
    for millibits in (1_000..25_000).step_by(2_917).chain([10_000, 14_000]) {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        for policy in [policy, policy.with_num_probes(9), policy.tuned()] {
            for base_lg in [0, 11, 12, 13, 19, 63] {
                let contents = filter_block(policy, base_lg, &blocks, &hashes);
                let reader = Reader::new(policy, &contents);
                let shape = FilterShape::of(&reader, &blocks, &contents).unwrap();
                let rebuilt = filter_block(shape.policy(), base_lg, &blocks, &hashes);
                assert!(contents == rebuilt, "{policy:?}, base_lg {base_lg}");
            }
        }
    }
}

#[test]
fn a_large_file_that_is_no_table_is_refused_unread() {
    let directory = directory_of("sparse", &[("000005.ldb", b"")]);
    let path = directory.join("000005.ldb");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(10 << 30).unwrap();
    let start = Instant::now();
    let report = Report::on_one(&path, SCOPE);
    // To read all of it takes several times as long.
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(report.reason().contains("no magic number at the end"), "{}", report.reason());
    fs::remove_file(&path).unwrap();
}
