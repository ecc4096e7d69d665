//! The trait between a storage engine and its filters.

use std::sync::Arc;

/// Makes a small filter for a set of keys, and tells whether a key may be in the set.
///
/// A storage engine writes a filter beside the keys and asks it before it reads them: a `false`
/// saves the read. Implement it for a filter of your own, or to wrap another policy. An engine may
/// hold a plain policy, a `&dyn FilterPolicy` or an `Arc<dyn FilterPolicy>`.
///
/// Mirrors `FilterPolicy` in LevelDB's [`filter_policy.h`](https://github.com/google/leveldb/blob/1.23/include/leveldb/filter_policy.h).
///
/// # Comparators
///
/// Keys that the engine's comparator considers equal must be equal bytes to the filter. For a
/// comparator that ignores parts of a key, wrap a policy in one that normalises keys:
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
/// The name must be the engine's own. Filters under LevelDB's name were made of the keys as they
/// are, and would deny a key in another spelling: such an engine must refuse that name, and read
/// those tables without a filter.
///
/// Inside [`InternalKeyPolicy`](crate::InternalKeyPolicy) a wrapper sees user keys:
/// `InternalKeyPolicy::new(IgnoreCase(policy))`. Outside it would see their trailers, too; one that
/// cuts keys may then lose some. [`bloom_hash`](crate::bloom_hash) and
/// [`BloomFilter::insert`](crate::BloomFilter::insert) bypass the wrapper: normalise keys first.
///
/// # In an engine that takes a filter policy
///
/// LevelDB and rusty-leveldb drop the trailers of internal keys before they call a policy: give them
/// the plain [`BloomFilterPolicy`](crate::BloomFilterPolicy), under its own name, LevelDB's.
/// [`InternalKeyPolicy`](crate::InternalKeyPolicy) would drop 8 bytes more, and other readers of the
/// tables would miss keys. For a trait like rusty-leveldb's:
///
/// ```
/// use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, FilterPolicy};
///
/// trait EnginePolicy {
///     fn name(&self) -> &'static str;
///     fn create_filter(&self, keys: &[u8], key_offsets: &[usize]) -> Vec<u8>; // back to back
///     fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;
/// }
///
/// struct LevelDbFilter(BloomFilterPolicy);
///
/// impl EnginePolicy for LevelDbFilter {
///     fn name(&self) -> &'static str {
///         self.0.name()
///     }
///
///     fn create_filter(&self, keys: &[u8], key_offsets: &[usize]) -> Vec<u8> {
///         let ends = key_offsets.iter().skip(1).copied().chain([keys.len()]);
///         let keys = key_offsets.iter().zip(ends).map(|(&start, end)| &keys[start..end]);
///         let mut filter = Vec::new();
///         BloomFilterBuilder::from_iter(keys).finish_into(self.0, &mut filter);
///         filter
///     }
///
///     fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
///         self.0.key_may_match(key, filter)
///     }
/// }
///
/// let policy = LevelDbFilter(BloomFilterPolicy::default());
/// let filter = policy.create_filter(b"applepear", &[0, 5]);
/// assert!(policy.key_may_match(b"apple", &filter) && policy.key_may_match(b"pear", &filter));
/// ```
///
/// LevelDB in C++ takes callbacks by `leveldb_filterpolicy_create` in its C interface. Call the plain
/// policy in them: [`create_filter`](Self::create_filter), whose bytes the callback copies into memory
/// from `malloc`, and [`key_may_match`](Self::key_may_match).
pub trait FilterPolicy: Send + Sync {
    /// The name under which a table stores this policy's filters, in a filter block.
    ///
    /// A reader uses a table's filters only where the names are equal, so a change of the bytes
    /// that [`create_filter`](Self::create_filter) makes needs a new name; otherwise old filters
    /// are misread, and keys are lost.
    fn name(&self) -> &str;

    /// Appends a filter for `keys` to `dst`.
    ///
    /// What `dst` holds already stays as it is. Keys may repeat, and may come in any order, though
    /// an engine has them in the order of its comparator.
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>);

    /// Whether `key` may be among the keys from which `filter` was made.
    ///
    /// `filter` is what one call of [`create_filter`](Self::create_filter) appended. The answer
    /// must be `true` for each of its keys, and should be `false` for most others. It must not
    /// panic, whatever the bytes: they come from a disk.
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
