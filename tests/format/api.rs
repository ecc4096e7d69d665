//! The API: policies behind pointers, constants, traits, `Debug` and error texts, and panics.

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use leveldb_filter::{
    AtomicBloomFilter, BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomFilterShape,
    BloomHash, FilterBlockBuilder, FilterBlockReader, FilterKey, FilterPolicy, HashPolicy,
    HashedBy, InternalKeyPolicy, InvalidFilter, ShapeMismatch, bloom_hash, bloom_hashes,
};

use crate::common::odd::{Odd, Writes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(16).with_name("example.Bloom");

#[track_caller]
pub(super) fn assert_panics(message: &str, misuse: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(misuse)).expect_err(message);
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).expect("a message");
    assert!(said.contains(message), "{said}");
}

/// Two implementations for types that are `Copy`, between which the compiler cannot choose.
trait NotCopy<A> {
    fn assert() {}
}

impl<T> NotCopy<()> for T {}
impl<T: Copy> NotCopy<u8> for T {}

#[test]
fn types_have_the_common_traits() {
    fn assert_is_value<T: Copy + Debug + Default + Eq + Hash + Send + Sync + 'static>() {}
    fn assert_is_shared<T: Clone + Debug + Send + Sync + 'static>() {}
    fn assert_is_copied<T: Copy + Debug + Send + Sync>() {}
    fn assert_is_equal<T: Copy + Debug + Eq + Send + Sync>() {}
    fn assert_is_number<T: Copy + Debug + Eq + Hash + Send + Sync + 'static>() {}
    fn assert_is_error<T: Error + Copy + Eq + Hash + Send + Sync + 'static>() {}
    fn assert_is_ordered<T: Ord>() {}
    fn assert_is_bytes<T: Eq + Hash + AsRef<[u8]>>() {}
    fn assert_is_thread_safe<T: Debug + Send + Sync>() {}

    assert_is_value::<BloomFilterPolicy>();
    assert_is_value::<BloomHash>();
    assert_is_ordered::<BloomHash>();
    assert_is_value::<InternalKeyPolicy<BloomFilterPolicy>>();
    assert_is_number::<BloomFilterShape>();
    assert_is_error::<InvalidFilter>();
    assert_is_error::<ShapeMismatch>();
    assert_is_thread_safe::<AtomicBloomFilter>();
    assert_is_shared::<BloomFilterBuilder>();
    assert_is_shared::<BloomFilter>();
    assert_is_bytes::<BloomFilter>();
    assert_is_equal::<BloomFilter<&[u8]>>();
    assert_is_copied::<BloomFilter<&[u8; 9]>>();
    assert_is_copied::<FilterKey>();
    assert_is_copied::<FilterBlockReader<BloomFilterPolicy, &[u8]>>();
    // A copy of an owned buffer would be made unseen.
    <BloomFilter<[u8; 9]> as NotCopy<_>>::assert();
    <FilterBlockReader<BloomFilterPolicy, [u8; 9]> as NotCopy<_>>::assert();
}

/// What an engine keeps, with the types that are meant if none are given.
#[derive(Clone, Debug)]
struct Fields {
    shared: Arc<dyn FilterPolicy>,
    bounded: Arc<dyn FilterPolicy + Send + Sync>,
    internal: InternalKeyPolicy,
    hashed: HashedBy,
    of_dynamic: HashedBy<Arc<dyn HashPolicy>>,
    of_bounded: HashedBy<Arc<dyn HashPolicy + Send + Sync>>,
    filter: BloomFilter,
    builder: FilterBlockBuilder,
    reader: FilterBlockReader,
    of_shared: FilterBlockReader<Arc<dyn FilterPolicy>, Arc<[u8]>>,
}

#[test]
fn fields_need_no_type_parameters_and_are_shown() {
    let shared: Arc<dyn FilterPolicy> = Arc::new(POLICY);
    let mut builder = FilterBlockBuilder::with_long_ranges(POLICY);
    builder.add_key(b"fig");
    let fields = Fields {
        bounded: Arc::new(POLICY),
        internal: InternalKeyPolicy::new(POLICY),
        hashed: HashedBy::new("example.Hashed", POLICY, |_, key| Some(bloom_hash(key))),
        of_dynamic: HashedBy::new("example.Dynamic", Arc::new(POLICY), |policy, key| {
            policy.key_hash(key)
        }),
        of_bounded: HashedBy::new("example.Dynamic", Arc::new(POLICY), |policy, key| {
            policy.key_hash(key)
        }),
        filter: BloomFilter::empty(POLICY.shape(1)),
        reader: FilterBlockReader::new(POLICY, builder.finish()),
        of_shared: FilterBlockReader::new(shared.clone(), Arc::new([])),
        shared,
        builder,
    };
    let shown = format!("{fields:?}");
    for name in ["shared", "bounded"] {
        let field = format!("{name}: FilterPolicy(\"example.Bloom\")");
        assert!(shown.contains(&field), "{shown}");
    }
    let field = "HashedBy { name: \"example.Dynamic\", policy: HashPolicy { .. }, .. }";
    assert_eq!(shown.matches(field).count(), 2, "{shown}");
    let Fields { shared, bounded, internal, hashed, of_dynamic, of_bounded, .. } = &fields;
    assert_eq!(of_dynamic.key_hash(b"fig"), of_bounded.key_hash(b"fig"));
    assert_eq!(bounded.name(), shared.name());
    assert_eq!((shared.name(), hashed.name()), (internal.name(), "example.Hashed"));
    let Fields { filter, mut builder, reader, of_shared, .. } = fields;
    assert!(reader.key_may_match(0, b"fig") && of_shared.key_may_match(0, b"fig"));
    assert!(!filter.key_may_match(b"fig") && builder.finish().len() == 5);
}

