//! Writes blocks and footers.
//!
//! Mirrors `table/format.cc` and the end of `table/table_builder.cc`.

use super::coding::varint;
use super::crc32c::masked_crc32c;
use super::{FOOTER_LEN, MAGIC};

pub(crate) fn handle(offset: usize, size: usize) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

/// A block of entries, each with the number of bytes that it shares with the key before it.
pub(crate) fn block(entries: &[(usize, &[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (shared, suffix, value) in entries {
        block.extend([*shared, suffix.len(), value.len()].map(varint).concat());
        block.extend([*suffix, *value].concat());
    }
    // One restart point, at the first entry.
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}

/// Appends a block with its trailer, and returns its handle.
pub(crate) fn append_block(file: &mut Vec<u8>, contents: &[u8], block_type: u8) -> Vec<u8> {
    let start = file.len();
    file.extend_from_slice(contents);
    file.push(block_type);
    let checksum = masked_crc32c(&file[start..]);
    file.extend(checksum.to_le_bytes());
    handle(start, contents.len())
}

pub(crate) fn append_footer(file: &mut Vec<u8>, handles: &[u8]) {
    let start = file.len();
    file.extend_from_slice(handles);
    file.resize(start + FOOTER_LEN - size_of::<u64>(), 0);
    file.extend(MAGIC.to_le_bytes());
}
