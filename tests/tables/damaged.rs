//! Damaged files are told apart from whole ones, and no byte of theirs makes anything panic.

use crate::common::drawn;
use crate::common::table::Table;
use crate::common::table::replace::with_filter_block;
use crate::table::Filters;
use crate::{facts, read_golden};

const TABLES: [&str; 3] = [
    "tables/db_bloom16_block1k.ldb",
    "tables/goleveldb_bloom10_user_keys.ldb",
    "databases/reverse_comparator/000005.ldb",
];

fn filter_block(file: &[u8]) -> Vec<u8> {
    Table::open(file).unwrap().filters().unwrap().unwrap().contents.into_owned()
}

#[test]
fn every_flipped_bit_and_every_lost_end_is_noticed_and_nothing_panics() {
    let mut below = drawn(1);
    for name in TABLES {
        let (file, filters) = (read_golden(name), filter_block(&read_golden(name)));
        for i in 0..60 {
            assert!(facts(&file[..below(file.len())]).is_err(), "{name}");
            let mut flipped = |bytes: &[u8], place: usize| {
                let mut bytes = bytes.to_vec();
                bytes[place] ^= 1 << below(8);
                bytes
            };
            // In blocks, in the footer, and in the filter block below its checksum; there, half of
            // the flips are in what leads to the filters.
            let of_block = facts(&flipped(&file, i * (file.len() - 48) / 60));
            assert!(of_block.map_or(true, |facts| !facts.faults.is_empty()), "{name}: {i}");
            let _ = facts(&flipped(&file, file.len() - 1 - i % 48));
            let end = if i % 2 == 0 { 40 } else { filters.len() };
            let block = flipped(&filters, filters.len() - 1 - i * end / 60);
            let facts = facts(&with_filter_block(&file, &block).unwrap()).unwrap();
            let is_same = matches!(facts.filters, Filters::Bloom { same_bytes: Some(_), .. });
            assert!(!is_same, "{name}: {i}");
        }
    }
}

#[test]
fn malformed_filter_blocks_are_damaged_whatever_their_checksum() {
    let file = read_golden(TABLES[0]);
    let old = filter_block(&file);
    let with_end = |end: &[u8]| [&old[..old.len() - end.len()], end].concat();
    let wrong = [&[64][..], &[255], &[0xff, 0xff, 0xff, 0xff, 11]].map(with_end);
    for block in (0..5).map(|len| old[..len].to_vec()).chain(wrong) {
        let facts = facts(&with_filter_block(&file, &block).unwrap()).unwrap();
        assert_eq!(facts.faults, ["its filters: the block is malformed"], "{block:?}");
    }
}
