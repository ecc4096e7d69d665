//! Building a filter key by key.

use alloc::vec::Vec;
use core::fmt;

use super::bits::create::create;
use super::policy::BloomFilterPolicy;
use crate::{BloomHash, bloom_hash};

/// Builds filters from keys that come one at a time, without keeping the keys.
///
/// It keeps 4 bytes of each key, in a vector that doubles. The policy comes last, since the best
/// one may depend on the number of keys; the bytes are those of its
/// [`create_filter`](crate::FilterPolicy::create_filter).
///
/// ```
/// use leveldb_filter::{BloomFilter, BloomFilterBuilder, BloomFilterPolicy};
/// let mut builder = BloomFilterBuilder::new();
/// builder.add_key(b"apple");
/// builder.extend(["pear", "plum"]); // or `BloomFilterBuilder::from_iter`
/// let mut filter = Vec::new();
/// builder.finish_into(BloomFilterPolicy::new(10).tuned(), &mut filter);
/// assert!(BloomFilter::new(filter)?.key_may_match(b"pear"));
/// # Ok::<(), leveldb_filter::InvalidFilter>(())
/// ```
#[derive(Clone, Default)]
pub struct BloomFilterBuilder {
    hashes: Vec<BloomHash>,
}

impl BloomFilterBuilder {
    /// An empty builder.
    #[must_use]
    pub const fn new() -> Self {
        Self { hashes: Vec::new() }
    }

    /// An empty builder with room for `num_keys` keys, 4 bytes each.
    #[must_use]
    pub fn with_capacity(num_keys: usize) -> Self {
        Self { hashes: Vec::with_capacity(num_keys) }
    }

    /// Adds a key. Equal keys count each time, as in `create_filter`.
    #[inline]
    pub fn add_key(&mut self, key: &[u8]) {
        self.add_hash(bloom_hash(key));
    }

    /// Adds the key with this [`bloom_hash`], that of the user key.
    #[inline]
    pub fn add_hash(&mut self, hash: BloomHash) {
        self.hashes.push(hash);
    }

    /// The number of keys added since the last filter.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether no keys were added since the last filter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// Appends the filter that `policy` makes of the keys to `dst`, and removes the keys. Without
    /// keys, the filter matches nothing. Takes time linear in the filter's length and in the number
    /// of keys times that of probes.
    ///
    /// # Panics
    ///
    /// As [`shape`](BloomFilterPolicy::shape) does; then the keys and `dst` are as before.
    pub fn finish_into(&mut self, policy: BloomFilterPolicy, dst: &mut Vec<u8>) {
        create(policy.shape(self.len()), &self.hashes, dst);
        self.clear();
    }
}

impl<K: AsRef<[u8]>> Extend<K> for BloomFilterBuilder {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        self.hashes.extend(keys.into_iter().map(|key| bloom_hash(key.as_ref())));
    }
}

impl<K: AsRef<[u8]>> FromIterator<K> for BloomFilterBuilder {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut builder = Self::new();
        builder.extend(keys);
        builder
    }
}

/// Shows the number of keys, not their hashes.
impl fmt::Debug for BloomFilterBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilterBuilder").field("len", &self.len()).finish_non_exhaustive()
    }
}
