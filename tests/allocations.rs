//! Counts allocations: a lookup makes none, and a filter at most one, if it fits into the cache.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{as_bloom_hashes, create_filter, noise, random_hashes};
use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash,
    FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy, bloom_hash,
    bloom_hashes,
};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

thread_local! {
    /// For each thread, since tests run side by side.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes in use, from a number up that leaves room to free what other threads took, and the most
    /// since [`peak_bytes`] began.
    static BYTES: Cell<usize> = const { Cell::new(usize::MAX / 2) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

struct CountingAllocator;

impl CountingAllocator {
    fn count(layout: Layout) {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        BYTES.set(BYTES.get() + layout.size());
        PEAK.set(PEAK.get().max(BYTES.get()));
    }
}

// SAFETY: all methods hand on to `System` what their caller guarantees, and the counters, which
// need no memory of their own, allocate nothing. The provided method calls the first and the last.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count(layout);
        // SAFETY: the caller guarantees what `System` asks for.
        unsafe { System.alloc(layout) }
    }

    // The provided one would touch every page.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::count(layout);
        // SAFETY: the caller guarantees what `System` asks for.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size());
        // SAFETY: `ptr` came from `System`, with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn count_allocations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATIONS.get();
    let result = work();
    (result, ALLOCATIONS.get() - before)
}

/// How much more memory `work` takes than was in use before, when it takes the most.
fn peak_bytes(work: impl FnOnce()) -> usize {
    let before = BYTES.get();
    PEAK.set(before);
    work();
    PEAK.get() - before
}

fn keys(num_keys: usize) -> Vec<Vec<u8>> {
    (0..num_keys).map(|i| noise(i % 24, 1)).collect()
}

#[test]
fn allocations_are_counted() {
    let (vec, allocations) = count_allocations(|| vec![0; 10]);
    assert_eq!((vec.len(), allocations), (10, 1));
    let (vec, allocations) = count_allocations(|| [vec, vec![0; 1000]].concat());
    assert_eq!((vec.len(), allocations), (1010, 2));
}

#[test]
fn a_filter_takes_one_allocation_without_waste() {
    for num_keys in [0, 1, 6, 7, 100, 5000] {
        let keys = keys(num_keys);
        let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        let mut dst = Vec::new();
        let ((), allocations) = count_allocations(|| POLICY.create_filter(&keys, &mut dst));
        assert_eq!(allocations, 1, "{num_keys} keys");
        assert_eq!(dst.capacity(), dst.len(), "{num_keys} keys");
    }
}

#[test]
fn bytes_are_counted() {
    let peak = peak_bytes(|| {
        drop(vec![1_u64; 100]);
        let _small: Vec<u8> = Vec::with_capacity(8);
        drop((vec![0_u8; 300], vec![0_u8; 400]));
    });
    assert_eq!(peak, 800);
}

#[test]
fn a_filter_above_8_mib_takes_scratch_memory_of_at_most_half_its_size() {
    const MIB: usize = 1 << 20;
    let scratch = |num_bytes: usize| {
        let (policy, mut dst) = (BloomFilterPolicy::new(num_bytes * 8), Vec::new());
        peak_bytes(|| policy.create_filter(&[b"fig"], &mut dst)) - dst.capacity()
    };
    assert_eq!(scratch(8 * MIB), 0);
    let above = [1, 2, 3, 7, 8, 131071, 131072, 131073, 524288].map(|more| 8 * MIB + more);
    for num_bytes in above.into_iter().chain([9, 15, 31].map(|mib| mib * MIB + 4099)) {
        let scratch = scratch(num_bytes);
        assert!(scratch <= num_bytes / 2, "{scratch} for {num_bytes} bytes");
        // Else the filter was not taken for one above the cache.
        assert!(scratch > num_bytes / 4, "{scratch} for {num_bytes} bytes");
    }
}

#[test]
fn a_filter_behind_other_bytes_allocates_at_most_once() {
    let keys = keys(100);
    let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
    let filter = create_filter(POLICY, &keys);
    let before = noise(1000, 2);

    let mut full = before.clone();
    let ((), allocations) = count_allocations(|| POLICY.create_filter(&keys, &mut full));
    assert_eq!(allocations, 1);
    assert_eq!(full.capacity(), full.len());
    assert_eq!(full, [before.as_slice(), &filter].concat());

    let mut roomy = Vec::with_capacity(2000);
    roomy.extend(&before);
    let ((), allocations) = count_allocations(|| POLICY.create_filter(&keys, &mut roomy));
    assert_eq!(allocations, 0);
    assert_eq!(roomy, full);
}

