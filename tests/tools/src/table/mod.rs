//! A reader of LevelDB's table files, and of the MANIFEST that names them: only what is needed to
//! inspect filters. `writer` and `replace` change tables, and hold whole files.
//!
//! Any bytes yield an answer or an error. Time is linear in the length of the file and of its keys,
//! whose total length is limited; a reader's memory holds the index block and one data block.
//!
//! Mirrors `table/format.cc` and `table/table.cc`.

use std::borrow::Cow;
use std::cmp::Ordering;

use block::{BlockHandle, KeyBudget};
pub(crate) use error::TableError;
pub(crate) use source::Source;

pub(crate) mod block;
pub(crate) mod crc32c;
pub(crate) mod directory;
mod error;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod replace;
pub(crate) mod snappy;
mod source;
pub(crate) mod varint;
pub(crate) mod writer;

const MAGIC: u64 = 0xdb4775248b80fb57;
/// The magic number of `RocksDB`'s block-based tables, since format version 1.
const ROCKSDB_MAGIC: u64 = 0x88e241b785f4cff7;

/// Two block handles, padded, and the magic number.
const FOOTER_LEN: usize = 48;

/// A table whose footer, metaindex block and index block have been read.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    source: Source<'a>,
    filter: Option<FilterEntry>,
    /// How many blocks the metaindex block names, each counted once.
    num_meta_blocks: usize,
    data_blocks: Vec<DataBlock>,
}

/// Where a data block lies in the file and among the keys.
#[derive(Debug)]
pub(crate) struct DataBlock {
    handle: BlockHandle,
    /// The offset just after the block and its trailer.
    pub(crate) end: u64,
    /// At or after every key of this block, and before every key of the next.
    pub(crate) index_key: Vec<u8>,
}

/// The filter's entry in the metaindex block.
#[derive(Debug)]
struct FilterEntry {
    policy_names: Vec<String>,
    handle: Option<BlockHandle>,
}

impl<'a> Table<'a> {
    pub(crate) fn open(source: impl Into<Source<'a>>) -> Result<Self, TableError> {
        let source = source.into();
        let (metaindex, index) = read_footer(source)?;
        let (filter, num_meta_blocks) = read_metaindex(source, metaindex)?;
        Ok(Self { source, filter, num_meta_blocks, data_blocks: read_index(source, index)? })
    }

    /// The policies of the filter block, even if it cannot be read; none if there is none. Several
    /// if the metaindex block has several entries for one block.
    pub(crate) fn policy_names(&self) -> &[String] {
        self.filter.as_ref().map_or(&[], |of| &of.policy_names)
    }

    /// The filter block that the metaindex block names first.
    pub(crate) fn filter_block(&self) -> Result<Option<Cow<'a, [u8]>>, TableError> {
        let Some(FilterEntry { handle, .. }) = &self.filter else { return Ok(None) };
        handle.ok_or(TableError::CorruptHandle)?.read(self.source).map(Some)
    }

    /// What `LevelDB` takes for the filter block unless it has `paranoid_checks`; `None` if it can
    /// take nothing.
    pub(crate) fn unchecked_filter_block(&self) -> Option<Cow<'a, [u8]>> {
        self.filter.as_ref()?.handle?.read_unchecked(self.source).ok()
    }

    pub(crate) fn data_blocks(&self) -> &[DataBlock] {
        &self.data_blocks
    }

    /// The limit on the total length of the table's keys.
    pub(crate) fn key_budget(&self) -> KeyBudget {
        KeyBudget::of_data(self.source.len())
    }

    /// The place of the data block that a lookup reads, whether user keys ascend or descend; `None`
    /// if there is no such block.
    pub(crate) fn place_of(&self, user_key: &[u8], trailer_len: usize) -> Option<usize> {
        let blocks = self.data_blocks();
        let of_block = |block: &'_ DataBlock| {
            let index_key = &block.index_key;
            index_key[..index_key.len().saturating_sub(trailer_len)].cmp(user_key)
        };
        let descend = blocks.first()?.index_key > blocks.last()?.index_key;
        let before = if descend { Ordering::Greater } else { Ordering::Less };
        let place = blocks.partition_point(|block| of_block(block) == before);
        Some(place.min(blocks.len() - 1))
    }

    /// Visits the keys of a data block in order, up to where it is corrupt.
    pub(crate) fn visit_keys(
        &self,
        block: &DataBlock,
        visit: impl FnMut(&[u8]),
    ) -> Result<(), TableError> {
        self.visit_keys_within(&mut self.key_budget(), block, visit).map(drop)
    }

    /// [`visit_keys`](Self::visit_keys) as long as the budget lasts; returns the length of the
    /// block's contents.
    pub(crate) fn visit_keys_within(
        &self,
        budget: &mut KeyBudget,
        block: &DataBlock,
        mut visit: impl FnMut(&[u8]),
    ) -> Result<usize, TableError> {
        block.handle.visit_entries(self.source, budget, |key, _value| visit(key))
    }
}

