//! A filter's bytes, parsed once.

// In the order in which rustdoc shall show the methods.
mod ask;
mod change;
mod measure;

use std::fmt;

use super::BloomFilterShape;
use super::probes::Probes;

/// A filter that is asked more than once: its bytes, parsed ahead of the lookups.
///
/// Takes the bytes that [`BloomFilterPolicy`](crate::BloomFilterPolicy) makes, in a borrowed slice
/// or an owned buffer `B`, and gives the answers of its `key_may_match`, faster: for a key at a
/// time, for a key's [hash](crate::bloom_hash) where one key is looked up in many filters, and
/// fastest for many keys at once.
///
/// With a buffer that can be changed, a filter is also a value: keys can be inserted, filters
/// joined, and all keys taken out.
///
/// `B` must give the same bytes on every call of `as_ref` and `as_mut`, as every buffer in the
/// standard library does; with others the answers are unspecified and calls may panic.
///
/// ```
/// use leveldb_filter::{BloomFilter, BloomFilterPolicy, FilterPolicy};
///
/// let mut bytes = Vec::new();
/// BloomFilterPolicy::default().create_filter(&[b"apple", b"pear"], &mut bytes);
///
/// let filter = BloomFilter::new(&bytes)?;
/// assert!(filter.key_may_match(b"pear"));
///
/// let mut matches = [false; 3];
/// filter.keys_may_match(&["apple", "pear", "plum"], &mut matches);
/// assert_eq!(matches, [true, true, false]);
/// # Ok::<(), leveldb_filter::InvalidFilter>(())
/// ```
#[derive(Clone, Copy)]
pub struct BloomFilter<B> {
    bytes: B,
    probes: Probes,
}

impl BloomFilter<Vec<u8>> {
    /// A filter without keys, to insert them into: for an engine's memtable.
    ///
    /// With as many keys inserted as the shape was made for, it has the bytes that
    /// [`create_filter`](crate::FilterPolicy::create_filter) makes of them; with more, it has more
    /// false positives. Allocates [`filter_len`](BloomFilterShape::filter_len) bytes.
    #[must_use]
    pub fn empty(shape: BloomFilterShape) -> Self {
        let mut bytes = vec![0; shape.filter_len()];
        bytes[shape.num_bytes] = shape.num_probes;
        Self { bytes, probes: Probes::new(shape.num_bytes, shape.num_probes) }
    }
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    pub(super) fn with_probes(bytes: B, probes: Probes) -> Self {
        Self { bytes, probes }
    }

    #[inline]
    fn bits(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        &bytes[..bytes.len() - 1]
    }
}

/// Filters are equal if their bytes are, whatever buffers these lie in.
impl<B: AsRef<[u8]>, C: AsRef<[u8]>> PartialEq<BloomFilter<C>> for BloomFilter<B> {
    fn eq(&self, other: &BloomFilter<C>) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<B: AsRef<[u8]>> Eq for BloomFilter<B> {}

/// Shows the filter's shape, not its bytes.
impl<B: AsRef<[u8]>> fmt::Debug for BloomFilter<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter").field("shape", &self.shape()).finish_non_exhaustive()
    }
}