#[test]
fn the_default_has_10_bits_per_key_and_leveldbs_name() {
    assert_eq!(BloomFilterPolicy::default(), BloomFilterPolicy::new(10));
    assert_eq!(BloomFilterPolicy::default().millibits_per_key(), 10_000);
    assert_eq!(BloomFilterPolicy::default().name(), "leveldb.BuiltinBloomFilter2");
    assert_eq!(BloomFilterPolicy::NAME, "leveldb.BuiltinBloomFilter2");
    assert_eq!(BloomFilterPolicy::GOLEVELDB_NAME, "leveldb.BuiltinBloomFilter");
    let nested = InternalKeyPolicy::new(Box::new(Arc::new(&POLICY)));
    assert_eq!(nested.name(), POLICY.name());
}

/// In any order of calls.
#[test]
fn with_name_changes_no_byte() {
    let name = BloomFilterPolicy::GOLEVELDB_NAME;
    for millibits in [0, 300, 9_750, 10_000, 24_001] {
        let policy = BloomFilterPolicy::from_millibits_per_key(millibits);
        let renamed = policy.with_name(name);
        for (policy, renamed) in [
            (policy, renamed),
            (policy.tuned(), policy.tuned().with_name(name)),
            (policy.tuned(), renamed.tuned()),
        ] {
            assert_eq!(renamed.name(), name);
            assert_ne!(renamed, policy);
            assert_eq!(renamed.with_name(policy.name()), policy);
            for num_keys in [8, 1000, 37_984] {
                assert_eq!(renamed.shape(num_keys), policy.shape(num_keys), "{policy:?}");
            }
        }
    }
}

#[test]
fn a_shape_has_the_given_length_and_number_of_probes() {
    const SHAPE: BloomFilterShape = BloomFilterShape::new(126, 6);
    assert_eq!(SHAPE, BloomFilterPolicy::new(10).shape(100));
    for (filter_len, num_probes) in [(2, 1), (3, 30), (usize::MAX, 8)] {
        let shape = BloomFilterShape::new(filter_len, num_probes);
        assert_eq!((shape.filter_len(), shape.num_probes()), (filter_len, num_probes));
    }
    assert_eq!(BloomFilter::empty(BloomFilterShape::new(2, 30)).into_inner(), [0, 30]);
}

#[test]
fn errors_say_what_is_wrong() {
    let too_short = BloomFilter::new([]).unwrap_err();
    assert_eq!(too_short.to_string(), "a filter needs at least 2 bytes, but this one has 0");
    let reserved = BloomFilter::new([0, 31]).unwrap_err();
    assert_eq!(reserved.to_string(), "a filter has at most 30 probes, but this one has 31");
    assert!(!too_short.may_match() && reserved.may_match());
    let mut filter = BloomFilter::empty(BloomFilterPolicy::new(10).shape(100));
    assert_eq!(
        filter.union_with(&BloomFilter::new([0, 5]).expect("5 probes")).unwrap_err().to_string(),
        "a filter of 1000 bits and 6 probes has no union with a filter of 8 bits and 5 probes"
    );
}

#[test]
fn debug_output_has_shapes_and_numbers_instead_of_bytes() {
    let shape = BloomFilterShape::new(9, 6);
    let shown = "shape: BloomFilterShape { num_bytes: 8, num_probes: 6 }, .. }";
    assert_eq!(format!("{:?}", BloomFilter::empty(shape)), format!("BloomFilter {{ {shown}"));
    let atomic = AtomicBloomFilter::new(shape);
    assert_eq!(format!("{atomic:?}"), format!("AtomicBloomFilter {{ {shown}"));
    let internal = InternalKeyPolicy::new(POLICY);
    assert_eq!(format!("{internal:?}"), format!("InternalKeyPolicy {{ user_policy: {POLICY:?} }}"));
    let hashed = HashedBy::new("example.None", POLICY, |_: &BloomFilterPolicy, _: &[u8]| None);
    let shown = format!("HashedBy {{ name: \"example.None\", policy: {POLICY:?}, .. }}");
    assert_eq!(format!("{hashed:?}"), shown);
    let builder = BloomFilterBuilder::from_iter(["fig", "pear"]);
    assert_eq!(format!("{builder:?}"), "BloomFilterBuilder { len: 2, .. }");
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(2_048);
    builder.add_key(b"fig");
    let shown = "base_lg: Some(11), filters: 1, pending_keys: 1, .. }";
    assert_eq!(
        format!("{builder:?}"),
        format!("FilterBlockBuilder {{ policy: {POLICY:?}, {shown}")
    );
    let reader = FilterBlockReader::new(POLICY, [0; 5]);
    let shown = "footer: Some(Footer { array_offset: 0, num_filters: 0, base_lg: 0 }), .. }";
    assert_eq!(format!("{reader:?}"), format!("FilterBlockReader {{ policy: {POLICY:?}, {shown}"));
}

