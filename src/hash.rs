//! A port of LevelDB's `Hash`.
//!
//! Mirrors [`util/hash.cc`](https://github.com/google/leveldb/blob/1.23/util/hash.cc), and
//! `BloomHash` of [`util/bloom.cc`](https://github.com/google/leveldb/blob/1.23/util/bloom.cc).

/// Hashes bytes as LevelDB does: the 32-bit, murmur-like function behind its filters and its
/// cache.
///
/// Every input has an answer. The length enters the hash modulo 2<sup>32</sup>, and the last one
/// to three bytes are unsigned, as in LevelDB since 1.18; before that, they were signed where
/// `char` is, so filters made by those versions carry another policy name.
///
/// Mirrors `Hash` in LevelDB's `util/hash.cc`. Takes time linear in `data.len()`.
///
/// ```
/// assert_eq!(leveldb_filter::hash(b"", 0xbc9f1d34), 0xbc9f1d34);
/// assert_eq!(leveldb_filter::hash(&[0x62], 0xbc9f1d34), 0xef1345c4);
/// ```
#[inline]
#[must_use]
pub fn hash(data: &[u8], seed: u32) -> u32 {
    const M: u32 = 0xc6a4a793;

    // LevelDB multiplies a size_t and keeps the low 32 bits, which only depend on the low 32
    // bits of the length.
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32, as in LevelDB")]
    let mut h = seed ^ (data.len() as u32).wrapping_mul(M);

    let words = data.chunks_exact(4);
    let tail = words.remainder();
    for word in words {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        h = h.wrapping_add(word).wrapping_mul(M);
        h ^= h >> 16;
    }

    if !tail.is_empty() {
        let tail = tail.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        h = h.wrapping_add(tail).wrapping_mul(M);
        h ^= h >> 24;
    }
    h
}

/// Hashes a key as LevelDB's Bloom filter does, so that one hash serves many filters.
///
/// The result is what `hash_may_match` and `add_hash` take. Mirrors `BloomHash` in LevelDB's
/// `util/bloom.cc`. Takes time linear in `key.len()`.
///
/// ```
/// use leveldb_filter::{bloom_hash, hash};
///
/// assert_eq!(bloom_hash(b"key"), hash(b"key", 0xbc9f1d34));
/// ```
#[inline]
#[must_use]
pub fn bloom_hash(key: &[u8]) -> u32 {
    hash(key, 0xbc9f1d34)
}
