//! The files that are named, or lie in a directory that is.

use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file that is named as a table is.
#[derive(Clone)]
pub(crate) struct TableFile {
    pub(crate) path: PathBuf,
    /// Of 000005.ldb it is 5.
    pub(crate) number: Option<u64>,
}

impl TableFile {
    pub(crate) fn at(path: PathBuf) -> Self {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let digits = stem.filter(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|stem| stem.parse().ok());
        Self { path, number }
    }

    /// The name without its directory.
    pub(crate) fn name(&self) -> String {
        shown(self.path.file_name().map_or(&self.path, Path::new))
    }

    /// Whether LevelDB itself would name the file so.
    fn is_usual(&self) -> bool {
        let name = self.number.map(|number| format!("{number:06}.ldb"));
        name.is_some_and(|name| self.path.ends_with(name))
    }
}

/// The tables in a directory, in the order of their numbers.
pub(crate) fn tables_in(directory: &Path) -> io::Result<Vec<TableFile>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let is_table = |end: &std::ffi::OsStr| {
            ["ldb", "sst"].iter().any(|table| end.eq_ignore_ascii_case(table))
        };
        if path.extension().is_some_and(is_table) {
            tables.push(TableFile::at(path));
        }
    }
    tables.sort_by_cached_key(|table| {
        let TableFile { number, path } = table;
        (number.is_none(), *number, !table.is_usual(), path.clone())
    });
    Ok(tables)
}

pub(crate) fn open_regular_file(path: &Path) -> Result<File, Box<dyn Error>> {
    // Devices and pipes may never end, and a pipe may not even open.
    if !fs::metadata(path)?.is_file() {
        return Err("not a regular file".into());
    }
    Ok(File::open(path)?)
}

/// On one line, whatever the name of a file holds.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
