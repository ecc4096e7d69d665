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
    HashedBy, InvalidFilter, ShapeMismatch, bloom_hash,
};

use crate::common::OfKeys;
use crate::common::odd::{Odd, Writes};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(16).with_name("example.Bloom");

#[track_caller]
pub(super) fn assert_panics(message: &str, misuse: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(misuse)).expect_err(message);
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).expect("a message");
    assert!(said.contains(message), "{said}");
}

#[test]
fn types_have_the_common_traits() {
    fn assert_is_value<T: Copy + Debug + Eq + Hash + Send + Sync + 'static>() {}
    fn assert_is_copied<T: Copy + Debug + Send + Sync>() {}
    fn assert_is_shared<T: Debug + Send + Sync + 'static>() {}
    fn assert_has_default<T: Default>() {}
    fn assert_is_ordered<T: Ord>() {}
    fn assert_is_error<T: Error>() {}
    fn assert_is_bytes<T: Clone + Eq + Hash + AsRef<[u8]>>() {}

    assert_is_value::<(BloomFilterPolicy, BloomHash)>();
    assert_is_value::<(BloomFilterShape, InvalidFilter, ShapeMismatch)>();
    assert_is_copied::<(BloomFilter<&[u8]>, BloomFilter<&[u8; 9]>, FilterKey)>();
    assert_is_copied::<FilterBlockReader<BloomFilterPolicy, &[u8]>>();
    assert_is_shared::<(AtomicBloomFilter, BloomFilterBuilder, BloomFilter)>();
    assert_has_default::<(BloomFilterPolicy, BloomHash)>();
    assert_is_ordered::<BloomHash>();
    assert_is_error::<InvalidFilter>();
    assert_is_error::<ShapeMismatch>();
    assert_is_bytes::<BloomFilter>();
}

/// What an engine keeps, with the types that are meant if none are given.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "shown")]
struct Fields {
    shared: Arc<dyn FilterPolicy>,
    bounded: Arc<dyn FilterPolicy + Send + Sync>,
    of_dynamic: HashedBy<Arc<dyn HashPolicy>>,
    hashed: HashedBy,
    keys: BloomFilterBuilder,
    filter: BloomFilter,
    builder: FilterBlockBuilder,
    reader: FilterBlockReader,
    of_shared: FilterBlockReader<Arc<dyn FilterPolicy>, Arc<[u8]>>,
}

