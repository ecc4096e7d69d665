//! Policies with an engine's own hashes, keys without a hash, and a policy that breaks its promise
//! to give hashes always, or never.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterPolicy, BloomHash, FilterBlockBuilder,
    FilterBlockReader, FilterKey, FilterPolicy, HashPolicy, HashedBy,
};

use super::api::assert_panics;
use crate::common::{OfKeys, create_filter};

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
    let policy = Fickle(AtomicBool::new(true));
    let filter = AtomicBloomFilter::new(&policy, POLICY.shape(1));
    policy.0.store(false, Ordering::Relaxed);
    assert_panics("must return Some in every call", || _ = filter.insert_key(b"fig"));
    assert!(filter.key_may_match(b"fig") && filter.may_match(&FilterKey::new(&policy, b"fig")));
}

/// The hash of a key's first three bytes. A shorter key has none.
pub(super) fn prefix_hash<P: HashPolicy>(policy: &P, key: &[u8]) -> Option<BloomHash> {
    policy.key_hash(key.get(..3)?)
}

pub(super) fn ignoring_case<P: HashPolicy>(policy: &P, key: &[u8]) -> Option<BloomHash> {
    policy.key_hash(&key.to_ascii_lowercase())
}

#[test]
fn hashes_of_a_function_make_the_wrapped_policys_filters_under_a_name_of_their_own() {
    let prefixes = create_filter(POLICY, &["fig", "pea"]);
    let dynamic: Box<dyn HashPolicy> = Box::new(POLICY);
    for policy in [
        &HashedBy::new("example.Prefix3", POLICY, prefix_hash) as &dyn FilterPolicy,
        &HashedBy::new("example.Prefix3", dynamic, prefix_hash),
        &HashedBy::new("example.Prefix3", &Box::new(Arc::new(POLICY)), prefix_hash),
    ] {
        assert_eq!(policy.name(), "example.Prefix3");
        let filter = create_filter(policy, &["figs", "pears"]);
        assert_eq!(filter, prefixes);
        assert!(policy.key_may_match(b"fight", &filter));
        assert!(!policy.key_may_match(b"apple", &filter));
        let by_hash = policy.by_hash().expect("hashes");
        let hashes = [&b"fight"[..], b"apple"];
        let hashes = hashes.map(|key| by_hash.key_hash(key).expect("three bytes or more"));
        let mut matches = [false, true];
        by_hash.hashes_may_match(&hashes, &filter, &mut matches);
        assert_eq!(matches, [true, false]);
    }
}

/// Asserts that `policy` does what `inner` does, by key and by hash, and appends.
fn assert_wraps(policy: &dyn FilterPolicy, inner: &dyn FilterPolicy) {
    let appended = |append: &dyn Fn(&mut Vec<u8>)| {
        let mut dst = b"before".to_vec();
        append(&mut dst);
        dst.strip_prefix(b"before").expect("appended").to_vec()
    };
    let keys = [b"figs".as_slice(), b"pears", b"fi", b"fight", b"FIGS", b"apple"];
    let filter = create_filter(inner, &keys[..3]);
    assert_eq!(policy.name(), inner.name());
    assert_eq!(appended(&|dst| policy.create_filter(&keys[..3], dst)), filter);
    let by_hash = [policy, inner].map(|policy| policy.by_hash().expect("hashes"));
    let hashes = by_hash.map(|policy| keys.map(|key| policy.key_hash(key)));
    assert_eq!(hashes[0], hashes[1]);
    let hashes: Vec<_> = hashes[0].iter().copied().flatten().collect();
    assert_eq!(appended(&|dst| by_hash[0].create_filter_of_hashes(&hashes[..2], dst)), filter);
    let [with_room, expected] = by_hash
        .map(|policy| appended(&|dst| policy.create_filter_with_room(&hashes[..2], 100, dst)));
    assert_eq!(with_room, expected);
    let matches = keys.map(|key| policy.key_may_match(key, &filter));
    assert_eq!(matches, keys.map(|key| inner.key_may_match(key, &filter)));
    assert_eq!(matches[..4], [true; 4]);
    let matches = hashes.iter().map(|&hash| by_hash[0].hash_may_match(hash, &filter));
    let matches: Vec<_> = matches.collect();
    assert_eq!(matches[..2], [true; 2]);
    assert!(matches.contains(&false));
    let mut of_many: Vec<_> = matches.iter().map(|matches| !matches).collect();
    by_hash[0].hashes_may_match(&hashes, &filter, &mut of_many);
    assert_eq!(of_many, matches);
}

#[test]
fn every_wrapper_does_what_the_policy_does() {
    const NAME: &str = "example.Prefix3";
    let inner = HashedBy::new(NAME, POLICY, prefix_hash);
    let shared: Arc<dyn HashPolicy> = Arc::new(inner);
    for policy in [
        &inner as &dyn FilterPolicy,
        &&inner,
        &Box::new(inner),
        &Arc::new(inner),
        &(Box::new(inner) as Box<dyn FilterPolicy>),
        &Arc::new(Box::new(&inner)),
        &HashedBy::new(NAME, inner, HashPolicy::key_hash),
        &HashedBy::new(NAME, &inner, HashPolicy::key_hash),
        &HashedBy::new(NAME, Box::new(inner), HashPolicy::key_hash),
        &HashedBy::new(NAME, shared, HashPolicy::key_hash),
    ] {
        assert_wraps(policy, &inner);
    }
}

#[test]
fn keys_without_a_hash_are_in_no_filter_and_always_match() {
    let policy = HashedBy::new("example.Prefix3", POLICY, prefix_hash);
    let [short, long] = [b"fi".as_slice(), b"figs"].map(|key| FilterKey::new(&policy, key));

    let atomic = AtomicBloomFilter::new(&policy, POLICY.shape(1));
    assert!(atomic.insert_key(b"fi"));
    assert_eq!(atomic.to_bytes(), BloomFilter::empty(POLICY.shape(1)).as_bytes());
    assert!(atomic.key_may_match(b"fi") && !atomic.key_may_match(b"figs"));
    assert!(atomic.may_match(&short) && !atomic.may_match(&long));

    // goleveldb's reader denies every key of a range with an empty filter before it asks the policy.
    let no_hashes = [0, 0, 0, 0, 0, 0, 0, 0, 6];
    assert_eq!(create_filter(policy, &["fi", ""]), no_hashes);
    for mut builder in
        [FilterBlockBuilder::new(&policy), FilterBlockBuilder::with_long_ranges(&policy)]
    {
        builder.add_key(b"fi");
        builder.add_key(b"");
        assert_eq!(builder.estimated_len(10), 5 + 13);
        let reader = FilterBlockReader::new(&policy, builder.finish());
        assert_eq!(reader.filter(0), Some(&no_hashes[..]));
        assert_eq!(reader.contents().len(), 5 + 13);
        let mut matches = [false; 3];
        reader.may_match_many(&[0; 3], &[short, long, short], &mut matches);
        assert_eq!(matches, [true, false, true]);
        assert!(reader.key_may_match(0, b"fi") && !reader.key_may_match(0, b"figs"));
        let of_keys = FilterBlockReader::new(OfKeys(&policy), reader.contents());
        assert!(of_keys.may_match(0, &short) && !of_keys.may_match(0, &long));
    }
}
