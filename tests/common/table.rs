//! A reader of LevelDB's table files: as much of it as a look at the filters takes.
//!
//! Any bytes get an answer or an error. Time and memory are linear in the length of the file,
//! whatever it says about itself.
//!
//! Mirrors `table/format.cc`, `table/block.cc` and `util/crc32c.cc`.

use std::error::Error;
use std::fmt;

const MAGIC: u64 = 0xdb4775248b80fb57;

/// The footer before the magic number: two block handles, padded.
const HANDLES_LEN: usize = 40;

/// Behind each block: its compression type, and a checksum of both.
const TRAILER_LEN: u64 = 5;

/// How many times its own length a block's keys may take up.
///
/// Prefix compression that never restarts could make a small block say quadratically much.
/// LevelDB restarts it every 16 keys by default, which keeps them to 16 times the block.
const MAX_EXPANSION: usize = 256;

/// A table whose footer, metaindex block and index block have been read.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    file: &'a [u8],
    metaindex: Vec<Entry<'a>>,
    index: Vec<Entry<'a>>,
}

/// A table's filters, and the name of the policy that made them.
#[derive(Debug)]
pub(crate) struct FilterBlock<'a> {
    pub(crate) policy_name: String,
    pub(crate) contents: &'a [u8],
}

/// The keys of a data block, and where it lies.
#[derive(Debug)]
pub(crate) struct DataBlock {
    pub(crate) offset: u64,
    /// The offset behind the block and its trailer.
    pub(crate) end: u64,
    /// At or above each key of this block, and below each key of the next.
    pub(crate) index_key: Vec<u8>,
    pub(crate) keys: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Entry<'a> {
    key: Vec<u8>,
    value: &'a [u8],
}

#[derive(Clone, Copy, Debug)]
struct BlockHandle {
    offset: u64,
    size: u64,
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
            index: read_entries(file, index)?,
        })
    }

    /// The filter block that the metaindex block names first.
    pub(crate) fn filter_block(&self) -> Result<FilterBlock<'a>, TableError> {
        let (policy_name, mut value) = self
            .metaindex
            .iter()
            .find_map(|entry| Some((entry.key.strip_prefix(b"filter.")?, entry.value)))
            .ok_or(TableError::NoFilter)?;
        let handle = BlockHandle::decode(&mut value).ok_or(TableError::CorruptHandle)?;
        Ok(FilterBlock {
            policy_name: String::from_utf8_lossy(policy_name).into_owned(),
            contents: read_block(self.file, handle)?,
        })
    }

    pub(crate) fn data_blocks(&self) -> Result<Vec<DataBlock>, TableError> {
        let mut blocks: Vec<DataBlock> = Vec::with_capacity(self.index.len());
        for entry in &self.index {
            let handle =
                BlockHandle::decode(&mut &entry.value[..]).ok_or(TableError::CorruptHandle)?;
            // An index that named a block again and again would make a small file a large one.
            if blocks.last().is_some_and(|previous| handle.offset < previous.end) {
                return Err(TableError::OutOfOrder { offset: handle.offset });
            }
            let entries = read_entries(self.file, handle)?;
            blocks.push(DataBlock {
                offset: handle.offset,
                end: handle.offset + handle.size + TRAILER_LEN,
                index_key: entry.key.clone(),
                keys: entries.into_iter().map(|entry| entry.key).collect(),
            });
        }
        Ok(blocks)
    }
}

impl BlockHandle {
    fn decode(input: &mut &[u8]) -> Option<Self> {
        Some(Self { offset: read_varint(input)?, size: read_varint(input)? })
    }

    /// The block and its trailer.
    fn slice(self, file: &[u8]) -> Option<&[u8]> {
        let end = self.offset.checked_add(self.size)?.checked_add(TRAILER_LEN)?;
        file.get(usize::try_from(self.offset).ok()?..usize::try_from(end).ok()?)
    }
}

fn read_entries(file: &[u8], handle: BlockHandle) -> Result<Vec<Entry<'_>>, TableError> {
    let block = read_block(file, handle)?;
    parse_entries(block).ok_or(TableError::CorruptBlock { offset: handle.offset })
}

