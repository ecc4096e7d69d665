//! What can be wrong with a table file.

use std::error::Error;
use std::fmt;
use std::io;

const REMEDY: &str = "restore a backup, or let RepairDB save the other blocks";

/// Why a file cannot be read as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableError {
    TooShort { len: u64 },
    BadMagic,
    RocksDb,
    CorruptFooter,
    CorruptHandle,
    OutsideFile { offset: u64, size: u64 },
    ChecksumMismatch { offset: u64 },
    UnknownCompression { compression: u8 },
    CorruptSnappy { offset: u64, why: &'static str },
    CorruptBlock { offset: u64 },
    OutOfOrder { offset: u64 },
    TooManyKeyBytes { max: u64 },
    Io(io::ErrorKind),
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
            Self::RocksDb => f.write_str(
                "a table of RocksDB in its own format, which LevelDB cannot read either",
            ),
            Self::CorruptFooter => f.write_str("the footer is corrupt"),
            Self::CorruptHandle => f.write_str("the handle of a block is corrupt"),
            Self::OutsideFile { offset, size } => {
                write!(f, "a block of {size} bytes at offset {offset} reaches outside the file")
            }
            Self::ChecksumMismatch { offset } => {
                write!(f, "the block at offset {offset} does not match its checksum: {REMEDY}")
            }
            // Without the offset, so that many tables have one cause.
            Self::UnknownCompression { compression } => {
                let method = match compression {
                    2 => "Zstandard, or zlib in older forks",
                    4 => "raw zlib, as in Minecraft",
                    _ => "an unknown method",
                };
                write!(
                    f,
                    "blocks are compressed with {method} (type {compression}); only Snappy and \
                     uncompressed blocks can be read"
                )
            }
            Self::CorruptSnappy { offset, why } => {
                write!(f, "the block at offset {offset} is not valid Snappy data: {why}")
            }
            Self::CorruptBlock { offset } => {
                write!(f, "the entries of the block at offset {offset} are corrupt")
            }
            Self::OutOfOrder { offset } => {
                write!(f, "the data block at offset {offset} overlaps an earlier one")
            }
            // Such a table is valid, but no real one has such keys.
            Self::TooManyKeyBytes { max } => write!(
                f,
                "its keys have more than {max} bytes in all, since they share long prefixes; the \
                 table may be sound, but is too much work"
            ),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

impl Error for TableError {}
