//! The keys that wait for a filter.

use alloc::vec::Vec;
use core::ops::Range;

use crate::filter_policy::BY_HASH_RULE;
use crate::{BloomHash, FilterPolicy};

/// Keys, or only their hashes if the policy has hashes.
#[derive(Clone)]
pub(super) struct Keys {
    hashes: Vec<BloomHash>,
    /// Keys without hashes, back to back.
    bytes: Vec<u8>,
    /// Where each key ends in `bytes`.
    ends: Vec<usize>,
}

impl Keys {
    pub(super) const fn new() -> Self {
        Self { hashes: Vec::new(), bytes: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len() + self.ends.len()
    }

    /// Empty if the policy has no hashes.
    pub(super) fn hashes(&self) -> &[BloomHash] {
        assert!(self.hashes.is_empty() || self.ends.is_empty(), "{BY_HASH_RULE}");
        &self.hashes
    }

    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a key, unless the policy has hashes but none for it.
    #[inline]
    pub(super) fn add(&mut self, policy: &impl FilterPolicy, key: &[u8]) {
        if let Some(policy) = policy.by_hash() {
            self.hashes.extend(policy.key_hash(key));
        } else {
            self.bytes.extend_from_slice(key);
            self.ends.push(self.bytes.len());
        }
    }

    /// Adds a key as [`add`](Self::add) does, but a hash that equals the last one counts once.
    /// Returns where the key is, which is nowhere for a key without a hash.
    #[inline]
    pub(super) fn add_once(&mut self, policy: &impl FilterPolicy, key: &[u8]) -> Range<usize> {
        let num_before = self.len();
        self.add(policy, key);
        if let [.., last, again] = self.hashes[..] {
            if last == again {
                self.hashes.pop();
                return num_before - 1..num_before;
            }
        }
        num_before..self.len()
    }

    /// Appends a filter of the keys in `range` to `dst`, of hashes with `room` if any is given.
    /// Without any keys, the policy must have hashes.
    pub(super) fn create_filter(
        &self,
        policy: &impl FilterPolicy,
        range: Range<usize>,
        room: Option<usize>,
        dst: &mut Vec<u8>,
    ) {
        if self.ends.is_empty() {
            let (policy, hashes) = (policy.by_hash().expect(BY_HASH_RULE), &self.hashes[range]);
            match room {
                Some(room) => policy.create_filter_with_room(hashes, room, dst),
                None => policy.create_filter_of_hashes(hashes, dst),
            }
        } else {
            assert!(self.hashes.is_empty(), "{BY_HASH_RULE}");
            let start = |i: usize| i.checked_sub(1).map_or(0, |before| self.ends[before]);
            let keys: Vec<_> = range.map(|i| &self.bytes[start(i)..self.ends[i]]).collect();
            policy.create_filter(&keys, dst);
        }
    }
}
