//! The table parser of the other tests: it refuses what is damaged, and takes any bytes.

mod common;

use std::fs;
use std::path::Path;

use common::block_keys;
use common::table::crc32c::masked_crc32c;
use common::table::snappy::SnappyError;
use common::table::{Table, TableError};

/// The numbers of data blocks and of keys.
fn read_all(file: &[u8]) -> Result<(usize, usize), TableError> {
    let table = Table::open(file)?;
    table.filter_block()?;
    let mut num_keys = 0;
    for block in table.data_blocks() {
        table.visit_keys(block, |_key| num_keys += 1)?;
    }
    Ok((table.data_blocks().len(), num_keys))
}

fn golden_table(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tables").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The contents of a table's blocks, which a test may damage before they get their checksums.
#[derive(Clone)]
struct Contents {
    data: Vec<u8>,
    metaindex: Vec<u8>,
    index: Vec<u8>,
}

/// Type bytes of blocks.
const UNCOMPRESSED: u8 = 0;
const SNAPPY: u8 = 1;

impl Contents {
    fn new() -> Self {
        Self::of_data(block(&[
            (0, b"apple", b"1"),
            (2, b"ricot", b"2"),
            (0, b"pear", b""),
            (1, b"lum", b"4"),
        ]))
    }

    /// A table whose filter block is its only data block.
    fn of_data(data: Vec<u8>) -> Self {
        let handle = handle(0, data.len());
        let metaindex = block(&[(0, b"filter.leveldb.BuiltinBloomFilter2", &handle)]);
        let index = block(&[(0, b"q", &handle)]);
        Self { data, metaindex, index }
    }

    fn to_file(&self) -> Vec<u8> {
        self.to_file_of_type(UNCOMPRESSED)
    }

    /// A table whose data block has this byte for its compression type.
    fn to_file_of_type(&self, data_type: u8) -> Vec<u8> {
        let mut file = Vec::new();
        append_block(&mut file, &self.data, data_type);
        let metaindex = append_block(&mut file, &self.metaindex, UNCOMPRESSED);
        let index = append_block(&mut file, &self.index, UNCOMPRESSED);
        append_footer(&mut file, &[metaindex, index].concat());
        file
    }
}

fn block(entries: &[(u8, &[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (shared, suffix, value) in entries {
        block.push(*shared);
        block.extend(varint(suffix.len()));
        block.extend(varint(value.len()));
        block.extend([*suffix, *value].concat());
    }
    // One restart point, at the first entry.
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

fn handle(offset: usize, size: usize) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

fn append_block(file: &mut Vec<u8>, contents: &[u8], block_type: u8) -> Vec<u8> {
    let start = file.len();
    file.extend_from_slice(contents);
    file.push(block_type);
    let checksum = masked_crc32c(&file[start..]);
    file.extend(checksum.to_le_bytes());
    handle(start, contents.len())
}

fn append_footer(file: &mut Vec<u8>, handles: &[u8]) {
    let start = file.len();
    file.extend_from_slice(handles);
    file.resize(start + 40, 0);
    file.extend(0xdb4775248b80fb57u64.to_le_bytes());
}

#[test]
fn checksums_are_leveldbs() {
    // From "Standard" in LevelDB's crc32c_test.cc, masked.
    let mask = |crc: u32| crc.rotate_right(15).wrapping_add(0xa282ead8);
    assert_eq!(masked_crc32c(&[0; 32]), mask(0x8a9136aa));
    assert_eq!(masked_crc32c(&[0xff; 32]), mask(0x62a8ab43));
}

#[test]
fn whole_tables_are_read() {
    assert_eq!(read_all(&Contents::new().to_file()), Ok((1, 4)));
    let file = Contents::new().to_file();
    let table = Table::open(&file).unwrap();
    let [block] = table.data_blocks() else { panic!("one data block") };
    let keys = block_keys(&table, block).unwrap();
    assert_eq!(keys, [&b"apple"[..], b"apricot", b"pear", b"plum"]);
    assert_eq!(block.index_key, b"q");
}

#[test]
fn a_table_may_have_no_filter() {
    let file = Contents { metaindex: block(&[]), ..Contents::new() }.to_file();
    assert!(Table::open(&file).unwrap().filter_block().unwrap().is_none());
    assert_eq!(read_all(&file), Ok((1, 4)));
}

#[test]
fn blocks_compressed_with_snappy_are_read() {
    let data = Contents::new().data;
    // One literal: the length of all, then that of the literal.
    let len = u8::try_from(data.len()).unwrap();
    let compressed = [&[len, (len - 1) << 2][..], &data].concat();
    let file = Contents::of_data(compressed).to_file_of_type(SNAPPY);
    let table = Table::open(&file).unwrap();
    assert_eq!(table.filter_block().unwrap().unwrap().contents, data);
    assert_eq!(read_all(&file), Ok((1, 4)));
}

#[test]
fn index_keys_lie_between_data_blocks() {
    for file in [
        "table_bloom10_user_keys.ldb",
        "goleveldb_bloom10_user_keys.ldb",
        "db_snappy_no_filter.ldb",
    ] {
        let file = golden_table(file);
        let table = Table::open(&file).unwrap();
        for pair in table.data_blocks().windows(2) {
            let [keys, next_keys] = [0, 1].map(|i| block_keys(&table, &pair[i]).unwrap());
            assert!(keys.iter().all(|key| *key <= pair[0].index_key));
            assert!(next_keys.iter().all(|key| *key > pair[0].index_key));
            assert_eq!(pair[0].end, pair[1].offset());
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    for file in ["table_empty.ldb", "table_bloom10_user_keys.ldb"].map(golden_table) {
        assert!(read_all(&file).is_ok());
        for len in 0..file.len() {
            let expected = match len {
                0..48 => TableError::TooShort { len },
                _ => TableError::BadMagic,
            };
            assert_eq!(read_all(&file[..len]), Err(expected));
        }
    }
}

#[test]
fn every_changed_byte_of_a_block_is_noticed() {
    let mut file = golden_table("table_empty.ldb");
    for place in 0..file.len() - 48 {
        for change in 1..=u8::MAX {
            file[place] ^= change;
            assert!(read_all(&file).is_err(), "byte {place} changed by {change}");
            file[place] ^= change;
        }
    }
}

#[test]
fn footers_of_any_bytes_are_read_or_refused() {
    let mut file = Contents::new().to_file();
    for place in file.len() - 48..file.len() {
        for change in 1..=u8::MAX {
            file[place] ^= change;
            let _ = read_all(&file);
            file[place] ^= change;
        }
    }
}

#[test]
fn blocks_of_any_bytes_with_a_true_checksum_are_read_or_refused() {
    let blocks: [fn(&mut Contents) -> &mut Vec<u8>; 3] =
        [|table| &mut table.data, |table| &mut table.metaindex, |table| &mut table.index];
    for block in blocks {
        let mut table = Contents::new();
        for place in 0..block(&mut table).len() {
            for change in 1..=u8::MAX {
                block(&mut table)[place] ^= change;
                let _ = read_all(&table.to_file());
                block(&mut table)[place] ^= change;
            }
        }
    }
}

#[test]
fn a_block_cut_short_is_read_or_refused() {
    let data = Contents::new().data;
    for len in 0..data.len() {
        let _ = read_all(&Contents::of_data(data[..len].to_vec()).to_file());
        let index = data[..len].to_vec();
        let _ = read_all(&Contents { index, ..Contents::new() }.to_file());
    }
}

#[test]
fn damage_to_the_footer_has_a_name() {
    let beyond = [[0xff; 9].as_slice(), &[1, 0]].concat();
    let cases: [(&[u8], TableError); 4] = [
        (&[0x80; 40], TableError::CorruptFooter),
        (&[0, 100], TableError::OutsideFile { offset: 0, size: 100 }),
        (&beyond, TableError::OutsideFile { offset: u64::MAX, size: 0 }),
        (&[], TableError::ChecksumMismatch { offset: 0 }),
    ];
    for (handles, error) in cases {
        let mut file = Vec::new();
        append_footer(&mut file, handles);
        assert_eq!(read_all(&file), Err(error), "{error}");
    }
}

#[test]
fn damage_to_a_block_has_a_name() {
    let whole = Contents::new();
    let with_index = |index| Contents { index, ..whole.clone() }.to_file();
    let with_data = |data| Contents::of_data(data).to_file();
    let data = handle(0, whole.data.len());
    let with_snappy = |data: &[u8]| Contents::of_data(data.to_vec()).to_file_of_type(SNAPPY);
    let snappy = |error| TableError::CorruptSnappy { offset: 0, error };
    let unknown = |compression| TableError::UnknownCompression { offset: 0, compression };

    let cases = [
        (with_snappy(b"\x02\x04a"), snappy(SnappyError::Truncated)),
        (with_snappy(b"\x02\x00a"), snappy(SnappyError::ShorterThan { len: 2 })),
        (whole.to_file_of_type(2), unknown(2)),
        (whole.to_file_of_type(3), unknown(3)),
        (with_index(block(&[(0, b"q", b"")])), TableError::CorruptHandle),
        (
            with_index(block(&[(0, b"p", &data), (0, b"q", &data)])),
            TableError::OutOfOrder { offset: 0 },
        ),
        (with_data(Vec::new()), TableError::CorruptBlock { offset: 0 }),
        (with_data(vec![0xff; 4]), TableError::CorruptBlock { offset: 0 }),
        (with_data(block(&[(1, b"", b"")])), TableError::CorruptBlock { offset: 0 }),
    ];
    for (file, error) in cases {
        assert_eq!(read_all(&file), Err(error), "{error}");
    }
}

#[test]
fn shared_prefixes_cannot_make_a_small_block_large() {
    let with_shared_keys = |num_keys: usize| {
        let long_key = [b'k'; 10_000];
        let mut data = [&[0][..], &varint(long_key.len()), &[0], &long_key].concat();
        data.extend([&varint(long_key.len())[..], &[0, 0]].concat().repeat(num_keys - 1));
        data.extend([0; 4]);
        read_all(&Contents::of_data(data).to_file())
    };
    assert_eq!(with_shared_keys(16), Ok((1, 16)));
    assert_eq!(with_shared_keys(30_000), Err(TableError::CorruptBlock { offset: 0 }));
}
