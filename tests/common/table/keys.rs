//! The keys of a table, and the filter blocks made of them.

use std::io;
use std::mem;

use leveldb_filter::{FilterBlockBuilder, FilterPolicy};

use super::Table;

/// After an internal key's user key: its type, which is 0 or 1, and a sequence number of seven
/// bytes, the lowest first.
const KEY_TRAILER_LEN: usize = 8;

/// The keys of a table, back to back. Of internal keys, the user keys can be taken.
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
    blocks: Vec<DataBlock>,
    /// The length of what ends each key and does not belong to it.
    pub(crate) trailer_len: usize,
}

struct DataBlock {
    offset: u64,
    /// The offset just after the block and its trailer.
    end: u64,
    num_keys: usize,
}

impl Keys {
    pub(crate) fn of(table: &Table<'_>) -> io::Result<Self> {
        let mut keys =
            Self { bytes: Vec::new(), ends: Vec::new(), blocks: Vec::new(), trailer_len: 0 };
        for handle in &table.data_blocks {
            let (range, num_before) = (handle.range(table.file_len())?, keys.ends.len());
            handle.visit_entries(&handle.read(table.file)?, |key, _| {
                keys.bytes.extend_from_slice(key);
                keys.ends.push(keys.bytes.len());
            })?;
            let num_keys = keys.ends.len() - num_before;
            keys.blocks.push(DataBlock { offset: range.start, end: range.end, num_keys });
        }
        Ok(keys)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The end of the last data block in the file.
    pub(crate) fn data_end(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.end)
    }

    /// Whether all keys can be internal keys: their trailers have types of LevelDB's.
    pub(crate) fn can_be_internal(&self) -> bool {
        self.all_end_in(|trailer| trailer[0] < 2)
    }

    /// Whether all keys look like internal keys: their sequence numbers are below 2<sup>48</sup>,
    /// too, as in any database. Two numbers back to back can pass for a key and a trailer's type.
    pub(crate) fn look_internal(&self) -> bool {
        self.all_end_in(|trailer| trailer[0] < 2 && trailer[KEY_TRAILER_LEN - 1] == 0)
    }

    fn all_end_in(&self, is_trailer: impl Fn(&[u8; KEY_TRAILER_LEN]) -> bool) -> bool {
        self.slices(0).all(|key| key.last_chunk().is_some_and(&is_trailer))
    }

    /// Internal keys without their trailers.
    pub(crate) fn into_user_keys(self) -> Self {
        assert!(self.can_be_internal(), "keys without trailers");
        Self { trailer_len: KEY_TRAILER_LEN, ..self }
    }

    /// Each key with the offset of its data block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let offsets =
            self.blocks.iter().flat_map(|block| std::iter::repeat_n(block.offset, block.num_keys));
        offsets.zip(self.slices(self.trailer_len))
    }

    /// The filter block that a builder makes of these keys, as it makes them for LevelDB's tables.
    pub(crate) fn filter_block<P: FilterPolicy>(
        &self,
        mut builder: FilterBlockBuilder<P>,
    ) -> Vec<u8> {
        let mut keys = self.slices(self.trailer_len);
        builder.start_block(0);
        for block in &self.blocks {
            builder.start_block(block.offset);
            keys.by_ref().take(block.num_keys).for_each(|key| builder.add_key(key));
            builder.start_block(block.end);
        }
        builder.finish()
    }

    fn slices(&self, trailer_len: usize) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&end| &self.bytes[mem::replace(&mut start, end)..end - trailer_len])
    }
}
