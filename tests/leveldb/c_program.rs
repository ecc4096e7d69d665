//! `c_policy.rs` in use: fills a database under a policy from Rust, looks up keys, and panics if what
//! it finds is wrong. `c_interface.rs` compiles it.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{env, ptr};

use leveldb_filter::{BloomFilterPolicy, FilterPolicy};

mod c_policy;
use c_policy::new_filter_policy;

#[rustfmt::skip]
#[link(name = "leveldb")]
unsafe extern "C" {
    fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut c_void;
    fn leveldb_filterpolicy_destroy(policy: *mut c_void);
    fn leveldb_options_create() -> *mut c_void;
    fn leveldb_options_set_create_if_missing(options: *mut c_void, yes: u8);
    fn leveldb_options_set_compression(options: *mut c_void, kind: c_int);
    fn leveldb_options_set_filter_policy(options: *mut c_void, policy: *mut c_void);
    fn leveldb_writeoptions_create() -> *mut c_void;
    fn leveldb_readoptions_create() -> *mut c_void;
    fn leveldb_open(options: *mut c_void, path: *const c_char, error: *mut *mut c_char) -> *mut c_void;
    fn leveldb_close(db: *mut c_void);
    fn leveldb_put(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize,
        value: *const u8, value_len: usize, error: *mut *mut c_char);
    fn leveldb_get(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize,
        value_len: *mut usize, error: *mut *mut c_char) -> *mut c_void;
    fn leveldb_compact_range(db: *mut c_void, start: *const u8, start_len: usize, end: *const u8, end_len: usize);
    fn leveldb_free(value: *mut c_void);
}

static CHECKED: AtomicUsize = AtomicUsize::new(0);
static MATCHED: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Counting(BloomFilterPolicy);

impl FilterPolicy for Counting {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.0.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let matches = self.0.key_may_match(key, filter);
        CHECKED.fetch_add(1, Relaxed);
        MATCHED.fetch_add(usize::from(matches), Relaxed);
        matches
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// Calls LevelDB, which has no error to tell.
fn without_error<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> T {
    let mut error = ptr::null_mut();
    let result = call(&mut error);
    assert!(error.is_null());
    result
}

/// Options are never destroyed.
unsafe fn open(policy: *mut c_void) -> *mut c_void {
    let path = CString::new(env::args().nth(1).unwrap()).unwrap();
    unsafe {
        let options = leveldb_options_create();
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_compression(options, 0);
        leveldb_options_set_filter_policy(options, policy);
        without_error(|error| leveldb_open(options, path.as_ptr(), error))
    }
}

fn main() {
    let key = |i: u64| i.to_be_bytes();
    let num_keys = 20_000;
    let policy = new_filter_policy(Box::new(Counting(BloomFilterPolicy::new(10).tuned())));
    let db = unsafe { open(policy) };
    let options = unsafe { leveldb_writeoptions_create() };
    let put = |key: &[u8]| {
        let (key, len, value) = (key.as_ptr(), key.len(), [b'v'; 1_000]);
        without_error(|e| unsafe { leveldb_put(db, options, key, len, value.as_ptr(), 1_000, e) });
    };
    put(b"");
    (0..num_keys).for_each(|i| put(&key(2 * i)));
    unsafe { leveldb_compact_range(db, ptr::null(), 0, ptr::null(), 0) };

    let options = unsafe { leveldb_readoptions_create() };
    let contains = |db, key: &[u8]| {
        let (key, key_len, mut len) = (key.as_ptr(), key.len(), 0);
        let get = |error| unsafe { leveldb_get(db, options, key, key_len, &mut len, error) };
        let value = without_error(get);
        unsafe { leveldb_free(value) };
        !value.is_null()
    };
    let has_all = |db| contains(db, b"") && (0..num_keys).all(|i| contains(db, &key(2 * i)));
    let take_counts = || [&CHECKED, &MATCHED].map(|count| count.swap(0, Relaxed));
    assert!(has_all(db), "a key is lost");
    let [checked, matched] = take_counts();
    assert!(checked >= 20_000 && matched == checked, "{matched} of {checked} present keys match");
    assert!(!(0..num_keys).any(|i| contains(db, &key(2 * i + 1))), "an absent key is found");
    let [checked, matched] = take_counts();
    // LevelDB's filters match 99.8%.
    let is_less = matched < checked / 100;
    assert!(checked >= 19_000 && is_less, "{matched} of {checked} absent keys match");
    unsafe { leveldb_close(db) };
    unsafe { leveldb_filterpolicy_destroy(policy) };
    assert_eq!(DROPPED.load(Relaxed), 1, "the policy is left");

    let db = unsafe { open(leveldb_filterpolicy_create_bloom(10)) };
    assert!(has_all(db), "a key is lost");
    unsafe { leveldb_close(db) };
}
