//! Lookups of present and of absent keys, in a filter that lies in each level of the caches.

use std::cell::LazyCell;
use std::hint::black_box;
use std::ops::Deref;

use criterion::{Criterion, Throughput};
use leveldb_filter::{BloomFilter, BloomFilterPolicy, FilterPolicy, bloom_hash};

use crate::keys::{KeyLen, Keys, hashes};
use crate::reference;

struct FilterSize {
    num_keys: usize,
    /// As many that neither branches nor, for the largest filter, caches learn them.
    num_lookups: usize,
}

const FILTER_SIZES: [FilterSize; 3] = [
    FilterSize { num_keys: 32, num_lookups: 4_096 },
    FilterSize { num_keys: 20_000, num_lookups: 20_000 },
    FilterSize { num_keys: 20_000_000, num_lookups: 100_000 },
];

pub(crate) fn bench(criterion: &mut Criterion) {
    for size in FILTER_SIZES {
        let key_sets = KeyLen::ALL.map(|key_len| {
            (key_len, LazyCell::new(move || Keys::new(size.num_lookups, key_len, 1)))
        });
        let filter = LazyCell::new(|| {
            let key_sets = key_sets.iter().map(|(_, keys)| keys.slices()).collect::<Vec<_>>();
            build_filter(size.num_keys, &key_sets)
        });
        for (key_len, present) in &key_sets {
            let present = LazyCell::new(|| {
                // A filter of few keys holds the first of them.
                let keys = present.slices();
                let num_present = keys.len().min(size.num_keys / 2);
                spread(&keys[..num_present], size.num_lookups)
            });
            let absent = LazyCell::new(|| Keys::new(size.num_lookups, *key_len, 2));
            let absent = LazyCell::new(|| absent.slices());
            let name =
                |kind| format!("lookup, {kind} of {} keys, {}", size.num_keys, key_len.name());
            bench_keys(criterion, &name("present"), size.num_lookups, &filter, &present);
            bench_keys(criterion, &name("absent"), size.num_lookups, &filter, &absent);
        }
    }
}

/// A filter with half of its keys from each set, and the rest made up to hashes alone.
fn build_filter(num_keys: usize, key_sets: &[Vec<&[u8]>]) -> Vec<u8> {
    let mut builder = BloomFilterPolicy::default().builder();
    for keys in key_sets {
        builder.extend(keys.iter().take(num_keys / key_sets.len()));
    }
    for hash in hashes(3).take(num_keys - builder.len()) {
        builder.add_hash(hash);
    }
    let mut filter = Vec::new();
    builder.finish_into(&mut filter);
    filter
}

/// `len` of the keys, all of them about equally often, in no order.
fn spread<'a>(keys: &[&'a [u8]], len: usize) -> Vec<&'a [u8]> {
    hashes(4).map(|hash| keys[hash as usize % keys.len()]).take(len).collect()
}

fn bench_keys<'a>(
    criterion: &mut Criterion,
    name: &str,
    num_lookups: usize,
    filter: &impl Deref<Target = Vec<u8>>,
    keys: &impl Deref<Target = Vec<&'a [u8]>>,
) {
    let policy = BloomFilterPolicy::default();
    let view = || BloomFilter::new(filter.as_slice()).expect("made by a policy");
    let mut group = crate::group(criterion, name);
    group.throughput(Throughput::Elements(num_lookups as u64));

    group.bench_function("policy", |bencher| {
        let (filter, keys) = (filter.as_slice(), keys.as_slice());
        bencher.iter(|| keys.iter().filter(|key| policy.key_may_match(key, filter)).count());
    });
    group.bench_function("parsed filter", |bencher| {
        let (filter, keys) = (view(), keys.as_slice());
        bencher.iter(|| keys.iter().filter(|key| filter.key_may_match(key)).count());
    });
    group.bench_function("parsed filter, hashed keys", |bencher| {
        let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
        let filter = view();
        bencher.iter(|| hashes.iter().filter(|&&hash| filter.hash_may_match(hash)).count());
    });
    group.bench_function("batch", |bencher| {
        let (filter, keys) = (view(), keys.as_slice());
        let mut matches = vec![false; keys.len()];
        bencher.iter(|| {
            filter.keys_may_match(keys, &mut matches);
            black_box(&mut matches);
        });
    });
    group.bench_function("plain loop", |bencher| {
        let (filter, keys) = (filter.as_slice(), keys.as_slice());
        bencher.iter(|| keys.iter().filter(|key| reference::key_may_match(key, filter)).count());
    });
}
