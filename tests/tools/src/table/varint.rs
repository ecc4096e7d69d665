//! Variable-length numbers.
//!
//! Mirrors `util/coding.cc`.

pub(crate) fn read_varint(input: &mut &[u8]) -> Option<u64> {
    read(input, 64)
}

/// In at most five bytes.
pub(crate) fn read_varint32(input: &mut &[u8]) -> Option<u32> {
    read(input, 32)?.try_into().ok()
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

pub(super) fn read_len(input: &mut &[u8]) -> Option<usize> {
    read_varint32(input)?.try_into().ok()
}

/// Bytes after their length.
pub(super) fn read_slice<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = read_len(input)?;
    let (slice, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(slice)
}
