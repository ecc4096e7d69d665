//! What only tests and benches use: the oracle, strategies for test input, LevelDB itself.

pub mod allocations;
pub mod databases;
pub mod long_ranges;
pub mod odd;
pub mod process;
pub mod reference;
pub mod strategies;
pub mod temp;
pub mod ways;

use leveldb_filter::{BloomHash, FilterPolicy, HashPolicy};

use super::random;

/// A wrapper that knows nothing of hashes, so that builders keep its keys.
pub struct OfKeys<P>(pub P);

impl<P: FilterPolicy> FilterPolicy for OfKeys<P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.0.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(key, filter)
    }
}

/// A policy of functions of hashes.
#[derive(Clone, Copy)]
pub struct OfHashes {
    pub key_hash: fn(&[u8]) -> BloomHash,
    /// Also takes the room's keys.
    pub create_filter: fn(&[BloomHash], usize, &mut Vec<u8>),
    pub may_match: fn(BloomHash, &[u8]) -> bool,
}

impl FilterPolicy for OfHashes {
    fn name(&self) -> &'static str {
        "example.OfHashes"
    }

    fn create_filter(&self, _keys: &[&[u8]], _dst: &mut Vec<u8>) {
        unreachable!("it has hashes");
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match((self.key_hash)(key), filter)
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl HashPolicy for OfHashes {
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        Some((self.key_hash)(key))
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        (self.create_filter)(hashes, 0, dst);
    }

    fn create_filter_with_room(&self, hashes: &[BloomHash], min_keys: usize, dst: &mut Vec<u8>) {
        (self.create_filter)(hashes, min_keys, dst);
    }

    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        (self.may_match)(hash, filter)
    }
}

/// The filter that `policy` makes for `keys`, alone in its buffer.
pub fn create_filter<P: FilterPolicy, K: AsRef<[u8]>>(policy: P, keys: &[K]) -> Vec<u8> {
    let mut filter = Vec::new();
    policy.create_filter(&slices(keys), &mut filter);
    filter
}

pub fn slices<K: AsRef<[u8]>>(keys: &[K]) -> Vec<&[u8]> {
    keys.iter().map(AsRef::as_ref).collect()
}

/// `len` pseudorandom bytes, the same in every run.
pub fn noise(len: usize, seed: u32) -> Vec<u8> {
    let words = (0u32..).flat_map(|i| reference::hash(&i.to_le_bytes(), seed).to_le_bytes());
    words.take(len).collect()
}

/// `len` pseudorandom hashes, the same in every run. Hashes of counted keys are evenly spaced and
/// would flatter a false-positive rate.
pub fn random_hashes(len: usize, seed: u64) -> Vec<u32> {
    random::words(seed).map(|word| (word >> 32) as u32).take(len).collect()
}

/// A key for each hash.
pub fn keys_with_hashes(hashes: &[u32]) -> Vec<[u8; 4]> {
    hashes.iter().map(|&hash| key_with_hash(hash)).collect()
}

/// A key whose `bloom_hash` is `hash`: for four bytes, every step of the hash can be inverted.
pub fn key_with_hash(hash: u32) -> [u8; 4] {
    let (m, seed): (u32, u32) = (0xc6a4a793, 0xbc9f1d34);
    let inverse_of_m = 0xd8198e9b;
    let h = hash ^ hash >> 16;
    let h = h.wrapping_mul(inverse_of_m);
    h.wrapping_sub(seed ^ m.wrapping_mul(4)).to_le_bytes()
}

/// A random number from 1 to `max`, with all orders of magnitude equally likely; `below(n)` draws a
/// number below `n`.
pub fn of_any_magnitude(max: usize, below: &mut impl FnMut(usize) -> usize) -> usize {
    let log2 = (below(1 << 16) * (max.ilog2() as usize + 1)) >> 16;
    ((1 << log2) + below(1 << log2)).min(max)
}

/// A generator of numbers below its argument, the same in every run.
pub fn drawn(seed: u64) -> impl FnMut(usize) -> usize {
    let mut words = random::words(seed);
    move |end| usize::try_from(words.next().expect("endless") >> 32).expect("32 bits") % end
}
