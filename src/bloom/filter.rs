//! A filter's bytes, parsed once.

use alloc::{vec, vec::Vec};
use core::hash::{Hash, Hasher};
use core::{fmt, mem};

use super::bits::many;
use super::bits::probes::PreparedShape;
use super::error::{InvalidFilter, ShapeMismatch};
use super::shape::{BloomFilterShape, MAX_PROBES, to_f64};
use super::shaping;
use crate::hash::assert_same_len;
use crate::{BloomHash, bloom_hash};

/// A filter for many lookups: its bytes, parsed once, borrowed or owned.
///
/// Answers as [`BloomFilterPolicy`](crate::BloomFilterPolicy) does. The buffer `B` is for example
/// `&[u8]`, `Vec<u8>` or `Arc<[u8]>`, and must always return the same bytes. If it is mutable, keys
/// can be inserted.
///
/// Methods with `key` in their name use the key's [`bloom_hash`], as LevelDB does. Methods with
/// `hash` also take [hashes of your own](crate::recipes::own_hashes#other-hashes). A policy that
/// hashes keys in its own way looks them up [by itself](crate::HashedBy#filters-without-a-block). No
/// key can be removed, because others may need its bits.
///
/// ```
/// use leveldb_filter::{BloomFilter, BloomFilterPolicy, FilterPolicy};
/// let mut bytes = Vec::new();
/// BloomFilterPolicy::default().create_filter(&[b"apple", b"pear"], &mut bytes);
/// let filter = BloomFilter::new(&bytes)?;
/// assert!(filter.key_may_match(b"pear"));
/// let mut matches = [false; 3];
/// filter.keys_may_match(&["apple", "pear", "plum"], &mut matches);
/// assert_eq!(matches, [true, true, false]);
/// # Ok::<(), leveldb_filter::InvalidFilter>(())
/// ```
#[derive(Clone)]
pub struct BloomFilter<B = Vec<u8>> {
    pub(super) bytes: B,
    pub(super) prepared: PreparedShape,
}

impl<B: ?Sized> Copy for BloomFilter<&B> {}

impl BloomFilter<Vec<u8>> {
    /// Creates an empty filter to insert keys into. Once it has as many keys as the policy's shape
    /// was made for, its bytes equal the bytes that
    /// [`create_filter`](crate::FilterPolicy::create_filter) makes. With more, it matches more absent
    /// keys: `filter.shape().false_positive_rate(n)` [tells](BloomFilterShape::false_positive_rate)
    /// how many with `n` keys.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilter, BloomFilterPolicy};
    /// let mut filter = BloomFilter::empty(BloomFilterPolicy::new(10).tuned().shape(4_096));
    /// assert!(!filter.insert_key(b"apple")); // it did not match before
    /// assert!(filter.key_may_match(b"apple") && !filter.key_may_match(b"plum"));
    /// ```
    ///
    /// # Panics
    ///
    /// With "capacity overflow" if a `Vec` cannot be so long.
    #[must_use]
    pub fn empty(shape: BloomFilterShape) -> Self {
        let mut bytes = vec![0; shape.filter_len()];
        bytes[shape.num_bytes] = shape.num_probes;
        Self::with_shape(bytes, shape)
    }
}

