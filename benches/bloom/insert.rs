//! A memtable's filter: inserting and looking up keys one at a time.

use std::cell::LazyCell;

use criterion::BatchSize::PerIteration;
use criterion::{Criterion, Throughput};
use leveldb_filter::{AtomicBloomFilter, BloomFilter, BloomFilterPolicy};

use crate::keys::{KeyLen, Keys};

pub(crate) fn bench(criterion: &mut Criterion) {
    for num_keys in [20_000, 2_000_000] {
        let keys = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
        let keys = LazyCell::new(|| keys.slices());
        let policy = BloomFilterPolicy::default();
        let shape = policy.shape(num_keys);
        let mut group = crate::group(criterion, &format!("memtable, {num_keys} keys"));
        group.throughput(Throughput::Elements(num_keys as u64)).sample_size(10);

        group.bench_function("BloomFilter, insert", |bencher| {
            let keys = keys.as_slice();
            let insert = |filter: &mut BloomFilter<Vec<u8>>| {
                keys.iter().filter(|key| filter.insert_key(key)).count()
            };
            bencher.iter_batched_ref(|| BloomFilter::empty(shape), insert, PerIteration);
        });
        group.bench_function("AtomicBloomFilter, insert", |bencher| {
            let keys = keys.as_slice();
            let insert = |filter: &mut AtomicBloomFilter| {
                keys.iter().filter(|key| filter.insert_key(key)).count()
            };
            bencher.iter_batched_ref(
                || AtomicBloomFilter::new(policy, shape),
                insert,
                PerIteration,
            );
        });
        group.bench_function("AtomicBloomFilter, lookup", |bencher| {
            let (keys, filter) = (keys.as_slice(), AtomicBloomFilter::new(policy, shape));
            keys.iter().step_by(2).for_each(|key| _ = filter.insert_key(key));
            bencher.iter(|| keys.iter().filter(|key| filter.key_may_match(key)).count());
        });
    }
}
