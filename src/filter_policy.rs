//! The traits between a storage engine and its filters.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use crate::BloomHash;

/// Makes a small filter for a set of keys, and tells whether a key may be in the set.
///
/// Implement it for a filter of your own or to wrap another policy. An engine may hold a plain
/// policy, a `&dyn FilterPolicy` or an `Arc<dyn FilterPolicy>`. Mirrors `FilterPolicy` in LevelDB's
/// [`filter_policy.h`](https://github.com/google/leveldb/blob/1.23/include/leveldb/filter_policy.h).
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
/// let (policy, mut filter) = (Box::new(BloomFilterPolicy::new(10)), Vec::new());
/// policy.create_filter(&[b"apple", b"pear"], &mut filter);
/// assert!(policy.key_may_match(b"pear", &filter));
/// ```
///
/// # Wrappers
///
/// If the engine's comparator ignores parts of a key, [wrap a policy](crate::recipes#comparators)
/// in one that normalises keys, under a name of the engine's own. Wrap that in
/// [`InternalKeyPolicy`](crate::InternalKeyPolicy), not the other way round. What takes no
/// `FilterPolicy`, such as [`bloom_hash`](crate::bloom_hash), takes normalised keys.
///
/// A wrapper whose filters depend on a hash of each key alone may be a [`HashPolicy`] of its own,
/// too. It may forward [`by_hash`](Self::by_hash) only if it takes every key as it is: otherwise
/// keys would be hashed as they are, looked up normalised, and missed.
pub trait FilterPolicy: Send + Sync {
    /// The policy's name, which follows `filter.` in a table's metaindex block.
    ///
    /// If the policy's bytes or its view of keys change, change the name: otherwise old filters are
    /// misread, and reject their keys.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst`, whose existing bytes stay as they are. Keys may repeat
    /// and come in any order; LevelDB passes them in its comparator's order. Builders of filter
    /// blocks never ask for a filter of no keys.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>);

    /// Whether `key` may be among the keys from which `filter` was made.
    ///
    /// `filter` is what one call of [`create_filter`](Self::create_filter) appended, or empty for a
    /// range of the file without keys. Must be `true` for each of its keys, and must not panic on
    /// any bytes, since a disk may return corrupt ones.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;

    /// This policy as one that needs only hashes of keys: `Some` in all calls, or `None` in all.
    /// With it, builders keep 4 bytes of each key, and a lookup hashes its key once for all tables.
    /// `None` unless overridden.
    #[inline]
    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        None
    }
}

/// A [`FilterPolicy`] by hashes: its filters, and its answers, depend on nothing else of a key.
///
/// Return it from [`FilterPolicy::by_hash`], by which builders and readers find it.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, HashPolicy};
/// let (policy, mut filter) = (BloomFilterPolicy::new(10), Vec::new());
/// let hash = policy.key_hash(b"pear");
/// policy.create_filter_of_hashes(&[hash], &mut filter);
/// assert!(policy.hash_may_match(hash, &filter));
/// ```
pub trait HashPolicy: Send + Sync {
    /// The hash that stands for `key`.
    fn key_hash(&self, key: &[u8]) -> BloomHash;

    /// Appends the bytes that [`create_filter`](FilterPolicy::create_filter) appends for keys with
    /// these [hashes](Self::key_hash), in this order and as often as each comes.
    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>);

    /// [`key_may_match`](FilterPolicy::key_may_match) for a key with this hash.
    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool;
}

/// A key to look up in many tables, hashed once if their policy needs only hashes.
///
/// Make it with the policy that the tables' readers have: others may hash keys otherwise, or take
/// other keys, and would miss it. It borrows the key, not the policy.
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey};
/// let policy = BloomFilterPolicy::new(10).tuned();
/// let tables = ["fig", "pear"].map(|key| {
///     let mut builder = FilterBlockBuilder::with_long_ranges(policy);
///     builder.add_key(key.as_bytes());
///     FilterBlockReader::new(policy, builder.finish())
/// });
/// let key = FilterKey::new(&policy, b"pear");
/// assert_eq!(tables.map(|table| table.may_match(0, &key)), [false, true]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FilterKey<'k> {
    key: &'k [u8],
    hash: Option<BloomHash>,
}

impl<'k> FilterKey<'k> {
    /// A key for readers with this policy: an internal key if that is an
    /// [`InternalKeyPolicy`](crate::InternalKeyPolicy), else a user key. Takes the policy's time,
    /// for a Bloom filter linear in the key's length.
    #[inline]
    #[must_use]
    pub fn new(policy: &(impl FilterPolicy + ?Sized), key: &'k [u8]) -> Self {
        Self { key, hash: policy.by_hash().map(|policy| policy.key_hash(key)) }
    }

    /// The key's hash, if the policy needs only that.
    #[inline]
    #[must_use]
    pub const fn hash(&self) -> Option<BloomHash> {
        self.hash
    }

    #[inline]
    pub(crate) fn may_match(&self, policy: &impl FilterPolicy, filter: &[u8]) -> bool {
        if let (Some(hash), Some(policy)) = (self.hash, policy.by_hash()) {
            policy.hash_may_match(hash, filter)
        } else {
            policy.key_may_match(self.key, filter)
        }
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: FilterPolicy + ?Sized> FilterPolicy for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
                (**self).create_filter(keys, dst);
            }

            fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
                (**self).key_may_match(key, filter)
            }

            #[inline]
            fn by_hash(&self) -> Option<&dyn HashPolicy> {
                (**self).by_hash()
            }
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