impl<B> BloomFilter<B> {
    /// `bytes` must have this shape.
    pub(super) const fn with_shape(bytes: B, shape: BloomFilterShape) -> Self {
        Self { bytes, prepared: PreparedShape::new(shape.num_bytes, shape.num_probes) }
    }
}

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// Parses a filter, in constant time.
    ///
    /// Verify the filter's checksum first, because corrupt bits are no error here. A probe count of
    /// 0 is no error either. Then every key matches, as in LevelDB.
    ///
    /// # Errors
    ///
    /// If there are fewer than 2 bytes, or if the last byte, the number of probes, is above 30.
    #[doc(alias("deserialize", "load"))]
    pub fn new(bytes: B) -> Result<Self, InvalidFilter> {
        let (bits, num_probes) = parse(bytes.as_ref())?;
        Ok(Self { prepared: PreparedShape::new(bits.len(), num_probes), bytes })
    }

    /// Returns whether `key` may be among the filter's keys. Takes time linear in the key's length
    /// and in the number of probes. Allocates nothing.
    #[doc(alias = "contains")]
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, key: &[u8]) -> bool {
        self.hash_may_match(bloom_hash(key))
    }

    /// Returns whether the key with this hash may be among the filter's keys: its [`bloom_hash`], or
    /// a hash of your own if keys were inserted by that.
    #[inline]
    #[must_use]
    pub fn hash_may_match(&self, hash: BloomHash) -> bool {
        let bits = self.bits();
        self.prepared.may_match(|index| bits.get(index).copied(), hash)
    }

    /// Looks up many keys: writes to `matches[i]` whether `keys[i]` may be among the filter's keys.
    ///
    /// Overwrites all of `matches`. Allocates nothing. Looks up 16 keys or more side by side. That is
    /// faster than single lookups if keys have one length. Keys of different lengths gain less, or
    /// on some processors nothing if most are present.
    ///
    /// # Panics
    ///
    /// If the slices differ in length. May panic if a key's `as_ref` returns different bytes each
    /// time.
    #[doc(alias("batch", "multi get", "multi_get"))]
    #[inline]
    pub fn keys_may_match<K: AsRef<[u8]>>(&self, keys: &[K], matches: &mut [bool]) {
        assert_same_len(keys, matches, "BloomFilter::keys_may_match");
        many::may_match(self.prepared, self.bits(), keys, matches);
    }

    /// Does what [`keys_may_match`](Self::keys_may_match) does, for the keys with these hashes.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    #[inline]
    pub fn hashes_may_match(&self, hashes: &[BloomHash], matches: &mut [bool]) {
        assert_same_len(hashes, matches, "BloomFilter::hashes_may_match");
        many::may_match(self.prepared, self.bits(), hashes, matches);
    }

    /// Returns the filter's length and number of probes.
    #[must_use]
    pub fn shape(&self) -> BloomFilterShape {
        BloomFilterShape { num_bytes: self.bits().len(), num_probes: self.prepared.num_probes }
    }

    /// Returns the filter's bytes, including the byte for the number of probes.
    #[doc(alias("serialize", "save"))]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Returns the buffer.
    #[must_use]
    pub fn into_inner(self) -> B {
        self.bytes
    }

    /// Returns the share of bits that are set, from 0 to 1. It is about 0.45 in LevelDB's filters at
    /// 10 bits per key. Takes time linear in the filter's length.
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        let num_ones = self.bits().iter().map(|byte| u64::from(byte.count_ones())).sum();
        to_f64(num_ones) / to_f64(self.shape().num_bits())
    }

    /// Estimates the number of different keys in the filter from the share of set bits.
    ///
    /// For 100 or more random keys, most estimates are within a few per cent, if the filter was
    /// made for about that number. For fewer keys, or for keys in sequence, an estimate may be
    /// several times too low. Infinite if all bits are set or the probe count is 0. Takes time
    /// linear in the filter's length.
    #[must_use]
    pub fn estimated_num_keys(&self) -> f64 {
        shaping::estimate_num_keys(self.shape(), self.fill_ratio())
    }

    #[inline]
    fn bits(&self) -> &[u8] {
        let bytes = self.bytes.as_ref();
        &bytes[..bytes.len() - 1]
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> BloomFilter<B> {
    /// Inserts `key`. Returns `true` if the filter matched it before, unlike `HashSet::insert`.
    /// Takes time linear in the key's length and in the number of probes. To build a whole filter,
    /// a [`BloomFilterBuilder`](crate::BloomFilterBuilder) is faster.
    pub fn insert_key(&mut self, key: &[u8]) -> bool {
        self.insert_hash(bloom_hash(key))
    }

    /// Does what [`insert_key`](Self::insert_key) does, for the key with this hash: its
    /// [`bloom_hash`], or a hash of your own if lookups use that, too.
    pub fn insert_hash(&mut self, hash: BloomHash) -> bool {
        let prepared = self.prepared;
        let bits = self.bits_mut();
        let set = |index: usize, bit| {
            let byte = &mut bits[index];
            mem::replace(byte, *byte | bit)
        };
        prepared.set_bits(set, hash)
    }

    /// Removes all keys, in time linear in the filter's length. A single key cannot be removed.
    #[doc(alias("remove", "delete"))]
    pub fn clear(&mut self) {
        self.bits_mut().fill(0);
    }

    /// Adds all keys of `other`, in time linear in the filter's length. Give both filters a shape for
    /// the keys of both, or the union is overfull. The keys of both must have one hash, which the
    /// bytes do not tell.
    ///
    /// ```
    /// use leveldb_filter::{BloomFilter, BloomFilterPolicy};
    /// let shape = BloomFilterPolicy::new(10).tuned().shape(4_096); // of both filters
    /// let mut parts = ["apple", "pear"].map(|key| {
    ///     let mut filter = BloomFilter::empty(shape);
    ///     filter.insert_key(key.as_bytes());
    ///     filter
    /// });
    /// let [all, other] = &mut parts;
    /// all.union_with(other)?;
    /// assert!(all.key_may_match(b"apple") && all.key_may_match(b"pear"));
    /// # Ok::<(), leveldb_filter::ShapeMismatch>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the filters differ in shape. Then nothing changes.
    #[doc(alias = "merge")]
    pub fn union_with(
        &mut self,
        other: &BloomFilter<impl AsRef<[u8]>>,
    ) -> Result<(), ShapeMismatch> {
        if self.shape() != other.shape() {
            return Err(ShapeMismatch { shape: self.shape(), other: other.shape() });
        }
        for (byte, other) in self.bits_mut().iter_mut().zip(other.bits()) {
            *byte |= other;
        }
        Ok(())
    }

    fn bits_mut(&mut self) -> &mut [u8] {
        let bytes = self.bytes.as_mut();
        let num_bytes = bytes.len() - 1;
        &mut bytes[..num_bytes]
    }
}

/// A filter's bits and its number of probes.
#[inline]
pub(super) fn parse(filter: &[u8]) -> Result<(&[u8], u8), InvalidFilter> {
    match *filter {
        [] | [_] => Err(InvalidFilter::TooShort { len: filter.len() }),
        [.., num_probes] if num_probes > MAX_PROBES => {
            Err(InvalidFilter::ReservedProbeCount { num_probes })
        }
        [ref bits @ .., num_probes] => Ok((bits, num_probes)),
    }
}

/// Filters are equal if their bytes are, whatever their buffers.
impl<B: AsRef<[u8]>, C: AsRef<[u8]>> PartialEq<BloomFilter<C>> for BloomFilter<B> {
    fn eq(&self, other: &BloomFilter<C>) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<B: AsRef<[u8]>> Eq for BloomFilter<B> {}

impl<B: AsRef<[u8]>> Hash for BloomFilter<B> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for BloomFilter<B> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

/// Shows the filter's shape, not its bytes.
impl<B: AsRef<[u8]>> fmt::Debug for BloomFilter<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BloomFilter").field("shape", &self.shape()).finish_non_exhaustive()
    }
}
