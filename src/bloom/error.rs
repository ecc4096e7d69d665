//! What can be wrong with the bytes of a filter.

use std::error::Error;
use std::fmt;

use super::probes::MAX_PROBES;

/// Why bytes are not a filter that [`BloomFilter`](crate::BloomFilter) can read.
///
/// ```
/// use leveldb_filter::{BloomFilter, InvalidFilter};
///
/// assert_eq!(BloomFilter::new([6]).unwrap_err(), InvalidFilter::TooShort { len: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidFilter {
    /// No room for bits and the byte of the probe count. LevelDB treats such a filter as one that
    /// matches nothing.
    TooShort {
        /// The length in bytes, 0 or 1.
        len: usize,
    },
    /// A number of probes above 30, which LevelDB reserves for encodings to come, and treats as a
    /// filter that matches every key.
    ReservedProbeCount {
        /// The filter's last byte.
        num_probes: u8,
    },
}

impl fmt::Display for InvalidFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { len } => {
                write!(f, "a filter of {len} bytes is too short: at least 2 are needed")
            }
            Self::ReservedProbeCount { num_probes } => {
                write!(f, "probe count {num_probes} is reserved: at most {MAX_PROBES} are possible")
            }
        }
    }
}

impl Error for InvalidFilter {}

/// Why two filters have no union: they differ in their number of bits or of probes.
///
/// ```
/// use leveldb_filter::BloomFilterPolicy;
///
/// let policy = BloomFilterPolicy::new(10);
/// let large = policy.shape(200).empty_filter();
/// let mismatch = policy.shape(100).empty_filter().union_with(&large).unwrap_err();
/// assert_eq!((mismatch.num_bits, mismatch.other_num_bits), (1000, 2000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ShapeMismatch {
    /// The number of bits of the filter that was to be changed.
    pub num_bits: u64,
    /// Its number of probes.
    pub num_probes: u8,
    /// The number of bits of the other filter.
    pub other_num_bits: u64,
    /// The other filter's number of probes.
    pub other_num_probes: u8,
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { num_bits, num_probes, other_num_bits, other_num_probes } = self;
        write!(
            f,
            "a filter of {num_bits} bits and {num_probes} probes has no union with one of \
             {other_num_bits} bits and {other_num_probes} probes"
        )
    }
}

impl Error for ShapeMismatch {}
