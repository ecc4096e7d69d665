//! A database's directory: its tables, its logs, and the MANIFEST that its CURRENT names.
//!
//! Mirrors `db/filename.cc`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use super::corrupt;
use super::log::LogReader;
use super::manifest::{Manifest, manifest_name};

/// Longer than the name of any MANIFEST.
const MAX_CURRENT_LEN: u64 = 1_000;
/// How the text begins that stands for a file in a clone without Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/";

/// The files of a database's directory.
#[derive(Default)]
pub(crate) struct Files {
    /// In the order of their numbers, others last.
    pub(crate) tables: Vec<PathBuf>,
    /// Each with its number.
    pub(crate) logs: Vec<(u64, PathBuf)>,
    pub(crate) has_manifest: bool,
    pub(crate) is_rocksdb: bool,
    /// Subdirectories that are databases, or have tables as Basho's `LevelDB` keeps them.
    pub(crate) inside: Vec<String>,
}

impl Files {
    pub(crate) fn in_directory(directory: &Path) -> io::Result<Self> {
        let mut files = Self::default();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = entry.path();
            if path.join("CURRENT").exists() || name.starts_with("sst_") && has_entries(&path) {
                files.inside.push(name.clone().into_owned());
            }
            let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
            if ["ldb", "sst"].iter().any(|table| extension.eq_ignore_ascii_case(table)) {
                files.tables.push(path);
            } else if let ("log", Some(number)) = (extension, number_of(&path)) {
                files.logs.push((number, path));
            }
            files.has_manifest |= name.starts_with("MANIFEST-");
            files.is_rocksdb |= name.starts_with("OPTIONS-") || name == "IDENTITY";
        }
        files.inside.sort();
        files.tables.sort_by_cached_key(|path| (number_of(path).unwrap_or(u64::MAX), path.clone()));
        Ok(files)
    }
}

/// The number in a file's name: 5 for 000005.ldb.
pub(crate) fn number_of(path: &Path) -> Option<u64> {
    let stem = path.file_stem().and_then(OsStr::to_str);
    stem.filter(|stem| stem.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// The MANIFEST that CURRENT names; `None` if there is no CURRENT, as beside tables that were
/// taken out of a database.
pub(crate) fn read_manifest(directory: &Path) -> io::Result<Option<Manifest>> {
    let path = directory.join("CURRENT");
    let named =
        |file: &str, error: &io::Error| io::Error::new(error.kind(), format!("{file}: {error}"));
    if !path.try_exists().map_err(|error| named("CURRENT", &error))? {
        return Ok(None);
    }
    let mut current = Vec::new();
    open_regular_file(&path)
        .and_then(|file| file.take(MAX_CURRENT_LEN).read_to_end(&mut current))
        .map_err(|error| named("CURRENT", &error))?;
    let name = manifest_name(&current).map_err(corrupt)?;
    let manifest = open_regular_file(&directory.join(name)).and_then(Manifest::read);
    manifest.map(Some).map_err(|error| named(name, &error))
}

fn has_entries(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

/// The length of a log in bytes; 0 if it has no record, as if it were only preallocated space.
pub(crate) fn len_of_log(path: &Path) -> u64 {
    let Ok(file) = open_regular_file(path) else { return 0 };
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    let is_empty = matches!(LogReader::new(file).read_record(&mut Vec::new()), Ok(false));
    if is_empty { 0 } else { len }
}

/// Whether the name is that of a file in a database's directory that is not a table.
pub(crate) fn is_other_file(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let is_log = name.ends_with(".log") && number_of(path).is_some();
    ["CURRENT", "LOCK", "LOG", "LOG.old"].contains(&&*name)
        || name.starts_with("MANIFEST-")
        || is_log
}

pub(crate) fn open_regular_file(path: &Path) -> io::Result<File> {
    // Devices and pipes may never end, and a pipe may not even open.
    if !fs::metadata(path)?.is_file() {
        return Err(corrupt("not a regular file"));
    }
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(LFS_POINTER.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    if start == LFS_POINTER {
        return Err(corrupt("a Git LFS pointer, not the file that it stands for: git lfs pull"));
    }
    Ok(file)
}
