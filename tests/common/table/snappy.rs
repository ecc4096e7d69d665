//! A decoder of Snappy's raw format, the format of compressed blocks in tables.
//!
//! Any bytes yield a block or an error. Memory grows with what comes out, at most 64 bytes for each
//! three.
//!
//! Mirrors Snappy's `format_description.txt`.

use super::coding::read_varint32;

pub(super) fn decompress(mut input: &[u8]) -> Option<Vec<u8>> {
    let stated = read_varint32(&mut input)?;
    let mut output = Vec::new();
    while let Some((&tag, rest)) = input.split_first() {
        input = rest;
        append(&mut output, tag, &mut input)?;
        if output.len() > stated {
            return None;
        }
    }
    (output.len() == stated).then_some(output)
}

/// Appends what an element yields. Its tag's lower two bits give the kind, the others a length.
fn append(output: &mut Vec<u8>, tag: u8, input: &mut &[u8]) -> Option<()> {
    let upper = usize::from(tag >> 2);
    let (len, offset) = match tag & 3 {
        0 => {
            // 60 to 63 mean that the length is in the next 1 to 4 bytes.
            let len_less_one = match upper.checked_sub(59) {
                None | Some(0) => upper,
                Some(num_bytes) => read_number(input, num_bytes)?,
            };
            let (bytes, rest) = input.split_at_checked(len_less_one.checked_add(1)?)?;
            *input = rest;
            output.extend_from_slice(bytes);
            return Some(());
        }
        1 => ((upper & 7) + 4, upper >> 3 << 8 | read_number(input, 1)?),
        2 => (upper + 1, read_number(input, 2)?),
        _ => (upper + 1, read_number(input, 4)?),
    };
    let start = output.len().checked_sub(offset)?;
    // A copy that overlaps its own output repeats it; none starts at its end.
    for i in start..start + len {
        output.push(*output.get(i)?);
    }
    Some(())
}

/// A little-endian number of up to 4 bytes.
fn read_number(input: &mut &[u8], num_bytes: usize) -> Option<usize> {
    let (bytes, rest) = input.split_at_checked(num_bytes)?;
    *input = rest;
    let number = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
    number.try_into().ok()
}
