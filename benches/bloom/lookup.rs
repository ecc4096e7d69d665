//! Lookups of present and absent keys, in filters for each cache level.

use std::cell::LazyCell;
use std::hint::black_box;
use std::ops::Deref;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use leveldb_filter::{
    BloomFilter, BloomFilterPolicy, BloomFilterShape, BloomHash, FilterPolicy, bloom_hash,
};

use crate::KEY_LENS;
use crate::common::reference;
use crate::keys::{KeyLen, Keys, hashes};

struct Case {
    keys: usize,
    probes: u8,
    /// Enough that neither branch predictors nor, for the largest filter, caches learn them.
    lookups: usize,
}

/// LevelDB's 6 probes at each cache level, and the probes that `tuned` gives larger tables.
const CASES: [Case; 4] = [
    Case { keys: 32, probes: 6, lookups: 4_096 },
    Case { keys: 20_000, probes: 6, lookups: 20_000 },
    Case { keys: 20_000, probes: 8, lookups: 20_000 },
    Case { keys: 20_000_000, probes: 6, lookups: 100_000 },
];

/// 6 and 8 have code of their own; others up to 8 share some, and those from 9 up.
const NUM_PROBES: [u8; 10] = [1, 2, 4, 6, 7, 8, 10, 12, 20, 30];

pub(crate) fn bench(criterion: &mut Criterion) {
    bench_by_keys(criterion);
    bench_by_probes(criterion);
    bench_batches(criterion);
    bench_scattered(criterion);
}

/// Keys that lie in memory in another order, most of them in no cache. The filter is so small that
/// nearly all of the time goes into their hashes.
fn bench_scattered(criterion: &mut Criterion) {
    let num_keys = 2_000_000;
    let keys = LazyCell::new(|| Keys::new(num_keys, KeyLen::Mixed, 1));
    let keys = LazyCell::new(|| spread(&keys.slices(), num_keys));
    let mut group = crate::group(criterion, "scattered keys");
    group.throughput(Throughput::Elements(num_keys as u64));
    let filter = BloomFilter::empty(BloomFilterShape::new(9, 1));
    let mut matches = vec![false; num_keys];
    group.bench_function("batch", |bencher| {
        let keys: &[&[u8]] = &keys;
        bencher.iter(|| filter.keys_may_match(keys, &mut matches));
    });
}

/// Single lookups in filters that are about half full.
fn bench_by_probes(criterion: &mut Criterion) {
    let num_keys = 20_000;
    let present = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
    let present = LazyCell::new(|| present.slices());
    let absent = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 2));
    let absent = LazyCell::new(|| absent.slices());
    let either = LazyCell::new(|| either(&present, &absent));
    for num_probes in NUM_PROBES {
        let filter = LazyCell::new(|| {
            let filter_len = num_keys * usize::from(num_probes) * 3 / 16;
            let mut filter = BloomFilter::empty(BloomFilterShape::new(filter_len, num_probes));
            present.iter().for_each(|key| _ = filter.insert_key(key));
            filter.into_inner()
        });
        let key_sets: [(&str, &dyn Deref<Target = Vec<&[u8]>>); 3] =
            [("present", &present), ("absent", &absent), ("either", &either)];
        for (kind, keys) in key_sets {
            let mut group = crate::group(criterion, &format!("{num_probes} probes, {kind}"));
            group.throughput(Throughput::Elements(num_keys as u64));
            bench_single(&mut group, &filter, keys);
        }
    }
}

/// Few keys in a call, against one in each.
fn bench_batches(criterion: &mut Criterion) {
    let present = Keys::new(1_000, KeyLen::Fixed(16), 1);
    let absent = Keys::new(10_000, KeyLen::Fixed(16), 2);
    let (present, absent) = (present.slices(), absent.slices());
    let mut filter = Vec::new();
    BloomFilterPolicy::default().create_filter(&present, &mut filter);
    let filter = BloomFilter::new(filter).expect("made by a policy");
    let keys = either(&spread(&present, absent.len()), &absent);
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    for len in [1, 2, 4, 8, 15, 16, 32] {
        let group = &mut crate::group(criterion, &format!("batches of {len}"));
        group.throughput(Throughput::Elements((keys.len() / len * len) as u64));
        bench_batch(group, "keys", len, &keys, |keys, all| filter.keys_may_match(keys, all));
        bench_batch(group, "keys, one at a time", len, &keys, |keys, all| {
            keys.iter().zip(all).for_each(|(key, one)| *one = filter.key_may_match(key));
        });
        bench_batch(group, "hashes", len, &hashes, |hashes, all| {
            filter.hashes_may_match(hashes, all);
        });
        bench_batch(group, "hashes, one at a time", len, &hashes, |hashes, all| {
            hashes.iter().zip(all).for_each(|(&hash, one)| *one = filter.hash_may_match(hash));
        });
    }
}

