//! Building a filter key by key.

use alloc::vec::Vec;
use core::fmt;

use super::bits::create::create;
use super::filter::BloomFilter;
use super::policy::BloomFilterPolicy;
use crate::{BloomHash, bloom_hash};

/// Builds filters of a plain [`BloomFilterPolicy`] from keys that come one at a time, without
/// keeping the keys.
///
/// The builder keeps a hash of 4 bytes per key, in a vector that doubles. The policy comes last,
/// because the best policy may depend on the number of keys. The bytes equal those of the policy's
/// [`create_filter`](crate::FilterPolicy::create_filter).
///
/// Add every entry's key, as for a [`FilterBlockBuilder`](crate::FilterBlockBuilder::add_key). Under
/// a policy that hashes keys in its own way, such as [`HashedBy`](crate::HashedBy), call its
/// [`create_filter`](crate::FilterPolicy::create_filter) instead
/// ([example](crate::HashedBy#filters-without-a-block)).
///
/// **Few keys.** Filters of fewer than 2,000 keys match many absent keys that count up. So size
/// small filters for 2,000 keys, as the example does
/// ([rates](crate::recipes::sets_and_memtables)).
///
/// **Many keys.** If the keys contain numbers, many can have the same hash in filters of many keys,
/// and absent keys match far more often. Make smaller filters then, or [bring a 64-bit
/// hash](crate::recipes::own_hashes#other-hashes).
///
/// ```
/// use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy};
/// let policy = BloomFilterPolicy::new(10).tuned().with_min_keys(2_000);
/// let mut builder = BloomFilterBuilder::new();
/// builder.add_key(b"apple");
/// builder.extend(["pear", "plum"]); // or `BloomFilterBuilder::from_iter`
/// let filter = builder.finish(policy); // `filter.as_bytes()` are what to store
/// assert!(filter.key_may_match(b"pear") && !filter.key_may_match(b"fig"));
/// ```
#[derive(Clone, Default)]
pub struct BloomFilterBuilder {
    hashes: Vec<BloomHash>,
}

impl BloomFilterBuilder {
    /// Creates an empty builder.
    #[must_use]
    pub const fn new() -> Self {
        Self { hashes: Vec::new() }
    }

    /// Creates an empty builder with room for `num_keys` keys, 4 bytes each.
    ///
    /// # Panics
    ///
    /// With "capacity overflow" if a `Vec` cannot be so long.
    #[must_use]
    pub fn with_capacity(num_keys: usize) -> Self {
        Self { hashes: Vec::with_capacity(num_keys) }
    }

    /// Adds a user key by its [`bloom_hash`]. Equal keys count each time, as in
    /// [`create_filter`](crate::FilterPolicy::create_filter).
    #[inline]
    pub fn add_key(&mut self, key: &[u8]) {
        self.add_hash(bloom_hash(key));
    }

    /// Adds the key with this hash: its [`bloom_hash`], or a [hash of your
    /// own](crate::recipes::own_hashes#other-hashes) if lookups use that, too.
    #[inline]
    pub fn add_hash(&mut self, hash: BloomHash) {
        self.hashes.push(hash);
    }

    /// Returns the number of keys added since the last filter.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether no keys were added since the last filter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.hashes.clear();
    }

    /// Makes `policy`'s filter of the keys, and removes the keys. Without keys, the filter matches
    /// nothing. Takes time linear in the filter's length, and in the number of keys times the number
    /// of probes.
    ///
    /// # Panics
    ///
    /// If [`shape`](BloomFilterPolicy::shape) does. The keys are then still there.
    #[must_use]
    pub fn finish(&mut self, policy: BloomFilterPolicy) -> BloomFilter {
        let (shape, mut bytes) = (policy.shape(self.len()), Vec::new());
        create(shape, &self.hashes, &mut bytes);
        self.clear();
        BloomFilter::with_shape(bytes, shape)
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
