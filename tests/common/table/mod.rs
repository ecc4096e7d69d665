//! Reads LevelDB's tables, and puts another filter block into one.
//!
//! Any bytes yield an answer or an error. Time and memory are linear in the lengths of the file and
//! its keys.
//!
//! Mirrors `table/format.cc` and `table/table.cc`.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use block::BlockHandle;
pub(crate) use keys::Keys;

pub(crate) mod block;
mod coding;
mod crc32c;
mod keys;
pub(crate) mod replace;
mod snappy;
pub(crate) mod writer;

const MAGIC: u64 = 0xdb4775248b80fb57;
const ROCKSDB_MAGIC: u64 = 0x88e241b785f4cff7;

/// The length of a footer, which holds two block handles, padded, and the magic number.
const FOOTER_LEN: usize = 48;

/// What comes before a policy's name in the metaindex block.
const FILTER: &str = "filter.";

/// A table whose footer and index block have been read.
pub(crate) struct Table<'a> {
    file: &'a [u8],
    footer: Footer,
    data_blocks: Vec<BlockHandle>,
}

#[derive(Clone, Copy)]
struct Footer {
    metaindex: BlockHandle,
    index: BlockHandle,
}

/// The filter block of a table, and the name of its policy.
pub(crate) struct Filters<'a> {
    pub(crate) policy_name: String,
    pub(crate) contents: Cow<'a, [u8]>,
}

/// Reads a table's file.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path) {
        Ok(file) if file.is_file() => fs::read(path),
        // Devices and pipes may never end, and a pipe may not even open.
        Ok(_) => Err(corrupt("not a regular file")),
        // As git-annex has one until it fetches the file.
        Err(_) if path.is_symlink() => Err(corrupt("a link to a file that is not there")),
        Err(why) => Err(why),
    }
}

impl<'a> Table<'a> {
    pub(crate) fn open(file: &'a [u8]) -> io::Result<Self> {
        let footer = Footer::of(file)?;
        Ok(Self { file, footer, data_blocks: read_index(file, footer.index)? })
    }

    /// The filters that the metaindex block names first, if it names any.
    pub(crate) fn filters(&self) -> io::Result<Option<Filters<'a>>> {
        let Some((policy_name, handle)) = self.meta_blocks()?.into_iter().find_map(filters) else {
            return Ok(None);
        };
        let contents = handle.ok_or_else(|| corrupt("the metaindex block is corrupt"))?;
        Ok(Some(Filters { policy_name, contents: contents.read(self.file)? }))
    }

    /// The keys of the metaindex block, and the blocks that they name.
    fn meta_blocks(&self) -> io::Result<Vec<(Vec<u8>, Option<BlockHandle>)>> {
        let (mut blocks, metaindex) = (Vec::new(), self.footer.metaindex);
        metaindex.visit_entries(&metaindex.read(self.file)?, |key, mut value| {
            blocks.push((key.to_vec(), BlockHandle::decode(&mut value)));
        })?;
        Ok(blocks)
    }

    fn file_len(&self) -> u64 {
        self.file.len() as u64
    }
}

impl Footer {
    fn of(file: &[u8]) -> io::Result<Self> {
        let read = || {
            let (_, footer) = file.split_last_chunk::<FOOTER_LEN>()?;
            let (mut handles, magic) = footer.split_at(FOOTER_LEN - size_of::<u64>());
            let (metaindex, index) =
                (BlockHandle::decode(&mut handles)?, BlockHandle::decode(&mut handles)?);
            (magic == MAGIC.to_le_bytes()).then_some(Self { metaindex, index })
        };
        read().ok_or_else(|| corrupt(in_place_of_a_table(file)))
    }
}

/// What a file is that has no footer of LevelDB's, if its first or its last bytes tell.
fn in_place_of_a_table(file: &[u8]) -> &'static str {
    // git-annex has a path in place of the file.
    let is_pointer =
        |text: &str| text.starts_with("version https://git-lfs") || text.contains("annex/objects/");
    if file.ends_with(&ROCKSDB_MAGIC.to_le_bytes()) {
        "a table of RocksDB, not of LevelDB"
    } else if file.len() < 1_000 && is_pointer(&String::from_utf8_lossy(file)) {
        "a pointer to a file that git-lfs or git-annex has not fetched"
    } else {
        "not a LevelDB table, or a truncated one"
    }
}

fn corrupt(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

/// The policy's name, if a key of the metaindex block names a filter block.
fn filters((key, handle): (Vec<u8>, Option<BlockHandle>)) -> Option<(String, Option<BlockHandle>)> {
    let name = key.strip_prefix(FILTER.as_bytes())?;
    Some((String::from_utf8_lossy(name).into_owned(), handle))
}

/// The data blocks of an index, each after the one before it: an index that repeated a block would
/// make a small file a large one.
fn read_index(file: &[u8], index: BlockHandle) -> io::Result<Vec<BlockHandle>> {
    let (mut blocks, mut end, mut is_right) = (Vec::new(), 0, true);
    index.visit_entries(&index.read(file)?, |_, mut value| {
        let handle = BlockHandle::decode(&mut value);
        let block = handle.and_then(|handle| Some((handle, handle.range(file.len() as u64).ok()?)));
        match block {
            Some((handle, range)) if end <= range.start => {
                end = range.end;
                blocks.push(handle);
            }
            _ => is_right = false,
        }
    })?;
    if is_right { Ok(blocks) } else { Err(corrupt("the index block is corrupt")) }
}
