//! Users' policies by hashes: one that breaks its promise, and a wrapper.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy,
    HashPolicy, InternalKeyPolicy, bloom_hash,
};

use super::api::assert_panics;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Breaks its promise to give hashes always, or never.
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
            assert_panics("always, or never", || builder.start_block(2_048));
        }
    }
    let policy = InternalKeyPolicy::new(Fickle(AtomicBool::new(true)));
    let by_hash = policy.by_hash().expect("hashes");
    policy.user_policy().0.store(false, Ordering::Relaxed);
    assert_panics("always, or never", || _ = by_hash.key_hash(b"fig"));
}

/// Folds case, by keys and by hashes.
struct IgnoreCase;

impl FilterPolicy for IgnoreCase {
    fn name(&self) -> &'static str {
        "example.IgnoreCase"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        let hashes: Vec<_> = keys.iter().map(|key| self.key_hash(key)).collect();
        self.create_filter_of_hashes(&hashes, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.hash_may_match(self.key_hash(key), filter)
    }

    fn by_hash(&self) -> Option<&dyn HashPolicy> {
        Some(self)
    }
}

impl HashPolicy for IgnoreCase {
    fn key_hash(&self, key: &[u8]) -> BloomHash {
        bloom_hash(&key.to_ascii_lowercase())
    }

    fn create_filter_of_hashes(&self, hashes: &[BloomHash], dst: &mut Vec<u8>) {
        POLICY.create_filter_of_hashes(hashes, dst);
    }

    fn hash_may_match(&self, hash: BloomHash, filter: &[u8]) -> bool {
        POLICY.hash_may_match(hash, filter)
    }
}

#[test]
fn a_wrapper_that_folds_case_loses_no_key_inside_internal_key_policy_or_alone() {
    fn assert_finds_all(policy: impl FilterPolicy, trailer: &[u8]) {
        let key = |i: u32, word: &str| [format!("{word} {i}").as_bytes(), trailer].concat();
        let mut builder = FilterBlockBuilder::with_long_ranges(&policy);
        (0..1_000).for_each(|i| builder.add_key(&key(i, "Key")));
        let reader = FilterBlockReader::new(&policy, builder.finish());
        for key in (0..1_000).flat_map(|i| [key(i, "key"), key(i, "KEY")]) {
            assert!(reader.key_may_match(0, &key));
            assert!(reader.may_match(0, &FilterKey::new(&policy, &key)));
        }
        let matches = |i| reader.may_match(0, &FilterKey::new(&policy, &key(i, "absent")));
        assert!((0..1_000).filter(|&i| matches(i)).count() < 50);
    }

    assert_finds_all(IgnoreCase, b"");
    let shared: Arc<dyn FilterPolicy> = Arc::new(IgnoreCase);
    assert_finds_all(InternalKeyPolicy::new(shared), b"\x01A\0\0\0\0\0\0");
}
