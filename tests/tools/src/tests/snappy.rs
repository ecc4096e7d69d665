//! The Snappy decoder of the table parser follows the format, and accepts any bytes. What Snappy
//! itself wrote, golden tables hold.

use crate::table::snappy::decompress;
use crate::table::writer::varint;
use crate::tests::random_input::{drawn, noise};

fn stating(len: usize, elements: &[u8]) -> Vec<u8> {
    [&varint(len)[..], elements].concat()
}

/// A literal whose length takes so many bytes after the tag.
fn literal(bytes: &[u8], num_bytes: u8) -> Vec<u8> {
    let len = bytes.len() - 1;
    let upper = if num_bytes == 0 { len.to_le_bytes()[0] } else { 59 + num_bytes };
    [&[upper << 2][..], &len.to_le_bytes()[..num_bytes.into()], bytes].concat()
}

/// A copy of 4 to 11 bytes whose offset takes 1, 2 or 4 bytes: with 1, it is below 2,048.
fn copy(offset: usize, len: u8, num_bytes: u8) -> Vec<u8> {
    let offset = offset.to_le_bytes();
    let tag = match num_bytes {
        1 => return vec![offset[1] << 5 | (len - 4) << 2 | 1, offset[0]],
        2 => (len - 1) << 2 | 2,
        _ => (len - 1) << 2 | 3,
    };
    [&[tag][..], &offset[..num_bytes.into()]].concat()
}

#[test]
fn literals_and_copies_of_every_form_yield_their_bytes() {
    let bytes = noise(70_000, 1);
    for (len, num_bytes) in [(1, 0), (60, 0), (60, 1), (61, 1), (256, 1), (257, 2), (70_000, 3)] {
        for num_bytes in num_bytes..=4_u8.min(num_bytes + 3) {
            let of = literal(&bytes[..len], num_bytes);
            assert_eq!(decompress(&stating(len, &of)).as_deref(), Ok(&bytes[..len]), "{len}");
        }
    }
    let start = literal(&bytes, 3);
    for (offset, fewest) in [(1, 1), (3, 1), (11, 1), (2_047, 1), (2_048, 2), (65_536, 4)] {
        for num_bytes in [1, 2, 4].into_iter().filter(|&number| number >= fewest) {
            for len in [4, 7, 11] {
                let mut expected = bytes.clone();
                for _ in 0..len {
                    expected.push(expected[expected.len() - offset]);
                }
                let block = [&start[..], &copy(offset, len, num_bytes)].concat();
                let block = stating(expected.len(), &block);
                assert!(decompress(&block) == Ok(expected), "{offset}, {len}, {num_bytes}");
            }
        }
    }
}

#[test]
fn any_bytes_are_a_block_of_the_length_they_state_or_an_error() {
    let mut number = drawn(27);
    for i in 0..20_000 {
        let len = number(if i % 2 == 0 { 200 } else { u32::MAX as usize });
        let num_bytes = number(61);
        let elements = noise(num_bytes, i);
        if let Ok(output) = decompress(&stating(len, &elements)) {
            assert_eq!(output.len(), len);
            // No element yields more than 64 bytes for 3.
            assert!(output.capacity() <= elements.len() * 64 / 3);
        }
        let _ = decompress(&elements);
    }
}

#[test]
fn a_wrong_or_impossible_stated_length_is_refused() {
    let elements = [literal(b"a", 0), copy(1, 64, 2).repeat(1_000)].concat();
    let len = 64_001;
    assert_eq!(decompress(&stating(len, &elements)), Ok(vec![b'a'; len]));
    // As if the literal were copies, too: the most that any elements could yield.
    let most = 64 * elements.len() / 3;
    for (stated, error) in [
        (len - 1, "it is longer than its stated length"),
        (len + 1, "it is shorter than its stated length"),
        (most, "it is shorter than its stated length"),
        (most + 1, "it is too short for its stated length"),
    ] {
        assert_eq!(decompress(&stating(stated, &elements)), Err(error));
    }
}
