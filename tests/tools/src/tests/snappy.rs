//! The Snappy decoder of the table parser follows the format, and accepts any bytes. What Snappy
//! itself wrote, golden tables hold.

use crate::table::snappy::decompress;
use crate::table::writer::varint;
use crate::tests::random_input::{drawn, noise};

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
        (1, 4, &[1, 1][..]),
        (3, 11, &[7 << 2 | 1, 3]),
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
fn any_bytes_are_a_block_of_the_length_they_state_or_an_error() {
    let mut number = drawn(27);
    for i in 0..20_000 {
        let len = number(if i % 2 == 0 { 200 } else { u32::MAX as usize });
        let elements = noise(number(61), i);
        if let Ok(output) = decompress(&stating(len, &[&elements])) {
            assert_eq!(output.len(), len);
            // No element yields more than 64 bytes for 3.
            assert!(output.capacity() <= elements.len() * 64 / 3);
        }
        let _ = decompress(&elements);
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
