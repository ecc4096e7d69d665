//! The reader of tables refuses damaged ones. Its Snappy decoder follows the format; what Snappy
//! itself wrote, golden tables hold.

use crate::common::noise;
use crate::common::table::block::{SNAPPY, UNCOMPRESSED};
use crate::common::table::coding::varint;
use crate::common::table::snappy::decompress;
use crate::common::table::writer::{append_block, append_footer, block, handle};
use crate::common::table::{Keys, Table};

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
fn read_all(file: &[u8]) -> Result<(usize, usize), String> {
    let keys = Table::open(file).and_then(|table| Keys::of(&table));
    keys.map(|keys| (keys.num_blocks(), keys.len())).map_err(|error| error.to_string())
}

#[track_caller]
fn assert_refused(file: &[u8], why: &str) {
    assert!(read_all(file).is_err_and(|error| error.contains(why)), "{why}");
}

#[test]
fn each_kind_of_damage_has_its_error() {
    let whole = block(&[(0, b"apple", b"1"), (2, b"ricot", b"2")]);
    let of_index = |entries: &[(usize, &[u8], &[u8])]| {
        table_of(UNCOMPRESSED, &whole, &block(&[]), &block(entries))
    };
    let of_data = |data: &[u8]| table_of_data(UNCOMPRESSED, data);
    let data = handle(0, whole.len());
    let [corrupt, index] = ["has corrupt entries", "the index block is corrupt"];
    for (file, error) in [
        (table_of_data(SNAPPY, b"\x02\x04a"), "it ends within a literal or a copy"),
        (table_of_data(2, &whole), "is compressed in an unknown way, 2"),
        (of_index(&[(0, b"q", b"")]), index),
        (of_index(&[(0, b"q", &handle(0, 10_000))]), index),
        (of_index(&[(0, b"p", &data), (0, b"q", &data)]), index),
        (of_data(b""), corrupt),
        (of_data(&[0xff; 4]), corrupt),
        (of_data(&block(&[(1, b"", b"")])), corrupt),
        // A length of 0 in six bytes, of which LevelDB reads five.
        (of_data(b"\x80\x80\x80\x80\x80\0\x01\0k\0\0\0\0\x01\0\0\0"), corrupt),
    ] {
        assert_refused(&file, error);
    }
    assert_eq!(read_all(&of_data(&whole)), Ok((1, 2)));
    for len in 0..of_data(&whole).len() {
        assert_refused(&of_data(&whole)[..len], "not a LevelDB table, or a truncated one");
    }
    // A block without restart points has no keys, as in LevelDB.
    let without = [&whole[..whole.len() - 8], &[0; 4]].concat();
    assert_eq!(read_all(&of_data(&without)), Ok((1, 0)));
}

#[test]
fn keys_of_more_than_a_thousand_times_their_block_are_refused() {
    let prefix = noise(20_000, 1);
    for (num_keys, is_refused) in [(1_000, false), (20_000, true)] {
        let mut entries = vec![(0, &prefix[..], &b""[..])];
        entries.resize(num_keys, (prefix.len(), &b""[..], &b""[..]));
        let file = table_of_data(UNCOMPRESSED, &block(&entries));
        if is_refused {
            assert_refused(&file, "has more than a thousand times as many bytes of keys");
        } else {
            assert_eq!(read_all(&file), Ok((1, num_keys)));
        }
    }
}

/// A Snappy block of elements, after the length that it states.
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
        (0..len).for_each(|_| expected.push(expected[expected.len() - offset]));
        let block = stating(70_000 + len, &[&[62 << 2, 0x6f, 0x11, 1], &bytes, copy]);
        assert!(decompress(&block) == Ok(expected), "{copy:?}");
    }
}

#[test]
fn wrong_lengths_and_copies_from_before_the_start_are_refused() {
    for (stated, error) in [(2, "it is longer than its"), (4, "it is shorter than its")] {
        let found = decompress(&stating(stated, &[&[2 << 2], b"aaa"]));
        assert_eq!(found, Err(&*format!("{error} stated length")));
    }
    for copy in [&[7 << 2 | 1, 0][..], &[63 << 2 | 2, 0, 0], &[3 << 2 | 3, 0, 0, 0, 0], &[1, 2]] {
        let block = stating(100, &[&[0, b'a'], copy, &[0; 90]]);
        assert_eq!(decompress(&block), Err("a copy reaches back before the start"), "{copy:?}");
    }
}
