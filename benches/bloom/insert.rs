//! A memtable's filter: keys inserted and looked up one at a time, by one thread and by several.

use std::cell::LazyCell;
use std::hint::black_box;
use std::thread;

use criterion::{Criterion, Throughput};
use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy};

use crate::keys::{KeyLen, Keys};

pub(crate) fn bench(criterion: &mut Criterion) {
    for num_keys in [20_000, 2_000_000] {
        let keys = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
        let keys = LazyCell::new(|| keys.slices());
        for num_probes in [6, 8] {
            let policy = BloomFilterPolicy::default().with_num_probes(num_probes);
            let shape = policy.shape(num_keys);
            let mut group =
                crate::group(criterion, &format!("memtable, {num_keys} keys, {num_probes} probes"));
            group.throughput(Throughput::Elements(num_keys as u64)).sample_size(10);

            group.bench_function("BloomFilter, insert", |bencher| {
                let (keys, mut filter) = (keys.as_slice(), shape.empty_filter());
                bencher.iter(|| {
                    filter.clear();
                    keys.iter().filter(|key| filter.insert(key)).count()
                });
            });
            group.bench_function("AtomicBloomFilter, insert", |bencher| {
                let (keys, mut filter) = (keys.as_slice(), AtomicBloomFilter::new(shape));
                bencher.iter(|| {
                    filter.clear();
                    keys.iter().filter(|key| filter.insert(key)).count()
                });
            });
            group.bench_function("AtomicBloomFilter, insert by two threads", |bencher| {
                let (keys, mut filter) = (keys.as_slice(), AtomicBloomFilter::new(shape));
                let (first, second) = keys.split_at(num_keys / 2);
                bencher.iter(|| {
                    filter.clear();
                    let insert =
                        |keys: &[&[u8]]| keys.iter().filter(|key| filter.insert(key)).count();
                    thread::scope(|threads| {
                        threads.spawn(|| black_box(insert(first)));
                        insert(second)
                    })
                });
            });
            group.bench_function("BloomFilter, lookup", |bencher| {
                let (keys, mut filter) = (keys.as_slice(), shape.empty_filter());
                keys.iter().step_by(2).for_each(|key| _ = filter.insert(key));
                bencher.iter(|| keys.iter().filter(|key| filter.key_may_match(key)).count());
            });
            group.bench_function("AtomicBloomFilter, lookup", |bencher| {
                let (keys, filter) = (keys.as_slice(), AtomicBloomFilter::new(shape));
                keys.iter().step_by(2).for_each(|key| _ = filter.insert(key));
                bencher.iter(|| keys.iter().filter(|key| filter.key_may_match(key)).count());
            });
        }
    }
}
