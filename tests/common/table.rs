//! A reader of LevelDB's table files: as much of it as a look at the filters takes.
//!
//! Any bytes get an answer or an error. Time is linear in the length of the file, whatever it says
//! about itself, and so is memory: for the keys of the index block, and for one data block at a
//! time.
//!
//! Mirrors `table/format.cc` and `table/table.cc`.

use std::borrow::Cow;

use block::BlockHandle;
pub(crate) use error::TableError;

#[path = "table/block.rs"]
mod block;
#[path = "table/crc32c.rs"]
pub(crate) mod crc32c;
#[path = "table/error.rs"]
mod error;
#[path = "snappy.rs"]
pub(crate) mod snappy;

const MAGIC: u64 = 0xdb4775248b80fb57;

/// The footer before the magic number: two block handles, padded.
const HANDLES_LEN: usize = 40;

/// A table whose footer, metaindex block and index block have been read.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    file: &'a [u8],
    metaindex: Vec<Entry>,
    data_blocks: Vec<DataBlock>,
}

/// A table's filters, and the name of the policy that made them.
#[derive(Debug)]
pub(crate) struct FilterBlock<'a> {
    pub(crate) policy_name: String,
    pub(crate) contents: Cow<'a, [u8]>,
}

/// Where a data block lies in the file and among the keys.
#[derive(Debug)]
pub(crate) struct DataBlock {
    handle: BlockHandle,
    /// The offset behind the block and its trailer.
    pub(crate) end: u64,
    /// At or above each key of this block, and below each key of the next.
    pub(crate) index_key: Vec<u8>,
}

/// An entry of the metaindex block or the index block.
#[derive(Debug)]
struct Entry {
    key: Vec<u8>,
    handle: Option<BlockHandle>,
}

impl<'a> Table<'a> {
    pub(crate) fn open(file: &'a [u8]) -> Result<Self, TableError> {
        let too_short = TableError::TooShort { len: file.len() };
        let (rest, magic) = file.split_last_chunk().ok_or(too_short)?;
        let (_, handles) = rest.split_last_chunk::<HANDLES_LEN>().ok_or(too_short)?;
        if u64::from_le_bytes(*magic) != MAGIC {
            return Err(TableError::BadMagic);
        }
        let mut handles = &handles[..];
        let metaindex = BlockHandle::decode(&mut handles).ok_or(TableError::CorruptFooter)?;
        let index = BlockHandle::decode(&mut handles).ok_or(TableError::CorruptFooter)?;
        Ok(Self {
            file,
            metaindex: read_entries(file, metaindex)?,
            data_blocks: in_order(read_entries(file, index)?)?,
        })
    }

    /// The filter block that the metaindex block names first.
    pub(crate) fn filter_block(&self) -> Result<Option<FilterBlock<'a>>, TableError> {
        let filter = self
            .metaindex
            .iter()
            .find_map(|entry| Some((entry.key.strip_prefix(b"filter.")?, entry.handle)));
        let Some((policy_name, handle)) = filter else { return Ok(None) };
        Ok(Some(FilterBlock {
            policy_name: String::from_utf8_lossy(policy_name).into_owned(),
            contents: handle.ok_or(TableError::CorruptHandle)?.read(self.file)?,
        }))
    }

    pub(crate) fn data_blocks(&self) -> &[DataBlock] {
        &self.data_blocks
    }

    /// Visits the keys of a data block in order, up to where it is corrupt.
    pub(crate) fn visit_keys(
        &self,
        block: &DataBlock,
        mut visit: impl FnMut(&[u8]),
    ) -> Result<(), TableError> {
        block.handle.visit_entries(self.file, |key, _value| visit(key))
    }
}

impl DataBlock {
    pub(crate) fn offset(&self) -> u64 {
        self.handle.offset
    }
}

fn read_entries(file: &[u8], handle: BlockHandle) -> Result<Vec<Entry>, TableError> {
    let mut entries = Vec::new();
    handle.visit_entries(file, |key, mut value| {
        entries.push(Entry { key: key.to_vec(), handle: BlockHandle::decode(&mut value) });
    })?;
    Ok(entries)
}

/// The data blocks of an index, each behind the one before it: an index that named a block again
/// and again would make a small file a large one.
fn in_order(index: Vec<Entry>) -> Result<Vec<DataBlock>, TableError> {
    let mut blocks: Vec<DataBlock> = Vec::with_capacity(index.len());
    for Entry { key: index_key, handle } in index {
        let handle = handle.ok_or(TableError::CorruptHandle)?;
        let BlockHandle { offset, size } = handle;
        let end = handle.end().ok_or(TableError::OutsideFile { offset, size })?;
        if blocks.last().is_some_and(|previous| offset < previous.end) {
            return Err(TableError::OutOfOrder { offset });
        }
        blocks.push(DataBlock { handle, end, index_key });
    }
    Ok(blocks)
}
