//! The Snappy decoder of the table parser: it yields what the format says, and takes any bytes.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::common;
use crate::common::strategies::config;
use crate::common::table::snappy::{SnappyError, decompress};
use crate::golden_table;

/// What a test encodes, and what a plain reading of the format says it yields.
#[derive(Clone, Debug)]
enum Element {
    Literal(Vec<u8>),
    Copy { offset: usize, len: usize },
}

use Element::{Copy, Literal};

/// The elements behind the length that they yield.
fn block(elements: &[Element]) -> Vec<u8> {
    stating(yielded(elements).len(), &encoded(elements))
}

fn stating(len: usize, elements: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    let mut rest = len;
    while rest >= 0x80 {
        block.push(low_byte(rest) | 0x80);
        rest >>= 7;
    }
    block.push(low_byte(rest));
    [&block[..], elements].concat()
}

fn yielded(elements: &[Element]) -> Vec<u8> {
    let mut output = Vec::new();
    for element in elements {
        match element {
            Literal(bytes) => output.extend(bytes),
            Copy { offset, len } => {
                for _ in 0..*len {
                    output.push(output[output.len() - offset]);
                }
            }
        }
    }
    output
}

/// Each element with the shortest tag that can hold it.
fn encoded(elements: &[Element]) -> Vec<u8> {
    elements.iter().flat_map(encoded_element).collect()
}

fn encoded_element(element: &Element) -> Vec<u8> {
    match element {
        Literal(bytes) => {
            let len = bytes.len() - 1;
            let limits = [60, 1 << 8, 1 << 16, 1 << 24, 1 << 32];
            let num_len_bytes = (0..=4).find(|&n| (len as u64) < limits[n]);
            literal(bytes, num_len_bytes.unwrap())
        }
        Copy { offset, len: len @ 4..12 } if *offset < 1 << 11 => copy_1(*offset, *len),
        Copy { offset, len } if *offset < 1 << 16 => copy_2(*offset, *len),
        Copy { offset, len } => copy_4(*offset, *len),
    }
}

/// A literal whose length stands in the tag, or in so many bytes behind it.
fn literal(bytes: &[u8], num_len_bytes: usize) -> Vec<u8> {
    let len = bytes.len() - 1;
    let upper = if num_len_bytes == 0 { len } else { 59 + num_len_bytes };
    [&[low_byte(upper) << 2][..], &len.to_le_bytes()[..num_len_bytes], bytes].concat()
}

fn copy_1(offset: usize, len: usize) -> Vec<u8> {
    vec![low_byte(offset >> 8) << 5 | low_byte(len - 4) << 2 | 1, low_byte(offset)]
}

fn copy_2(offset: usize, len: usize) -> Vec<u8> {
    [&[low_byte(len - 1) << 2 | 2][..], &offset.to_le_bytes()[..2]].concat()
}

fn copy_4(offset: usize, len: usize) -> Vec<u8> {
    [&[low_byte(len - 1) << 2 | 3][..], &offset.to_le_bytes()[..4]].concat()
}

fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

#[test]
fn no_bytes_are_a_block_of_one_byte() {
    assert_eq!(decompress(&[0]), Ok(Vec::new()));
}

#[test]
fn literals_have_their_length_in_the_tag_or_in_up_to_four_bytes() {
    let bytes = common::noise(70_000, 1);
    for (num_len_bytes, lens) in [
        (0, &[1, 2, 59, 60][..]),
        (1, &[1, 60, 61, 256]),
        (2, &[1, 256, 257, 65_536]),
        (3, &[1, 65_536, 65_537]),
        (4, &[1, 70_000]),
    ] {
        for &len in lens {
            let block = stating(len, &literal(&bytes[..len], num_len_bytes));
            assert_eq!(decompress(&block), Ok(bytes[..len].to_vec()), "{len}, {num_len_bytes}");
        }
    }
}

#[test]
fn copies_have_offsets_of_11_16_or_32_bits() {
    let bytes = common::noise(70_000, 2);
    let assert_copied = |copy: Vec<u8>, offset: usize, len: usize| {
        let start = bytes.len() - offset;
        let expected = [&bytes[..], &bytes[start..start + len]].concat();
        let block = stating(expected.len(), &[literal(&bytes, 3), copy].concat());
        assert_eq!(decompress(&block), Ok(expected), "offset {offset}, length {len}");
    };
    for len in 1..=64 {
        for offset in [64, 255, 256, 65_535] {
            assert_copied(copy_2(offset, len), offset, len);
        }
        for offset in [64, 65_535, 65_536, 70_000] {
            assert_copied(copy_4(offset, len), offset, len);
        }
    }
    for len in 4..=11 {
        for offset in [11, 255, 256, 2_047] {
            assert_copied(copy_1(offset, len), offset, len);
        }
    }
}

#[test]
fn copies_that_reach_into_themselves_repeat_what_they_yield() {
    for (offset, len) in (1..=16).flat_map(|offset| (1..=64).map(move |len| (offset, len))) {
        let pattern: Vec<u8> = (0..).take(offset).collect();
        let elements = [Literal(pattern.clone()), Copy { offset, len }];
        let expected = pattern.iter().cycle().take(offset + len).copied().collect();
        assert_eq!(decompress(&block(&elements)), Ok(expected), "{offset}, {len}");
    }
}

