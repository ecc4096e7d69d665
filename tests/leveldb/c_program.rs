//! The page on LevelDB's C interface in use: fills a database through it, looks up keys, and
//! panics if what it finds is wrong. `c_interface.rs` compiles it.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use leveldb_filter::BloomFilterPolicy;

include!(env!("PAGE"));

#[rustfmt::skip]
#[link(name = "leveldb")]
unsafe extern "C" {
    fn leveldb_filterpolicy_create_bloom(bits_per_key: c_int) -> *mut c_void;
    fn leveldb_filterpolicy_destroy(policy: *mut c_void);
    fn leveldb_options_create() -> *mut c_void;
    fn leveldb_options_set_create_if_missing(options: *mut c_void, yes: u8);
    fn leveldb_options_set_compression(options: *mut c_void, kind: c_int);
    fn leveldb_options_set_filter_policy(options: *mut c_void, policy: *mut c_void);
    fn leveldb_options_destroy(options: *mut c_void);
    fn leveldb_writeoptions_create() -> *mut c_void;
    fn leveldb_writeoptions_destroy(options: *mut c_void);
    fn leveldb_readoptions_create() -> *mut c_void;
    fn leveldb_readoptions_destroy(options: *mut c_void);
    fn leveldb_open(options: *mut c_void, path: *const c_char, error: *mut *mut c_char) -> *mut c_void;
    fn leveldb_close(db: *mut c_void);
    fn leveldb_put(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize,
        value: *const u8, value_len: usize, error: *mut *mut c_char);
    fn leveldb_get(db: *mut c_void, options: *mut c_void, key: *const u8, key_len: usize,
        value_len: *mut usize, error: *mut *mut c_char) -> *mut c_void;
    fn leveldb_compact_range(db: *mut c_void, start: *const u8, start_len: usize, end: *const u8, end_len: usize);
    fn leveldb_free(value: *mut c_void);
}

#[derive(Default)]
struct Counts {
    created: AtomicUsize,
    checked: AtomicUsize,
    matched: AtomicUsize,
}

struct Counting(BloomFilterPolicy, Arc<Counts>);

impl FilterPolicy for Counting {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        self.1.created.fetch_add(1, Relaxed);
        self.0.create_filter(keys, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        let matches = self.0.key_may_match(key, filter);
        self.1.checked.fetch_add(1, Relaxed);
        self.1.matched.fetch_add(usize::from(matches), Relaxed);
        matches
    }
}

struct Db {
    db: *mut c_void,
    policy: *mut c_void,
    options: *mut c_void,
}

impl Db {
    fn open(path: &str, policy: *mut c_void) -> Self {
        let path = CString::new(path).unwrap();
        let mut error = ptr::null_mut();
        unsafe {
            let options = leveldb_options_create();
            leveldb_options_set_create_if_missing(options, 1);
            leveldb_options_set_compression(options, 0);
            leveldb_options_set_filter_policy(options, policy);
            let db = leveldb_open(options, path.as_ptr(), &mut error);
            assert!(error.is_null());
            Self { db, policy, options }
        }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        let mut error = ptr::null_mut();
        unsafe {
            let options = leveldb_writeoptions_create();
            let (key, key_len) = (key.as_ptr(), key.len());
            leveldb_put(self.db, options, key, key_len, value.as_ptr(), value.len(), &mut error);
            leveldb_writeoptions_destroy(options);
        }
        assert!(error.is_null());
    }

    fn contains(&self, key: &[u8]) -> bool {
        let (mut len, mut error) = (0, ptr::null_mut());
        unsafe {
            let options = leveldb_readoptions_create();
            let value =
                leveldb_get(self.db, options, key.as_ptr(), key.len(), &mut len, &mut error);
            leveldb_readoptions_destroy(options);
            leveldb_free(value);
            assert!(error.is_null());
            !value.is_null()
        }
    }

    fn close(self) {
        unsafe {
            leveldb_close(self.db);
            leveldb_options_destroy(self.options);
            leveldb_filterpolicy_destroy(self.policy);
        }
    }
}

fn main() {
    let path = env::args().nth(1).unwrap();
    let key = |i: u64| i.to_be_bytes();
    let num_keys = 20_000;
    let counts = Arc::new(Counts::default());

    let policy = BloomFilterPolicy::new(10).tuned();
    let db = Db::open(&path, new_filter_policy(Box::new(Counting(policy, counts.clone()))));
    db.put(b"", b"the empty key");
    for i in 0..num_keys {
        db.put(&key(2 * i), &[b'v'; 1_000]);
    }
    unsafe { leveldb_compact_range(db.db, ptr::null(), 0, ptr::null(), 0) };
    assert!(counts.created.load(Relaxed) > 0, "no filters");
    let assert_loses_no_key = |db: &Db| {
        let all = (0..num_keys).all(|i| db.contains(&key(2 * i)));
        assert!(all && db.contains(b""), "a key is lost");
    };
    assert_loses_no_key(&db);
    let take_counts = || [&counts.checked, &counts.matched].map(|count| count.swap(0, Relaxed));
    let [checked, matched] = take_counts();
    assert!(checked >= 20_000 && matched == checked, "{matched} of {checked} present keys match");
    assert!(!(0..num_keys).any(|i| db.contains(&key(2 * i + 1))), "an absent key is found");
    let [checked, matched] = take_counts();
    // LevelDB's filters match 99.8%.
    let is_less = matched < checked / 100;
    assert!(checked >= 19_000 && is_less, "{matched} of {checked} absent keys match");
    db.close();
    assert_eq!(Arc::strong_count(&counts), 1, "a policy is left");

    let db = Db::open(&path, unsafe { leveldb_filterpolicy_create_bloom(10) });
    assert_loses_no_key(&db);
    db.close();
}
