//! The files that are named, or lie in a directory that is.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// The tables of a database's directory, in the order of their numbers.
pub(crate) fn tables_in(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "ldb" || end == "sst") {
            tables.push(path);
        }
    }
    if tables.is_empty() {
        return Err("no table in this directory: none of its files ends in .ldb or .sst".into());
    }
    tables.sort_by_cached_key(|path| {
        let number = number(path);
        (number.is_none(), number, path.clone())
    });
    Ok(tables)
}

/// Of 000005.ldb it is 5.
fn number(path: &Path) -> Option<u64> {
    let stem = path.file_stem()?.to_str()?;
    stem.bytes().all(|byte| byte.is_ascii_digit()).then(|| stem.parse().ok())?
}

pub(crate) fn read_regular_file(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let metadata = fs::metadata(path)?;
    // Devices and pipes may never end.
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    Ok(fs::read(path)?)
}
