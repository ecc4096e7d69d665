//! A filter for inserts and lookups by several threads at the same time.

use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

use super::bits::probes::PreparedShape;
use super::error::InvalidFilter;
use super::filter::BloomFilter;
use super::policy::BloomFilterPolicy;
use super::shape::{BloomFilterShape, to_f64};
use crate::filter_policy::BY_HASH_RULE;
use crate::{BloomHash, FilterKey, FilterPolicy};

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
/// [page](crate::recipes::sets_and_memtables#memtables) on memtables.
///
/// The policy hashes every key, so it may be a [`HashedBy`](crate::HashedBy) or an
/// `Arc<dyn FilterPolicy>`. A key for which it has no hash is not inserted, and always matches.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::RwLock;
/// use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy};
///
/// let policy = BloomFilterPolicy::new(10).tuned();
/// let filter = AtomicBloomFilter::new(policy, policy.shape(4_096)); // 4,096 keys until a flush
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
pub struct AtomicBloomFilter<P = BloomFilterPolicy> {
    policy: P,
    /// A filter's bytes, including the byte for the number of probes.
    bytes: Vec<AtomicU8>,
    prepared: PreparedShape,
}

impl<P: FilterPolicy> AtomicBloomFilter<P> {
    /// Creates an empty filter of keys as `policy` hashes them. Allocates
    /// [`filter_len`](BloomFilterShape::filter_len) bytes.
    ///
    /// # Panics
    ///
    /// - If the policy has no [hashes](FilterPolicy::by_hash).
    /// - With "capacity overflow" if a `Vec` cannot be so long.
    #[must_use]
    pub fn new(policy: P, shape: BloomFilterShape) -> Self {
        let BloomFilter { bytes, prepared } = BloomFilter::empty(shape);
        Self::with_bytes(policy, bytes.into_iter().map(AtomicU8::new).collect(), prepared)
    }

    /// Continues a filter with these bytes, for example [stored ones](Self::to_bytes), with all its
    /// keys. They must be of a policy that hashes keys alike. Takes time linear in their length.
    ///
    /// # Errors
    ///
    /// As [`BloomFilter::new`].
    ///
    /// # Panics
    ///
    /// If the policy has no [hashes](FilterPolicy::by_hash).
    pub fn from_bytes(policy: P, bytes: &[u8]) -> Result<Self, InvalidFilter> {
        let BloomFilter { bytes, prepared } = BloomFilter::new(bytes)?;
        Ok(Self::with_bytes(policy, bytes.iter().copied().map(AtomicU8::new).collect(), prepared))
    }

    fn with_bytes(policy: P, bytes: Vec<AtomicU8>, prepared: PreparedShape) -> Self {
        let has_hashes = policy.by_hash().is_some();
        assert!(has_hashes, "AtomicBloomFilter: the policy {} has no hashes", policy.name());
        Self { policy, bytes, prepared }
    }

    /// Inserts `key`. Returns `true` if the filter matched it before, unlike `HashSet::insert`.
    /// Threads that insert the same key at the same time may all get `false`. Takes the time that
    /// the policy needs for its hash, and time linear in the number of probes.
    ///
    /// # Panics
    ///
    /// If the policy panics, or no longer has hashes.
    pub fn insert_key(&self, key: &[u8]) -> bool {
        // Relaxed is enough, because bits are only added, and a load sees every write that happened
        // before it.
        let set = |byte: usize, bit| self.bytes[byte].fetch_or(bit, Ordering::Relaxed);
        let hash = self.policy.by_hash().expect(BY_HASH_RULE).key_hash(key);
        hash.is_none_or(|hash| self.prepared.set_bits(set, hash))
    }

    /// Returns whether `key` may be among the filter's keys. Takes the time that the policy needs
    /// for its hash, and time linear in the number of probes.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, key: &[u8]) -> bool {
        let hash = self.policy.by_hash().and_then(|policy| policy.key_hash(key));
        hash.is_none_or(|hash| self.hash_may_match(hash))
    }

    /// Does what [`key_may_match`](Self::key_may_match) does, for a key that is also looked up in
    /// tables. If a policy with this policy's name made the `FilterKey`, its hash is not computed
    /// again.
    #[inline]
    #[must_use]
    pub fn may_match(&self, key: &FilterKey) -> bool {
        let by_hash = self.policy.by_hash();
        let hash = by_hash.and_then(|by_hash| key.hash_by(by_hash, self.policy.name()));
        hash.is_none_or(|hash| self.hash_may_match(hash))
    }

    #[inline]
    fn hash_may_match(&self, hash: BloomHash) -> bool {
        let load = |byte: &AtomicU8| byte.load(Ordering::Relaxed);
        self.prepared.may_match(|index| self.bytes.get(index).map(load), hash)
    }

    /// Returns the policy that hashes the keys.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the filter's length and number of probes.
    #[must_use]
    pub fn shape(&self) -> BloomFilterShape {
        BloomFilterShape { num_bytes: self.bytes.len() - 1, num_probes: self.prepared.num_probes }
    }

    /// Returns the share of bits that are set, from 0 to 1, in time linear in the filter's length.
    /// Inserts during the call may or may not count.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let bits = &self.bytes[..self.bytes.len() - 1];
        let num_ones = |byte: &AtomicU8| u64::from(byte.load(Ordering::Relaxed).count_ones());
        to_f64(bits.iter().map(num_ones).sum()) / to_f64(self.shape().num_bits())
    }

    /// Copies the filter's bytes as they are now, in time linear in their length. A key whose
    /// insert happened before the call is in the copy. A key inserted during the call may or may
    /// not be.
    ///
    /// Ask the copy by the policy's [`key_may_match`](FilterPolicy::key_may_match), if its filters
    /// are Bloom filters, or go on with it by [`from_bytes`](Self::from_bytes):
    ///
    /// ```
    /// use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy, FilterPolicy};
    /// let policy = BloomFilterPolicy::new(10).tuned();
    /// let filter = AtomicBloomFilter::new(policy, policy.shape(4_096));
    /// filter.insert_key(b"apple");
    /// let stored = filter.to_bytes();
    /// assert!(policy.key_may_match(b"apple", &stored));
    /// let filter = AtomicBloomFilter::from_bytes(policy, &stored)?;
    /// assert!(filter.key_may_match(b"apple") && !filter.key_may_match(b"plum"));
    /// # Ok::<(), leveldb_filter::InvalidFilter>(())
    /// ```
    #[doc(alias("save", "store"))]
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

/// Shows the policy and the filter's shape, not its bytes.
impl<P: FilterPolicy + fmt::Debug> fmt::Debug for AtomicBloomFilter<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBloomFilter")
            .field("policy", &self.policy)
            .field("shape", &self.shape())
            .finish_non_exhaustive()
    }
}
