//! The table parser refuses damaged tables, and accepts any bytes. Its Snappy decoder follows the
//! format; what Snappy itself wrote, golden tables hold.

use std::fs::{self, File};

use crate::table::block::{SNAPPY, UNCOMPRESSED};
use crate::table::snappy::decompress;
use crate::table::writer::{append_block, append_footer, block, handle, varint};
use crate::table::{Source, Table};
use crate::tests::directories::{directory_of, golden_table};
use crate::tests::noise;

/// A table of a data block of this type and of two other blocks.
fn table_of(data_type: u8, data: &[u8], metaindex: &[u8], index: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    append_block(&mut file, data, data_type);
    let handles = [metaindex, index].map(|of| append_block(&mut file, of, UNCOMPRESSED));
    append_footer(&mut file, &handles.concat());
    file
}

fn table_of_data(data_type: u8, data: &[u8]) -> Vec<u8> {
    let index = block(&[(0, b"q", &handle(0, data.len()))]);
    table_of(data_type, data, &block(&[]), &index)
}

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
    let whole = block(&[(0, b"apple", b"1"), (2, b"ricot", b"2")]);
    let of_index = |entries: &[(usize, &[u8], &[u8])]| {
        table_of(UNCOMPRESSED, &whole, &block(&[]), &block(entries))
    };
    let of_data = |data: &[u8]| table_of_data(UNCOMPRESSED, data);
    let mut of_rocksdb = of_data(&whole);
    *of_rocksdb.last_chunk_mut().unwrap() = 0x88e241b785f4cff7u64.to_le_bytes();
    let data = handle(0, whole.len());
    let [corrupt, overlap] = ["has corrupt entries", "at offset 0 overlaps an earlier one"];
    for (file, error) in [
        (of_rocksdb, "a table of RocksDB in its own format"),
        (
            table_of_data(SNAPPY, b"\x02\x04a"),
            "is no Snappy data: it ends within a literal or a copy",
        ),
        (table_of_data(2, &whole), "compressed with Zstandard, or zlib in older forks (type 2)"),
        (of_index(&[(0, b"q", b"")]), "the handle of a block is corrupt"),
        (of_index(&[(0, b"p", &data), (0, b"q", &data)]), overlap),
        (of_data(b""), corrupt),
        (of_data(&[0xff; 4]), corrupt),
        (of_data(&block(&[(1, b"", b"")])), corrupt),
        // A length of 0 in six bytes, of which LevelDB reads five.
        (of_data(b"\x80\x80\x80\x80\x80\0\x01\0k\0\0\0\0\x01\0\0\0"), corrupt),
    ] {
        assert_refused(&file, error);
    }
    assert_eq!(read_all(&of_data(&whole)), Ok((1, 2)));
    // A block without restart points has no keys, as in LevelDB.
    let without = [&whole[..whole.len() - 8], &[0; 4]].concat();
    assert_eq!(read_all(&of_data(&without)), Ok((1, 0)));
}

/// Entries of a block: a key of this length, and then copies of it that share all its bytes.
fn repeated(key_len: usize, value: &[u8], num_keys: usize) -> Vec<u8> {
    let key = vec![b'k'; key_len];
    let mut entries = vec![(key_len, &b""[..], value); num_keys];
    entries[0] = (0, &key, value);
    block(&entries)
}

#[test]
fn keys_may_be_thousands_of_times_as_long_as_the_block_but_not_endless() {
    let file = |key_len, keys| table_of_data(UNCOMPRESSED, &repeated(key_len, b"", keys));
    assert_eq!(read_all(&file(10_000, 30_000)), Ok((1, 30_000)));
    assert_refused(&file(1 << 20, 4_097), "more than 4294967296 bytes in all");
    // Those of an index are kept, however large the rest of the file is.
    let index = repeated(10_000, &handle(0, 0), 1_000);
    let error = format!("more than {} bytes in all", 64 * index.len());
    // Noticed before the second block, which has the same place as the first.
    for [metaindex, index] in [[&index, &block(&[])], [&block(&[]), &index]] {
        assert_refused(&table_of(UNCOMPRESSED, &vec![0; 1 << 20], metaindex, index), &error);
    }
}

/// A Snappy block of elements, behind the length that it states.
fn stating(len: usize, elements: &[&[u8]]) -> Vec<u8> {
    [&varint(len)[..], &elements.concat()].concat()
}

#[test]
fn literals_and_copies_of_every_form_yield_their_bytes() {
    let bytes = noise(70_000, 1);
    // A tag, and what it leaves to the next bytes of the length less one.
    for (len, tag) in [
        (60, &[59 << 2][..]),
        (60, &[60 << 2, 59]),
        (256, &[60 << 2, 255]),
        (257, &[61 << 2, 0, 1]),
        (70_000, &[62 << 2, 0x6f, 0x11, 1]),
        (70_000, &[63 << 2, 0x6f, 0x11, 1, 0]),
    ] {
        let literal = &bytes[..len];
        assert!(decompress(&stating(len, &[tag, literal])).as_deref() == Ok(literal), "{tag:?}");
    }
    for (offset, len, copy) in [
        (1, 11, &[7 << 2 | 1, 1][..]),
        (2_047, 4, &[7 << 5 | 1, 255]),
        (2_048, 64, &[63 << 2 | 2, 0, 8]),
        (65_536, 7, &[6 << 2 | 3, 0, 0, 1, 0]),
    ] {
        let mut expected = bytes.clone();
        for _ in 0..len {
            expected.push(expected[expected.len() - offset]);
        }
        let block = stating(70_000 + len, &[&[62 << 2, 0x6f, 0x11, 1], &bytes, copy]);
        assert!(decompress(&block) == Ok(expected), "{copy:?}");
    }
}

#[test]
fn a_wrong_or_impossible_stated_length_is_refused() {
    // A literal of one byte, and copies of 64.
    let elements = [&[0, b'a'][..], &[63 << 2 | 2, 1, 0].repeat(1_000)].concat();
    let len = 64_001;
    assert_eq!(decompress(&stating(len, &[&elements])), Ok(vec![b'a'; len]));
    // As if the literal were copies, too: the most that any elements could yield.
    let most = 64 * elements.len() / 3;
    let longer = decompress(&stating(2, &[&[2 << 2], b"aaa"]));
    assert_eq!(longer, Err("it is longer than its stated length"));
    for (stated, error) in [
        (len - 1, "it is longer than its stated length"),
        (len + 1, "it is shorter than its stated length"),
        (most + 1, "it is too short for its stated length"),
    ] {
        assert_eq!(decompress(&stating(stated, &[&elements])), Err(error));
    }
}