#[test]
fn a_lookup_allocates_nothing() {
    let keys = keys(100);
    let internal_key_policy = InternalKeyPolicy::new(POLICY);
    let filter = create_filter(POLICY, &keys);
    let filters = [filter.as_slice(), &[], &[0], &[0, 31], &noise(100, 3)];
    for filter in filters {
        for key in &keys {
            let hashes = [bloom_hash(key); 2];
            let (_, allocations) = count_allocations(|| {
                POLICY.hashes_may_match(&hashes, filter, &mut [false; 2]);
                POLICY.key_may_match(key, filter)
                    | POLICY.hash_may_match(bloom_hash(key), filter)
                    | internal_key_policy.key_may_match(key, filter)
            });
            assert_eq!(allocations, 0);
        }
    }
}

#[test]
fn a_parsed_filter_allocates_nothing() {
    let keys = keys(1000);
    let hashes: Vec<_> = keys.iter().map(|key| bloom_hash(key)).collect();
    let mut matches = vec![false; keys.len()];
    for bytes in [create_filter(POLICY, &keys), vec![0; 100], [noise(100, 5), vec![6]].concat()] {
        let (_, allocations) = count_allocations(|| {
            let filter = BloomFilter::new(bytes.as_slice()).expect("6 probes or none");
            filter.keys_may_match(&keys, &mut matches);
            filter.hashes_may_match(&hashes, &mut matches);
            keys.iter().filter(|key| filter.key_may_match(key)).count()
                + hashes.iter().filter(|&&hash| filter.hash_may_match(hash)).count()
        });
        assert_eq!(allocations, 0);
    }
}

#[test]
fn a_filter_of_threads_takes_one_allocation_in_all() {
    let keys = keys(1000);
    let mut hashes = vec![BloomHash::default(); keys.len()];
    let (_, allocations) = count_allocations(|| {
        bloom_hashes(&keys, &mut hashes);
        let filter = AtomicBloomFilter::new(POLICY.shape(keys.len()));
        filter.insert(&keys[0]);
        keys.iter().filter(|key| filter.insert(key)).count();
        assert!(hashes.iter().all(|&hash| filter.hash_may_match(hash)));
        filter.into_filter()
    });
    assert_eq!(allocations, 1);
}

#[test]
fn an_empty_filter_takes_one_allocation_and_changing_it_none() {
    for num_keys in [0, 1, 100, 5000] {
        let (mut filter, allocations) =
            count_allocations(|| BloomFilter::empty(POLICY.shape(num_keys)));
        assert_eq!(allocations, 1, "{num_keys} keys");
        let other = filter.clone();
        let ((), allocations) = count_allocations(|| {
            filter.insert(b"fig");
            filter.union_with(&other).expect("the same shape");
            filter.clear();
        });
        assert_eq!(allocations, 0, "{num_keys} keys");
        let bytes = filter.into_inner();
        assert_eq!(bytes.capacity(), bytes.len(), "{num_keys} keys");
    }
}

#[test]
fn a_builder_takes_one_allocation_without_waste() {
    let policy = POLICY.with_num_probes(2);
    let mut builder = BloomFilterBuilder::new();
    for num_keys in [800_000, 100_000, 5000, 7, 1, 0] {
        let hashes = as_bloom_hashes(&random_hashes(num_keys, 1));
        let add_hashes = || {
            for &hash in &hashes {
                builder.add_hash(hash);
            }
        };
        let ((), allocations) = count_allocations(add_hashes);
        // The hashes lie where those of the first, largest filter lay.
        assert!(num_keys == 800_000 || allocations == 0, "{num_keys} keys: {allocations}");

        let mut dst = Vec::new();
        let ((), allocations) = count_allocations(|| builder.finish_into(policy, &mut dst));
        assert_eq!(allocations, 1, "{num_keys} keys");
        assert_eq!(dst.len(), policy.shape(num_keys).filter_len());
        assert_eq!(dst.capacity(), dst.len(), "{num_keys} keys");
    }
}

