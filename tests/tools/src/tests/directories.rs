//! Golden files, and directories that tests write to.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use std::{env, fs, process};

use crate::table::Table;
use crate::table::crc32c::masked_crc32c;
use crate::table::writer::Layout;

pub(super) fn golden(place: &str) -> PathBuf {
    Path::new("../golden").join(place)
}

pub(super) fn database(name: &str) -> PathBuf {
    golden("databases").join(name)
}

pub(super) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A directory that no other test or run uses, deleted when dropped.
pub(super) struct Directory(PathBuf);

impl Deref for Directory {
    type Target = PathBuf;

    fn deref(&self) -> &PathBuf {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn directory_of(files: &[(&str, &[u8])]) -> Directory {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = env::temp_dir().join(format!("leveldb filters-{}-{count}", process::id()));
    fs::create_dir_all(&directory).unwrap();
    for (file, contents) in files {
        fs::write(directory.join(file), contents).unwrap();
    }
    Directory(directory)
}

/// A copy of a golden database, whose files may be changed.
pub(super) fn copy_of(database: &Path) -> Directory {
    let directory = directory_of(&[]);
    for path in files(database).into_keys() {
        fs::write(directory.join(path.file_name().unwrap()), read(&path)).unwrap();
    }
    directory
}

/// The contents of a directory's files, and when they were written.
pub(super) fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: &PathBuf| (read(path), path.metadata().unwrap().modified().unwrap());
    paths.map(|path| (path.clone(), of(&path))).collect()
}

pub(super) fn correct_checksum(block: &mut [u8]) {
    let (summed, checksum) = block.split_last_chunk_mut().unwrap();
    *checksum = masked_crc32c(summed).to_le_bytes();
}

/// Changes the filter block of a table, given where its offsets start, and corrects its checksum.
pub(super) fn change_filters(path: &Path, change: impl FnOnce(&mut [u8], usize)) {
    let file = read(path);
    let table = Table::open(&file).unwrap();
    let mut filters = table.filters().unwrap().contents.into_owned();
    let start = filters[filters.len() - 5..].first_chunk().copied().map(u32::from_le_bytes);
    change(&mut filters, start.unwrap() as usize);
    let new = Layout::of(&table).unwrap().with_filters(&filters).unwrap();
    fs::write(path, new).unwrap();
}
