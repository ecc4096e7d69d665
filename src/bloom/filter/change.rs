//! Changing a filter: keys inserted, filters joined, and all keys taken out.

use super::BloomFilter;
use crate::{BloomHash, ShapeMismatch, bloom_hash};

impl<B: AsRef<[u8]> + AsMut<[u8]>> BloomFilter<B> {
    /// Adds `key` to the filter's keys. `true` if it may have been in already, that is, if all its
    /// bits were set.
    ///
    /// The bytes become those of a filter of this size with the key among its keys. Allocates
    /// nothing. To build a whole filter,
    /// [`create_filter`](crate::FilterPolicy::create_filter) and
    /// [`BloomFilterBuilder`](crate::BloomFilterBuilder) are faster.
    pub fn insert(&mut self, key: &[u8]) -> bool {
        self.insert_hash(bloom_hash(key))
    }

    /// Adds the key with this [`bloom_hash`], that of the user key. `true` if it may have been in
    /// already.
    pub fn insert_hash(&mut self, hash: BloomHash) -> bool {
        let probes = self.probes;
        probes.set_bits(self.bits_mut(), hash)
    }

    /// Takes all keys out: all bits become 0, and the number of probes stays.
    ///
    /// For a filter that is used again, such as the next memtable's. Takes time linear in the
    /// filter's length, and allocates nothing. A filter with a probe count of 0 still matches every
    /// key.
    pub fn clear(&mut self) {
        self.bits_mut().fill(0);
    }

    /// Adds the keys of `other`: the bytes become those of a filter of this size with both filters'
    /// keys.
    ///
    /// Takes time linear in the filter's length, whatever the number of keys.
    ///
    /// # Errors
    ///
    /// If the filters differ in their number of bits or of probes; then nothing is changed.
    ///
    /// ```
    /// # use leveldb_filter::{BloomFilter, BloomFilterPolicy};
    /// let shape = BloomFilterPolicy::default().shape(4_096);
    /// let (mut fruit, mut nuts) = (BloomFilter::empty(shape), BloomFilter::empty(shape));
    /// nuts.insert(b"almond");
    /// fruit.union_with(&nuts)?;
    /// assert!(fruit.key_may_match(b"almond"));
    /// # Ok::<(), leveldb_filter::ShapeMismatch>(())
    /// ```
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
