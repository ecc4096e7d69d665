//! The engine: a memtable, and below it levels, of which each is a table.

use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::{fs, io};

use leveldb_filter::{BloomFilterPolicy, BloomHash, SortedRun, bloom_hash, bloom_hashes};

use crate::memtable::{Entry, MAX_KEYS, Memtable};
use crate::table::{Table, size, write_table};

/// The policy and the `base_lg` of the first level, from the sizes that all will have with it.
pub(crate) type Filters = fn(&[SortedRun]) -> (BloomFilterPolicy, u8);

struct State {
    memtable: Memtable,
    /// The newest first.
    levels: Vec<Table>,
}

/// Has no log: a crash loses what is in the memtable. Tables have the sequence number after their
/// newest entry as their name, which tells their order.
pub(crate) struct Engine {
    dir: PathBuf,
    filters: Filters,
    state: RwLock<State>,
}

impl Engine {
    /// The engine that was closed in this directory, or one without keys.
    pub(crate) fn open(dir: &Path, filters: Filters) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let paths = fs::read_dir(dir)?.map(|file| Ok(file?.path()));
        let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "table"));
        paths.sort_by(|a, b| b.cmp(a));
        let name = paths.first().and_then(|path| path.file_stem()?.to_str()).unwrap_or("0");
        let sequence = name.parse().map_err(io::Error::other)?;
        let levels = paths.into_iter().map(Table::open).collect::<io::Result<_>>()?;
        let state = State { memtable: Memtable::new(sequence), levels };
        Ok(Self { dir: dir.into(), filters, state: state.into() })
    }

    /// Without a value, deletes the key.
    pub(crate) fn put(&self, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        let num_keys = self.state.read().unwrap().memtable.insert(key, bloom_hash(key), value);
        if num_keys < MAX_KEYS { Ok(()) } else { self.flush(MAX_KEYS) }
    }

    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let hash = bloom_hash(key); // once, for the memtable and all tables
        let state = self.state.read().unwrap();
        let mut entry = state.memtable.get(key, hash);
        let mut levels = state.levels.iter();
        while let (None, Some(table)) = (&entry, levels.next()) {
            entry = table.get(key, hash)?;
        }
        Ok(entry.and_then(|entry| entry.value))
    }

    /// For keys in ascending order.
    pub(crate) fn multi_get(&self, keys: &[&[u8]]) -> io::Result<Vec<Option<Vec<u8>>>> {
        let mut hashes = vec![BloomHash::default(); keys.len()];
        bloom_hashes(keys, &mut hashes); // once, for the memtable and all tables
        let state = self.state.read().unwrap();
        let in_memtable = |(&key, &hash)| state.memtable.get(key, hash);
        let mut entries: Vec<_> = keys.iter().zip(&hashes).map(in_memtable).collect();
        for table in &state.levels {
            let must_read = table.must_read(keys, &hashes);
            for ((key, entry), must_read) in keys.iter().zip(&mut entries).zip(must_read) {
                if must_read && entry.is_none() {
                    *entry = table.read(key)?;
                }
            }
        }
        Ok(entries.into_iter().map(|entry| entry?.value).collect())
    }

    pub(crate) fn close(self) -> io::Result<()> {
        self.flush(1)
    }

    /// What is asked of each level.
    pub(crate) fn of_levels<T>(&self, ask: impl Fn(&Table) -> T) -> Vec<T> {
        self.state.read().unwrap().levels.iter().map(ask).collect()
    }

    /// Makes a level of the memtable and of the levels that are not much larger than all above them,
    /// so that each has about twice the keys of the one above it, or more.
    fn flush(&self, min_keys: usize) -> io::Result<()> {
        let state = &mut *self.state.write().unwrap();
        if state.memtable.len() < min_keys {
            return Ok(()); // another thread has just done it
        }
        let (mut entries, sequence) = state.memtable.take();
        let num_keys = |size: SortedRun| size.num_filters * size.keys_per_filter;
        let mut merged = Vec::new();
        while state.levels.first().is_some_and(|top| 2 * num_keys(top.size) < 3 * entries.len()) {
            let table = state.levels.remove(0);
            table.add_to(&mut entries)?;
            merged.push(table);
        }
        if state.levels.is_empty() {
            entries.retain(|_, entry| entry.value.is_some()); // nothing is left that they hide
        }
        let value_len = |entry: &Entry| entry.value.as_ref().map_or(0, Vec::len);
        let len = entries.iter().map(|(key, entry)| 24 + key.len() + value_len(entry)).sum();
        // As all levels will be, so that their filters can share their bytes.
        let mut sizes = vec![size(entries.len(), len)];
        sizes.extend(state.levels.iter().map(|table| table.size));
        let path = self.dir.join(format!("{sequence:012}.table"));
        write_table(&path, entries, (self.filters)(&sizes))?;
        state.levels.insert(0, Table::open(path)?);
        merged.into_iter().try_for_each(|table| fs::remove_file(table.path))
    }
}
