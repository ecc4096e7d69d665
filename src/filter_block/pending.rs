//! The keys that wait for the next filter.

use alloc::vec::Vec;
use core::mem;

use crate::filter_policy::BY_HASH_RULE;
use crate::{BloomHash, FilterPolicy};

/// Keys, or only their hashes if the policy has hashes.
#[derive(Clone)]
pub(super) struct PendingKeys {
    hashes: Vec<BloomHash>,
    /// Keys without hashes, back to back.
    keys: Vec<u8>,
    /// Where each key ends in `keys`.
    ends: Vec<usize>,
    /// Whether there are also keys for which the policy has no hash. No filter contains them, but
    /// their range needs a filter.
    has_unhashed: bool,
}

impl PendingKeys {
    pub(super) const fn new() -> Self {
        Self { hashes: Vec::new(), keys: Vec::new(), ends: Vec::new(), has_unhashed: false }
    }

    /// How many keys the filter will contain.
    pub(super) fn num_keys(&self) -> usize {
        self.hashes.len() + self.ends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.num_keys() == 0 && !self.has_unhashed
    }

    /// For how many keys the filter will be sized. Policies without hashes know no `min_keys`.
    pub(super) fn sized_for(&self, min_keys: usize) -> usize {
        if self.hashes.is_empty() { self.ends.len() } else { self.hashes.len().max(min_keys) }
    }

    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.keys.clear();
        self.ends.clear();
        self.has_unhashed = false;
    }

    /// Adds a key. If `counts_once`, not a hash that equals the last one.
    #[inline]
    pub(super) fn push(&mut self, policy: &impl FilterPolicy, key: &[u8], counts_once: bool) {
        if let Some(policy) = policy.by_hash() {
            let Some(hash) = policy.key_hash(key) else {
                self.has_unhashed = true;
                return;
            };
            if !counts_once || self.hashes.last() != Some(&hash) {
                self.hashes.push(hash);
            }
        } else {
            self.keys.extend_from_slice(key);
            self.ends.push(self.keys.len());
        }
    }

    /// Appends a filter of the keys, if there are any, and removes the keys. A filter of hashes is
    /// as long as a filter of `min_keys` keys.
    pub(super) fn create_filter(
        &mut self,
        policy: &impl FilterPolicy,
        min_keys: usize,
        dst: &mut Vec<u8>,
    ) {
        if !self.ends.is_empty() {
            assert!(self.hashes.is_empty(), "{BY_HASH_RULE}");
            let mut start = 0;
            let key = |&end| &self.keys[mem::replace(&mut start, end)..end];
            let keys: Vec<_> = self.ends.iter().map(key).collect();
            policy.create_filter(&keys, dst);
        } else if !self.is_empty() {
            let policy = policy.by_hash().expect(BY_HASH_RULE);
            policy.create_filter_of_hashes(&self.hashes, min_keys, dst);
        }
        self.clear();
    }
}
