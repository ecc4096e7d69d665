//! The table parser refuses damaged tables, and accepts any bytes.

use std::fs::{self, File};
use std::io;

use crate::table::block::SNAPPY;
use crate::table::writer::{block, handle};
use crate::table::{Source, Table, TableError};
use crate::tests::contents::{Contents, repeated};
use crate::tests::directories::{directory_of, golden_table};

/// The numbers of data blocks and of keys.
fn read_all<'a>(source: impl Into<Source<'a>>) -> Result<(usize, usize), TableError> {
    let table = Table::open(source)?;
    table.filter_block()?;
    let mut num_keys = 0;
    for block in table.data_blocks() {
        table.visit_keys(block, |_key| num_keys += 1)?;
    }
    Ok((table.data_blocks().len(), num_keys))
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
    assert_eq!(read_all(source), Err(TableError::Io(io::ErrorKind::UnexpectedEof)));
}

#[test]
fn tables_of_rocksdb_are_recognised() {
    let mut file = Contents::new().to_file();
    *file.last_chunk_mut().unwrap() = 0x88e241b785f4cff7u64.to_le_bytes();
    assert_eq!(read_all(&file), Err(TableError::RocksDb));

    // Its format 0 is LevelDB's, except for the filter.
    let metaindex_key = b"fullfilter.rocksdb.BuiltinBloomFilter";
    let contents = Contents::new();
    let metaindex = block(&[(0, metaindex_key, &handle(0, contents.data.len()))]);
    let file = Contents { metaindex, ..contents }.to_file();
    assert_eq!(Table::open(&file).unwrap().policy_names().concat().as_bytes(), metaindex_key);
}

#[test]
fn truncations_and_changed_bytes_are_errors() {
    let mut file = golden_table("table_empty.ldb");
    assert!(read_all(&file).is_ok());
    for len in 0..file.len() {
        let expected = match len {
            0..48 => TableError::TooShort { len: len as u64 },
            _ => TableError::BadMagic,
        };
        assert_eq!(read_all(&file[..len]), Err(expected));
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
    let corrupt = TableError::CorruptBlock { offset: 0 };
    for (file, error) in [
        (
            with_snappy(b"\x02\x04a"),
            TableError::CorruptSnappy { offset: 0, why: "it ends within a literal or a copy" },
        ),
        (whole.to_file_of_type(2), TableError::UnknownCompression { compression: 2 }),
        (with_index(block(&[(0, b"q", b"")])), TableError::CorruptHandle),
        (
            with_index(block(&[(0, b"p", &data), (0, b"q", &data)])),
            TableError::OutOfOrder { offset: 0 },
        ),
        (with_data(b""), corrupt),
        (with_data(&[0xff; 4]), corrupt),
        (with_data(&block(&[(1, b"", b"")])), corrupt),
        // A length of 0 in six bytes, of which LevelDB reads five.
        (with_data(b"\x80\x80\x80\x80\x80\0\x01\0k\0\0\0\0\x01\0\0\0"), corrupt),
    ] {
        assert_eq!(read_all(&file), Err(error), "{error}");
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
    let read = |key_len, num_keys| {
        read_all(&Contents::of_data(repeated(key_len, b"", num_keys)).to_file())
    };
    assert_eq!(read(10_000, 30_000), Ok((1, 30_000)));
    let error = TableError::TooManyKeyBytes { max: 4 << 30 };
    assert_eq!(read(1 << 20, 4_097), Err(error));
    assert!(error.to_string().contains("may be sound"), "{error}");
    // Those of an index are kept, however large the rest of the file is.
    let index = repeated(10_000, &handle(0, 0), 1_000);
    let error = TableError::TooManyKeyBytes { max: 64 * index.len() as u64 };
    let whole = Contents { data: vec![0; 1 << 20], ..Contents::new() };
    let with_metaindex = Contents { metaindex: index.clone(), ..whole.clone() };
    // Noticed before the second block, which has the same place as the first.
    for contents in [with_metaindex, Contents { index, ..whole }] {
        assert_eq!(read_all(&contents.to_file()), Err(error));
    }
}
