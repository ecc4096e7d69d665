//! Filter blocks of 2 MiB tables with keys of 16 bytes and values of 100 bytes, with LevelDB's
//! ranges and with larger ones: of one table in the cache, and of more tables than fit into it.

use std::cell::LazyCell;
use std::ops::Deref;

use criterion::{Criterion, Throughput};
use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use crate::common::random::words;
use crate::common::reference;
use crate::filter_block::{POLICY, Table};
use crate::keys::{KeyLen, Keys};

/// As LevelDB divides such a table of internal keys.
const NUM_BLOCKS: usize = 498;
const KEYS_PER_BLOCK: usize = 33;
const BLOCK_LEN: usize = 4_212;

const CONTENDERS: [(&str, BloomFilterPolicy, u8); 4] = [
    ("base_lg 11", POLICY, 11),
    ("base_lg 11, tuned", POLICY.tuned(), 11),
    ("base_lg 19", POLICY, 19),
    ("base_lg 19, tuned", POLICY.tuned(), 19),
];

#[derive(Clone, Copy)]
struct Case {
    num_tables: usize,
    num_lookups: usize,
}

/// One table, which fits into the caches, and so many that the lookups overflow them.
const CASES: [Case; 2] =
    [Case { num_tables: 1, num_lookups: 20_000 }, Case { num_tables: 8_000, num_lookups: 500_000 }];

/// Keys in the order of their lookups, each with its table and data block.
struct Lookups {
    keys: Keys,
    places: Vec<(usize, u64)>,
}

impl Lookups {
    /// Pairs each key with the place where it is in a table, or would be.
    fn new(keys: &[&[u8]], case: Case) -> Self {
        let mut words = words(3);
        let mut below = |n: usize| {
            let product = u128::from(words.next().unwrap_or_default()) * n as u128;
            usize::try_from(product >> 64).expect("less than n")
        };
        let (mut asked, mut places) = (Vec::new(), Vec::new());
        for _ in 0..case.num_lookups {
            let key = below(keys.len());
            asked.push(keys[key]);
            places.push((below(case.num_tables), (key / KEYS_PER_BLOCK * BLOCK_LEN) as u64));
        }
        Self { keys: asked.into_iter().collect(), places }
    }

    /// Returns a function for a benchmark to repeat.
    fn count_matches(&self, may_match: impl Fn(usize, u64, &[u8]) -> bool) -> impl Fn() -> usize {
        let keys = self.keys.slices();
        move || {
            let lookups = self.places.iter().zip(&keys);
            lookups.filter(|&(&(table, offset), key)| may_match(table, offset, key)).count()
        }
    }
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let num_keys = NUM_BLOCKS * KEYS_PER_BLOCK;
    let present = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 1));
    let present = LazyCell::new(|| present.slices());
    let absent = LazyCell::new(|| Keys::new(num_keys, KeyLen::Fixed(16), 2));
    let absent = LazyCell::new(|| absent.slices());
    let table = || Table { keys: &present, keys_per_block: KEYS_PER_BLOCK, block_len: BLOCK_LEN };

    let mut group = crate::group(criterion, "filter block of 2 MiB, build");
    group.throughput(Throughput::Elements(num_keys as u64));
    for (name, policy, base_lg) in CONTENDERS {
        group.bench_function(name, |bencher| {
            let table = table();
            bencher.iter(|| table.build(policy, base_lg));
        });
    }
    group.bench_function("plain loop", |bencher| {
        let table = table();
        bencher.iter(|| table.build_by_plain_loop());
    });
    group.finish();

    for case in CASES {
        for (kind, keys) in [("present", &present as &dyn Deref<Target = _>), ("absent", &absent)] {
            let lookups = LazyCell::new(|| Lookups::new(keys, case));
            let Case { num_tables, num_lookups } = case;
            let name = format!("filter block of 2 MiB, one of {num_tables}, {kind} keys");
            let mut group = crate::group(criterion, &name);
            group.throughput(Throughput::Elements(num_lookups as u64));
            for (name, policy, base_lg) in CONTENDERS {
                group.bench_function(name, |bencher| {
                    let reader = FilterBlockReader::new(policy, table().build(policy, base_lg));
                    let readers = vec![reader; num_tables];
                    bencher.iter(lookups.count_matches(|table, offset, key| {
                        readers[table].key_may_match(offset, key)
                    }));
                });
            }
            group.bench_function("plain loop", |bencher| {
                let blocks = vec![table().build(POLICY, 11); num_tables];
                bencher.iter(lookups.count_matches(|table, offset, key| {
                    reference::block_key_may_match(&blocks[table], offset, key)
                }));
            });
        }
    }
}
