//! The keys of a table, and the filter blocks made of them.

use std::io;
use std::mem;

use leveldb_filter::{FilterBlockBuilder, FilterPolicy};

use super::Table;

/// After an internal key's user key: its type, which is 0 or 1, and a sequence number of seven
/// bytes, the lowest first.
const KEY_TRAILER_LEN: usize = 8;

/// The keys of a table, back to back. Of internal keys, these are the user keys.
pub(crate) struct Keys {
    bytes: Vec<u8>,
    /// The end of each key in `bytes`.
    ends: Vec<usize>,
    blocks: Vec<DataBlock>,
    /// Whether the keys are taken without their last 8 bytes.
    are_internal: bool,
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
            Self { bytes: Vec::new(), ends: Vec::new(), blocks: Vec::new(), are_internal: false };
        for handle in &table.data_blocks {
            let (range, num_before) = (handle.range(table.file_len())?, keys.ends.len());
            handle.visit_entries(&handle.read(table.file)?, |key, _| {
                keys.bytes.extend_from_slice(key);
                keys.ends.push(keys.bytes.len());
            })?;
            let num_keys = keys.ends.len() - num_before;
            keys.blocks.push(DataBlock { offset: range.start, end: range.end, num_keys });
        }
        keys.are_internal = keys.look_internal();
        Ok(keys)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The end of the last data block in the file.
    pub(crate) fn data_end(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.end)
    }

    /// Whether most keys look like internal keys: the type is one of LevelDB's, and the sequence
    /// number is below 2<sup>48</sup>, as in any database. All may not, if one is damaged.
    fn look_internal(&self) -> bool {
        let is_likely = |key: &&[u8]| is_internal(key) && key.ends_with(&[0]);
        2 * self.slices(false).filter(is_likely).count() > self.len()
    }

    /// The keys among internal keys that are none, whole.
    pub(crate) fn not_internal(&self) -> impl Iterator<Item = &[u8]> {
        self.slices(false).filter(|key| self.are_internal && !is_internal(key))
    }

    /// Each key with the offset of its data block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let offsets =
            self.blocks.iter().flat_map(|block| std::iter::repeat_n(block.offset, block.num_keys));
        offsets.zip(self.slices(self.are_internal))
    }

    /// How many keys each range of 2<sup>`base_lg`</sup> bytes has, if any.
    pub(crate) fn of_ranges(&self, base_lg: u8) -> Vec<usize> {
        let ranges = self.blocks.chunk_by(|a, b| a.offset >> base_lg == b.offset >> base_lg);
        let num_keys = ranges.map(|blocks| blocks.iter().map(|block| block.num_keys).sum());
        num_keys.filter(|&num_keys| num_keys > 0).collect()
    }

    /// The filter block that a builder makes of these keys, as it makes them for LevelDB's tables.
    pub(crate) fn filter_block<P: FilterPolicy>(
        &self,
        mut builder: FilterBlockBuilder<P>,
    ) -> Vec<u8> {
        let mut keys = self.slices(false);
        builder.start_block(0);
        for block in &self.blocks {
            builder.start_block(block.offset);
            for key in keys.by_ref().take(block.num_keys) {
                if self.are_internal {
                    builder.add_internal_key(key);
                } else {
                    builder.add_key(key);
                }
            }
            builder.start_block(block.end);
        }
        builder.finish()
    }

    fn slices(&self, are_internal: bool) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let key = &self.bytes[mem::replace(&mut start, end)..end];
            match key.split_last_chunk::<KEY_TRAILER_LEN>() {
                Some((user_key, _)) if are_internal => user_key,
                // Also a key that is too short for a trailer.
                _ => key,
            }
        })
    }
}

fn is_internal(key: &[u8]) -> bool {
    key.last_chunk::<KEY_TRAILER_LEN>().is_some_and(|trailer| trailer[0] < 2)
}
