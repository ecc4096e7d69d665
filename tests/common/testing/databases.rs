//! Databases that LevelDB has written and closed.

use std::fs;
use std::path::{Path, PathBuf};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::temp::TempPath;
use crate::common::table::replace::with_filter_block;
use crate::common::table::{Keys, Table, read_file};

pub(crate) fn copy(from: &TempPath, to: &TempPath) {
    fs::create_dir(&to.0).unwrap();
    for entry in fs::read_dir(&from.0).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.0.join(entry.file_name())).unwrap();
    }
}

pub(crate) fn tables(database: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(database).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "ldb")).collect()
}

/// The filter block of a table.
pub(crate) fn filter_block(path: &Path) -> Vec<u8> {
    let file = read_file(path).unwrap();
    Table::open(&file).unwrap().filters().unwrap().expect("filters").contents.into_owned()
}

/// Gives each table filters of this policy in long ranges. Where these do not fit, a table gets one
/// filter, or keeps its own if it has so few keys that this is longer.
pub(crate) fn put_filters(database: &Path, policy: BloomFilterPolicy) {
    for path in tables(database) {
        let file = read_file(&path).unwrap();
        let keys = Keys::of(&Table::open(&file).unwrap()).unwrap();
        let new = [
            FilterBlockBuilder::with_long_ranges(policy),
            FilterBlockBuilder::with_base_lg(policy, 63),
        ];
        let mut new = new.into_iter().map(|builder| keys.filter_block(builder));
        if let Some(new) = new.find_map(|block| with_filter_block(&file, &block)) {
            fs::write(path, new).unwrap();
        }
    }
}
