//! Every way to make a filter, and every way to look up keys in one.

use std::sync::atomic::AtomicBool;

use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash,
    FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy, HashPolicy, bloom_hash,
};

use super::odd::{Odd, Writes};
use super::{reference, slices};

/// Calls `see` with the filter that `policy` makes of `keys`, once for every way to make it.
pub fn for_each_filter(
    policy: BloomFilterPolicy,
    keys: &[&[u8]],
    mut see: impl FnMut(&'static str, &[u8]),
) {
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();

    let mut dst = b"before".to_vec();
    policy.create_filter(keys, &mut dst);
    see("create_filter", dst.strip_prefix(b"before").expect("appended"));
    dst.truncate(b"before".len());
    policy.create_filter_of_hashes(&hashes, &mut dst);
    see("create_filter_of_hashes", dst.strip_prefix(b"before").expect("appended"));

    let mut builder = BloomFilterBuilder::new();
    let mut finish = |way, add: &dyn Fn(&mut BloomFilterBuilder)| {
        add(&mut builder);
        assert_eq!((builder.len(), builder.is_empty()), (keys.len(), keys.is_empty()));
        let filter = builder.finish(policy);
        assert!(builder.is_empty());
        // By the filter itself, which is prepared for its shape, not by its bytes only.
        assert_eq!(filter.shape(), policy.shape(keys.len()));
        assert!(keys.iter().all(|key| filter.key_may_match(key)), "{way}");
        see(way, filter.as_bytes());
    };
    finish("add_key", &|builder| keys.iter().for_each(|key| builder.add_key(key)));
    finish("add_hash", &|builder| hashes.iter().for_each(|&hash| builder.add_hash(hash)));
    let (some, others) = keys.split_at(keys.len() / 2);
    finish("extend", &|builder| {
        builder.extend(some);
        builder.extend(others);
    });
    finish("from_iter", &|builder| *builder = keys.iter().collect());

    let shape = policy.shape(keys.len());
    let inserted = |keys: &[&[u8]]| {
        let mut filter = BloomFilter::empty(shape);
        for key in keys {
            filter.insert_key(key);
        }
        filter
    };
    see("insert_key", inserted(keys).as_bytes());
    let mut union = inserted(some);
    union.union_with(&inserted(others)).expect("the same shape");
    see("union_with", union.as_bytes());
    let atomic = AtomicBloomFilter::new(policy, shape);
    for key in keys {
        let matched = atomic.key_may_match(key);
        assert_eq!(atomic.insert_key(key), matched);
        assert!(atomic.may_match(&FilterKey::new(&policy, key)));
    }
    see("AtomicBloomFilter", &atomic.to_bytes());
    let continued = AtomicBloomFilter::from_bytes(policy, inserted(some).as_bytes());
    let continued = continued.expect("a filter");
    for key in others {
        continued.insert_key(key);
    }
    see("AtomicBloomFilter, from bytes", &continued.to_bytes());

    // A range without keys has no filter.
    if !keys.is_empty() {
        let mut builder = FilterBlockBuilder::with_base_lg(policy, 63);
        let mut finish = |way, add: &dyn Fn(&mut FilterBlockBuilder)| {
            add(&mut builder);
            let contents = builder.finish();
            see(way, &contents[..contents.len() - 9]);
        };
        finish("FilterBlockBuilder", &|builder| keys.iter().for_each(|key| builder.add_key(key)));
        let internal_keys = internal_keys(keys);
        finish("add_internal_key", &|builder| {
            for key in &internal_keys {
                builder.add_internal_key(key);
            }
        });
    }
}

/// What every way of looking up `keys` in `filter`, which may be any bytes, answers.
pub fn answers(filter: &[u8], keys: &[&[u8]]) -> Vec<(&'static str, Vec<bool>)> {
    fn batch(num_keys: usize, before: bool, ask: impl Fn(&mut [bool])) -> Vec<bool> {
        let mut matches = vec![before; num_keys];
        ask(&mut matches);
        matches
    }
    fn each<T: Copy>(keys: &[T], ask: impl Fn(T) -> bool) -> Vec<bool> {
        keys.iter().map(|&key| ask(key)).collect()
    }

    let policy = BloomFilterPolicy::default();
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let mut answers = vec![
        ("policy", each(keys, |key| policy.key_may_match(key, filter))),
        ("policy, hash", each(&hashes, |hash| policy.hash_may_match(hash, filter))),
    ];
    let odd = Odd { writes: Writes::Appends, panics: &AtomicBool::new(false) };
    for (way, policy) in
        [("policy, batch", &policy as &dyn HashPolicy), ("policy of loops, batch", &odd)]
    {
        for before in [false, true] {
            let ask = |matches: &mut [bool]| policy.hashes_may_match(&hashes, filter, matches);
            answers.push((way, batch(keys.len(), before, ask)));
        }
    }
    if filter.len() < 1 << 16 {
        let len = u32::try_from(filter.len()).expect("short").to_le_bytes();
        let contents = [filter, &[0; 4], &len, &[63]].concat();
        let reader = FilterBlockReader::new(policy, contents);
        assert_eq!(reader.filter(u64::MAX >> 1), Some(filter));
        answers.push(("FilterBlockReader", each(keys, |key| reader.key_may_match(0, key))));
        let of_filter_key = |key| reader.may_match(0, &FilterKey::new(&policy, key));
        answers.push(("FilterBlockReader, FilterKey", each(keys, of_filter_key)));
    }
    match BloomFilter::new(filter) {
        Ok(filter) => {
            answers.push(("key_may_match", each(keys, |key| filter.key_may_match(key))));
            answers.push(("hash_may_match", each(&hashes, |hash| filter.hash_may_match(hash))));
            for before in [false, true] {
                let ask = |matches: &mut [bool]| filter.keys_may_match(keys, matches);
                answers.push(("keys_may_match", batch(keys.len(), before, ask)));
                let ask = |matches: &mut [bool]| filter.hashes_may_match(&hashes, matches);
                answers.push(("hashes_may_match", batch(keys.len(), before, ask)));
            }
        }
        Err(invalid) => answers.push(("InvalidFilter", vec![invalid.may_match(); keys.len()])),
    }
    answers
}

/// Asserts that every way to make the filter of `keys` makes the oracle's bytes.
pub fn assert_makes_as_reference<K: AsRef<[u8]>>(policy: BloomFilterPolicy, keys: &[K]) {
    let hashes: Vec<_> = keys.iter().map(|key| reference::bloom_hash(key.as_ref())).collect();
    let shape = policy.shape(keys.len());
    let num_bytes = shape.filter_len() - 1;
    let expected = reference::create_filter_of_len(num_bytes, shape.num_probes(), &hashes);
    for_each_filter(policy, &slices(keys), |way, filter| {
        // Not assert_eq!, which would print megabytes.
        assert!(filter == expected, "{way} makes wrong bytes for {} keys, {policy:?}", keys.len());
    });
}

/// Asserts that every way of looking up `keys` in `filter` gives the oracle's answers.
#[track_caller]
pub fn assert_answers_as_reference<K: AsRef<[u8]>>(filter: &[u8], keys: &[K]) {
    let keys = slices(keys);
    let expected: Vec<_> = keys.iter().map(|key| reference::key_may_match(key, filter)).collect();
    for (way, answers) in answers(filter, &keys) {
        let first = answers.iter().zip(&expected).position(|(answer, expected)| answer != expected);
        assert!(
            answers == expected,
            "{way}: wrong answer for {:02x?}, key {first:?} of {}, in {} bytes with {:?} probes",
            first.map(|first| keys[first]),
            keys.len(),
            filter.len().saturating_sub(1),
            filter.last()
        );
    }
}

/// The keys with the trailer of internal keys, which may be any bytes.
fn internal_keys(keys: &[&[u8]]) -> Vec<Vec<u8>> {
    (0_u64..).zip(keys).map(|(i, key)| [key, &(i << 8 | 1).to_le_bytes()[..]].concat()).collect()
}
