//! A table's filter block: building it, and looking up present and absent keys.

use std::cell::LazyCell;
use std::ops::Deref;

use criterion::{Criterion, Throughput};
use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy,
};

use crate::common::reference;
use crate::keys::{KeyLen, Keys};

const NUM_FILTERS: usize = 300;

pub(crate) const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// The keys of a table, with a fixed number per data block.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) keys: &'a [&'a [u8]],
    pub(crate) keys_per_block: usize,
    pub(crate) block_len: usize,
}

impl<'a> Table<'a> {
    fn blocks(self) -> impl Iterator<Item = (u64, &'a [&'a [u8]])> {
        (0..).step_by(self.block_len).zip(self.keys.chunks(self.keys_per_block))
    }

    pub(crate) fn build(self, policy: impl FilterPolicy, base_lg: u8) -> Vec<u8> {
        let mut builder = FilterBlockBuilder::new(policy).with_base_lg(base_lg);
        for (block_offset, keys) in self.blocks() {
            builder.start_block(block_offset);
            for key in keys {
                builder.add_key(key);
            }
        }
        builder.finish()
    }

    pub(crate) fn build_by_plain_loop(self) -> Vec<u8> {
        let mut builder = reference::FilterBlockBuilder::with_base_lg(
            |keys| reference::create_filter(10, 6, keys),
            11,
        );
        for (block_offset, keys) in self.blocks() {
            builder.start_block(block_offset);
            for key in keys {
                builder.add_key(key);
            }
        }
        builder.finish()
    }

    fn count_matches(self, may_match: impl Fn(u64, &[u8]) -> bool) -> usize {
        let matches = |(block_offset, keys): (u64, &[&[u8]])| {
            keys.iter().filter(|key| may_match(block_offset, key)).count()
        };
        self.blocks().map(matches).sum()
    }
}

pub(crate) fn bench(criterion: &mut Criterion) {
    for keys_per_block in [16, 100] {
        let num_keys = keys_per_block * NUM_FILTERS;
        let present = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
        let present = LazyCell::new(|| present.slices());
        let absent = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 2));
        let absent = LazyCell::new(|| absent.slices());
        let table = || Table { keys: &present, keys_per_block, block_len: 2048 };

        let name = format!("filter block, build, {keys_per_block} keys in 2 KiB");
        let mut group = crate::group(criterion, &name);
        group.throughput(Throughput::Elements(num_keys as u64));
        group.bench_function("Bloom", |bencher| {
            let table = table();
            bencher.iter(|| table.build(POLICY, 11));
        });
        group.bench_function("Bloom of user keys", |bencher| {
            let table = table();
            bencher.iter(|| table.build(InternalKeyPolicy::new(POLICY), 11));
        });
        group.bench_function("plain loop", |bencher| {
            let table = table();
            bencher.iter(|| table.build_by_plain_loop());
        });
        group.finish();

        for (kind, keys) in [("present", &present as &dyn Deref<Target = _>), ("absent", &absent)] {
            let asked = || Table { keys, keys_per_block, block_len: 2048 };
            let name = format!("filter block, {kind} keys, {keys_per_block} keys in 2 KiB");
            let mut group = crate::group(criterion, &name);
            group.throughput(Throughput::Elements(num_keys as u64));
            group.bench_function("Bloom", |bencher| {
                let reader = FilterBlockReader::new(POLICY, table().build(POLICY, 11));
                let asked = asked();
                bencher
                    .iter(|| asked.count_matches(|offset, key| reader.key_may_match(offset, key)));
            });
            group.bench_function("Bloom of user keys", |bencher| {
                let policy = InternalKeyPolicy::new(POLICY);
                let reader = FilterBlockReader::new(policy, table().build(policy, 11));
                let asked = asked();
                bencher
                    .iter(|| asked.count_matches(|offset, key| reader.key_may_match(offset, key)));
            });
            group.bench_function("plain loop", |bencher| {
                let contents = table().build(POLICY, 11);
                let asked = asked();
                bencher.iter(|| {
                    asked.count_matches(|offset, key| {
                        reference::block_key_may_match(&contents, offset, key)
                    })
                });
            });
        }
    }
}
