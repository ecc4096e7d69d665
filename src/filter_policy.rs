//! The trait between a storage engine and its filters.

use std::sync::Arc;

use crate::BloomHash;

/// Makes a small filter for a set of keys, and tells whether a key may be in the set.
///
/// Implement it for a filter of your own or to wrap another policy. An engine may hold a plain
/// policy, a `&dyn FilterPolicy` or an `Arc<dyn FilterPolicy>`.
///
/// Mirrors `FilterPolicy` in LevelDB's [`filter_policy.h`](https://github.com/google/leveldb/blob/1.23/include/leveldb/filter_policy.h).
///
/// # Wrappers
///
/// If the engine's comparator ignores parts of a key, [wrap a policy](crate::recipes#comparators)
/// in one that normalises keys, under a name of the engine's own. Wrap that in
/// [`InternalKeyPolicy`](crate::InternalKeyPolicy), not the other way round. Whatever takes no
/// `FilterPolicy`, such as [`bloom_hash`](crate::bloom_hash), takes normalised keys.
///
/// A wrapper may give [hashes](FilterPolicy::key_hash) if its filters depend on nothing else; one
/// that drops repeated keys may not. Without hashes, builders keep its keys.
///
/// # In an engine that takes a filter policy
///
/// LevelDB and rusty-leveldb drop the trailers of internal keys themselves. Give them the plain
/// [`BloomFilterPolicy`](crate::BloomFilterPolicy): `InternalKeyPolicy` would drop 8 bytes more,
/// and other readers of the tables would miss keys. The [recipes](crate::recipes) have the code.
pub trait FilterPolicy: Send + Sync {
    /// The name under which a table stores this policy's filter block.
    ///
    /// If the policy's bytes or its view of keys change, change the name: otherwise old filters are
    /// misread, and reject their keys.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst`, whose present bytes stay as they are. Keys may repeat
    /// and come in any order; LevelDB passes them in its comparator's order.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>);

    /// Whether `key` may be among the keys from which `filter` was made.
    ///
    /// `filter` is what one call of [`create_filter`](Self::create_filter) appended. Must be `true`
    /// for each of its keys, and must not panic on any bytes, since a disk may return corrupt ones.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;

    /// The hash by which [`create_filter_of_hashes`](Self::create_filter_of_hashes) knows `key`, so
    /// that a builder keeps 4 bytes instead of the key: `Some` for every key, or for none.
    ///
    /// Provided: `None`. Whoever overrides it must override the other method, too.
    #[inline]
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        let _ = key;
        None
    }

    /// Appends the bytes that [`create_filter`](Self::create_filter) appends for keys with these
    /// [hashes](Self::key_hash).
    ///
    /// # Panics
    ///
    /// Unless it is overridden: a filter without its keys would lose them.
    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        let _ = (hashes, dst);
        panic!("{} overrides key_hash, but not create_filter_of_hashes", self.name());
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
            fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
                (**self).key_hash(key)
            }

            fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
                (**self).create_filter_of_hashes(hashes, dst);
            }
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
