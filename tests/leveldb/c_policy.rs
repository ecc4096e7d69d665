//! A filter policy for LevelDB's C interface, to copy: `new_filter_policy` makes one of a policy
//! from Rust. `c_program.rs` uses it.

use std::ffi::{CString, c_char, c_int, c_void};
use std::{ptr, slice};

use leveldb_filter::FilterPolicy;

type CreateFilter = unsafe extern "C" fn(
    &State,
    *const *const c_char,
    *const usize,
    c_int,
    *mut usize,
) -> *mut c_void;
type KeyMayMatch = unsafe extern "C" fn(&State, *const c_char, usize, *const c_char, usize) -> u8;

#[link(name = "leveldb")]
#[allow(improper_ctypes)] // LevelDB only passes the pointer on.
unsafe extern "C" {
    fn malloc(len: usize) -> *mut c_void;
    fn leveldb_filterpolicy_create(
        state: *mut State,
        destructor: extern "C" fn(Box<State>),
        create_filter: CreateFilter,
        key_may_match: KeyMayMatch,
        name: extern "C" fn(&State) -> *const c_char,
    ) -> *mut c_void;
}

struct State {
    policy: Box<dyn FilterPolicy>,
    name: CString, // ends in NUL, as a `str` does not
}

/// For `leveldb_options_set_filter_policy`. Destroy it after the database is closed. The policy must
/// not panic, because a panic in an `extern "C"` function aborts the process.
pub fn new_filter_policy(policy: Box<dyn FilterPolicy>) -> *mut c_void {
    let name = CString::new(policy.name()).expect("a name without NUL");
    let state = Box::into_raw(Box::new(State { policy, name }));
    unsafe { leveldb_filterpolicy_create(state, destroy, create_filter, key_may_match, name_of) }
}

extern "C" fn destroy(_: Box<State>) {}

extern "C" fn name_of(state: &State) -> *const c_char {
    state.name.as_ptr()
}

/// An empty key or filter may have any pointer, even null.
unsafe fn bytes<'a>(data: *const c_char, len: usize) -> &'a [u8] {
    if len == 0 { &[] } else { unsafe { slice::from_raw_parts(data.cast(), len) } }
}

unsafe extern "C" fn create_filter(
    state: &State,
    keys: *const *const c_char,
    lens: *const usize,
    num_keys: c_int,
    filter_len: *mut usize,
) -> *mut c_void {
    let mut filter = Vec::new();
    unsafe {
        let key = |i| bytes(*keys.add(i), *lens.add(i));
        let keys: Vec<_> = (0..num_keys as usize).map(key).collect();
        state.policy.create_filter(&keys, &mut filter);
        let copy = malloc(filter.len().max(1)); // LevelDB passes it to `free`.
        assert!(!copy.is_null(), "out of memory");
        ptr::copy_nonoverlapping(filter.as_ptr(), copy.cast(), filter.len());
        *filter_len = filter.len();
        copy
    }
}

unsafe extern "C" fn key_may_match(
    state: &State,
    key: *const c_char,
    key_len: usize,
    filter: *const c_char,
    filter_len: usize,
) -> u8 {
    let (key, filter) = unsafe { (bytes(key, key_len), bytes(filter, filter_len)) };
    state.policy.key_may_match(key, filter).into()
}
