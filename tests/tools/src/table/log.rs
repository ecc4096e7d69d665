//! A reader of LevelDB's log files, in which a MANIFEST is written.
//!
//! Any bytes yield records or an error.
//!
//! Mirrors `db/log_format.h` and `db/log_reader.cc`.

use std::{io, mem};

use super::corrupt;
use super::crc32c::masked_crc32c_of;

const BLOCK_SIZE: usize = 32_768;
/// Checksum, length and type of a fragment.
const HEADER_LEN: usize = 7;

/// Types of fragments; those between a record's first and last have type 3.
const ZERO: u8 = 0;
pub(crate) const FULL: u8 = 1;
pub(crate) const FIRST: u8 = 2;
pub(crate) const LAST: u8 = 4;

/// The records of a log. One that the end cuts off counts as never written, as in `LevelDB`.
pub(crate) fn records(log: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let (mut records, mut record, mut has_begun) = (Vec::new(), Vec::new(), false);
    for block in log.chunks(BLOCK_SIZE) {
        let mut rest = block;
        while let Some((header, after)) = rest.split_first_chunk::<HEADER_LEN>() {
            let &[c0, c1, c2, c3, len_low, len_high, fragment_type] = header;
            let checksum = u32::from_le_bytes([c0, c1, c2, c3]);
            let len = usize::from(u16::from_le_bytes([len_low, len_high]));
            if fragment_type == ZERO && len == 0 && !has_begun {
                // Preallocated space that was never written.
                break;
            }
            let Some((data, after)) = after.split_at_checked(len) else {
                let outside = || corrupt("a record reaches outside its block");
                return if block.len() < BLOCK_SIZE { Ok(records) } else { Err(outside()) };
            };
            if masked_crc32c_of([&[fragment_type], data]) != checksum && fragment_type != ZERO {
                return Err(corrupt("a record does not match its checksum"));
            }
            if fragment_type > LAST {
                return Err(corrupt(format!("a record has the unknown type {fragment_type}")));
            }
            let begins = matches!(fragment_type, FULL | FIRST);
            if fragment_type == ZERO || begins == has_begun {
                return Err(corrupt("a part of a record is missing"));
            }
            record.extend_from_slice(data);
            has_begun = !matches!(fragment_type, FULL | LAST);
            if !has_begun {
                records.push(mem::take(&mut record));
            }
            rest = after;
        }
    }
    Ok(records)
}
