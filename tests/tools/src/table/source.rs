//! Sources of a table's bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::corrupt;

/// A table's bytes: in memory, or in a file that is read one block at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    File { file: &'a File, len: u64 },
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> Source<'a> {
    pub(crate) fn of_file(file: &'a File) -> io::Result<Self> {
        Ok(Self::File { file, len: file.metadata()?.len() })
    }

    pub(crate) fn len(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { len, .. } => len,
        }
    }

    pub(super) fn read(self, offset: u64, len: u64) -> io::Result<Cow<'a, [u8]>> {
        let end = offset.checked_add(len).filter(|&end| end <= self.len());
        let outside = || {
            corrupt(format!("a block of {len} bytes at offset {offset} reaches outside the file"))
        };
        let end = end.ok_or_else(outside)?;
        match self {
            Self::Bytes(bytes) => {
                let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
                let bytes = range.and_then(|(start, end)| bytes.get(start..end));
                bytes.map(Cow::Borrowed).ok_or_else(outside)
            }
            Self::File { file, .. } => read_at(file, offset, len).map(Cow::Owned),
        }
    }
}

fn read_at(mut file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let capacity = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.try_reserve_exact(capacity).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(len).read_to_end(&mut bytes)?;
    // The file may have been truncated.
    if bytes.len() < capacity { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}
