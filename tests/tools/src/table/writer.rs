//! Writes blocks and footers, and puts another filter block into a table.
//!
//! Mirrors `table/format.cc` and the end of `table/table_builder.cc`.

use std::io;
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

/// The table's file with another filter block in the room of its metaindex block and its old
/// filters; `None` if there is not enough room, or if the table is not laid out as `LevelDB` does.
///
/// The file keeps its length. Data blocks and the index block stay in place, byte for byte; what is
/// left of the room becomes zeros.
pub(crate) fn with_filters_in_place(
    table: &Table<'_>,
    file: &[u8],
    policy_names: &[&str],
    filter_block: &[u8],
) -> io::Result<Option<Vec<u8>>> {
    let fits = |of: &Layout| !of.is_appended && of.has_room(policy_names, filter_block.len());
    let Some(layout) = table.layout()?.filter(fits) else { return Ok(None) };
    let Layout { data_end, index, index_handle, .. } = layout;
    let mut new = file[..data_end].to_vec();
    let metaindex = append_filters(&mut new, policy_names, filter_block);
    new.resize(index.start, 0);
    new.extend(&file[index.clone()]);
    append_footer(&mut new, &[metaindex, index_handle].concat());
    Ok(Some(new))
}

/// The table's file with a filter block and a metaindex block after the footer, which leads there
/// as does its copy at the new end; `None` if the table is not laid out as `LevelDB` does.
///
/// A reader that takes the file's length from the MANIFEST finds the first footer, one that asks
/// the file system the second. All blocks stay in place, except filters that were appended before.
pub(crate) fn with_filters_appended(
    table: &Table<'_>,
    file: &[u8],
    policy_names: &[&str],
    filter_block: &[u8],
) -> io::Result<Option<Vec<u8>>> {
    let Some(Layout { index, index_handle, .. }) = table.layout()? else { return Ok(None) };
    let mut new = file[..index.end].to_vec();
    append_footer(&mut new, &[]);
    let metaindex = append_filters(&mut new, policy_names, filter_block);
    let start = new.len();
    append_footer(&mut new, &[metaindex, index_handle].concat());
    new.copy_within(start.., index.end);
    Ok(Some(new))
}

/// Whether a file has the data blocks and the index block of another one where that has them.
pub(crate) fn has_data_of(old: &[u8], new: &[u8]) -> io::Result<bool> {
    let [old_layout, layout] = [Table::open(old)?.layout()?, Table::open(new)?.layout()?];
    let (Some(before), Some(after)) = (old_layout, layout) else { return Ok(false) };
    let is_kept = |range: Range<usize>| old[range.clone()] == new[range];
    Ok((&before.index, before.len) == (&after.index, after.len)
        && is_kept(0..before.data_end)
        && is_kept(before.index))
}

/// Appends the filters and a metaindex block that names only them, and returns its handle.
fn append_filters(file: &mut Vec<u8>, policy_names: &[&str], filter_block: &[u8]) -> Vec<u8> {
    let filters = append_block(file, filter_block, UNCOMPRESSED);
    append_block(file, &metaindex(policy_names, &filters), UNCOMPRESSED)
}

/// An entry for each name, of which each begins with the one before it.
fn metaindex(policy_names: &[&str], filters: &[u8]) -> Vec<u8> {
    let keys: Vec<_> = policy_names.iter().map(|name| format!("filter.{name}")).collect();
    let shared = [0].into_iter().chain(keys.iter().map(String::len));
    let entries = keys.iter().zip(shared).map(|(key, len)| (len, &key.as_bytes()[len..], filters));
    block(&entries.collect::<Vec<_>>())
}

/// Where the parts of a table's file lie.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) data_end: usize,
    /// The index block with its trailer; a footer follows.
    pub(crate) index: Range<usize>,
    pub(crate) index_handle: Vec<u8>,
    /// The length of the file up to that footer's end, which is in the MANIFEST.
    pub(crate) len: usize,
    /// Whether filters follow that footer, and a copy of it follows them.
    pub(crate) is_appended: bool,
    /// Of the filters and the metaindex block, wherever they are.
    room: Range<usize>,
}

impl Layout {
    /// Whether a filter block of this length fits where the filters are, or, if there are none, in
    /// place.
    pub(crate) fn has_room(&self, policy_names: &[&str], filter_len: usize) -> bool {
        end_of_filters(self.room.start, policy_names, filter_len) <= self.room.end
    }

    /// The length of a file with such a filter block at its end.
    pub(crate) fn len_if_appended(&self, policy_names: &[&str], filter_len: usize) -> usize {
        end_of_filters(self.len, policy_names, filter_len) + FOOTER_LEN
    }
}

/// Where a filter block of this length and its metaindex block end.
fn end_of_filters(start: usize, policy_names: &[&str], filter_len: usize) -> usize {
    let metaindex = metaindex(policy_names, &handle(start, filter_len));
    start + filter_len + metaindex.len() + 2 * BLOCK_TRAILER_LEN
}

impl Table<'_> {
    /// `None` unless all is as `LevelDB` lays it out, or [`with_filters_appended`] does: data
    /// blocks, at most one filter block, the metaindex block, the index block and the footer, and
    /// nothing else but zeros before the index block.
    pub(crate) fn layout(&self) -> io::Result<Option<Layout>> {
        let (metaindex, index) = super::read_footer(self.source)?;
        let start = self.data_blocks.last().map_or(0, |block| block.end);
        // Of what follows the data blocks, the index block is kept in memory already.
        let tail = self.source.read(start, self.source.len() - start)?;
        let filter = self.filter.as_ref().map(|filter| filter.handle?.range());
        // Without filters, an empty range before the metaindex block.
        let filter = filter.unwrap_or(metaindex.range().map(|range| range.start..range.start));
        let (Ok(data_end), Some(filter), Some(metaindex), Some(index)) =
            (usize::try_from(start), filter, metaindex.range(), index.range())
        else {
            return Ok(None);
        };
        let len = data_end + tail.len();
        let index_handle = handle(index.start, index.len() - BLOCK_TRAILER_LEN);
        let footer = index.end..index.end + FOOTER_LEN;
        let is_appended = metaindex.start >= footer.end;
        // Where the filters and the metaindex block lie, and what follows them.
        let (room, next) = if is_appended {
            (footer.end..len - FOOTER_LEN, len - FOOTER_LEN)
        } else {
            (data_end..index.start, footer.start)
        };
        let bytes = |range: Range<usize>| {
            tail.get(range.start.checked_sub(data_end)?..range.end.checked_sub(data_end)?)
        };
        let is_empty =
            |range: Range<usize>| bytes(range).is_some_and(|of| of.iter().all(|&byte| byte == 0));
        let is_usual = self.num_meta_blocks == usize::from(self.filter.is_some())
            && is_empty(room.start..filter.start)
            && is_empty(filter.end..metaindex.start)
            && is_empty(metaindex.end..room.end)
            && next + FOOTER_LEN == len
            && bytes(footer.clone()).is_some_and(|of| Some(of) == bytes(next..len));
        let len = footer.end;
        Ok(is_usual.then_some(Layout { data_end, index, index_handle, len, is_appended, room }))
    }
}
