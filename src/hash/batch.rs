//! Hashing many keys at once.

use super::{BLOOM_SEED, mix_tail, mix_word, start};

/// Keys hashed side by side: each step of the hash waits for the one before, so one key at a time
/// leaves most of the processor idle.
const LANES: usize = 8;

/// Writes the [`bloom_hash`](super::bloom_hash) of each key; the slices are of the same length.
#[inline]
pub(crate) fn bloom_hash_batch<K: AsRef<[u8]>>(keys: &[K], hashes: &mut [u32]) {
    let mut keys = keys.chunks_exact(LANES);
    let mut hashes = hashes.chunks_exact_mut(LANES);
    for (keys, hashes) in (&mut keys).zip(&mut hashes) {
        let len = keys[0].as_ref().len();
        if keys.iter().all(|key| key.as_ref().len() == len) {
            let keys: [&[u8]; LANES] = std::array::from_fn(|lane| &keys[lane].as_ref()[..len]);
            hashes.copy_from_slice(&hash_alike(keys, len));
        } else {
            for (key, hash) in keys.iter().zip(hashes) {
                *hash = super::bloom_hash(key.as_ref());
            }
        }
    }
    for (key, hash) in keys.remainder().iter().zip(hashes.into_remainder()) {
        *hash = super::bloom_hash(key.as_ref());
    }
}

/// Hashes keys of one length.
#[inline]
fn hash_alike(keys: [&[u8]; LANES], len: usize) -> [u32; LANES] {
    let mut hashes = [start(len, BLOOM_SEED); LANES];
    let mut word = 0;
    while word + 4 <= len {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = mix_word(*hash, &key[word..word + 4]);
        }
        word += 4;
    }
    for (hash, key) in hashes.iter_mut().zip(keys) {
        *hash = mix_tail(*hash, key);
    }
    hashes
}