#[test]
fn slices_of_different_lengths_panic() {
    let filter = BloomFilter::empty(POLICY.shape(1));
    let hashes = [BloomHash::default()];
    for num_others in [0, 2] {
        let mut matches = vec![false; num_others];
        let message = "keys_may_match: the slices must have the same length";
        assert_panics(message, || filter.keys_may_match(&["fig"], &mut matches));
        let message = "hashes_may_match: the slices must have the same length";
        assert_panics(message, || filter.hashes_may_match(&hashes, &mut matches));
        let odd = Odd { writes: Writes::Appends, panics: &AtomicBool::new(false) };
        let policies: [&dyn HashPolicy; 2] = [&POLICY, &odd];
        for filter in [&[][..], &[6], &[0, 6], &[0, 31]] {
            for policy in policies {
                assert_panics(message, || policy.hashes_may_match(&hashes, filter, &mut matches));
            }
        }
        let (keys, mut hashes) = ([&b"fig"[..]], vec![BloomHash::default(); num_others]);
        let message = "bloom_hashes: the slices must have the same length";
        assert_panics(message, || bloom_hashes(&keys, &mut hashes));
        let reader = FilterBlockReader::new(POLICY, []);
        let message = "FilterBlockReader::may_match_many: the slices must have the same length";
        let key = FilterKey::new(&POLICY, b"fig");
        let (offsets, keys) = (vec![0; num_others], vec![key; num_others]);
        assert_panics(message, || reader.may_match_many(&[0], &keys, &mut [false]));
        assert_panics(message, || reader.may_match_many(&offsets, &[key], &mut [false]));
        assert_panics(message, || reader.may_match_many(&[0], &[key], &mut matches));
    }
}

#[test]
fn probe_counts_and_base_lgs_out_of_range_panic() {
    for num_probes in [0, 31, 255] {
        let message = "BloomFilterShape::new needs at least 2 bytes, and 1 to 30 probes";
        assert_panics(message, || _ = BloomFilterShape::new(9, num_probes));
        assert_panics(message, || _ = BloomFilterShape::new(usize::from(num_probes % 2), 6));
    }
    for base_lg in [64, 255] {
        let message = "with_base_lg: base_lg must be at most 63";
        assert_panics(message, || _ = FilterBlockBuilder::with_base_lg(POLICY, base_lg));
    }
}

#[test]
fn a_block_offset_before_the_range_of_the_last_filter_panics() {
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(5000);
    builder.start_block(4096);
    builder.start_block(6143);
    let message =
        "block offset 4095 belongs to filter 1, which is already written (filters so far: 2)";
    assert_panics(message, || builder.start_block(4095));
}

#[test]
fn a_length_above_usize_panics_and_leaves_buffers_unchanged() {
    let message = "capacity overflow";
    assert_panics(message, || _ = BloomFilterPolicy::new(4_294_968));
    let shape = BloomFilterShape::new(usize::MAX, 6);
    assert_eq!(shape.num_bits(), (usize::MAX as u64 - 1).saturating_mul(8));
    assert_panics(message, || _ = BloomFilter::empty(shape));
    assert_panics(message, || _ = AtomicBloomFilter::new(shape));
    let longest = BloomFilterPolicy::from_millibits_per_key(u32::MAX);
    assert_eq!((longest.shape(0).filter_len(), longest.millibits_per_key()), (9, u32::MAX));
    let policy = BloomFilterPolicy::new(4_000_000).with_min_keys(usize::MAX / 4);
    let keys = [b"fig".as_slice(); 2];
    for policy in [policy, policy.tuned()] {
        let mut dst = b"before".to_vec();
        assert_panics(message, || policy.create_filter(&keys, &mut dst));
        let hashes = [BloomHash::default(); 2];
        assert_panics(message, || policy.create_filter_of_hashes(&hashes, &mut dst));
        let mut builder = BloomFilterBuilder::from_iter(keys);
        assert_panics(message, || _ = builder.finish(policy));
        assert_eq!((dst.as_slice(), builder.len()), (&b"before"[..], keys.len()));
    }
}
