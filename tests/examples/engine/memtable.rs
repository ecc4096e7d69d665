//! What was written last: a sorted map in memory, and in front of its lock a filter without one.

use std::collections::BTreeMap;
use std::mem;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use leveldb_filter::{AtomicBloomFilter, BloomFilterPolicy, BloomHash};

/// A memtable with so many is full.
pub(crate) const MAX_KEYS: usize = 5_600;

/// The last that was written of a user key.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    /// `None` if the key was deleted.
    pub(crate) value: Option<Vec<u8>>,
}

/// By user key.
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;

pub(crate) struct Memtable {
    filter: AtomicBloomFilter,
    entries: RwLock<Entries>,
    sequence: AtomicU64,
}

impl Memtable {
    pub(crate) fn new(sequence: u64) -> Self {
        let filter = AtomicBloomFilter::new(BloomFilterPolicy::new(10).shape(MAX_KEYS));
        Self { filter, entries: RwLock::default(), sequence: sequence.into() }
    }

    /// Returns the number of keys. Any number of threads insert and get at the same time.
    pub(crate) fn insert(&self, key: &[u8], hash: BloomHash, value: Option<&[u8]>) -> usize {
        self.filter.insert_hash(hash); // first, so that whoever can see the entry finds it
        let mut entries = self.entries.write().unwrap();
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        entries.insert(key.to_vec(), Entry { sequence, value: value.map(<[u8]>::to_vec) });
        entries.len()
    }

    pub(crate) fn get(&self, key: &[u8], hash: BloomHash) -> Option<Entry> {
        if !self.filter.hash_may_match(hash) {
            return None; // most absent keys do not wait for the lock
        }
        self.entries.read().unwrap().get(key).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.read().unwrap().len()
    }

    /// Takes all entries out, and tells the sequence number after them.
    pub(crate) fn take(&mut self) -> (Entries, u64) {
        let sequence = *self.sequence.get_mut();
        (mem::replace(self, Self::new(sequence)).entries.into_inner().unwrap(), sequence)
    }
}
