//! A policy that breaks its promise to give hashes always, or never.

use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterPolicy, HashPolicy, InternalKeyPolicy,
};

use super::api::assert_panics;
use crate::common::OfKeys;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

struct Fickle(AtomicBool);

impl FilterPolicy for Fickle {
    fn name(&self) -> &'static str {
        "example.Fickle"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        POLICY.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        POLICY.key_may_match(key, filter)
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        self.0.load(Ordering::Relaxed).then_some(&POLICY)
    }
}

#[test]
fn a_policy_that_gives_hashes_only_now_and_then_panics_at_its_filter() {
    for first in [false, true] {
        for adds_another in [false, true] {
            let policy = Fickle(AtomicBool::new(first));
            let mut builder = FilterBlockBuilder::new(&policy);
            builder.add_key(b"fig");
            policy.0.store(!first, Ordering::Relaxed);
            if adds_another {
                builder.add_key(b"lime");
            } else if !first {
                // Keys alone make a filter.
                continue;
            }
            assert_panics("must return Some in every call", || builder.start_block(2_048));
        }
    }
    let policy = InternalKeyPolicy::new(Fickle(AtomicBool::new(true)));
    let by_hash = policy.by_hash().expect("hashes");
    policy.user_policy().0.store(false, Ordering::Relaxed);
    let message = "InternalKeyPolicy: the user policy has no hashes";
    assert_panics(message, || _ = by_hash.key_hash(b"fig"));
    // Reached without `by_hash`, which returns `None`.
    let policy = InternalKeyPolicy::new(OfKeys(POLICY));
    assert!(policy.by_hash().is_none());
    assert_panics(message, || _ = policy.hash_may_match(BloomHash::default(), &[]));
}
