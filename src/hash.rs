//! A port of LevelDB's `Hash`.

mod batch;

pub(crate) use batch::{BATCH, assert_same_len, hash_many};

const M: u32 = 0xc6a4a793;

pub(crate) const BLOOM_SEED: u32 = 0xbc9f1d34;

/// How many keys a good filter has, because in filters of fewer, keys that count up set the same
/// bits.
pub(crate) const GOOD_NUM_KEYS: usize = 2_000;

/// Hashes bytes with LevelDB's 32-bit, murmur-like function, which its filters and its cache use.
///
/// A tail of one to three bytes is unsigned, as in LevelDB since 1.18. The "2" in the policy's name
/// marks this fix. The length counts modulo 2<sup>32</sup>. Takes time linear in the length.
///
/// Mirrors `Hash` in LevelDB's [`util/hash.cc`](https://github.com/google/leveldb/blob/1.23/util/hash.cc).
///
/// ```
/// assert_eq!(leveldb_filter::hash(&[0x62], 0xbc9f1d34), 0xef1345c4);
/// ```
#[inline]
#[must_use]
pub fn hash(data: &[u8], seed: u32) -> u32 {
    // A common length. As a constant it takes 6 to 8% off single lookups, and 20% off
    // `BloomFilterBuilder::add_key`, on Zen 3.
    if let Ok(words) = <&[u8; 16]>::try_from(data) {
        return mix_words(start(16, seed), words);
    }
    let h = mix_blocks(start(data.len(), seed), data);
    // If lengths are predictable, branches save the steps that a length does not need.
    match data.len() % 8 {
        0 => h,
        4 => mix_word(h, &data[data.len() - 4..]),
        _ => mix_rest(h, data),
    }
}

/// The [`bloom_hash`] of a user key, or a [hash of your own](crate::recipes::own_hashes#other-hashes).
///
/// To choose a shard by a hash, take its highest bits. With `% 16`, a shard would get keys whose
/// probes meet, and a tuned filter would match seven times as many absent keys.
///
/// ```
/// use leveldb_filter::{BloomHash, bloom_hash, hash};
/// let stored = bloom_hash(b"key").to_u32();
/// assert_eq!(stored, hash(b"key", 0xbc9f1d34));
/// assert_eq!(BloomHash::from_u32(stored), bloom_hash(b"key"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BloomHash(pub(crate) u32);

impl BloomHash {
    /// Makes a hash from its number, which an engine may have stored.
    #[inline]
    #[must_use]
    pub const fn from_u32(hash: u32) -> Self {
        Self(hash)
    }

    /// Returns the hash as a number.
    #[inline]
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        self.0
    }
}

/// Hashes a user key as LevelDB's Bloom filter does.
///
/// Mirrors `BloomHash` in LevelDB's `util/bloom.cc`. Takes time linear in `key.len()`.
#[must_use]
pub fn bloom_hash(key: &[u8]) -> BloomHash {
    BloomHash(hash(key, BLOOM_SEED))
}

#[inline]
fn start(len: usize, seed: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "modulo 2^32, as in LevelDB's product")]
    let len = len as u32;
    seed ^ len.wrapping_mul(M)
}

#[inline]
fn mix_word(h: u32, word: &[u8]) -> u32 {
    mix(h, u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[inline]
fn mix(h: u32, word: u32) -> u32 {
    let h = h.wrapping_add(word).wrapping_mul(M);
    h ^ h >> 16
}

/// Mixes in the last one to three bytes.
#[inline]
fn mix_tail(h: u32, tail: u32) -> u32 {
    let h = h.wrapping_add(tail).wrapping_mul(M);
    h ^ h >> 24
}

/// The one to three bytes after the last whole word, as a number. Unspecified if there are none.
#[inline]
fn tail(data: &[u8]) -> u32 {
    let Some(last) = data.last_chunk() else {
        return data.iter().rev().fold(0, |tail, &byte| tail << 8 | u32::from(byte));
    };
    // Modulo 32 in case there is no tail.
    u32::from_le_bytes(*last) >> ((32 - 8 * (data.len() % 4)) % 32)
}

/// Mixes in the words up to the last whole 8 bytes of `data`.
#[inline]
fn mix_blocks(h: u32, data: &[u8]) -> u32 {
    // Two blocks at a time, because a branch costs as much as a block.
    let mut pairs = data.chunks_exact(16);
    let h = (&mut pairs).fold(h, mix_words);
    pairs.remainder().first_chunk::<8>().map_or(h, |block| mix_words(h, block))
}

#[inline]
fn mix_words(h: u32, words: &[u8]) -> u32 {
    words.chunks_exact(4).fold(h, mix_word)
}

/// Mixes in the up to seven bytes after [`mix_blocks`]: a word, a tail, both or neither. Branches
/// on varying lengths would be mispredicted, so this computes both steps, then chooses.
#[inline]
fn mix_rest(h: u32, data: &[u8]) -> u32 {
    let len = data.len();
    let Some(last_word) = data[..len - len % 4].last_chunk() else {
        return if len == 0 { h } else { mix_tail(h, tail(data)) };
    };
    let h = choose(len % 8 >= 4, mix(h, u32::from_le_bytes(*last_word)), h);
    choose(len % 4 != 0, mix_tail(h, tail(data)), h)
}

/// `yes` if `condition`, else `no`. Not an `if`, which Rust 1.85 compiles to a branch: mispredicted
/// in the benchmark "lookup" with keys of 8 to 40 bytes. `.ci/codegen` looks for it.
#[inline]
fn choose(condition: bool, yes: u32, no: u32) -> u32 {
    let mask = u32::from(condition).wrapping_neg();
    no ^ (no ^ yes) & mask
}
