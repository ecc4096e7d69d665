//! Policies with an engine's own function from keys to hashes.

use alloc::vec::Vec;
use core::fmt;

use crate::{BloomFilterPolicy, BloomHash, FilterPolicy, HashPolicy};

/// Wraps a policy, gives it another name, and hashes keys with an engine's function.
///
/// Use it if a comparator ignores parts of keys, for filters of prefixes, or for hashes other than
/// LevelDB's. [A page](crate::recipes::own_hashes) shows each.
///
/// The function gets the wrapped policy and a key. It calls the wrapped policy's
/// [`key_hash`](HashPolicy::key_hash) with the bytes that count, or makes a [`BloomHash`] itself.
/// Return `None` for a key that has no hash, such as one shorter than the prefix. Filters leave it
/// out, and every lookup of it answers `true`. Equal keys need the same hash, in every process and
/// in every version that reads the filters.
///
/// ```
/// use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy, HashPolicy, HashedBy};
/// let policy = HashedBy::new(
///     "example.IgnoreCaseBloomFilter",
///     BloomFilterPolicy::new(10).tuned(),
///     |policy, key| policy.key_hash(&key.to_ascii_lowercase()),
/// );
/// let memtable = AtomicBloomFilter::new(policy, policy.policy().shape(4_096));
/// memtable.insert_key(b"Key");
/// assert!(memtable.key_may_match(b"kEY"));
/// ```
///
/// **One name means one function**, because readers look up a [`FilterKey`](crate::FilterKey) of
/// their policy's name by the hash that it has. So change the name whenever the function changes.
///
/// **The outermost function decides** if a `HashedBy` wraps another. One that hashes a key's bytes
/// itself never calls the inner function, so the bytes that the inner one ignores count again, and
/// lookups miss keys. So put the function that changes the key outermost, and let it call the inner
/// policy's `key_hash`, or do both in one function.
///
/// # Filters without a block
///
/// [`create_filter`](FilterPolicy::create_filter) makes such a filter of any keys. Where keys share a
/// hash, for example that of a prefix, make it of their hashes instead, each of them once:
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy, HashPolicy, HashedBy};
/// let bloom = BloomFilterPolicy::new(10).tuned().with_min_keys(2_000);
/// let policy = HashedBy::new("example.Prefix6", bloom, |policy, key| {
///     policy.key_hash(key.get(..6)?)
/// });
/// let keys = [b"apple1".as_slice(), b"apple1:size", b"fig", b"pear01:size"];
/// let mut filter = Vec::new();
/// policy.create_filter(&keys, &mut filter);
/// assert!(policy.key_may_match(b"pear01:name", &filter));
/// assert!(policy.key_may_match(b"fig", &filter)); // it has no hash, so it always matches
///
/// let mut hashes: Vec<_> = keys.iter().filter_map(|key| policy.key_hash(key)).collect();
/// hashes.dedup(); // successive keys with the same prefix count once
/// let mut filter = Vec::new();
/// policy.create_filter_of_hashes(&hashes, &mut filter);
/// assert!(policy.key_may_match(b"pear01:name", &filter));
/// ```
///
/// The filter is as long as one of 2,000 keys, because shorter filters match many absent keys that
/// count up. With hashes that are close to random, leave out `with_min_keys`.
///
/// # Fields
///
/// Each closure has a type of its own. For a field of a struct, leave out the type parameters, which
/// makes it a function pointer, or share the `HashedBy` as a trait object:
///
/// ```
/// use std::sync::Arc;
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy, HashPolicy, HashedBy};
///
/// #[derive(Debug)]
/// struct Options {
///     policy: HashedBy, // of a `BloomFilterPolicy`
///     shared: Arc<dyn FilterPolicy>,
/// }
///
/// let bloom = BloomFilterPolicy::new(10).tuned();
/// let policy: HashedBy = HashedBy::new("example.Prefix6", bloom, |policy, key| {
///     policy.key_hash(key.get(..6)?) // a shorter key always matches
/// });
/// let options = Options { shared: Arc::new(policy), policy };
/// assert_eq!(options.shared.name(), options.policy.name());
/// ```
#[derive(Clone, Copy)]
pub struct HashedBy<P = BloomFilterPolicy, F = fn(&P, &[u8]) -> Option<BloomHash>> {
    name: &'static str,
    policy: P,
    hash: F,
}

impl<P: HashPolicy, F: Fn(&P, &[u8]) -> Option<BloomHash> + Send + Sync> HashedBy<P, F> {
    /// Wraps `policy`, which may be a `Box<dyn HashPolicy>`.
    ///
    /// The name must differ from LevelDB's, and from the name of any policy that hashes keys
    /// differently, for example with another prefix length. A name that is computed at run time can
    /// be leaked, once, by `String::leak`.
    #[must_use]
    pub const fn new(name: &'static str, policy: P, hash: F) -> Self {
        Self { name, policy, hash }
    }

    /// Returns the wrapped policy, for example for the [shape](crate::BloomFilterPolicy::shape) of
    /// a filter.
    #[must_use]
    pub const fn policy(&self) -> &P {
        &self.policy
    }
}

impl<P: HashPolicy, F: Fn(&P, &[u8]) -> Option<BloomHash> + Send + Sync> FilterPolicy
    for HashedBy<P, F>
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        let hashes: Vec<_> = keys.iter().filter_map(|key| self.key_hash(key)).collect();
        self.create_filter_of_hashes(&hashes, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.key_hash(key).is_none_or(|hash| self.hash_may_match(hash, filter))
    }

    #[inline]
    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl<P: HashPolicy, F: Fn(&P, &[u8]) -> Option<BloomHash> + Send + Sync> HashPolicy
    for HashedBy<P, F>
{
    #[inline]
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        (self.hash)(&self.policy, key)
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        self.policy.create_filter_of_hashes(hashes, dst);
    }

    fn create_filter_with_room(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        self.policy.create_filter_with_room(hashes, min_keys, dst);
    }

    #[inline]
    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        self.policy.hash_may_match(hash, filter)
    }

    fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        self.policy.hashes_may_match(hashes, filter, matches);
    }
}

/// Shows the name and the wrapped policy.
impl<P: fmt::Debug, F> fmt::Debug for HashedBy<P, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashedBy")
            .field("name", &self.name)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
