//! The length of a filter and its number of probes.

use super::BloomFilter;
use super::probes::Probes;

/// The length and the number of probes of a filter: what a
/// [policy](crate::BloomFilterPolicy::shape) decides for a number of keys.
///
/// LevelDB reads filters of every shape, since it takes both from the filter's bytes.
///
/// ```
/// use leveldb_filter::BloomFilterPolicy;
///
/// let shape = BloomFilterPolicy::new(10).shape(150_000);
/// assert_eq!((shape.filter_len(), shape.num_probes()), (187_501, 6));
/// assert!(shape.expected_false_positive_rate(150_000) > 0.02);
///
/// let tuned = BloomFilterPolicy::new(10).tuned().shape(150_000);
/// assert!(tuned.filter_len() <= shape.filter_len());
/// assert!(tuned.expected_false_positive_rate(150_000) < 0.012);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BloomFilterShape {
    /// The length of the bits; not 0.
    pub(super) num_bytes: usize,
    pub(super) num_probes: u8,
}

impl BloomFilterShape {
    /// The length in bytes of a filter, the byte of the probe count included.
    #[must_use]
    pub const fn filter_len(&self) -> usize {
        self.num_bytes + 1
    }

    /// The number of bits that a key sets in a filter, at most; 1 to 30.
    #[must_use]
    pub const fn num_probes(&self) -> u8 {
        self.num_probes
    }

    /// A filter without keys, to insert them into: for an engine's memtable.
    ///
    /// With as many keys inserted as the shape was made for, it has the bytes that
    /// [`create_filter`](crate::FilterPolicy::create_filter) makes of them; with more, it has more
    /// false positives. Allocates [`filter_len`](Self::filter_len) bytes.
    #[must_use]
    pub fn empty_filter(&self) -> BloomFilter<Vec<u8>> {
        let mut bytes = vec![0; self.filter_len()];
        bytes[self.num_bytes] = self.num_probes;
        BloomFilter::with_shape(bytes, self.probes())
    }

    pub(super) const fn probes(&self) -> Probes {
        Probes::new(self.num_bytes, self.num_probes)
    }
}
