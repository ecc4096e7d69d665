//! Hashing many keys at once.
//!
//! Each step of a hash needs the step before, so a processor is only busy with several keys side by
//! side. Keys of one length are hashed in step. Other keys are hashed one by one, and the processor
//! overlaps them, because few branches depend on what follows their last whole 8 bytes.

use core::hint::black_box;

use super::{BLOOM_SEED, BloomHash, mix_blocks, mix_rest, mix_tail, mix_word, start, tail};

/// The most keys that are looked up or added to a filter together. Enough keys that a step of one
/// runs while others wait, and few enough for the first-level cache.
pub(crate) const BATCH: usize = 128;

/// How many keys are hashed side by side, if they have one length.
const GROUP: usize = 8;

#[inline]
pub(crate) fn assert_same_len<A, B>(inputs: &[A], outputs: &[B], method: &str) {
    assert_eq!(inputs.len(), outputs.len(), "{method}: the slices must have the same length");
}

/// Writes the [`bloom_hash`](super::bloom_hash) of `keys[i]` to `hashes[i]`.
#[inline]
pub(crate) fn hash_many<K: AsRef<[u8]>>(keys: &[K], hashes: &mut [BloomHash]) {
    let mut groups = keys.chunks_exact(GROUP);
    let mut hashes = hashes.chunks_exact_mut(GROUP);
    for (group, hashes) in (&mut groups).zip(&mut hashes) {
        let len = group[0].as_ref().len();
        if group.iter().all(|key| key.as_ref().len() == len) {
            let group: [&[u8]; GROUP] = core::array::from_fn(|lane| &group[lane].as_ref()[..len]);
            hashes.copy_from_slice(&hash_group(group, len));
        } else {
            hash_mixed(group, hashes);
        }
    }
    for (key, hash) in groups.remainder().iter().zip(hashes.into_remainder()) {
        *hash = super::bloom_hash(key.as_ref());
    }
}

/// Hashes keys of one length, side by side.
#[inline]
fn hash_group(keys: [&[u8]; GROUP], len: usize) -> [BloomHash; GROUP] {
    let mut hashes = [start(len, BLOOM_SEED); GROUP];
    let mut word = 0;
    while word + 4 <= len {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = mix_word(*hash, &key[word..word + 4]);
        }
        word += 4;
    }
    for (hash, key) in hashes.iter_mut().zip(keys) {
        if len % 4 != 0 {
            *hash = mix_tail(*hash, tail(key));
        }
    }
    hashes.map(BloomHash)
}

/// Hashes keys of any lengths, one by one.
fn hash_mixed<K: AsRef<[u8]>>(keys: &[K], hashes: &mut [BloomHash]) {
    // Reads a byte of each first, so that keys in no cache are fetched together. Otherwise they take
    // half as long again in the benchmark "scattered keys". Without `black_box` the compiler drops
    // the reads.
    black_box(keys.iter().fold(0, |any, key| any | key.as_ref().first().copied().unwrap_or(0)));
    for (key, hash) in keys.iter().zip(hashes) {
        let key = key.as_ref();
        *hash = BloomHash(mix_rest(mix_blocks(start(key.len(), BLOOM_SEED), key), key));
    }
}
