//! The engine: a memtable, and below it levels of one table each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::{fs, io};

use leveldb_filter::{
    AtomicBloomFilter, BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterKey, HashPolicy,
    InternalKeyPolicy, bloom_hash,
};

use crate::table::{POLICY, Table};

const MAX_KEYS: usize = 3_000; // of a memtable

/// A value, or `None` if the key was deleted.
pub(crate) type Entry = Option<Vec<u8>>;
pub(crate) type Entries = BTreeMap<Vec<u8>, Entry>;
pub(crate) type Builder = FilterBlockBuilder<InternalKeyPolicy<BloomFilterPolicy>>;
/// Builds the first level's filters, given the keys of all levels from it on.
pub(crate) type Filters = fn(&[usize]) -> Builder;

/// The latest writes: behind a lock, with a lock-free filter in front that any thread can fill.
struct Memtable {
    filter: AtomicBloomFilter,
    entries: RwLock<Entries>,
}

impl Memtable {
    fn new() -> Self {
        let filter = AtomicBloomFilter::new(BloomFilterPolicy::new(10).shape(MAX_KEYS));
        Self { filter, entries: RwLock::default() }
    }

    /// Returns the number of keys.
    fn insert(&self, key: &[u8], entry: Entry) -> usize {
        self.filter.insert(key); // first, so that no reader misses an entry that is visible
        let mut entries = self.entries.write().unwrap();
        entries.insert(key.to_vec(), entry);
        entries.len()
    }

    fn get(&self, key: &[u8], hash: BloomHash) -> Option<Entry> {
        let entry = || self.entries.read().unwrap().get(key).cloned();
        if self.filter.hash_may_match(hash) { entry() } else { None }
    }
}

/// There is no log: a crash loses the memtable. Entries of deleted keys stay in the levels.
pub(crate) struct Engine {
    dir: PathBuf,
    filters: Filters,
    pub(crate) state: RwLock<State>,
}

pub(crate) struct State {
    memtable: Memtable,
    /// Keyed by the number of the flush that made them, which is the file's name: the newest is
    /// last.
    pub(crate) levels: BTreeMap<u64, Table>,
}

impl Engine {
    /// Opens the engine in this directory, or an empty one.
    pub(crate) fn open(dir: &Path, filters: Filters) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let mut levels = BTreeMap::new();
        for file in fs::read_dir(dir)? {
            let path = file?.path();
            let number = path.file_name().and_then(|name| name.to_str()?.parse().ok());
            levels.insert(number.ok_or(io::ErrorKind::InvalidData)?, Table::open(&path)?);
        }
        let state = State { memtable: Memtable::new(), levels };
        Ok(Self { dir: dir.into(), filters, state: state.into() })
    }

    /// Without a value, deletes the key.
    pub(crate) fn put(&self, key: &[u8], value: Option<Vec<u8>>) -> io::Result<()> {
        let num_keys = self.state.read().unwrap().memtable.insert(key, value);
        if num_keys < MAX_KEYS { Ok(()) } else { self.flush(MAX_KEYS) }
    }

    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let state = self.state.read().unwrap();
        let filter_key = FilterKey::new(&POLICY, key); // hashed once for all tables
        let mut tables =
            state.levels.values().rev().filter(|table| table.may_have(key, &filter_key));
        let entry = state.memtable.get(key, bloom_hash(key)).map(Ok);
        let entry = entry.or_else(|| tables.find_map(|table| table.read(key).transpose()));
        Ok(entry.transpose()?.flatten())
    }

    /// For keys in ascending order.
    pub(crate) fn multi_get(&self, keys: &[&[u8]]) -> io::Result<Vec<Option<Vec<u8>>>> {
        let mut hashes = vec![BloomHash::default(); keys.len()];
        POLICY.key_hashes(keys, &mut hashes);
        let state = self.state.read().unwrap();
        let in_memtable = |(&key, &hash)| state.memtable.get(key, hash);
        let mut entries: Vec<_> = keys.iter().zip(&hashes).map(in_memtable).collect();
        for table in state.levels.values().rev() {
            let must_read = table.must_read(keys, &hashes);
            for ((key, entry), must_read) in keys.iter().zip(&mut entries).zip(must_read) {
                if must_read && entry.is_none() {
                    *entry = table.read(key)?;
                }
            }
        }
        Ok(entries.into_iter().map(Option::flatten).collect())
    }

    /// Merges the memtable and the newest levels into a new level. Levels are merged as bits carry
    /// in a binary counter of flushes, so that each has at least about twice the keys of the one
    /// above it.
    pub(crate) fn flush(&self, min_keys: usize) -> io::Result<()> {
        let State { memtable, levels } = &mut *self.state.write().unwrap();
        let newest = memtable.entries.get_mut().unwrap();
        if newest.len() < min_keys {
            return Ok(()); // another thread may have just flushed
        }
        let number = levels.keys().last().map_or(1, |number| number + 1);
        let first_merged = (number & (number - 1)) + 1;
        let mut entries = Entries::new();
        levels.range(first_merged..).try_for_each(|(_, table)| table.add_to(&mut entries))?;
        entries.extend(newest.clone());
        // The levels as they will be, for `for_runs` to divide the bytes between their filters.
        let mut num_keys = vec![entries.len()];
        num_keys.extend(levels.range(..first_merged).rev().map(|(_, table)| table.num_keys));
        let path = self.dir.join(number.to_string());
        let table = Table::create(&path, entries, number, (self.filters)(&num_keys))?;
        // Only now, when no failure can lose keys any more.
        *memtable = Memtable::new();
        let merged = levels.split_off(&first_merged);
        levels.insert(number, table);
        merged.keys().try_for_each(|number| fs::remove_file(self.dir.join(number.to_string())))
    }
}
