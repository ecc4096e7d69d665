//! Writes blocks and footers, and puts another filter block into a table.
//!
//! Mirrors `table/format.cc` and the end of `table/table_builder.cc`.

use super::block::{BlockHandle, TRAILER_LEN};
use super::crc32c::masked_crc32c;
use super::{FOOTER_LEN, MAGIC, Table, TableError};

/// Type bytes of blocks.
pub(crate) const UNCOMPRESSED: u8 = 0;
#[allow(dead_code, reason = "not every crate compresses")]
pub(crate) const SNAPPY: u8 = 1;

pub(crate) fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
    bytes
}

pub(crate) fn handle(offset: usize, size: usize) -> Vec<u8> {
    [varint(offset), varint(size)].concat()
}

/// A block of entries, each with the number of bytes that it shares with the key before it.
pub(crate) fn block(entries: &[(u8, &[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (shared, suffix, value) in entries {
        block.push(*shared);
        block.extend(varint(suffix.len()));
        block.extend(varint(value.len()));
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

/// The table's file with another filter block in the room of its metaindex block and its old
/// filters; `None` if there is not enough room, or if the table is not laid out as `LevelDB` does.
///
/// The file keeps its length. Data blocks and the index block stay in place, byte for byte; what is
/// left of the room becomes zeros.
pub(crate) fn with_filters_in_place(
    table: &Table<'_>,
    file: &[u8],
    policy_name: &str,
    filter_block: &[u8],
) -> Result<Option<Vec<u8>>, TableError> {
    let Some(Room { range: room, index }) = table.room(file.len() as u64)? else { return Ok(None) };
    let mut new = file[..room.start].to_vec();
    let filters = append_block(&mut new, filter_block, UNCOMPRESSED);
    let name = format!("filter.{policy_name}");
    let metaindex = block(&[(0, name.as_bytes(), &filters)]);
    let metaindex = append_block(&mut new, &metaindex, UNCOMPRESSED);
    if new.len() > room.end {
        return Ok(None);
    }
    new.resize(room.end, 0);
    new.extend(&file[room.end..file.len() - FOOTER_LEN]);
    append_footer(&mut new, &[metaindex, index].concat());
    Ok(Some(new))
}

/// The bytes between the data blocks and the index block, and the index block's handle.
struct Room {
    range: std::ops::Range<usize>,
    index: Vec<u8>,
}

impl Table<'_> {
    /// `None` unless the filters and the metaindex block follow the data blocks, and the index
    /// block and the footer follow them.
    fn room(&self, file_len: u64) -> Result<Option<Room>, TableError> {
        let start = self.data_blocks.last().map_or(0, |block| block.end);
        let (metaindex, index) = super::read_footer(self.source)?;
        let filter = self.filter.as_ref().and_then(|filter| filter.handle);
        let is_inside = |handle: BlockHandle| {
            handle.offset >= start && handle.end().is_some_and(|end| end <= index.offset)
        };
        let is_last = index.offset.checked_add(index.size + TRAILER_LEN + FOOTER_LEN as u64)
            == Some(file_len);
        let is_usual = is_last && is_inside(metaindex) && filter.is_none_or(is_inside);
        let numbers = [start, index.offset, index.size].map(|number| usize::try_from(number).ok());
        let [Some(start), Some(offset), Some(size)] = numbers else { return Ok(None) };
        Ok(is_usual.then(|| Room { range: start..offset, index: handle(offset, size) }))
    }
}
