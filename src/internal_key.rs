//! Filters of user keys, built from internal keys.

use alloc::vec::Vec;
use core::fmt;

use crate::filter_policy::BY_HASH_RULE;
use crate::{BloomFilterPolicy, BloomHash, FilterPolicy, HashPolicy};

/// Builds filters of user keys for tables whose keys all end in LevelDB's 8-byte trailer.
///
/// **Do not use it for keys without a trailer.** It would drop their last 8 bytes, and lookups by
/// the inner policy would miss them. To look up user keys, use the inner policy, which reads the
/// same filters under the same name. Engines that accept a policy [drop the trailers
/// themselves](crate::recipes::other_engines), so pass them the inner policy.
///
/// ```text
/// internal key:  | user key | trailer: sequence number << 8 | value type, u64 little-endian |
///                 any length  8 bytes
/// ```
///
/// A key shorter than the trailer is used whole, so nothing panics and no key is lost.
/// `create_filter` counts each version of a user key as a key, as LevelDB does; [long
/// ranges](crate::FilterBlockBuilder::with_long_ranges) count successive versions once.
/// `create_filter` also allocates a list of user keys. Mirrors `InternalFilterPolicy` in LevelDB's [`db/dbformat.cc`](https://github.com/google/leveldb/blob/1.23/db/dbformat.cc).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy, InternalKeyPolicy};
/// let internal_key = |user_key: &str, sequence: u64| {
///     [user_key.as_bytes(), &(sequence << 8 | 1).to_le_bytes()].concat()
/// };
/// let policy = InternalKeyPolicy::new(BloomFilterPolicy::default());
/// let mut filter = Vec::new();
/// policy.create_filter(&[&internal_key("apple", 7), &internal_key("pear", 8)], &mut filter);
///
/// assert!(policy.key_may_match(&internal_key("apple", 1_000), &filter));
/// assert!(!policy.key_may_match(&internal_key("plum", 1_000), &filter));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InternalKeyPolicy<P = BloomFilterPolicy> {
    user_policy: UserPolicy<P>,
}

impl<P: FilterPolicy> InternalKeyPolicy<P> {
    /// Wraps `user_policy`.
    #[must_use]
    pub const fn new(user_policy: P) -> Self {
        Self { user_policy: UserPolicy(user_policy) }
    }

    /// Returns the policy of user keys.
    #[must_use]
    pub const fn user_policy(&self) -> &P {
        &self.user_policy.0
    }
}

impl<P: FilterPolicy> FilterPolicy for InternalKeyPolicy<P> {
    fn name(&self) -> &str {
        self.user_policy().name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        let user_keys: Vec<_> = keys.iter().map(|key| extract_user_key(key)).collect();
        self.user_policy().create_filter(&user_keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.user_policy().key_may_match(extract_user_key(key), filter)
    }

    #[inline]
    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        self.user_policy().by_hash().is_some().then_some(&self.user_policy)
    }
}

/// Hashes the user keys of internal keys. A type of its own, so that nobody reaches its methods but
/// through `by_hash`, which checks that the user policy has hashes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct UserPolicy<P>(P);

impl<P: FilterPolicy> HashPolicy for UserPolicy<P> {
    #[inline]
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        self.0.by_hash().expect(BY_HASH_RULE).key_hash(extract_user_key(key))
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        self.0.by_hash().expect(BY_HASH_RULE).create_filter_of_hashes(hashes, dst);
    }

    fn create_filter_with_room(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        self.0.by_hash().expect(BY_HASH_RULE).create_filter_with_room(hashes, min_keys, dst);
    }

    #[inline]
    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        self.0.by_hash().expect(BY_HASH_RULE).hash_may_match(hash, filter)
    }

    fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        self.0.by_hash().expect(BY_HASH_RULE).hashes_may_match(hashes, filter, matches);
    }
}

impl<P: fmt::Debug> fmt::Debug for UserPolicy<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[inline]
fn extract_user_key(internal_key: &[u8]) -> &[u8] {
    internal_key.split_last_chunk::<8>().map_or(internal_key, |(user_key, _trailer)| user_key)
}