#[test]
fn a_tuned_filter_takes_one_allocation_without_waste() {
    let mut builder = BloomFilterBuilder::new();
    for num_keys in [0, 1, 100, 5000, 30_000, 262_144] {
        for hash in as_bloom_hashes(&random_hashes(num_keys, 1)) {
            builder.add_hash(hash);
        }
        let mut dst = Vec::new();
        let ((), allocations) = count_allocations(|| builder.finish_into(POLICY.tuned(), &mut dst));
        assert_eq!(allocations, 1, "{num_keys} keys");
        assert_eq!(dst.capacity(), dst.len(), "{num_keys} keys");
    }
}

#[test]
fn extending_a_builder_takes_one_allocation_for_all_hashes() {
    for num_keys in [1, 7, 8, 9, 1000] {
        let keys = keys(num_keys);
        let mut builder = BloomFilterBuilder::new();
        let ((), allocations) = count_allocations(|| builder.extend(&keys));
        assert_eq!(allocations, 1, "{num_keys} keys");
        builder.clear();
        let ((), allocations) = count_allocations(|| builder.extend(&keys));
        assert_eq!(allocations, 0, "{num_keys} keys");
    }
}

#[test]
fn a_builder_fills_the_room_that_a_buffer_has() {
    let mut builder = BloomFilterBuilder::new();
    let mut dst = Vec::with_capacity(2000);
    for _ in 0..3 {
        builder.extend(keys(100));
        let ((), allocations) = count_allocations(|| builder.finish_into(POLICY, &mut dst));
        assert_eq!(allocations, 0);
    }
    assert_eq!(dst.len(), 3 * POLICY.shape(100).filter_len());
}

/// A filter block that grew by each filter alone would copy all filters before it.
#[test]
fn a_filter_block_takes_few_allocations_for_many_filters() {
    fn allocations(policy: impl FilterPolicy, num_filters: u64) -> usize {
        let keys = keys(30);
        let build = || {
            let mut builder = FilterBlockBuilder::new(policy);
            // No two filters in a row have the same length.
            for (filter, num_keys) in (0..num_filters).zip((6..=30).step_by(4).cycle()) {
                builder.start_block(filter * 2048);
                for key in &keys[..num_keys] {
                    builder.add_key(key);
                }
            }
            builder.finish()
        };
        count_allocations(build).1
    }

    for doublings in 5..=12 {
        // For the block and for the offsets, one at each doubling; for the pending keys, a few.
        let at_most = doublings * 2 + 20;
        for policy in [POLICY, POLICY.with_num_probes(8)] {
            let counted = allocations(policy, 1 << doublings);
            assert!(counted <= at_most, "{counted} for {} filters", 1 << doublings);
            let counted = allocations(InternalKeyPolicy::new(policy), 1 << doublings);
            assert!(counted <= at_most, "{counted} for {} filters", 1 << doublings);
        }
    }
}

#[test]
fn finishing_a_filter_block_takes_one_allocation_for_all_offsets() {
    for num_filters in [0, 1, 5, 4_096] {
        let mut builder = FilterBlockBuilder::new(POLICY);
        builder.start_block(num_filters * 2048);
        let (contents, allocations) = count_allocations(|| builder.finish());
        assert_eq!(allocations, 1, "{num_filters} filters");
        assert_eq!(contents.capacity(), contents.len(), "{num_filters} filters");
    }
}

#[test]
fn a_reader_allocates_nothing() {
    let keys = keys(100);
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(5000);
    for key in &keys {
        builder.add_key(key);
    }
    let real = builder.finish();
    for contents in [real.as_slice(), &real[1..], &[], &noise(100, 4)] {
        for key in &keys {
            let (_, allocations) = count_allocations(|| {
                let reader = FilterBlockReader::new(POLICY, contents);
                reader.key_may_match(0, key) | reader.key_may_match(5000, key)
            });
            assert_eq!(allocations, 0);
        }
    }
}

#[test]
fn internal_keys_take_a_list_only_above_128_keys() {
    let policy = InternalKeyPolicy::new(POLICY);
    for (num_keys, expected) in [(0, 1), (128, 1), (129, 2), (1000, 2)] {
        let keys = keys(num_keys);
        let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        let mut dst = Vec::new();
        let ((), allocations) = count_allocations(|| policy.create_filter(&keys, &mut dst));
        assert_eq!(allocations, expected, "{num_keys} keys");
    }
}
