//! The shape of the API: what holds a policy, what is known at compile time, and what panics.

mod common;

use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use common::create_filter;
use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash,
    FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy, bloom_hashes,
};

const POLICY: BloomFilterPolicy =
    BloomFilterPolicy::new(16).with_name("example.Bloom").with_num_probes(8);

#[test]
fn policies_are_made_at_compile_time() {
    static SHARED: &dyn FilterPolicy = &InternalKeyPolicy::new(POLICY);
    const TUNED: BloomFilterPolicy = BloomFilterPolicy::from_millibits_per_key(9_750).tuned();
    const NAME: &str = POLICY.name();
    const { assert!(TUNED.millibits_per_key() == 9_750) }
    assert_eq!(SHARED.name(), NAME);
    assert_eq!(NAME, "example.Bloom");
    assert_eq!((POLICY.shape(100).filter_len(), POLICY.shape(100).num_probes()), (201, 8));
}

#[test]
fn a_policy_answers_the_same_whatever_holds_it() {
    fn assert_is_policy(policy: impl FilterPolicy) {
        assert_eq!(policy.name(), POLICY.name());
        let filter = create_filter(&policy, &["fig", "lime"]);
        assert_eq!(filter, create_filter(POLICY, &["fig", "lime"]));
        assert!(policy.key_may_match(b"fig", &filter));
        assert!(!policy.key_may_match(b"pear", &filter));
    }

    let boxed: Box<dyn FilterPolicy> = Box::new(POLICY);
    let shared: Arc<dyn FilterPolicy> = Arc::new(POLICY);
    assert_is_policy(POLICY);
    assert_is_policy(Box::new(&POLICY));
    assert_is_policy(&POLICY as &dyn FilterPolicy);
    assert_is_policy(&boxed);
    assert_is_policy(Arc::new(boxed));
    assert_is_policy(&*shared);
    assert_is_policy(Box::new(Arc::clone(&shared)));
    assert_is_policy(shared);
}

#[test]
fn builder_and_reader_may_hold_different_pointers_to_a_policy() {
    let shared: Arc<dyn FilterPolicy> = Arc::new(POLICY);
    let mut builder = FilterBlockBuilder::new(&*shared);
    builder.start_block(0);
    builder.add_key(b"fig");
    let contents = builder.finish();

    let borrowed = FilterBlockReader::new(&POLICY, contents.as_slice());
    assert!(borrowed.key_may_match(0, b"fig"));
    let owned = FilterBlockReader::new(shared, Arc::<[u8]>::from(contents));
    assert!(owned.clone().key_may_match(0, b"fig"));
    assert!(!owned.key_may_match(0, b"pear"));
}

/// For a comparator that ignores what follows an at sign.
struct IgnoreTag<P>(P);

fn without_tag(key: &[u8]) -> &[u8] {
    key.split(|&byte| byte == b'@').next().expect("one part or more")
}

impl<P: FilterPolicy> FilterPolicy for IgnoreTag<P> {
    fn name(&self) -> &'static str {
        "example.IgnoreTag"
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        let keys: Vec<_> = keys.iter().map(|key| without_tag(key)).collect();
        self.0.create_filter(&keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        self.0.key_may_match(without_tag(key), filter)
    }
}

#[test]
fn a_wrapper_that_cuts_keys_keeps_them_inside_the_policy_of_internal_keys_only() {
    fn num_lost(policy: impl FilterPolicy) -> usize {
        let internal_key = |i: u64, tag: &str, sequence: u64| {
            let trailer = (sequence << 8 | 1).to_le_bytes();
            [format!("key {i}{tag}").as_bytes(), &trailer].concat()
        };
        let keys: Vec<_> = (0..1_000).map(|i| internal_key(i, "@red", i)).collect();
        let filter = create_filter(&policy, &keys);
        let is_lost = |&i: &u64| {
            ["", "@blue"]
                .iter()
                .any(|tag| !policy.key_may_match(&internal_key(i, tag, 0x4040), &filter))
        };
        (0..1_000).filter(is_lost).count()
    }

    assert_eq!(num_lost(InternalKeyPolicy::new(IgnoreTag(POLICY))), 0);
    assert!(num_lost(IgnoreTag(InternalKeyPolicy::new(POLICY))) > 0);
}

#[test]
fn types_have_the_common_traits() {
    fn assert_is_value<T: Copy + Debug + Default + Eq + Hash + Send + Sync + 'static>() {}
    fn assert_is_shared<T: Clone + Debug + Send + Sync + 'static>() {}
    fn assert_is_copied<T: Copy + Debug + Send + Sync>() {}
    fn assert_is_ordered<T: Ord>() {}
    fn assert_is_thread_safe<T: Debug + Send + Sync>() {}

    assert_is_value::<BloomFilterPolicy>();
    assert_is_value::<BloomHash>();
    assert_is_thread_safe::<AtomicBloomFilter>();
    assert_is_ordered::<BloomHash>();
    assert_is_value::<InternalKeyPolicy<BloomFilterPolicy>>();
    assert_is_shared::<BloomFilterBuilder>();
    assert_is_shared::<BloomFilter<Vec<u8>>>();
    assert_is_shared::<FilterBlockBuilder<BloomFilterPolicy>>();
    assert_is_shared::<FilterBlockReader<BloomFilterPolicy, Vec<u8>>>();
    assert_is_copied::<FilterBlockReader<BloomFilterPolicy, &[u8]>>();
}

