//! A filter's bytes, parsed once.

mod value;

use std::fmt;

use super::lookup;
use super::probes::{MAX_PROBES, Probes};
use crate::hash::bloom_hash_batch;
use crate::{BloomHash, InvalidFilter, bloom_hash};

/// A filter that is asked more than once: its bytes, parsed ahead of the lookups.
///
/// Takes the bytes that [`BloomFilterPolicy`](crate::BloomFilterPolicy) makes, in a borrowed slice
/// or an owned buffer `B`, and gives the answers of its `key_may_match`, faster: for a key at a
/// time, for a key's [`bloom_hash`] where one key is looked up in many filters, and fastest for
/// many keys at once.
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BloomFilter<B> {
    bytes: B,
    probes: Probes,
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// Reads the number of bits and of probes, in constant time.
    ///
    /// A probe count of 0 is accepted: such a filter matches every key, as in LevelDB.
    ///
    /// # Errors
    ///
    /// If the bytes are shorter than 2, or their last one, the number of probes, is above 30. An
    /// engine that wants LevelDB's answers for those (nothing, and every key) can ask the policy,
    /// or take them from the error.
    pub fn new(bytes: B) -> Result<Self, InvalidFilter> {
        match *bytes.as_ref() {
            [] | [_] => Err(InvalidFilter::TooShort { len: bytes.as_ref().len() }),
            [.., num_probes] if num_probes > MAX_PROBES => {
                Err(InvalidFilter::ReservedProbeCount { num_probes })
            }
            [ref bits @ .., num_probes] => {
                Ok(Self { probes: Probes::new(bits.len(), num_probes), bytes })
            }
        }
    }

    /// Whether `key` may be among the filter's keys.
    ///
    /// The same answer as [`BloomFilterPolicy`](crate::BloomFilterPolicy)'s. Takes time linear in
    /// the key's length and in the number of probes; never panics, and allocates nothing.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, key: &[u8]) -> bool {
        self.hash_may_match(bloom_hash(key))
    }

    /// Whether the key with this [`bloom_hash`] may be among the filter's keys.
    #[inline]
    #[must_use]
    pub fn hash_may_match(&self, hash: BloomHash) -> bool {
        self.probes.may_match(self.bits(), hash)
    }

    /// Writes to `matches[i]` whether `keys[i]` may be among the filter's keys; 1.3 to 2.4 times as
    /// fast as a key at a time, as the keys' hashes and probes overlap, or 1.2 to 1.6 times where
    /// the keys' lengths vary.
    ///
    /// What `matches` held is overwritten. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn keys_may_match(&self, keys: &[impl AsRef<[u8]>], matches: &mut [bool]) {
        assert_eq!(keys.len(), matches.len(), "as many answers as keys");
        lookup::may_match(self.bits(), self.probes, matches, |start, hashes| {
            bloom_hash_batch(&keys[start..start + hashes.len()], hashes);
        });
    }

    /// Writes to `matches[i]` whether the key with the [`bloom_hash`] `hashes[i]` may be among the
    /// filter's keys.
    ///
    /// What `matches` held is overwritten. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, bloom_hash};
    ///
    /// let mut filter = BloomFilterPolicy::default().shape(1).empty_filter();
    /// filter.insert(b"apple");
    ///
    /// let mut matches = [false; 2];
    /// filter.hashes_may_match(&[bloom_hash(b"apple"), bloom_hash(b"plum")], &mut matches);
    /// assert_eq!(matches, [true, false]);
    /// ```
    pub fn hashes_may_match(&self, hashes: &[BloomHash], matches: &mut [bool]) {
        assert_eq!(hashes.len(), matches.len(), "as many answers as hashes");
        lookup::may_match(self.bits(), self.probes, matches, |start, batch| {
            batch.copy_from_slice(&hashes[start..start + batch.len()]);
        });
    }

    /// The number of bits, a multiple of 8.
    #[inline]
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.bits().len() as u64 * 8
    }

    /// The number of bits that are looked at for a key, 0 to 30.
    #[inline]
    #[must_use]
    pub fn num_probes(&self) -> u8 {
        self.probes.count()
    }

    /// The filter's bytes, the byte of the probe count included.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives the buffer back.
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> B {
        self.bytes
    }

    pub(super) fn with_shape(bytes: B, probes: Probes) -> Self {
        Self { bytes, probes }
    }

    #[inline]
    fn bits(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        &bytes[..bytes.len() - 1]
    }
}

/// Shows the filter's shape, not its bytes.
impl<B: AsRef<[u8]>> fmt::Debug for BloomFilter<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter")
            .field("num_bits", &self.num_bits())
            .field("num_probes", &self.num_probes())
            .finish_non_exhaustive()
    }
}