fn read_block(file: &[u8], handle: BlockHandle) -> Result<&[u8], TableError> {
    let BlockHandle { offset, size } = handle;
    let outside = TableError::OutsideFile { offset, size };
    let (summed, checksum) =
        handle.slice(file).and_then(|block| block.split_last_chunk()).ok_or(outside)?;
    if masked_crc32c(summed) != u32::from_le_bytes(*checksum) {
        return Err(TableError::ChecksumMismatch { offset });
    }
    match summed.split_last() {
        Some((0, contents)) => Ok(contents),
        Some((&compression, _)) => Err(TableError::Compressed { offset, compression }),
        None => Err(outside),
    }
}

/// The entries of a block without its array of restart points, which only a search needs.
fn parse_entries(block: &[u8]) -> Option<Vec<Entry<'_>>> {
    let (rest, num_restarts) = block.split_last_chunk()?;
    let restarts_len = usize::try_from(u32::from_le_bytes(*num_restarts)).ok()?.checked_mul(4)?;
    let (mut rest, _restarts) = rest.split_at_checked(rest.len().checked_sub(restarts_len)?)?;

    let mut key_bytes_left = block.len().saturating_mul(MAX_EXPANSION);
    let mut entries: Vec<Entry<'_>> = Vec::new();
    while !rest.is_empty() {
        let shared = read_len(&mut rest)?;
        let non_shared = read_len(&mut rest)?;
        let value_len = read_len(&mut rest)?;
        let (suffix, after_key) = rest.split_at_checked(non_shared)?;
        let (value, after_value) = after_key.split_at_checked(value_len)?;
        let previous_key = entries.last().map_or(&[][..], |entry| &entry.key);
        let prefix = previous_key.get(..shared)?;
        key_bytes_left = key_bytes_left.checked_sub(prefix.len() + suffix.len())?;
        entries.push(Entry { key: [prefix, suffix].concat(), value });
        rest = after_value;
    }
    Some(entries)
}

fn read_len(input: &mut &[u8]) -> Option<usize> {
    u32::try_from(read_varint(input)?).ok()?.try_into().ok()
}

fn read_varint(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The CRC-32C of `data`, masked as LevelDB stores it: a checksum of bytes that hold checksums
/// is a weak one.
pub(crate) fn masked_crc32c(data: &[u8]) -> u32 {
    let crc = !data.iter().fold(!0, |crc: u32, &byte| {
        (crc >> 8) ^ CRC32C_TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)]
    });
    crc.rotate_right(15).wrapping_add(0xa282ead8)
}

static CRC32C_TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 0 { 0 } else { 0x82f63b78 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

/// Why a file cannot be read as a table, or not as far as its filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableError {
    TooShort { len: usize },
    BadMagic,
    CorruptFooter,
    CorruptHandle,
    OutsideFile { offset: u64, size: u64 },
    ChecksumMismatch { offset: u64 },
    Compressed { offset: u64, compression: u8 },
    CorruptBlock { offset: u64 },
    OutOfOrder { offset: u64 },
    NoFilter,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { len } => {
                write!(f, "not a LevelDB table: {len} bytes are too few for its 48-byte footer")
            }
            Self::BadMagic => {
                f.write_str("not a LevelDB table, or a truncated one: no magic number at the end")
            }
            Self::CorruptFooter => f.write_str("the footer is corrupt"),
            Self::CorruptHandle => f.write_str("the handle of a block is corrupt"),
            Self::OutsideFile { offset, size } => {
                write!(f, "a block of {size} bytes at offset {offset} reaches outside the file")
            }
            Self::ChecksumMismatch { offset } => {
                write!(f, "the block at offset {offset} does not match its checksum")
            }
            Self::Compressed { offset, compression } => {
                let method = match compression {
                    1 => "Snappy",
                    2 => "Zstandard",
                    _ => "an unknown method",
                };
                write!(
                    f,
                    "the block at offset {offset} is compressed with {method} (type \
                     {compression}); only uncompressed blocks can be read"
                )
            }
            Self::CorruptBlock { offset } => {
                write!(f, "the entries of the block at offset {offset} are corrupt")
            }
            Self::OutOfOrder { offset } => {
                write!(f, "the data block at offset {offset} goes back over an earlier one")
            }
            Self::NoFilter => f.write_str("the table has no filter"),
        }
    }
}

impl Error for TableError {}
