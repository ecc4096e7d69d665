//! Writes blocks and footers, and puts another filter block into a table.
//!
//! Mirrors `table/format.cc` and the end of `table/table_builder.cc`.

use std::ops::Range;

use super::block::{BLOCK_TRAILER_LEN, UNCOMPRESSED};
use super::crc32c::masked_crc32c;
use super::{FOOTER_LEN, MAGIC, Table};

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
pub(crate) fn block(entries: &[(usize, &[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (shared, suffix, value) in entries {
        block.extend(varint(*shared));
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

/// A table's file as `LevelDB` lays it out: data blocks, one filter block, the metaindex block, the
/// index block and the footer, and nothing else but zeros before the index block.
pub(crate) struct Layout<'a> {
    file: &'a [u8],
    policy_name: &'a str,
    data_end: usize,
    /// With the trailer; a footer follows.
    index: Range<usize>,
}

impl<'a> Layout<'a> {
    /// `None` if the file is laid out in another way, or has no filters.
    pub(crate) fn of(table: &'a Table<'_>) -> Option<Self> {
        let file = table.file;
        let (policy_name, handle) = table.filters.as_ref()?;
        let data_end = table.data_blocks.last().map_or(0, |block| block.range.end);
        let filters = (*handle)?.range(file).ok()?;
        let metaindex = table.metaindex.range(file).ok()?;
        let index = table.index.range(file).ok()?;
        let is_empty = |range: Range<usize>| {
            file.get(range).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
        };
        let is_usual = table.num_meta_blocks == 1
            && !table.metaindex.is_damaged(file)
            && is_empty(data_end..filters.start)
            && is_empty(filters.end..metaindex.start)
            && is_empty(metaindex.end..index.start)
            && index.end + FOOTER_LEN == file.len();
        is_usual.then_some(Self { file, policy_name, data_end, index })
    }

    /// The file with another filter block; `None` if there is not enough room.
    ///
    /// The file keeps its length. Data blocks and the index block stay in place, byte for byte;
    /// what is left of the room becomes zeros.
    pub(crate) fn with_filters(&self, filter_block: &[u8]) -> Option<Vec<u8>> {
        let index = self.index.clone();
        let mut new = self.file[..self.data_end].to_vec();
        let filters = append_block(&mut new, filter_block, UNCOMPRESSED);
        let name = format!("filter.{}", self.policy_name);
        let metaindex = block(&[(0, name.as_bytes(), &filters)]);
        let metaindex = append_block(&mut new, &metaindex, UNCOMPRESSED);
        if new.len() > index.start {
            return None;
        }
        new.resize(index.start, 0);
        new.extend(&self.file[index.clone()]);
        let index = handle(index.start, index.len() - BLOCK_TRAILER_LEN);
        append_footer(&mut new, &[metaindex, index].concat());
        Some(new)
    }

    /// Whether another file has the same data blocks and the same index block in the same places,
    /// and filters of the same name.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same = |range: Range<usize>| self.file[range.clone()] == other.file[range];
        (self.file.len(), self.data_end, &self.index, self.policy_name)
            == (other.file.len(), other.data_end, &other.index, other.policy_name)
            && same(0..self.data_end)
            && same(self.index.clone())
    }
}
