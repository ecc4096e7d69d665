//! A reader of LevelDB's log files, in which a MANIFEST is written.
//!
//! Any bytes yield records or an error. Memory holds one record and one block of 32 KiB.
//!
//! Mirrors `db/log_format.h` and `db/log_reader.cc`.

use std::io::{self, Read};

use super::corrupt;
use super::crc32c::masked_crc32c_of;

const BLOCK_SIZE: usize = 32_768;
/// Checksum, length and type of a fragment.
const HEADER_LEN: usize = 7;

/// Types of fragments; those between a record's first and last have type 3.
const ZERO: u8 = 0;
const FULL: u8 = 1;
const FIRST: u8 = 2;
const LAST: u8 = 4;

pub(crate) struct LogReader<R> {
    input: R,
    block: Vec<u8>,
    /// How many bytes of the block have been read.
    place: usize,
    is_last_block: bool,
}

impl<R: Read> LogReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, block: Vec::new(), place: 0, is_last_block: false }
    }

    /// Reads the next record into `record`; `false` if there is none.
    ///
    /// A record cut off by the end of the file counts as never written, as in LevelDB.
    pub(crate) fn read_record(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        record.clear();
        let mut has_begun = false;
        while let Some((fragment_type, data)) = self.read_fragment()? {
            if fragment_type == ZERO && !has_begun {
                // Preallocated space that was never written.
                continue;
            }
            let begins = matches!(fragment_type, FULL | FIRST);
            // Old LevelDBs could leave an empty first fragment at a block's end, and begin again.
            let begins_again = begins && record.is_empty();
            if fragment_type == ZERO || begins == has_begun && !begins_again {
                return Err(corrupt("a part of a record is missing"));
            }
            has_begun = true;
            record.extend_from_slice(data);
            if matches!(fragment_type, FULL | LAST) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_fragment(&mut self) -> io::Result<Option<(u8, &[u8])>> {
        loop {
            if self.block.len() - self.place < HEADER_LEN && !self.read_block()? {
                return Ok(None);
            }
            let Some(header) = self.block[self.place..].first_chunk::<HEADER_LEN>() else {
                continue;
            };
            let &[c0, c1, c2, c3, len_low, len_high, fragment_type] = header;
            let checksum = u32::from_le_bytes([c0, c1, c2, c3]);
            let len = usize::from(u16::from_le_bytes([len_low, len_high]));
            if fragment_type == ZERO && len == 0 {
                self.place = self.block.len();
                return Ok(Some((ZERO, &[])));
            }
            let start = self.place + HEADER_LEN;
            if len > self.block.len() - start {
                return if self.is_last_block {
                    Ok(None)
                } else {
                    Err(corrupt("a record reaches outside its block"))
                };
            }
            self.place = start + len;
            if masked_crc32c_of([&[fragment_type], &self.block[start..self.place]]) != checksum {
                return Err(corrupt("a record does not match its checksum"));
            }
            if !(FULL..=LAST).contains(&fragment_type) {
                return Err(corrupt(format!("a record has the unknown type {fragment_type}")));
            }
            return Ok(Some((fragment_type, &self.block[start..self.place])));
        }
    }

    /// The next block; only the last of a file may be shorter.
    fn read_block(&mut self) -> io::Result<bool> {
        self.block.clear();
        self.place = 0;
        if self.is_last_block {
            return Ok(false);
        }
        let mut input = self.input.by_ref().take(BLOCK_SIZE as u64);
        input.read_to_end(&mut self.block)?;
        self.is_last_block = self.block.len() < BLOCK_SIZE;
        Ok(true)
    }
}
