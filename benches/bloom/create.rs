//! Builds a filter of many keys: in one call, one key at a time, and with the plain loop.

use std::cell::LazyCell;

use criterion::{Bencher, Criterion, Throughput};
use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, FilterPolicy};

use crate::KEY_LENS;
use crate::common::reference;
use crate::keys::{KeyLen, Keys};

pub(crate) fn bench(criterion: &mut Criterion) {
    let policy = BloomFilterPolicy::default();
    for key_len in KEY_LENS {
        for num_keys in [1, 4, 15, 32, 20_000, 2_000_000] {
            let keys = LazyCell::new(|| Keys::new(num_keys, key_len, 1));
            let keys = LazyCell::new(|| keys.slices());
            let name = format!("create, {num_keys} keys of {}", key_len.name());
            let mut group = crate::group(criterion, &name);
            group.throughput(Throughput::Elements(num_keys as u64));
            if num_keys > 1_000_000 {
                group.sample_size(10);
            }

            group.bench_function("create_filter", |bencher| create_filters(bencher, policy, &keys));
            group.bench_function("builder", |bencher| {
                let keys: &[&[u8]] = &keys;
                let mut builder = BloomFilterBuilder::new();
                bencher.iter(|| {
                    for key in keys {
                        builder.add_key(key);
                    }
                    builder.finish(policy)
                });
            });
            group.bench_function("plain loop", |bencher| {
                let keys: &[&[u8]] = &keys;
                bencher.iter(|| reference::create_filter(10, 6, keys));
            });
        }
    }
    bench_tuned(criterion);
}

fn create_filters(bencher: &mut Bencher<'_>, policy: BloomFilterPolicy, keys: &[&[u8]]) {
    let mut dst = Vec::new();
    bencher.iter(|| {
        dst.clear();
        policy.create_filter(keys, &mut dst);
        dst.len()
    });
}

/// The cost of choosing a shape: tuned filters against LevelDB's, which may have fewer probes.
fn bench_tuned(criterion: &mut Criterion) {
    let policy = BloomFilterPolicy::default();
    for num_keys in [35, 500, 5_000, 7_000, 20_000, 300_000] {
        let keys = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
        let keys = LazyCell::new(|| keys.slices());
        let mut group = crate::group(criterion, &format!("create tuned, {num_keys} keys"));
        group.throughput(Throughput::Elements(num_keys as u64));
        for (name, policy) in [("LevelDB's", policy), ("tuned", policy.tuned())] {
            group.bench_function(name, |bencher| create_filters(bencher, policy, &keys));
        }
    }
}
