//! Replaces the filter blocks of a database's tables in place.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, process};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy};

use crate::common::table::Table;
use crate::common::table::replace::Filters;

/// A path that nothing else uses, deleted when dropped.
pub(crate) struct TempPath(pub(crate) PathBuf);

impl TempPath {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("leveldb-{}-{count}.tmp", process::id());
        Self(super::temp_dir().join(name))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.to_str().expect("a path in UTF-8").as_bytes()
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0).or_else(|_| fs::remove_dir_all(&self.0));
    }
}

pub(crate) fn tables(database: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(database).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "ldb")).collect()
}

/// After an internal key's user key: its sequence number and type.
pub(crate) const TRAILER_LEN: usize = 8;

/// Builds filter blocks of internal keys.
pub(crate) type Builder = FilterBlockBuilder<InternalKeyPolicy<BloomFilterPolicy>>;

/// Replaces LevelDB's filters in the table by the builder's, which take no more bytes. The file
/// keeps its length; everything before the filters and after the metaindex block stays in place.
pub(crate) fn exchange_filter_block(path: &Path, mut builder: Builder) {
    let policy_names = &[BloomFilterPolicy::NAME];
    let place = Filters { policy_names, is_appended: false, trailer_len: TRAILER_LEN };
    let filters = |table: &Table<'_>| {
        builder.start_block(0);
        for block in table.data_blocks() {
            table.visit_keys_of(&mut table.key_budget(), block, |key| builder.add_key(key))?;
            builder.start_block(block.end);
        }
        Ok(builder.finish())
    };
    place.put(path, filters).expect("room for the filters");
}
