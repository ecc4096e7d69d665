//! The table parser refuses damaged tables, and accepts any bytes.

use std::fs::{self, File};

use crate::table::block::SNAPPY;
use crate::table::writer::{block, handle};
use crate::table::{Source, Table};
use crate::tests::contents::{Contents, repeated};
use crate::tests::directories::{directory_of, golden_table};

/// The numbers of data blocks and of keys.
fn read_all<'a>(source: impl Into<Source<'a>>) -> Result<(usize, usize), String> {
    let read = |source: Source<'_>| {
        let table = Table::open(source)?;
        table.filter_block()?;
        let mut num_keys = 0;
        table.visit_keys(|_, _| num_keys += 1)?;
        Ok((table.data_blocks().len(), num_keys))
    };
    read(source.into()).map_err(|error: std::io::Error| error.to_string())
}

#[track_caller]
fn assert_refused<'a>(source: impl Into<Source<'a>>, why: &str) {
    let error = read_all(source).unwrap_err();
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_file_is_read_like_its_bytes_unless_it_is_truncated_meanwhile() {
    let bytes = golden_table("db_bloom10.ldb");
    let directory = directory_of("becomes_shorter", &[("000005.ldb", &bytes)]);
    let path = directory.join("000005.ldb");
    let file = File::open(&path).unwrap();
    let source = Source::of_file(&file).unwrap();
    assert_eq!(read_all(source), read_all(&bytes));
    let filters = |table: Table<'_>| table.filter_block().unwrap().unwrap().into_owned();
    assert_eq!(filters(Table::open(source).unwrap()), filters(Table::open(&bytes).unwrap()));
    fs::write(&path, b"").unwrap();
    assert_refused(source, "unexpected end of file");
}

#[test]
fn tables_of_rocksdb_are_recognised() {
    let mut file = Contents::new().to_file();
    *file.last_chunk_mut().unwrap() = 0x88e241b785f4cff7u64.to_le_bytes();
    assert_refused(&file, "a table of RocksDB in its own format");
}

#[test]
fn truncations_and_changed_bytes_are_errors() {
    let mut file = golden_table("table_empty.ldb");
    assert!(read_all(&file).is_ok());
    for len in 0..file.len() {
        let why = if len < 48 { "too few for its 48-byte footer" } else { "no magic number" };
        assert_refused(&file[..len], why);
    }
    let footer = file.len() - 48;
    for place in 0..file.len() {
        for change in 1..=u8::MAX {
            file[place] ^= change;
            // A footer has no checksum.
            let is_refused = read_all(&file).is_err();
            assert!(is_refused || place >= footer, "byte {place} changed by {change}");
            file[place] ^= change;
        }
    }
}

#[test]
fn each_kind_of_damage_has_its_error() {
    let whole = Contents::new();
    let with_index = |index| Contents { index, ..whole.clone() }.to_file();
    let with_data = |data: &[u8]| Contents::of_data(data.into()).to_file();
    let with_snappy = |data: &[u8]| Contents::of_data(data.into()).to_file_of_type(SNAPPY);
    let data = handle(0, whole.data.len());
    let [corrupt, overlap] = ["has corrupt entries", "at offset 0 overlaps an earlier one"];
    for (file, error) in [
        (with_snappy(b"\x02\x04a"), "is no Snappy data: it ends within a literal or a copy"),
        (whole.to_file_of_type(2), "compressed with Zstandard, or zlib in older forks (type 2)"),
        (with_index(block(&[(0, b"q", b"")])), "the handle of a block is corrupt"),
        (with_index(block(&[(0, b"p", &data), (0, b"q", &data)])), overlap),
        (with_data(b""), corrupt),
        (with_data(&[0xff; 4]), corrupt),
        (with_data(&block(&[(1, b"", b"")])), corrupt),
        // A length of 0 in six bytes, of which LevelDB reads five.
        (with_data(b"\x80\x80\x80\x80\x80\0\x01\0k\0\0\0\0\x01\0\0\0"), corrupt),
    ] {
        assert_refused(&file, error);
    }
}

#[test]
fn a_block_without_restart_points_has_no_keys_as_in_leveldb() {
    let data = block(&[(0, b"key", b"value")]);
    let without = [&data[..data.len() - 8], &[0; 4]].concat();
    assert_eq!(read_all(&Contents::of_data(without).to_file()), Ok((1, 0)));
    assert_eq!(read_all(&Contents::of_data(data).to_file()), Ok((1, 1)));
}

#[test]
fn keys_may_be_thousands_of_times_as_long_as_the_block_but_not_endless() {
    let file = |key_len, num_keys| Contents::of_data(repeated(key_len, b"", num_keys)).to_file();
    assert_eq!(read_all(&file(10_000, 30_000)), Ok((1, 30_000)));
    assert_refused(&file(1 << 20, 4_097), "more than 4294967296 bytes in all");
    // Those of an index are kept, however large the rest of the file is.
    let index = repeated(10_000, &handle(0, 0), 1_000);
    let error = format!("more than {} bytes in all", 64 * index.len());
    let whole = Contents { data: vec![0; 1 << 20], ..Contents::new() };
    let with_metaindex = Contents { metaindex: index.clone(), ..whole.clone() };
    // Noticed before the second block, which has the same place as the first.
    for contents in [with_metaindex, Contents { index, ..whole }] {
        assert_refused(&contents.to_file(), &error);
    }
}
