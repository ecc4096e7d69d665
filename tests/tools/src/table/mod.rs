//! A reader of LevelDB's tables, and a writer of their filters.
//!
//! Any bytes yield an answer or an error. Time is linear in the length of the file and of its keys;
//! memory holds the file, its index, and one data block.
//!
//! Mirrors `table/format.cc` and `table/table.cc`.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use leveldb_filter::BloomFilterPolicy;

use block::BlockHandle;

pub(crate) mod block;
pub(crate) mod crc32c;
pub(crate) mod log;
pub(crate) mod manifest;
pub(crate) mod replace;
pub(crate) mod snappy;
pub(crate) mod varint;
pub(crate) mod writer;

const MAGIC: u64 = 0xdb4775248b80fb57;

/// `LevelDB` reads filters of the first name, goleveldb those of the second.
pub(crate) const NAMES: [&str; 2] = [BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME];

/// Two block handles, padded, and the magic number.
pub(crate) const FOOTER_LEN: usize = 48;

/// After an internal key's user key: its type, and a sequence number.
const KEY_TRAILER_LEN: usize = 8;
/// The type of an entry that has a value; the other is a deletion.
const VALUE: u8 = 1;

/// A database's table whose footer, metaindex block and index block have been read.
pub(crate) struct Table<'a> {
    file: &'a [u8],
    metaindex: BlockHandle,
    index: BlockHandle,
    /// The policy's name, and where its filters are if that can be read.
    filters: Option<(String, Option<BlockHandle>)>,
    /// How many blocks the metaindex block names.
    num_meta_blocks: usize,
    data_blocks: Vec<DataBlock>,
}

/// Where a data block lies in the file and among the keys.
pub(crate) struct DataBlock {
    handle: BlockHandle,
    /// With its trailer.
    range: Range<usize>,
    /// At or after every key of this block, and before every key of the next.
    index_key: Vec<u8>,
}

/// Filters as `LevelDB` takes them from a table unless it has `paranoid_checks`.
pub(crate) struct StoredFilters<'a> {
    pub(crate) policy_name: &'a str,
    /// Empty if nothing can be taken.
    pub(crate) contents: Cow<'a, [u8]>,
    /// Whether a checksum is wrong.
    pub(crate) is_damaged: bool,
}

/// An internal key without its trailer.
pub(crate) fn user_key(internal_key: &[u8]) -> &[u8] {
    &internal_key[..internal_key.len().saturating_sub(KEY_TRAILER_LEN)]
}

/// Whether an internal key is that of an entry with a value, no deletion.
pub(crate) fn has_value(internal_key: &[u8]) -> bool {
    internal_key.get(user_key(internal_key).len()) == Some(&VALUE)
}

impl<'a> Table<'a> {
    pub(crate) fn open(file: &'a [u8]) -> io::Result<Self> {
        let no_table = || corrupt("not a LevelDB table, or a truncated one");
        let (metaindex, index) = read_footer(file).ok_or_else(no_table)?;
        let (filters, num_meta_blocks) = read_metaindex(file, metaindex);
        let data_blocks = read_index(file, index)?;
        Ok(Self { file, metaindex, index, filters, num_meta_blocks, data_blocks })
    }

    /// `None` if the metaindex block names none.
    pub(crate) fn filters(&self) -> Option<StoredFilters<'_>> {
        let (policy_name, handle) = self.filters.as_ref()?;
        let contents = handle.and_then(|handle| handle.read_unchecked(self.file).ok());
        let is_damaged = self.metaindex.is_damaged(self.file)
            || contents.is_none()
            || handle.is_none_or(|handle| handle.is_damaged(self.file));
        Some(StoredFilters { policy_name, contents: contents.unwrap_or_default(), is_damaged })
    }

    pub(crate) fn data_blocks(&self) -> &[DataBlock] {
        &self.data_blocks
    }

    /// The data block that a lookup of a key reads, in bytewise order; `None` if there is none.
    pub(crate) fn place_of(&self, key: &[u8]) -> Option<usize> {
        let is_before = |block: &DataBlock| user_key(&block.index_key) < key;
        let place = self.data_blocks.partition_point(is_before);
        Some(place.min(self.data_blocks.len().checked_sub(1)?))
    }

    /// Visits the internal keys of these data blocks in order, each with its block, up to where one
    /// is corrupt.
    pub(crate) fn visit(
        &self,
        blocks: &[DataBlock],
        mut visit: impl FnMut(&DataBlock, &[u8]),
    ) -> io::Result<()> {
        blocks.iter().try_for_each(|block| {
            let contents = block.handle.read(self.file)?;
            block.handle.visit_entries(&contents, |key, _| visit(block, key))
        })
    }
}

impl DataBlock {
    pub(crate) fn offset(&self) -> u64 {
        self.range.start as u64
    }

    /// The offset just after the block and its trailer.
    pub(crate) fn end(&self) -> u64 {
        self.range.end as u64
    }
}

/// Why bytes are not what they should be.
pub(crate) fn corrupt(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// Where the metaindex block and the index block lie.
fn read_footer(file: &[u8]) -> Option<(BlockHandle, BlockHandle)> {
    let (_, footer) = file.split_last_chunk::<FOOTER_LEN>()?;
    let (mut handles, magic) = footer.split_at(FOOTER_LEN - size_of::<u64>());
    let handles = (BlockHandle::decode(&mut handles)?, BlockHandle::decode(&mut handles)?);
    (magic == MAGIC.to_le_bytes()).then_some(handles)
}

/// The filters, and the number of all blocks that are named: as far as can be read, since `LevelDB`
/// does without the others.
fn read_metaindex(
    file: &[u8],
    metaindex: BlockHandle,
) -> (Option<(String, Option<BlockHandle>)>, usize) {
    let mut entries = Vec::new();
    if let Ok(contents) = metaindex.read_unchecked(file) {
        let _ = metaindex.visit_entries(&contents, |key, mut value| {
            entries.push((key.to_vec(), BlockHandle::decode(&mut value)));
        });
    }
    let number = entries.len();
    let filters = entries.into_iter().filter_map(|(key, handle)| {
        let name = String::from_utf8_lossy(key.strip_prefix(b"filter.")?).into_owned();
        Some((name, handle))
    });
    let place = |name: &str| NAMES.iter().position(|&one| one == name).unwrap_or(NAMES.len());
    (filters.min_by_key(|(name, _)| place(name)), number)
}

/// The data blocks of an index, each after the one before it: an index that repeated a block would
/// make a small file a large one.
fn read_index(file: &[u8], index: BlockHandle) -> io::Result<Vec<DataBlock>> {
    let (mut blocks, mut is_right): (Vec<DataBlock>, _) = (Vec::new(), true);
    index.visit_entries(&index.read(file)?, |key, mut value| {
        let end = blocks.last().map_or(0, |block| block.range.end);
        let handle = BlockHandle::decode(&mut value).filter(|_| is_right);
        let range = handle.and_then(|handle| handle.range(file).ok());
        match handle.zip(range).filter(|(_, range)| end <= range.start) {
            Some((handle, range)) => {
                blocks.push(DataBlock { handle, range, index_key: key.to_vec() });
            }
            None => is_right = false,
        }
    })?;
    if is_right { Ok(blocks) } else { Err(corrupt("the index block is corrupt")) }
}
