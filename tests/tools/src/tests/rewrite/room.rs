//! When filters are put into a table, and when there is no room for them.

use crate::table::Table;
use crate::table::replace::NAMES;
use crate::table::writer::{
    append_block, append_footer, block, with_filters_appended, with_filters_in_place,
};
use crate::tests::directories::golden_table;

const NAME: &[&str] = &["leveldb.BuiltinBloomFilter2"];

/// The two ways to put filters into a table: whether each is possible.
fn is_possible(file: &[u8], filter_block: &[u8]) -> [bool; 2] {
    let table = Table::open(file).unwrap();
    [with_filters_in_place, with_filters_appended].map(|put| {
        let new = put(&table, file, NAME, filter_block).unwrap();
        if let Some(new) = &new {
            let filters = Table::open(new).unwrap().filter_block().unwrap();
            assert_eq!(filters.unwrap(), filter_block);
        }
        new.is_some()
    })
}

#[test]
fn filters_up_to_the_room_of_the_old_ones_fit_in_place() {
    let file = golden_table("db_bloom10.ldb");
    let table = Table::open(&file).unwrap();
    let old = table.filter_block().unwrap().unwrap();
    assert_eq!(table.policy_names(), NAME);
    // The old ones make the same file.
    let same = with_filters_in_place(&table, &file, NAME, &old).unwrap();
    assert_eq!(same.as_ref(), Some(&file));
    let len = old.len();
    for (len, fits) in [(0, true), (len - 1, true), (len, true), (len + 1, false), (2 * len, false)]
    {
        assert_eq!(is_possible(&file, &vec![7; len]), [fits, true], "{len}");
    }
    // A second name takes 4 bytes, and 4 for the place and the length.
    for (less, fits) in [(8, true), (7, false)] {
        let layout = table.layout().unwrap().unwrap();
        assert_eq!(layout.has_room(&NAMES, len - less), fits);
    }
    // Zeros are room, too.
    let less = with_filters_in_place(&table, &file, NAME, b"less").unwrap().unwrap();
    assert_eq!(is_possible(&less, &old), [true, true]);
    assert_eq!(is_possible(&less, &vec![7; len + 1]), [false, true]);
}

/// A table of a data block, further blocks and an index block, and what lies between them.
fn table_of(meta: &[&str], between: [&[u8]; 3], end: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let data = append_block(&mut file, &block(&[(0, b"key_\x01_______", b"value")]), 0);
    file.extend(between[0]);
    let blocks: Vec<_> = meta.iter().map(|_| append_block(&mut file, &[0; 32], 0)).collect();
    file.extend(between[1]);
    let entries: Vec<_> =
        meta.iter().zip(&blocks).map(|(name, handle)| (0, name.as_bytes(), &handle[..])).collect();
    let metaindex = append_block(&mut file, &block(&entries), 0);
    file.extend(between[2]);
    let index = append_block(&mut file, &block(&[(0, b"key_\x01_______", &data)]), 0);
    file.extend(end);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}

#[test]
fn a_table_with_bytes_that_leveldb_does_not_write_is_left() {
    let filters = "filter.leveldb.BuiltinBloomFilter2";
    let none: [&[u8]; 3] = [b"", b"", b""];
    assert_eq!(is_possible(&table_of(&[filters], none, b""), b"new"), [true, true]);
    assert_eq!(
        is_possible(&table_of(&[filters], [b"\0", b"\0\0", b"\0"], b""), b"new"),
        [true, true]
    );
    // Further blocks, of which one may be a filter.
    for meta in [&[filters, "stats"][..], &["rocksdb.properties"], &[filters, "filter.other"]] {
        assert_eq!(is_possible(&table_of(meta, none, b""), b"new"), [false, false], "{meta:?}");
    }
    for between in [[b"x".as_slice(), b"", b""], [b"", b"\0x", b""], [b"", b"", b"x\0"]] {
        assert_eq!(is_possible(&table_of(&[filters], between, b""), b"new"), [false, false]);
    }
    assert_eq!(is_possible(&table_of(&[filters], none, b"\0"), b"new"), [false, false]);
    // After the first footer there may be filters, and a copy of it.
    let file = golden_table("db_snappy_no_filter.ldb");
    let added = with_filters_appended(&Table::open(&file).unwrap(), &file, NAME, b"filters");
    let added = added.unwrap().unwrap();
    assert_eq!(is_possible(&added, b"new"), [false, true]);
    for damaged in [file.len() - 20, added.len() - 20] {
        let mut file = added.clone();
        file[damaged] ^= 1;
        assert_eq!(is_possible(&file, b"new"), [false, false]);
    }
}
