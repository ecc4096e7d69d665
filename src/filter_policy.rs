//! The traits between a storage engine and its filters.

use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::{fmt, ptr};

use crate::BloomHash;
use crate::hash::assert_same_len;

pub(crate) const BY_HASH_RULE: &str =
    "FilterPolicy::by_hash must return Some in every call, or None in every call";

/// Makes a small filter for a set of keys, and tells whether a key may be in the set.
///
/// Implement it for a filter of your own or to wrap another policy. An engine may hold a plain
/// policy, a `&dyn FilterPolicy` or an `Arc<dyn FilterPolicy>`, whose `Debug` shows the policy's
/// name. Mirrors `FilterPolicy` in LevelDB's [`filter_policy.h`](https://github.com/google/leveldb/blob/1.23/include/leveldb/filter_policy.h).
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
/// If only the hash of keys differs, for example because the engine's comparator ignores parts of a
/// key, wrap a policy in [`HashedBy`](crate::HashedBy).
///
/// A wrapper of your own may forward [`by_hash`](Self::by_hash) only if its other methods do what
/// the inner policy's methods do, because builders and readers may then call the inner policy alone.
pub trait FilterPolicy: Send + Sync {
    /// Returns the policy's name, which follows `filter.` in a table's metaindex block.
    ///
    /// Always returns the same name. If the policy's bytes change, or the hash of a key, change the
    /// name. Otherwise readers misread old filters, or trust the hash of a [`FilterKey`], and miss
    /// keys.
    fn name(&self) -> &'static str;

    /// Appends a filter for `keys` to `dst`, and leaves the bytes already there unchanged.
    ///
    /// Keys may repeat, and may come in any order. LevelDB passes them in its comparator's order.
    /// A filter block's builder always passes at least one key. Keys of another type are passed as
    /// slices:
    ///
    /// ```
    /// use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
    /// let owned = vec![String::from("apple"), String::from("pear")]; // or a `Vec<Vec<u8>>`
    /// let keys: Vec<&[u8]> = owned.iter().map(AsRef::as_ref).collect();
    /// let mut filter = Vec::new();
    /// BloomFilterPolicy::new(10).create_filter(&keys, &mut filter);
    /// ```
    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>);

    /// Returns whether `key` may be among the keys of `filter`.
    ///
    /// `filter` is what one call of [`create_filter`](Self::create_filter) appended, and no byte
    /// more, or empty for a range of the file without keys. The answer must be `true` for each key
    /// of the filter. This method must not panic on any bytes, because a disk may return corrupt
    /// bytes.
    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool;

    /// Returns this policy as a [`HashPolicy`] if it needs only hashes of keys. Must always return
    /// `Some` or always `None`, otherwise builders may panic. Returns `None` unless overridden.
    ///
    /// With hashes, builders keep 4 bytes per key, and a lookup in many tables hashes its key only
    /// once.
    #[inline]
    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        None
    }
}

/// Shows the policy's name, so that options with an `Arc<dyn FilterPolicy>` can derive `Debug`.
impl fmt::Debug for dyn FilterPolicy + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FilterPolicy").field(&self.name()).finish()
    }
}

impl fmt::Debug for dyn FilterPolicy + Send + Sync + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self as &dyn FilterPolicy, f)
    }
}

/// Shows that there is a policy, so that a `HashedBy<Box<dyn HashPolicy>>` is `Debug`.
impl fmt::Debug for dyn HashPolicy + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashPolicy").finish_non_exhaustive()
    }
}

/// The methods of a policy that needs only a key's hash, not the key itself. Builders and readers
/// get them from [`FilterPolicy::by_hash`].
///
/// ```
/// use leveldb_filter::{BloomFilterPolicy, HashPolicy};
/// let (policy, mut filter) = (BloomFilterPolicy::new(10), Vec::new());
/// let hashes: Vec<_> = [b"pear", b"plum"].iter().flat_map(|key| policy.key_hash(*key)).collect();
/// policy.create_filter_of_hashes(&hashes[..1], &mut filter);
/// let mut matches = [false; 2];
/// policy.hashes_may_match(&hashes, &filter, &mut matches);
/// assert_eq!(matches, [true, false]);
/// ```
pub trait HashPolicy: Send + Sync {
    /// Returns the hash that stands for `key`, or `None` for a key that every filter matches and no
    /// filter contains, for example because the key is shorter than a prefix. Then
    /// [`key_may_match`](FilterPolicy::key_may_match) must answer `true` for any filter. Must not
    /// panic on any key.
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash>;

