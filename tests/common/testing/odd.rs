//! A policy such as others may write: with the required methods alone, and careless with `dst`.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterPolicy, HashPolicy};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// What the policy does to the bytes that are already in `dst`.
#[derive(Clone, Copy, Debug)]
pub enum Writes {
    Appends,
    Replaces,
    Pops,
}

/// Makes LevelDB's filters of 10 bits per key.
pub struct Odd<'a> {
    pub writes: Writes,
    /// Once it is set, the next call that hashes a key or makes a filter removes the bytes in
    /// `dst`, leaves half a filter there, clears the flag and panics.
    pub panics: &'a AtomicBool,
}

impl Odd<'_> {
    fn panic_if_told(&self) {
        assert!(!self.panics.swap(false, Ordering::Relaxed), "in the policy");
    }

    fn create(&self, create: impl FnOnce(&mut Vec<u8>), dst: &mut Vec<u8>) {
        let mut before = mem::replace(dst, vec![0xff; 4]);
        self.panic_if_told();
        match self.writes {
            Writes::Appends => *dst = before,
            Writes::Replaces => dst.clear(),
            Writes::Pops => {
                before.pop();
                *dst = before;
            }
        }
        create(dst);
    }
}

impl FilterPolicy for Odd<'_> {
    fn name(&self) -> &'static str {
        "example.Odd"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.create(|dst| POLICY.create_filter(keys, dst), dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        POLICY.key_may_match(key, filter)
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl HashPolicy for Odd<'_> {
    fn key_hash(&self, key: &[u8]) -> Option<BloomHash> {
        self.panic_if_told();
        POLICY.key_hash(key)
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        self.create(|dst| POLICY.create_filter_of_hashes(hashes, dst), dst);
    }

    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        POLICY.hash_may_match(hash, filter)
    }
}