#[test]
fn the_default_is_10_bits_per_key() {
    assert_eq!(BloomFilterPolicy::default(), BloomFilterPolicy::new(10));
    assert_eq!(BloomFilterPolicy::default().millibits_per_key(), 10_000);
    assert_eq!(BloomFilterPolicy::default().shape(100).num_probes(), 6);
}

#[test]
fn names_are_those_in_tables() {
    assert_eq!(BloomFilterPolicy::NAME, "leveldb.BuiltinBloomFilter2");
    assert_eq!(BloomFilterPolicy::GOLEVELDB_NAME, "leveldb.BuiltinBloomFilter");
    assert_eq!(BloomFilterPolicy::default().name(), BloomFilterPolicy::NAME);
    assert_eq!(InternalKeyPolicy::new(POLICY).name(), POLICY.name());
}

#[test]
fn another_name_changes_no_byte() {
    let policy = BloomFilterPolicy::default();
    let renamed = policy.with_name(BloomFilterPolicy::GOLEVELDB_NAME);
    assert_eq!(renamed.name(), "leveldb.BuiltinBloomFilter");
    assert_ne!(renamed, policy);
    assert_eq!(create_filter(renamed, &["fig"]), create_filter(policy, &["fig"]));
}

#[test]
fn another_number_of_probes_changes_no_length() {
    let policy = BloomFilterPolicy::default();
    for num_probes in 1..=30 {
        let changed = policy.with_num_probes(num_probes);
        assert_eq!(changed.shape(20).num_probes(), num_probes);
        let filter = create_filter(changed, &["fig"; 20]);
        assert_eq!(filter.len(), policy.shape(20).filter_len());
        assert_eq!(filter.last(), Some(&num_probes));
        assert!(policy.key_may_match(b"fig", &filter));
    }
}

#[test]
#[should_panic(expected = "number of probes not in 1..=30")]
fn no_probes_panic() {
    let _ = BloomFilterPolicy::default().with_num_probes(0);
}

#[test]
#[should_panic(expected = "number of probes not in 1..=30")]
fn a_reserved_number_of_probes_panics() {
    let _ = BloomFilterPolicy::default().with_num_probes(31);
}

#[test]
fn the_longest_filter_does_not_wrap() {
    let longest = BloomFilterPolicy::new(usize::MAX).shape(1);
    assert_eq!(longest.filter_len(), usize::MAX / 8 + 2);
    assert_eq!(longest.num_bits(), (usize::MAX as u64).saturating_add(1));
    assert_eq!(BloomFilterPolicy::new(usize::MAX).shape(0).filter_len(), 9);
}

#[test]
#[should_panic(expected = "capacity overflow")]
fn a_length_above_usize_panics() {
    let _ = BloomFilterPolicy::new(usize::MAX / 2 + 1).shape(2).filter_len();
}

#[test]
#[should_panic(expected = "capacity overflow")]
fn a_length_in_thousandths_above_usize_panics() {
    let _ = BloomFilterPolicy::from_millibits_per_key(usize::MAX).shape(1001);
}

#[test]
fn a_filter_above_usize_panics_before_it_touches_the_buffer() {
    let mut dst = b"before".to_vec();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let policy = BloomFilterPolicy::new(usize::MAX / 2 + 1);
        policy.create_filter(&[b"fig", b"lime"], &mut dst);
    }));
    assert!(result.is_err());
    assert_eq!(dst, b"before");
}

#[test]
#[should_panic(expected = "as many hashes as keys")]
fn too_few_hashes_for_the_keys_panic() {
    bloom_hashes(&["fig", "lime"], &mut [BloomHash::default()]);
}

#[test]
fn block_offsets_may_stay_in_the_range_of_the_last_filter() {
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(5000);
    builder.start_block(4096);
    builder.start_block(6143);
}

#[test]
#[should_panic(expected = "block offset 4095 goes back to filter 1 of 2 made")]
fn a_block_offset_that_goes_back_panics() {
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(5000);
    builder.start_block(4095);
}

#[test]
fn a_builder_prints_its_state_and_no_keys() {
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::default());
    builder.start_block(5000);
    builder.add_key(b"secret");
    let printed = format!("{builder:?}");
    assert!(printed.starts_with("FilterBlockBuilder { policy: BloomFilterPolicy {"), "{printed}");
    assert!(printed.ends_with("filters: 2, pending_keys: 1, .. }"), "{printed}");
}
