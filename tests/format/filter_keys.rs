//! A `FilterKey` of any policy gets the answers that the reader's own policy gives, from filter
//! blocks and memtables' filters, and is hashed again only if the policies' names differ.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leveldb_filter::{
    AtomicBloomFilter, BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader,
    FilterKey, FilterPolicy, HashPolicy, HashedBy, hash,
};

use super::block_builder::add;
use super::hash_policies::{ignoring_case, prefix_hash};
use crate::common::strategies::DataBlocks;
use crate::common::{OfKeys, drawn};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);
const NUM_KEYS: usize = 400;

/// Keys of data blocks, then as many absent ones. Prefixes of three bytes tell them apart, too, and
/// some keys are shorter.
fn keys() -> Vec<(u64, Vec<u8>)> {
    let mut below = drawn(1);
    let mut key = |i: usize| {
        let letters = (0..2 + below(9)).map(|_| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"[below(32)]);
        ((i % NUM_KEYS / 40) as u64 * 1_500, letters.collect())
    };
    (0..2 * NUM_KEYS).map(&mut key).collect()
}

/// Every kind of policy, to read filters and to make keys.
fn policies() -> Vec<Arc<dyn FilterPolicy>> {
    let comparator = HashedBy::new("example.IgnoreCase", POLICY.tuned(), ignoring_case);
    let other_hash = |_: &_, key: &[u8]| Some(BloomHash::from_u32(hash(key, 1)));
    vec![
        Arc::new(POLICY),
        Arc::new(POLICY.tuned()),
        Arc::new(POLICY.with_name(BloomFilterPolicy::GOLEVELDB_NAME)),
        Arc::new(HashedBy::new("example.Hash", POLICY, other_hash)),
        Arc::new(comparator),
        Arc::new(HashedBy::new("example.Prefix3", POLICY, prefix_hash)),
        Arc::new(HashedBy::new("example.Both", comparator, prefix_hash)),
        Arc::new(OfKeys(HashedBy::new("example.Keys", POLICY, other_hash))),
        Arc::new(Arc::new(comparator) as Arc<dyn FilterPolicy>),
    ]
}

/// Asserts that the present keys match, and that `may_match` by any policy's `FilterKey` answers as
/// `key_may_match` does.
fn assert_matches(
    keys: &[(u64, Vec<u8>)],
    key_may_match: impl Fn(u64, &[u8]) -> bool,
    may_match: impl Fn(u64, &FilterKey) -> bool,
) -> Vec<bool> {
    let answers: Vec<_> = keys.iter().map(|(offset, key)| key_may_match(*offset, key)).collect();
    let num_matches = answers[NUM_KEYS..].iter().filter(|&&matches| matches).count();
    assert!(answers[..NUM_KEYS].iter().all(|&matches| matches), "a key is lost");
    assert!(num_matches < NUM_KEYS / 3, "{num_matches} absent keys match");
    for policy in policies() {
        for ((offset, key), &answer) in keys.iter().zip(&answers) {
            let of_key = may_match(*offset, &FilterKey::new(&policy, key));
            assert_eq!(of_key, answer, "{} by {policy:?}", key.escape_ascii());
        }
    }
    answers
}

fn check_blocks<P: FilterPolicy>(policy: &P) {
    let keys = keys();
    for has_trailers in [false, true] {
        let add_key = if has_trailers {
            FilterBlockBuilder::add_internal_key
        } else {
            FilterBlockBuilder::add_key
        };
        let stored = |(_, key): &(_, Vec<u8>)| {
            if has_trailers { [key, &b"TRAILER!"[..]].concat() } else { key.clone() }
        };
        let block = |block: &[(u64, _)]| (block[0].0, block.iter().map(stored).collect());
        let blocks: DataBlocks = keys[..NUM_KEYS].chunk_by(|a, b| a.0 == b.0).map(block).collect();
        for new in [FilterBlockBuilder::new, FilterBlockBuilder::with_long_ranges] {
            let mut builder = new(policy);
            add(&mut builder, &blocks, add_key);
            let reader = FilterBlockReader::new(policy, builder.finish());
            let answers = assert_matches(
                &keys,
                |offset, key| reader.key_may_match(offset, key),
                |offset, key| reader.may_match(offset, key),
            );

            let (policies, mut below) = (policies(), drawn(2));
            for num_keys in [1, 7, NUM_KEYS, 5 * NUM_KEYS] {
                let order: Vec<_> = (0..num_keys).map(|_| below(keys.len())).collect();
                let offsets: Vec<_> = order.iter().map(|&i| keys[i].0).collect();
                let of_any = |&i: &usize| FilterKey::new(&policies[i % policies.len()], &keys[i].1);
                let keys: Vec<_> = order.iter().map(of_any).collect();
                let mut matches = vec![false; num_keys];
                reader.may_match_many(&offsets, &keys, &mut matches);
                assert!(matches.iter().zip(order).all(|(&answer, i)| answer == answers[i]));
            }
        }
    }
}

fn check_memtable<P: FilterPolicy>(policy: &P) {
    let (keys, shape) = (keys(), POLICY.shape(NUM_KEYS));
    let filter = AtomicBloomFilter::new(policy, shape);
    keys[..NUM_KEYS].iter().for_each(|(_, key)| _ = filter.insert_key(key));
    let bytes = filter.to_bytes();
    let copy = AtomicBloomFilter::from_bytes(policy, &bytes).expect("a filter");
    assert_eq!((copy.to_bytes(), copy.policy().name()), (bytes.clone(), policy.name()));
    let of_filter = |filter: &AtomicBloomFilter<&P>| {
        assert_matches(&keys, |_, key| filter.key_may_match(key), |_, key| filter.may_match(key))
    };
    let answers = of_filter(&filter);
    assert_eq!(of_filter(&copy), answers);
    let of_bytes = keys.iter().map(|(_, key)| policy.key_may_match(key, &bytes));
    assert!(of_bytes.eq(answers));
}

#[test]
fn a_filter_key_of_any_policy_gets_the_answers_of_the_readers_own() {
    for policy in policies() {
        check_blocks(&policy);
        if policy.by_hash().is_some() {
            check_memtable(&policy);
        }
    }
    // Where the compiler knows the policy.
    let comparator = HashedBy::new("example.IgnoreCase", POLICY, ignoring_case);
    check_blocks(&POLICY);
    check_memtable(&POLICY);
    check_blocks(&comparator);
    check_memtable(&comparator);
    check_blocks(&OfKeys(comparator));
}

#[test]
fn a_key_is_hashed_again_only_by_a_policy_of_another_name() {
    let num_hashed = &AtomicUsize::new(0);
    let counting = |name| {
        HashedBy::new(name, POLICY, |policy, key| {
            num_hashed.fetch_add(1, Ordering::Relaxed);
            policy.key_hash(key.get(..3)?)
        })
    };
    // At three addresses, the last of which is the first one's.
    let name: &str = String::from("example.Counting").leak();
    let [equal, shorter] = [&*String::from(name).leak(), &name[..7]];
    for (made_by, read_by, num_again) in
        [(name, name, 0), (name, equal, 0), (name, shorter, 1), (shorter, name, 1)]
    {
        let policy = counting(read_by);
        let keys = [&b"fig"[..], b"pea", b"fi"].map(|key| FilterKey::new(&counting(made_by), key));
        let filter = AtomicBloomFilter::new(&policy, POLICY.shape(1));
        filter.insert_key(b"fig");
        let block = [&*filter.to_bytes(), &[0, 0, 0, 0, 9, 0, 0, 0, 63]].concat();
        let reader = FilterBlockReader::new(&policy, block);
        let asked = |ask: &dyn Fn() -> [bool; 3]| {
            num_hashed.store(0, Ordering::Relaxed);
            assert_eq!(ask(), [true, false, true]);
            assert_eq!(num_hashed.load(Ordering::Relaxed), 3 * num_again, "{made_by}, {read_by}");
        };
        asked(&|| keys.each_ref().map(|key| reader.may_match(0, key)));
        asked(&|| keys.each_ref().map(|key| filter.may_match(key)));
        asked(&|| {
            let mut matches = [false; 3];
            reader.may_match_many(&[0; 3], &keys, &mut matches);
            matches
        });
    }
}
