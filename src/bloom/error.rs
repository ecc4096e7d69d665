//! Errors when a filter is parsed, or two filters are merged.

use core::error::Error;
use core::fmt;

use super::shape::{BloomFilterShape, MAX_PROBES};

/// Why bytes are not a filter that [`BloomFilter`](crate::BloomFilter) can read.
///
/// ```
/// use leveldb_filter::{BloomFilter, InvalidFilter};
/// let error = BloomFilter::new([6]).unwrap_err();
/// assert!(matches!(error, InvalidFilter::TooShort { len: 1, .. }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidFilter {
    /// The filter is too short for bits and the number of probes. No key matches, as in LevelDB.
    #[non_exhaustive]
    TooShort {
        /// The length in bytes, 0 or 1.
        len: usize,
    },
    /// The number of probes is above 30, which LevelDB reserves for future encodings. Every key
    /// matches, as in LevelDB.
    #[non_exhaustive]
    ReservedProbeCount {
        /// The filter's last byte.
        num_probes: u8,
    },
}

impl InvalidFilter {
    /// Returns what LevelDB answers for every key that it looks up in such a filter of a [filter
    /// block](crate::FilterBlockReader::filter): `false` if it is too short, since an empty filter
    /// stands for a range without keys, and `true` if the number of probes is reserved.
    ///
    /// A filter without a block is never so short, so it was truncated. Look up its keys without it.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilter, BloomFilterPolicy, FilterBlockReader};
    /// // No filter for 0 to 2 KiB, an offset in the array, where the array starts, and `base_lg`.
    /// let block = b"\0\0\0\0\0\0\0\0\x0b";
    /// let reader = FilterBlockReader::new(BloomFilterPolicy::new(10), block);
    /// let invalid = BloomFilter::new(reader.filter(0).unwrap()).unwrap_err();
    /// assert_eq!(invalid.may_match(), reader.key_may_match(0, b"fig"));
    /// ```
    #[inline]
    #[must_use]
    pub const fn may_match(self) -> bool {
        match self {
            Self::TooShort { .. } => false,
            Self::ReservedProbeCount { .. } => true,
        }
    }
}

impl fmt::Display for InvalidFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooShort { len } => {
                write!(f, "a filter needs at least 2 bytes, but this one has {len}")
            }
            Self::ReservedProbeCount { num_probes } => {
                write!(f, "a filter has at most {MAX_PROBES} probes, but this one has {num_probes}")
            }
        }
    }
}

impl Error for InvalidFilter {}

/// Why two filters have no union: their shapes differ.
///
/// ```
/// use leveldb_filter::{BloomFilter, BloomFilterPolicy};
/// let [small, large] = [100, 200].map(|num_keys| BloomFilterPolicy::new(10).shape(num_keys));
/// let error = BloomFilter::empty(small).union_with(&BloomFilter::empty(large)).unwrap_err();
/// assert_eq!((error.shape, error.other), (small, large));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ShapeMismatch {
    /// The shape of the filter to change.
    pub shape: BloomFilterShape,
    /// The shape of the other filter.
    pub other: BloomFilterShape,
}

impl fmt::Display for ShapeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, other } = self;
        write!(f, "a filter of {} bits and {} probes", shape.num_bits(), shape.num_probes)?;
        f.write_str(" has no union with a filter of ")?;
        write!(f, "{} bits and {} probes", other.num_bits(), other.num_probes)
    }
}

impl Error for ShapeMismatch {}