fn bench_batch<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    len: usize,
    keys: &[T],
    may_match: impl Fn(&[T], &mut [bool]),
) {
    let mut matches = vec![false; len];
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            keys.chunks_exact(len).for_each(|keys| may_match(keys, black_box(&mut matches)));
        });
    });
}

fn bench_by_keys(criterion: &mut Criterion) {
    for case in CASES {
        let key_sets = KEY_LENS
            .map(|key_len| (key_len, LazyCell::new(move || Keys::new(case.lookups, key_len, 1))));
        let filter = LazyCell::new(|| {
            let key_sets = key_sets.iter().map(|(_, keys)| keys.slices()).collect::<Vec<_>>();
            build_filter(&case, &key_sets)
        });
        for (key_len, present) in &key_sets {
            let present = LazyCell::new(|| {
                // A filter of few keys has the first of them.
                let keys = present.slices();
                let num_present = keys.len().min(case.keys / 2);
                spread(&keys[..num_present], case.lookups)
            });
            let absent = LazyCell::new(|| Keys::new(case.lookups, *key_len, 2));
            let absent = LazyCell::new(|| absent.slices());
            let either = LazyCell::new(|| either(&present, &absent));
            let name = |kind| {
                let Case { keys, probes, .. } = case;
                let key_len = key_len.name();
                format!("lookup, {kind} of {keys} keys, {probes} probes, {key_len}")
            };
            bench_keys(criterion, &name("present"), case.lookups, &filter, &present);
            bench_keys(criterion, &name("absent"), case.lookups, &filter, &absent);
            bench_keys(criterion, &name("present or absent"), case.lookups, &filter, &either);
        }
    }
}

/// A filter with half of its keys from each set, filled up with random hashes.
fn build_filter(case: &Case, key_sets: &[Vec<&[u8]>]) -> Vec<u8> {
    let filter_len = BloomFilterPolicy::default().shape(case.keys).filter_len();
    let mut filter = BloomFilter::empty(BloomFilterShape::new(filter_len, case.probes));
    let of_set = case.keys / key_sets.len();
    for keys in key_sets {
        keys.iter().take(of_set).for_each(|key| _ = filter.insert_key(key));
    }
    let num_added: usize = key_sets.iter().map(|keys| keys.len().min(of_set)).sum();
    for hash in hashes(3).take(case.keys - num_added) {
        filter.insert_hash(BloomHash::from_u32(hash));
    }
    filter.into_inner()
}

/// `len` of the keys, each about equally often, in random order.
fn spread<'a>(keys: &[&'a [u8]], len: usize) -> Vec<&'a [u8]> {
    hashes(4).map(|hash| keys[hash as usize % keys.len()]).take(len).collect()
}

/// At each index a key from a random one of both, so that branches cannot be predicted.
fn either<'a>(present: &[&'a [u8]], absent: &[&'a [u8]]) -> Vec<&'a [u8]> {
    let pairs = present.iter().zip(absent);
    hashes(5).zip(pairs).map(|(hash, pair)| if hash % 2 == 0 { *pair.0 } else { *pair.1 }).collect()
}

fn bench_keys<'a>(
    criterion: &mut Criterion,
    name: &str,
    lookups: usize,
    filter: &impl Deref<Target = Vec<u8>>,
    keys: &impl Deref<Target = Vec<&'a [u8]>>,
) {
    let mut group = crate::group(criterion, name);
    group.throughput(Throughput::Elements(lookups as u64));

    bench_single(&mut group, filter, keys);
    group.bench_function("batch", |bencher| {
        let filter = BloomFilter::new(filter.as_slice()).expect("made by a policy");
        let keys = keys.as_slice();
        let mut matches = vec![false; keys.len()];
        bencher.iter(|| {
            filter.keys_may_match(keys, &mut matches);
            black_box(&mut matches);
        });
    });
}

/// One key at a time, against LevelDB's plain loop.
fn bench_single<'a>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    filter: &impl Deref<Target = Vec<u8>>,
    keys: &(impl Deref<Target = Vec<&'a [u8]>> + ?Sized),
) {
    let policy = BloomFilterPolicy::default();
    group.bench_function("policy", |bencher| {
        let (filter, keys) = (filter.as_slice(), keys.as_slice());
        bencher.iter(|| keys.iter().filter(|key| policy.key_may_match(key, filter)).count());
    });
    group.bench_function("parsed filter", |bencher| {
        let filter = BloomFilter::new(filter.as_slice()).expect("made by a policy");
        let keys = keys.as_slice();
        bencher.iter(|| keys.iter().filter(|key| filter.key_may_match(key)).count());
    });
    group.bench_function("plain loop", |bencher| {
        let (filter, keys) = (filter.as_slice(), keys.as_slice());
        bencher.iter(|| keys.iter().filter(|key| reference::key_may_match(key, filter)).count());
    });
}
