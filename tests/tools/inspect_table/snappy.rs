//! The Snappy decoder of the table parser follows the format, and accepts any bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::common::strategies::config;
use crate::common::table::snappy::{SnappyError, decompress};
use crate::common::table::writer::varint;

/// An element to encode, with a length or an offset in `num_bytes` bytes after the tag.
#[derive(Clone, Debug)]
enum Element {
    Literal { bytes: Vec<u8>, num_bytes: usize },
    Copy { offset: usize, len: usize, num_bytes: usize },
}

use Element::{Copy, Literal};

fn stating(len: usize, elements: &[u8]) -> Vec<u8> {
    [&varint(len)[..], elements].concat()
}

/// The elements, after the length that they yield.
fn block(elements: &[Element]) -> Vec<u8> {
    stating(yielded(elements).len(), &encoded(elements))
}

fn encoded(elements: &[Element]) -> Vec<u8> {
    let encode = |element: &Element| match element {
        Literal { bytes, num_bytes } => {
            let len = bytes.len() - 1;
            let upper = if *num_bytes == 0 { len } else { 59 + num_bytes };
            [&[low_byte(upper) << 2][..], &len.to_le_bytes()[..*num_bytes], bytes].concat()
        }
        Copy { offset, len, num_bytes: 1 } => {
            vec![low_byte(offset >> 8) << 5 | low_byte(len - 4) << 2 | 1, low_byte(*offset)]
        }
        Copy { offset, len, num_bytes } => {
            let tag = low_byte(len - 1) << 2 | if *num_bytes == 2 { 2 } else { 3 };
            [&[tag][..], &offset.to_le_bytes()[..*num_bytes]].concat()
        }
    };
    elements.iter().flat_map(encode).collect()
}

fn low_byte(number: usize) -> u8 {
    number.to_le_bytes()[0]
}

/// Decodes by a plain reading of the format.
fn yielded(elements: &[Element]) -> Vec<u8> {
    let mut output = Vec::new();
    for element in elements {
        match element {
            Literal { bytes, .. } => output.extend(bytes),
            Copy { offset, len, .. } => {
                for _ in 0..*len {
                    output.push(output[output.len() - offset]);
                }
            }
        }
    }
    output
}

/// Valid sequences of elements, each with a tag that can encode it.
fn any_elements() -> BoxedStrategy<Vec<Element>> {
    let bounds = prop_oneof![Just(60), Just(256), Just(1 << 16), 1..=70_000usize];
    let bytes = prop_oneof![
        4 => vec(any::<u8>(), 1..=80),
        1 => (bounds, 0..=1usize, any::<u8>()).prop_map(|(len, more, byte)| vec![byte; len + more]),
    ];
    let offset =
        prop_oneof![1..=8usize, 2_040..=2_055usize, 65_530..=65_540usize, 1..=100_000usize];
    let element = prop_oneof![
        (bytes, 0..=4usize).prop_map(|(bytes, num_bytes)| Literal { bytes, num_bytes }),
        (offset, 1..=64usize, 1..=4usize).prop_map(|(offset, len, num_bytes)| Copy {
            offset,
            len,
            num_bytes
        }),
    ];
    let can_follow = |element: &mut Element, output_len: &mut usize| {
        *output_len += match element {
            Literal { bytes, num_bytes } => {
                let fewest = [60, 1 << 8, 1 << 16].iter().filter(|&&most| bytes.len() > most);
                *num_bytes = fewest.count().max(*num_bytes);
                bytes.len()
            }
            Copy { .. } if *output_len == 0 => return false,
            Copy { offset, len, num_bytes } => {
                *offset = 1 + (*offset - 1) % *output_len;
                *num_bytes = match (*num_bytes, *offset) {
                    (1, ..2_048) if (4..12).contains(len) => 1,
                    (1..=2, ..65_536) => 2,
                    _ => 4,
                };
                *len
            }
        };
        true
    };
    vec(element, 0..20)
        .prop_map(move |mut elements| {
            let mut output_len = 0;
            elements.retain_mut(|element| can_follow(element, &mut output_len));
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
            // No element yields more than 64 bytes for 3.
            prop_assert!(output.capacity() <= elements.len() * 64 / 3);
        }
        let _ = decompress(&elements);
    }

    #[test]
    fn damaged_blocks_are_read_or_refused_and_truncated_ones_refused(
        elements in any_elements(),
        (place, change) in (any::<Index>(), 1..=u8::MAX),
    ) {
        let mut block = block(&elements);
        let place = place.index(block.len());
        prop_assert!(decompress(&block[..place]).is_err());
        block[place] ^= change;
        let _ = decompress(&block);
    }
}

#[test]
fn each_kind_of_damage_to_a_block_has_its_error() {
    let abc = Literal { bytes: b"abc".into(), num_bytes: 0 };
    for num_bytes in [1, 2, 4] {
        for offset in [0, 4, 2_047] {
            let copy = Copy { offset, len: 4, num_bytes };
            for (len, elements) in [(4, &[copy.clone()][..]), (7, &[abc.clone(), copy])] {
                let block = stating(len, &encoded(elements));
                assert_eq!(decompress(&block), Err(SnappyError::CorruptOffset));
            }
        }
    }
    let zeros = [0x80, 0x80, 0x80, 0x80, 0];
    assert_eq!(decompress(&zeros), Ok(Vec::new()));
    let most = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert_eq!(decompress(&most), Err(SnappyError::TooShort));
    for corrupt in [&b""[..], b"\x80", b"\xff\xff\xff\xff\x1f", b"\x80\x80\x80\x80\x80\0"] {
        assert_eq!(decompress(corrupt), Err(SnappyError::CorruptLength), "{corrupt:02x?}");
    }
}

#[test]
fn a_wrong_or_impossible_stated_length_is_refused() {
    let literal = Literal { bytes: b"a".into(), num_bytes: 0 };
    let copies = vec![Copy { offset: 1, len: 64, num_bytes: 2 }; 1_000];
    let elements = encoded(&[&[literal][..], &copies].concat());
    let len = 64_001;
    assert_eq!(decompress(&stating(len, &elements)), Ok(vec![b'a'; len]));
    // As if the literal were copies, too: the most that any elements could yield.
    let most = 64 * elements.len() / 3;
    for (stated, error) in [
        (len - 1, SnappyError::LongerThanStated),
        (len + 1, SnappyError::ShorterThanStated),
        (most, SnappyError::ShorterThanStated),
        (most + 1, SnappyError::TooShort),
    ] {
        assert_eq!(decompress(&stating(stated, &elements)), Err(error));
    }
}
