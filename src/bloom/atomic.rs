//! A filter for inserts and lookups by several threads at the same time.

use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use super::bits::probes::PreparedShape;
use super::filter::BloomFilter;
use super::shape::{BloomFilterShape, float};
use crate::{BloomHash, FilterKey, bloom_hash};

/// A filter into which any number of threads insert keys, and look them up, without a lock, for
/// example beside a memtable.
///
/// Insert a key here before it goes into the memtable. Whatever then makes the key visible to
/// readers, such as unlocking the memtable or a release store, makes its bits visible as well. A
/// lookup during the insert may answer either way.
///
/// Insert every entry's key, deletions included, as [for a
/// table](crate::FilterBlockBuilder::add_key). At a flush, replace filter and memtable together,
/// for example in one `Arc`, and keep the old pair until its table is open. There is a
/// [page](crate::recipes::memtables) on memtables.
///
/// [`insert`](Self::insert) and [`may_match`](Self::may_match) take a [`FilterKey`], which is hashed
/// as the tables' policy does it. Methods with `key` in their name use a key's [`bloom_hash`], so
/// under a policy that hashes keys in its own way, such as [`HashedBy`](crate::HashedBy), lookups
/// would miss keys.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::RwLock;
/// use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy};
///
/// let shape = BloomFilterPolicy::new(10).tuned().shape(4_096); // 4,096 keys until a flush
/// let filter = AtomicBloomFilter::new(shape);
/// let memtable = RwLock::new(BTreeMap::new());
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         filter.insert_key(b"apple"); // before any reader can see the key
///         memtable.write().unwrap().insert("apple", "red");
///     });
///     threads.spawn(|| {
///         filter.key_may_match(b"plum") && memtable.read().unwrap().contains_key("plum")
///     });
/// });
/// assert!(filter.key_may_match(b"apple"));
/// ```
pub struct AtomicBloomFilter {
    /// A filter's bytes, including the byte for the number of probes.
    bytes: Vec<AtomicU8>,
    prepared: PreparedShape,
}

impl AtomicBloomFilter {
    /// Creates an empty filter. Allocates [`filter_len`](BloomFilterShape::filter_len) bytes.
    ///
    /// # Panics
    ///
    /// With "capacity overflow" if a `Vec` cannot be so long.
    #[must_use]
    pub fn new(shape: BloomFilterShape) -> Self {
        BloomFilter::empty(shape).into()
    }

    /// Inserts `key`. Returns `true` if the filter matched it before, unlike `HashSet::insert`.
    /// Threads that insert the same key at the same time may all get `false`. Takes time linear in
    /// the key's length and in the number of probes.
    #[expect(clippy::must_use_candidate, reason = "most engines have no use for it")]
    pub fn insert_key(&self, key: &[u8]) -> bool {
        self.insert_hash(bloom_hash(key))
    }

    /// Does what [`insert_key`](Self::insert_key) does, for the key with this hash: its
    /// [`bloom_hash`], or a hash of your own if lookups use that, too.
    #[expect(clippy::must_use_candidate, reason = "as for `insert_key`")]
    pub fn insert_hash(&self, hash: BloomHash) -> bool {
        // Relaxed is enough, because bits are only added, and a load sees every write that happened
        // before it.
        let set = |byte: usize, bit| self.bytes[byte].fetch_or(bit, Ordering::Relaxed);
        self.prepared.set_bits(set, hash)
    }

    /// Inserts a key as its policy hashes it. A key without a [hash](FilterKey::hash) is not
    /// inserted, because [`may_match`](Self::may_match) is always `true` for it. Returns `true` if
    /// the filter matched the key before.
    #[expect(clippy::must_use_candidate, reason = "as for `insert_key`")]
    pub fn insert(&self, key: &FilterKey) -> bool {
        key.hash().is_none_or(|hash| self.insert_hash(hash))
    }

    /// Returns whether `key` may be among the filter's keys.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, key: &[u8]) -> bool {
        self.hash_may_match(bloom_hash(key))
    }

    /// Returns whether the key with this hash may be among the filter's keys.
    #[inline]
    #[must_use]
    pub fn hash_may_match(&self, hash: BloomHash) -> bool {
        let load = |byte: &AtomicU8| byte.load(Ordering::Relaxed);
        self.prepared.may_match(|index| self.bytes.get(index).map(load), hash)
    }

    /// Returns whether the filter may contain a key that is looked up in several filters, or `true`
    /// if the key has no [hash](FilterKey::hash). Create the key with the policy of the keys in
    /// this filter.
    #[inline]
    #[must_use]
    pub fn may_match(&self, key: &FilterKey) -> bool {
        key.hash().is_none_or(|hash| self.hash_may_match(hash))
    }

    /// Returns the filter's length and number of probes.
    #[must_use]
    pub fn shape(&self) -> BloomFilterShape {
        BloomFilterShape { num_bytes: self.bytes.len() - 1, num_probes: self.prepared.num_probes }
    }

    /// Returns the share of bits that are set, from 0 to 1. Inserts during the call may or may not
    /// count.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let bits = &self.bytes[..self.bytes.len() - 1];
        let num_ones = |byte: &AtomicU8| u64::from(byte.load(Ordering::Relaxed).count_ones());
        float(bits.iter().map(num_ones).sum()) / float(self.shape().num_bits())
    }

    /// Copies the filter as it is now, in time linear in its length. A key whose insert happened
    /// before the call is in the copy. A key inserted during the call may or may not be.
    ///
    /// For example, to store a filter and go on with it later:
    ///
    /// ```
    /// use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy};
    /// let filter = AtomicBloomFilter::new(BloomFilterPolicy::new(10).tuned().shape(4_096));
    /// filter.insert_key(b"apple");
    /// let stored = filter.to_filter().into_inner();
    /// let filter = AtomicBloomFilter::from(BloomFilter::new(stored)?);
    /// assert!(filter.key_may_match(b"apple") && !filter.key_may_match(b"plum"));
    /// # Ok::<(), leveldb_filter::InvalidFilter>(())
    /// ```
    #[doc(alias("save", "store"))]
    #[must_use]
    pub fn to_filter(&self) -> BloomFilter {
        let bytes = self.bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        BloomFilter { bytes, prepared: self.prepared }
    }
}

/// Continues a filter, for example a [stored one](AtomicBloomFilter::to_filter), with all its keys.
/// Takes time linear in its length.
impl From<BloomFilter> for AtomicBloomFilter {
    fn from(BloomFilter { bytes, prepared }: BloomFilter) -> Self {
        Self { bytes: bytes.into_iter().map(AtomicU8::new).collect(), prepared }
    }
}

/// Shows the filter's shape, not its bytes.
impl fmt::Debug for AtomicBloomFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBloomFilter").field("shape", &self.shape()).finish_non_exhaustive()
    }
}
