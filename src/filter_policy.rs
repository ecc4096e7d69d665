//! The trait between a storage engine and its filters.

use std::sync::Arc;

/// Makes a small filter for a set of keys, and tells whether a key may be in the set.
///
/// A storage engine stores a filter beside the keys and checks it before it reads them: `false`
/// saves the read. Implement the trait for a filter of your own or to wrap another policy. An
/// engine may hold a plain policy, a `&dyn FilterPolicy` or an `Arc<dyn FilterPolicy>`.
///
/// Mirrors `FilterPolicy` in LevelDB's [`filter_policy.h`](https://github.com/google/leveldb/blob/1.23/include/leveldb/filter_policy.h).
///
/// # Comparators
///
/// Keys that the engine's comparator considers equal must be equal bytes to the filter. If the
/// comparator ignores parts of a key, wrap a policy in one that normalises keys:
///
/// ```
/// use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, FilterPolicy};
///
/// struct IgnoreCase(BloomFilterPolicy); // of ASCII letters
///
/// impl FilterPolicy for IgnoreCase {
///     fn name(&self) -> &str {
///         "example.IgnoreCaseBloomFilter"
///     }
///
///     fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
///         let keys = keys.iter().map(|key| key.to_ascii_lowercase());
///         BloomFilterBuilder::from_iter(keys).finish_into(self.0, dst);
///     }
///
///     fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
///         self.0.key_may_match(&key.to_ascii_lowercase(), filter)
///     }
/// }
///
/// let (policy, mut filter) = (IgnoreCase(BloomFilterPolicy::default()), Vec::new());
/// policy.create_filter(&[b"Key"], &mut filter);
/// assert!(policy.key_may_match(b"kEY", &filter));
/// ```
///
/// Give the wrapper a name of the engine's own. Filters under LevelDB's name were made of unchanged
/// keys and would reject a key in another spelling, so the engine must read their tables without
/// them.
///
/// Wrap the wrapper in [`InternalKeyPolicy`](crate::InternalKeyPolicy), not the other way round:
/// `InternalKeyPolicy::new(IgnoreCase(policy))` shows it user keys, without trailers.
/// [`bloom_hash`](crate::bloom_hash) and [`BloomFilter::insert`](crate::BloomFilter::insert) bypass
/// the wrapper: normalise keys first.
///
/// # In an engine that takes a filter policy
///
/// LevelDB and rusty-leveldb drop the trailers of internal keys before they call a policy. Give
/// them the plain [`BloomFilterPolicy`](crate::BloomFilterPolicy) under its own name, which is
/// LevelDB's; [`InternalKeyPolicy`](crate::InternalKeyPolicy) would drop 8 bytes more, and other
/// readers of the tables would miss keys. The [recipes](crate::recipes) have the code.
pub trait FilterPolicy: Send + Sync {
    /// The name under which a table stores this policy's filter block.
    ///
    /// A reader uses a filter block only if it is under its own policy's name. So if the bytes that
    /// [`create_filter`](Self::create_filter) makes change, change the name: otherwise old filters
    /// are misread, and keys are lost.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst`, whose present bytes stay unchanged.
    ///
    /// Keys may repeat and come in any order. LevelDB passes them in its comparator's order.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>);

    /// Whether `key` may be among the keys from which `filter` was made.
    ///
    /// `filter` is what one call of [`create_filter`](Self::create_filter) appended. The answer
    /// must be `true` for each of its keys, and should be `false` for most others. Implementations
    /// must not panic on any bytes, since a disk may return corrupt ones.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;
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
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