impl DataBlock {
    pub(crate) fn offset(&self) -> u64 {
        self.handle.offset
    }
}

/// Where the metaindex block and the index block lie.
fn read_footer(source: Source<'_>) -> Result<(BlockHandle, BlockHandle), TableError> {
    let too_short = TableError::TooShort { len: source.len() };
    let start = source.len().checked_sub(FOOTER_LEN as u64).ok_or(too_short)?;
    let footer = source.read(start, FOOTER_LEN as u64)?.ok_or(too_short)?;
    let (mut handles, magic) = footer.split_last_chunk().ok_or(too_short)?;
    match u64::from_le_bytes(*magic) {
        MAGIC => (),
        ROCKSDB_MAGIC => return Err(TableError::RocksDb),
        _ => return Err(TableError::BadMagic),
    }
    let mut handle = || BlockHandle::decode(&mut handles).ok_or(TableError::CorruptFooter);
    Ok((handle()?, handle()?))
}

/// The first filter's entry, and the number of all blocks.
fn read_metaindex(
    source: Source<'_>,
    handle: BlockHandle,
) -> Result<(Option<FilterEntry>, usize), TableError> {
    let (mut filter, mut number): (Option<FilterEntry>, _) = (None, 0);
    let mut budget = KeyBudget::of_index(handle);
    handle.visit_entries(source, &mut budget, |key, mut value| {
        let name = policy_name(key).map(|name| String::from_utf8_lossy(name).into_owned());
        let handle = BlockHandle::decode(&mut value);
        match (&mut filter, name) {
            // The same block under another name, as `writer` makes it.
            (Some(first), Some(name)) if first.handle == handle => {
                return first.policy_names.push(name);
            }
            (None, Some(name)) => filter = Some(FilterEntry { policy_names: vec![name], handle }),
            _ => (),
        }
        number += 1;
    })?;
    Ok((filter, number))
}

/// `None` if the entry is not a filter's. A filter that only `RocksDB` makes keeps its kind in the
/// name.
fn policy_name(key: &[u8]) -> Option<&[u8]> {
    let rocksdbs = [&b"fullfilter."[..], b"partitionedfilter."];
    key.strip_prefix(b"filter.")
        .or_else(|| rocksdbs.iter().any(|kind| key.starts_with(kind)).then_some(key))
}

/// The data blocks of an index, each after the one before it: an index that repeated a block would
/// make a small file a large one.
fn read_index(source: Source<'_>, handle: BlockHandle) -> Result<Vec<DataBlock>, TableError> {
    let mut blocks: Vec<DataBlock> = Vec::new();
    let mut outcome = Ok(());
    let mut budget = KeyBudget::of_index(handle);
    handle.visit_entries(source, &mut budget, |key, value| {
        if outcome.is_ok() {
            let block = next_block(source.len(), blocks.last(), key, value);
            outcome = block.map(|block| blocks.push(block));
        }
    })?;
    outcome.map(|()| blocks)
}

fn next_block(
    file_len: u64,
    previous: Option<&DataBlock>,
    key: &[u8],
    mut value: &[u8],
) -> Result<DataBlock, TableError> {
    let handle = BlockHandle::decode(&mut value).ok_or(TableError::CorruptHandle)?;
    let BlockHandle { offset, size } = handle;
    let end = handle.end().filter(|&end| end <= file_len);
    let end = end.ok_or(TableError::OutsideFile { offset, size })?;
    if previous.is_some_and(|previous| offset < previous.end) {
        return Err(TableError::OutOfOrder { offset });
    }
    Ok(DataBlock { handle, end, index_key: key.to_vec() })
}