#[test]
fn fields_need_no_type_parameters_and_are_shown_without_bytes() {
    let shared: Arc<dyn FilterPolicy> = Arc::new(POLICY);
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.add_key(b"fig");
    let reader = FilterBlockReader::new(POLICY, builder.finish());
    builder.start_block(2_048);
    builder.add_key(b"fig");
    let fields = Fields {
        bounded: Arc::new(POLICY),
        of_dynamic: HashedBy::new("example.A", Arc::new(POLICY), |_, key| Some(bloom_hash(key))),
        hashed: HashedBy::new("example.C", POLICY, |_, key| Some(bloom_hash(key))),
        keys: BloomFilterBuilder::from_iter(["fig", "pear"]),
        filter: BloomFilter::empty(POLICY.shape(1)),
        builder,
        reader,
        of_shared: FilterBlockReader::new(shared.clone(), Arc::new([])),
        shared,
    };
    assert!(fields.of_shared.key_may_match(0, b"fig"));
    let shown = format!("{fields:?} {:?}", AtomicBloomFilter::new(POLICY, POLICY.shape(1)));
    for part in [
        r#"shared: FilterPolicy("example.Bloom"), bounded: FilterPolicy("example.Bloom")"#,
        r#"HashedBy { name: "example.A", policy: HashPolicy { .. }, .. }"#,
        r#"HashedBy { name: "example.C", policy: BloomFilterPolicy { "#,
        "keys: BloomFilterBuilder { len: 2, .. }",
        "builder: FilterBlockBuilder { policy: BloomFilterPolicy { ",
        "reader: FilterBlockReader { policy: BloomFilterPolicy { ",
        " BloomFilter { shape: BloomFilterShape { num_bytes: 8, num_probes: 11 }, .. }",
        " filters: 1, pending_keys: 1, .. }",
        " footer: Some(Footer { array_offset: 9, num_filters: 1, base_lg: 11 }), .. }",
        " AtomicBloomFilter { policy: BloomFilterPolicy { millibits_per_key: 16000, ",
        " }, shape: BloomFilterShape { num_bytes: 8, num_probes: 11 }, .. }",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn the_default_has_10_bits_per_key_and_leveldbs_name_which_changes_no_byte() {
    assert_eq!(BloomFilterPolicy::default(), BloomFilterPolicy::new(10));
    assert_eq!(BloomFilterPolicy::default().millibits_per_key(), 10_000);
    assert_eq!(BloomFilterPolicy::default().name(), "leveldb.BuiltinBloomFilter2");
    assert_eq!(BloomFilterPolicy::NAME, "leveldb.BuiltinBloomFilter2");
    assert_eq!(BloomFilterPolicy::GOLEVELDB_NAME, "leveldb.BuiltinBloomFilter");
    for policy in [BloomFilterPolicy::from_millibits_per_key(9_750), POLICY, POLICY.tuned()] {
        let renamed = policy.with_name("example.Name");
        assert_eq!((renamed.name(), renamed.tuned().name()), ("example.Name", "example.Name"));
        assert_eq!(renamed.shape(1_000), policy.shape(1_000), "{policy:?}");
        assert!(renamed != policy && renamed.with_name(policy.name()) == policy);
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
fn a_memtables_filter_needs_a_policy_with_hashes() {
    let policy = || OfKeys(POLICY);
    let message = "AtomicBloomFilter: the policy example.Bloom has no hashes";
    assert_panics(message, || _ = AtomicBloomFilter::new(policy(), POLICY.shape(1)));
    assert_panics(message, || _ = AtomicBloomFilter::from_bytes(policy(), &[0, 6]));
    let error = AtomicBloomFilter::from_bytes(POLICY, &[0, 31]).unwrap_err();
    assert_eq!(error, BloomFilter::new([0, 31]).unwrap_err());
}

#[test]
fn probe_counts_and_base_lgs_out_of_range_panic() {
    for num_probes in [0, 31, 255] {
        let message = "needs at least 2 bytes, and 1 to 30 probes";
        assert_panics(message, || _ = BloomFilterShape::new(9, num_probes));
        assert_panics(message, || _ = BloomFilterShape::new(usize::from(num_probes % 2), 6));
    }
    let message = "with_base_lg: base_lg must be at most 63";
    assert_panics(message, || _ = FilterBlockBuilder::with_base_lg(POLICY, 64));
}

#[test]
fn a_length_above_usize_panics_and_leaves_buffers_unchanged() {
    let message = "capacity overflow";
    assert_panics(message, || _ = BloomFilterPolicy::new(4_294_968));
    let shape = BloomFilterShape::new(usize::MAX, 6);
    assert_eq!(shape.num_bits(), (usize::MAX as u64 - 1).saturating_mul(8));
    assert_panics(message, || _ = BloomFilter::empty(shape));
    assert_panics(message, || _ = AtomicBloomFilter::new(POLICY, shape));
    let longest = BloomFilterPolicy::from_millibits_per_key(u32::MAX);
    assert_eq!((longest.shape(0).filter_len(), longest.millibits_per_key()), (9, u32::MAX));
    // The bits are counted in thousandths.
    let most = usize::try_from(u64::MAX / 10_000).unwrap_or(usize::MAX / 10);
    assert_eq!(BloomFilterPolicy::new(10).with_min_keys(most).shape(1).num_probes(), 6);
    let policy = BloomFilterPolicy::new(10).with_min_keys(most + 1);
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