    /// Appends to `dst` the filter that [`create_filter`](FilterPolicy::create_filter) appends for
    /// keys with these [hashes](Self::key_hash).
    ///
    /// Hashes may repeat, because keys may share a hash, and count each time. Without hashes, this
    /// must still append a filter, because goleveldb rejects every key of a range with an empty
    /// filter. Bloom filters of no hashes are 8 zero bytes and the number of probes.
    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>);

    /// Appends a filter for keys with these hashes that has room: it is as long as one of
    /// `min_keys` keys, or of as many as there are hashes, if they are more. So it matches fewer
    /// absent keys. Does what [`create_filter_of_hashes`](Self::create_filter_of_hashes) does unless
    /// overridden, so a policy need not know of room.
    ///
    /// [Long ranges](crate::FilterBlockBuilder::with_long_ranges) call this for every filter, with
    /// a `min_keys` of up to 2,000. It takes the place of a least length that the policy has by
    /// itself, such as that of [tuned](crate::BloomFilterPolicy::tuned) filters, because long ranges
    /// know how much room the table can pay for. Without hashes, an override must append what
    /// `create_filter_of_hashes` appends.
    fn create_filter_with_room(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        _ = min_keys;
        self.create_filter_of_hashes(hashes, dst);
    }

    /// Does what [`key_may_match`](FilterPolicy::key_may_match) does, for a key with this hash, and
    /// must not panic on any bytes either.
    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool;

    /// Looks up many hashes in one filter: writes the answer of
    /// [`hash_may_match`](Self::hash_may_match) for `hashes[i]` to `matches[i]`.
    ///
    /// This is a loop unless overridden. An override must give the same answers.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
        assert_same_len(hashes, matches, "HashPolicy::hashes_may_match");
        let pairs = hashes.iter().zip(matches);
        pairs.for_each(|(&hash, matches)| *matches = self.hash_may_match(hash, filter));
    }
}

/// A key to look up in many tables, hashed once for all whose policy has the same name.
///
/// It is right for every table, because a reader with a policy of another name hashes the key's
/// bytes again. A `FilterKey` borrows the key, not the policy. For many keys at once, use
/// [`may_match_many`](crate::FilterBlockReader::may_match_many).
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
    policy_name: &'static str,
    hash: KeyHash,
}

/// What a policy says about a key.
#[derive(Clone, Copy, Debug)]
enum KeyHash {
    Known(BloomHash),
    /// The policy has hashes, but none for this key, which matches every filter.
    AlwaysMatches,
    /// The policy has no hashes.
    NoHashes,
}

impl<'k> FilterKey<'k> {
    /// Prepares a user key for readers with this policy. Calls the policy's
    /// [`key_hash`](HashPolicy::key_hash), which for Bloom filters takes time linear in the key's
    /// length.
    #[inline]
    #[must_use]
    pub fn new(policy: &(impl FilterPolicy + ?Sized), key: &'k [u8]) -> Self {
        let hash = policy.by_hash().map_or(KeyHash::NoHashes, |by_hash| {
            by_hash.key_hash(key).map_or(KeyHash::AlwaysMatches, KeyHash::Known)
        });
        Self { key, policy_name: policy.name(), hash }
    }

    #[inline]
    pub(crate) fn may_match(&self, policy: &impl FilterPolicy, filter: &[u8]) -> bool {
        match policy.by_hash() {
            Some(by_hash) => self
                .hash_by(by_hash, policy.name())
                .is_none_or(|hash| by_hash.hash_may_match(hash, filter)),
            None => policy.key_may_match(self.key, filter),
        }
    }

    /// The key's hash by a policy with this name, which is computed anew unless the key was made
    /// by a policy of the same name. `None` if the key always matches.
    #[inline]
    pub(crate) fn hash_by(&self, policy: &dyn HashPolicy, name: &'static str) -> Option<BloomHash> {
        match self.hash {
            KeyHash::Known(hash) if is_same(self.policy_name, name) => Some(hash),
            KeyHash::AlwaysMatches if is_same(self.policy_name, name) => None,
            _ => policy.key_hash(self.key),
        }
    }
}

/// Whether two names are equal. Names of one policy mostly lie at one address.
#[inline]
fn is_same(a: &'static str, b: &'static str) -> bool {
    ptr::eq(a, b) || is_equal(a, b)
}

// A call, so that lookups by keys of the same policy save no registers for it.
#[cold]
#[inline(never)]
fn is_equal(a: &str, b: &str) -> bool {
    a == b
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: FilterPolicy + ?Sized> FilterPolicy for $pointer {
            fn name(&self) -> &'static str {
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

        impl<P: HashPolicy + ?Sized> HashPolicy for $pointer {
            #[inline]
            fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
                (**self).key_hash(key)
            }

            fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
                (**self).create_filter_of_hashes(hashes, dst);
            }

            fn create_filter_with_room(
                &self,
                hashes: &[BloomHash],
                min_keys: usize,
                dst: &mut Vec<u8>,
            ) {
                (**self).create_filter_with_room(hashes, min_keys, dst);
            }

            #[inline]
            fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
                (**self).hash_may_match(hash, filter)
            }

            fn hashes_may_match(&self, hashes: &[BloomHash], filter: &[u8], matches: &mut [bool]) {
                (**self).hashes_may_match(hashes, filter, matches);
            }
        }
    )*};
}

forward!(&P, Box<P>, Arc<P>);
