//! Variable-length numbers.
//!
//! Mirrors `util/coding.cc`.

pub(super) fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

pub(super) fn read_varint(input: &mut &[u8]) -> Option<u64> {
    read(input, 64)
}

/// Reads a number of at most five bytes.
pub(super) fn read_varint32(input: &mut &[u8]) -> Option<usize> {
    let number = u32::try_from(read(input, 32)?).ok()?;
    number.try_into().ok()
}

fn read(input: &mut &[u8], num_bits: usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..num_bits).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
