//! A reader of LevelDB's table files, and of the MANIFEST that names them: only what is needed to
//! inspect filters. `writer` and `replace` change tables, and hold whole files.
//!
//! Any bytes yield an answer or an error. Time is linear in the length of the file and of its keys,
//! whose total length is limited; a reader's memory holds the index block and one data block.
//!
//! Mirrors `table/format.cc` and `table/table.cc`.

use std::borrow::Cow;
use std::io;

use block::{BlockHandle, KeyBudget};
pub(crate) use source::Source;

pub(crate) mod block;
pub(crate) mod crc32c;
pub(crate) mod directory;
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
    pub(crate) fn open(source: impl Into<Source<'a>>) -> io::Result<Self> {
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
    pub(crate) fn filter_block(&self) -> io::Result<Option<Cow<'a, [u8]>>> {
        let Some(FilterEntry { handle, .. }) = &self.filter else { return Ok(None) };
        handle.ok_or_else(corrupt_handle)?.read(self.source).map(Some)
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

    /// The place of the data block that a lookup of a database's key reads, in bytewise order;
    /// `None` if there is no block.
    pub(crate) fn place_of(&self, user_key: &[u8], trailer_len: usize) -> Option<usize> {
        let is_before = |DataBlock { index_key, .. }: &DataBlock| {
            index_key[..index_key.len().saturating_sub(trailer_len)] < *user_key
        };
        let last = self.data_blocks.len().checked_sub(1)?;
        Some(self.data_blocks.partition_point(is_before).min(last))
    }

    /// Visits all keys, each with its data block, up to where one is corrupt.
    pub(crate) fn visit_keys(&self, mut visit: impl FnMut(&DataBlock, &[u8])) -> io::Result<()> {
        let mut budget = self.key_budget();
        self.data_blocks
            .iter()
            .try_for_each(|block| self.visit_keys_of(&mut budget, block, |key| visit(block, key)))
    }

    /// Visits the keys of a data block in order, as long as the budget lasts.
    pub(crate) fn visit_keys_of(
        &self,
        budget: &mut KeyBudget,
        block: &DataBlock,
        mut visit: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        block.handle.visit_entries(self.source, budget, |key, _value| visit(key))
    }
}

impl DataBlock {
    pub(crate) fn offset(&self) -> u64 {
        self.handle.offset
    }
}

/// Why bytes are not what they should be.
fn corrupt(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

fn corrupt_handle() -> io::Error {
    corrupt("the handle of a block is corrupt")
}

/// Where the metaindex block and the index block lie.
fn read_footer(source: Source<'_>) -> io::Result<(BlockHandle, BlockHandle)> {
    let too_short = || {
        let len = source.len();
        corrupt(format!("not a LevelDB table: {len} bytes are too few for its 48-byte footer"))
    };
    let start = source.len().checked_sub(FOOTER_LEN as u64).ok_or_else(too_short)?;
    let footer = source.read(start, FOOTER_LEN as u64)?;
    let (mut handles, magic) = footer.split_last_chunk().ok_or_else(too_short)?;
    match u64::from_le_bytes(*magic) {
        MAGIC => (),
        ROCKSDB_MAGIC => {
            return Err(corrupt("a table of RocksDB in its own format, which LevelDB cannot read"));
        }
        _ => {
            let why = "not a LevelDB table, or a truncated one: no magic number at the end";
            return Err(corrupt(why));
        }
    }
    let mut handle =
        || BlockHandle::decode(&mut handles).ok_or_else(|| corrupt("the footer is corrupt"));
    Ok((handle()?, handle()?))
}

/// The first filter's entry, and the number of all blocks.
fn read_metaindex(
    source: Source<'_>,
    handle: BlockHandle,
) -> io::Result<(Option<FilterEntry>, usize)> {
    let (mut filter, mut number): (Option<FilterEntry>, _) = (None, 0);
    let mut budget = KeyBudget::of_index(handle);
    handle.visit_entries(source, &mut budget, |key, mut value| {
        let name = key.strip_prefix(b"filter.");
        let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
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

/// The data blocks of an index, each after the one before it: an index that repeated a block would
/// make a small file a large one.
fn read_index(source: Source<'_>, handle: BlockHandle) -> io::Result<Vec<DataBlock>> {
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
) -> io::Result<DataBlock> {
    let handle = BlockHandle::decode(&mut value).ok_or_else(corrupt_handle)?;
    let BlockHandle { offset, size } = handle;
    let end = handle.end().filter(|&end| end <= file_len).ok_or_else(|| {
        corrupt(format!("a block of {size} bytes at offset {offset} reaches outside the file"))
    })?;
    if previous.is_some_and(|previous| offset < previous.end) {
        return Err(corrupt(format!("the data block at offset {offset} overlaps an earlier one")));
    }
    Ok(DataBlock { handle, end, index_key: key.to_vec() })
}