#[test]
fn copies_of_nothing_written_yet_are_errors() {
    for copy in [copy_1, copy_2, copy_4] {
        for offset in [0, 4, 5, 2_047] {
            let corrupt = |at| Err(SnappyError::CorruptOffset { offset, at });
            let copy = copy(offset.try_into().unwrap(), 4);
            assert_eq!(decompress(&stating(4, &copy)), corrupt(0));
            let after_literal = [&literal(b"abc", 0)[..], &copy].concat();
            assert_eq!(decompress(&stating(7, &after_literal)), corrupt(3));
        }
    }
    let farthest = [&literal(b"abc", 0)[..], &[3, 0xff, 0xff, 0xff, 0xff]].concat();
    let error = SnappyError::CorruptOffset { offset: u32::MAX, at: 3 };
    assert_eq!(decompress(&stating(4, &farthest)), Err(error));
}

#[test]
fn the_length_stated_is_the_length_yielded() {
    let elements = encoded(&[Literal(b"abcd".to_vec()), Copy { offset: 2, len: 8 }]);
    assert_eq!(decompress(&stating(12, &elements)), Ok(b"abcdcdcdcdcd".to_vec()));
    for len in 0..12u32 {
        let block = stating(len.try_into().unwrap(), &elements);
        assert_eq!(decompress(&block), Err(SnappyError::LongerThan { len }));
    }
    for len in 13..=170u32 {
        let error = match len {
            ..=149 => SnappyError::ShorterThan { len },
            _ => SnappyError::TooShortFor { len },
        };
        assert_eq!(decompress(&stating(len.try_into().unwrap(), &elements)), Err(error));
    }
}

#[test]
fn lengths_are_varints_of_32_bits() {
    let zeros = [0x80, 0x80, 0x80, 0x80, 0];
    assert_eq!(decompress(&zeros), Ok(Vec::new()));
    let most = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(decompress(&most), Err(SnappyError::TooShortFor { len: u32::MAX }));
    for corrupt in [
        &[][..],
        &[0x80],
        &[0x80, 0x80, 0x80, 0x80],
        &[0xff, 0xff, 0xff, 0xff, 0x1f],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0],
    ] {
        assert_eq!(decompress(corrupt), Err(SnappyError::CorruptLength), "{corrupt:02x?}");
    }
}

#[test]
fn the_longest_that_its_input_can_yield_is_taken() {
    let num_copies = 1_000;
    let copies = copy_2(1, 64).repeat(num_copies);
    let elements = [literal(b"a", 0), copies].concat();
    let len = 1 + 64 * num_copies;
    assert_eq!(decompress(&stating(len, &elements)), Ok(vec![b'a'; len]));

    // As if the literal were copies, too.
    let most = 64 * elements.len() / 3;
    let error = SnappyError::ShorterThan { len: most.try_into().unwrap() };
    assert_eq!(decompress(&stating(most, &elements)), Err(error));
    let error = SnappyError::TooShortFor { len: u32::try_from(most).unwrap() + 1 };
    assert_eq!(decompress(&stating(most + 1, &elements)), Err(error));
}

/// A compressed data block of LevelDB, without its trailer.
fn real_block() -> Vec<u8> {
    let file = golden_table("db_snappy_no_filter.ldb");
    let table = common::table::Table::open(&file).unwrap();
    let end = usize::try_from(table.data_blocks()[0].end).unwrap();
    let (block_type, block) = file[..end - 4].split_last().unwrap();
    assert_eq!(*block_type, 1);
    block.to_vec()
}

#[test]
fn every_truncation_of_a_real_block_is_an_error() {
    let block = real_block();
    assert!(decompress(&block).is_ok());
    for len in 0..block.len() {
        assert!(decompress(&block[..len]).is_err(), "{len} bytes");
    }
}

#[test]
fn a_real_block_with_any_changed_byte_is_read_or_refused() {
    let mut block = real_block();
    for place in 0..block.len() {
        for change in [1, 2, 4, 0x10, 0x80, 0xff] {
            block[place] ^= change;
            let _ = decompress(&block);
            block[place] ^= change;
        }
    }
}

/// Elements that can follow each other: a copy's offset is what a number leaves of the output.
fn any_elements() -> BoxedStrategy<Vec<Element>> {
    let literal = prop_oneof![
        9 => vec(any::<u8>(), 1..=80),
        1 => (1..=70_000usize, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
    ];
    let any_offset = prop_oneof![1..=8usize, 1..=2_100usize, 1..=100_000usize];
    let element = prop_oneof![
        literal.prop_map(Literal),
        (any_offset, 1..=64usize).prop_map(|(offset, len)| Copy { offset, len }),
    ];
    vec(element, 0..20)
        .prop_map(|mut elements| {
            let mut output_len = 0;
            elements.retain_mut(|element| {
                output_len += match element {
                    Literal(bytes) => bytes.len(),
                    Copy { .. } if output_len == 0 => return false,
                    Copy { offset, len } => {
                        *offset = 1 + (*offset - 1) % output_len;
                        *len
                    }
                };
                true
            });
            elements
        })
        .boxed()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_yield_what_was_encoded(elements in any_elements()) {
        prop_assert_eq!(decompress(&block(&elements)), Ok(yielded(&elements)));
    }

    #[test]
    fn any_bytes_are_a_block_of_the_length_they_state_or_an_error(
        len in prop_oneof![0..=200usize, 0..=u32::MAX as usize],
        elements in vec(any::<u8>(), 0..=60),
    ) {
        if let Ok(output) = decompress(&stating(len, &elements)) {
            prop_assert_eq!(output.len(), len);
            // The most that any element yields is 64 bytes for 3.
            prop_assert!(output.capacity() <= elements.len() * 64 / 3);
        }
        let _ = decompress(&elements);
    }

    #[test]
    fn damaged_blocks_are_read_or_refused(
        elements in any_elements(),
        (place, change) in (any::<prop::sample::Index>(), 1..=u8::MAX),
    ) {
        let mut block = block(&elements);
        let place = place.index(block.len());
        block[place] ^= change;
        let _ = decompress(&block);
    }
}
