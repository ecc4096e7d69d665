//! Sources of a table's bytes.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::error::TableError;

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

    /// `None` outside the file.
    pub(super) fn read(self, offset: u64, len: u64) -> Result<Option<Cow<'a, [u8]>>, TableError> {
        let Some(end) = offset.checked_add(len).filter(|&end| end <= self.len()) else {
            return Ok(None);
        };
        match self {
            Self::Bytes(bytes) => {
                let range = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
                Ok(range.and_then(|(start, end)| bytes.get(start..end)).map(Cow::Borrowed))
            }
            Self::File { file, .. } => {
                let bytes = read_at(file, offset, len);
                Ok(Some(Cow::Owned(bytes.map_err(|error| TableError::Io(error.kind()))?)))
            }
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
