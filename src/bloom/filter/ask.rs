//! Reading a filter, and looking keys up in it.

use super::BloomFilter;
use crate::bloom::lookup;
use crate::bloom::probes::{MAX_PROBES, Probes};
use crate::hash::bloom_hash_batch;
use crate::{BloomFilterShape, BloomHash, InvalidFilter, bloom_hash};

impl<B: AsRef<[u8]>> BloomFilter<B> {
    /// Reads the number of bits and of probes, in constant time.
    ///
    /// Verify the checksum of what the bytes were read from first: no error tells a flipped bit, and
    /// with wrong bytes no filter keeps its keys.
    ///
    /// A probe count of 0 is accepted: such a filter matches every key, as in LevelDB.
    ///
    /// # Errors
    ///
    /// If the bytes are shorter than 2, or their last one, the number of probes, is above 30. An
    /// engine that wants LevelDB's answers for those (nothing, and every key) can ask the policy,
    /// or take them from the error.
    pub fn new(bytes: B) -> Result<Self, InvalidFilter> {
        match *bytes.as_ref() {
            [] | [_] => Err(InvalidFilter::TooShort { len: bytes.as_ref().len() }),
            [.., num_probes] if num_probes > MAX_PROBES => {
                Err(InvalidFilter::ReservedProbeCount { num_probes })
            }
            [ref bits @ .., num_probes] => {
                Ok(Self { probes: Probes::new(bits.len(), num_probes), bytes })
            }
        }
    }

    /// Whether `key` may be among the filter's keys.
    ///
    /// The same answer as [`BloomFilterPolicy`](crate::BloomFilterPolicy)'s. Takes time linear in
    /// the key's length and in the number of probes; never panics, and allocates nothing.
    #[inline]
    #[must_use]
    pub fn key_may_match(&self, key: &[u8]) -> bool {
        self.hash_may_match(bloom_hash(key))
    }

    /// Whether the key with this [`bloom_hash`] may be among the filter's keys.
    #[inline]
    #[must_use]
    pub fn hash_may_match(&self, hash: BloomHash) -> bool {
        self.probes.may_match(self.bits(), hash)
    }

    /// Writes to `matches[i]` whether `keys[i]` may be among the filter's keys; faster than a key at
    /// a time, as the keys' hashes and probes overlap.
    ///
    /// What `matches` held is overwritten. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn keys_may_match(&self, keys: &[impl AsRef<[u8]>], matches: &mut [bool]) {
        assert_eq!(keys.len(), matches.len(), "as many answers as keys");
        lookup::may_match(self.bits(), self.probes, matches, |start, hashes| {
            bloom_hash_batch(&keys[start..start + hashes.len()], hashes);
        });
    }

    /// Writes to `matches[i]` whether the key with the [`bloom_hash`] `hashes[i]` may be among the
    /// filter's keys.
    ///
    /// What `matches` held is overwritten. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the slices differ in length.
    pub fn hashes_may_match(&self, hashes: &[BloomHash], matches: &mut [bool]) {
        assert_eq!(hashes.len(), matches.len(), "as many answers as hashes");
        lookup::may_match(self.bits(), self.probes, matches, |start, batch| {
            batch.copy_from_slice(&hashes[start..start + batch.len()]);
        });
    }

    /// The filter's length and number of probes.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> BloomFilterShape {
        BloomFilterShape { num_bytes: self.bits().len(), num_probes: self.probes.count() }
    }

    /// The filter's bytes, the byte of the probe count included.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.as_ref()
    }

    /// Gives the buffer back.
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> B {
        self.bytes
    }
}
