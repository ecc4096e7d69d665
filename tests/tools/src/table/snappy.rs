//! A decoder of Snappy's raw format, the format of compressed blocks in tables.
//!
//! Any bytes yield a block or an error. The decoder allocates at most the length that the input
//! states, and nothing if the input is too short to yield that much.
//!
//! Mirrors Snappy's `format_description.txt`.

use super::varint::read_varint32;

/// The most bytes that a copy of three bytes can yield.
///
/// No other element yields as much for its length: a literal is longer than what it yields, and
/// copies of two and five bytes yield 11 and 64.
const MOST_OF_A_COPY: u64 = 64;
const LEN_OF_A_COPY: u64 = 3;

pub(crate) fn decompress(mut input: &[u8]) -> Result<Vec<u8>, &'static str> {
    let len = read_varint32(&mut input).ok_or("its length is corrupt")?;
    let fewest = (u64::from(len) * LEN_OF_A_COPY).div_ceil(MOST_OF_A_COPY);
    let stated = usize::try_from(len).ok().filter(|_| fewest <= input.len() as u64);
    let stated = stated.ok_or("it is too short for its stated length")?;

    let mut output = Vec::new();
    output.try_reserve_exact(stated).map_err(|_| "there is no memory for its stated length")?;
    while let Some((&tag, rest)) = input.split_first() {
        input = rest;
        let room = stated - output.len();
        match Element::read(tag, &mut input).ok_or("it ends within a literal or a copy")? {
            Element::Literal(bytes) if bytes.len() <= room => output.extend_from_slice(bytes),
            Element::Copy { offset, len } if len <= room => {
                append_copy(&mut output, offset, len)?;
            }
            _ => return Err("it is longer than its stated length"),
        }
    }
    if output.len() < stated {
        return Err("it is shorter than its stated length");
    }
    Ok(output)
}

enum Element<'a> {
    Literal(&'a [u8]),
    /// A copy of bytes that start `offset` before the end of the output.
    Copy {
        offset: u32,
        len: usize,
    },
}

impl<'a> Element<'a> {
    /// The tag's lower two bits give the kind of element, the others its length.
    fn read(tag: u8, input: &mut &'a [u8]) -> Option<Self> {
        let upper = tag >> 2;
        Some(match tag & 3 {
            0 => {
                // 60 to 63 mean that the length is in the next 1 to 4 bytes.
                let len_less_one = match upper.checked_sub(59) {
                    None | Some(0) => upper.into(),
                    Some(num_bytes) => read_number(input, num_bytes.into())?,
                };
                let len = usize::try_from(len_less_one).ok()?.checked_add(1)?;
                let (bytes, rest) = input.split_at_checked(len)?;
                *input = rest;
                Self::Literal(bytes)
            }
            1 => {
                let offset = u32::from(upper >> 3) << 8 | read_number(input, 1)?;
                Self::Copy { offset, len: usize::from(upper & 7) + 4 }
            }
            2 => Self::Copy { offset: read_number(input, 2)?, len: usize::from(upper) + 1 },
            _ => Self::Copy { offset: read_number(input, 4)?, len: usize::from(upper) + 1 },
        })
    }
}

fn append_copy(output: &mut Vec<u8>, offset: u32, len: usize) -> Result<(), &'static str> {
    let start = usize::try_from(offset).ok().filter(|&offset| offset > 0);
    let start = start.and_then(|offset| output.len().checked_sub(offset));
    let start = start.ok_or("a copy reaches back before the start")?;
    let end = output.len() + len;
    while output.len() < end {
        // A copy that overlaps its own output repeats it.
        let num_bytes = (output.len() - start).min(end - output.len());
        output.extend_from_within(start..start + num_bytes);
    }
    Ok(())
}

/// A little-endian number of up to 4 bytes.
fn read_number(input: &mut &[u8], num_bytes: usize) -> Option<u32> {
    let (bytes, rest) = input.split_at_checked(num_bytes)?;
    *input = rest;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}
