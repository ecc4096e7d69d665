//! Replaces the filters of a table's file so that a crash leaves the old file or the new one, both
//! whole.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::Table;
use super::writer::{has_data_of, with_filters_appended, with_filters_in_place};

/// Of temporary files: `LevelDB` deletes those with numbers that no table has when it opens a
/// database, and its own do not begin so.
const TEMPORARY: [&str; 2] = ["000000", ".dbtmp"];
const NOT_RENAMED: &str = "the new file cannot take its place, so the old one stays: run again";
pub(crate) const LINK: &str = "a symbolic link: name the directory that it leads to";
const CHANGED: &str = "it has changed meanwhile: close the database";
const WRONG: &str = "the new file proved wrong, so the old one stays";

/// goleveldb reads filters of the first name, `LevelDB` of the second; both name the same filters.
pub(crate) const NAMES: [&str; 2] = [BloomFilterPolicy::GOLEVELDB_NAME, BloomFilterPolicy::NAME];

/// Where a Bloom filter block goes, and which part of keys it is of.
#[derive(Clone, Copy)]
pub(crate) struct Filters {
    /// One of [`NAMES`], or both.
    pub(crate) policy_names: &'static [&'static str],
    pub(crate) is_appended: bool,
    pub(crate) trailer_len: usize,
}

/// Tells a file from others that took its place, and from itself after a change: its length, when
/// it was modified, device and inode, and when anything of it changed.
pub(crate) type Version = (u64, Option<SystemTime>, [u64; 2], [i64; 2]);

fn version(of: &Metadata) -> Version {
    #[cfg(unix)]
    let (place, changed) = ([of.dev(), of.ino()], [of.ctime(), of.ctime_nsec()]);
    #[cfg(not(unix))]
    let (place, changed) = ([0; 2], [0; 2]);
    (of.len(), of.modified().ok(), place, changed)
}

/// The bytes of a table's file that may be replaced as long as it has this version.
pub(crate) fn read(path: &Path) -> Result<(Vec<u8>, Version), Box<dyn Error>> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(LINK.into());
    }
    Ok((fs::read(path)?, version(&metadata)))
}

impl Filters {
    /// Puts the filter block that `make` makes into the table's file.
    pub(crate) fn put(
        &self,
        path: &Path,
        make: impl FnOnce(&Table<'_>) -> Result<Vec<u8>, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let (old, version) = read(path)?;
        let table = Table::open(&old)?;
        let put = if self.is_appended { with_filters_appended } else { with_filters_in_place };
        let new = put(&table, &old, self.policy_names, &make(&table)?)?.ok_or(CHANGED)?;
        replace((path, version), &new, |new| self.check(&old, new))
    }

    /// Whether the new file has all keys and values where they were, and filters that match each.
    fn check(&self, old: &[u8], new: &[u8]) -> Result<(), Box<dyn Error>> {
        let table = Table::open(new)?;
        let filters = table.filter_block()?.ok_or(WRONG)?;
        let mut is_right = has_data_of(old, new)?
            && table.policy_names() == self.policy_names
            && (self.is_appended || new.len() == old.len());
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters[..]);
        table.visit_keys(|block, key| {
            let user_key = &key[..key.len().saturating_sub(self.trailer_len)];
            is_right &= reader.key_may_match(block.offset(), user_key);
        })?;
        if is_right { Ok(()) } else { Err(WRONG.into()) }
    }
}

/// Writes the contents beside the file, syncs them, reads them back to check them, and renames, if
/// nobody has changed the file meanwhile.
///
/// Owner and permission bits stay. After an error the file is as before and nothing is left behind.
pub(crate) fn replace(
    (path, old): (&Path, Version),
    contents: &[u8],
    check: impl FnOnce(&[u8]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (file, temporary) = create_in(path.parent().unwrap_or(path))?;
    let replaced = write(file, contents, path)
        .map_err(|error| format!("the new file cannot be written: {error}").into())
        .and_then(|()| check(&fs::read(&temporary)?))
        // Nothing slow may come in between: freeing what was read back takes milliseconds.
        .and_then(|()| {
            let is_same = version(&fs::symlink_metadata(path)?) == old;
            let renamed = is_same.then(|| fs::rename(&temporary, path)).ok_or(CHANGED)?;
            renamed.map_err(|error| format!("{NOT_RENAMED}: {error}").into())
        });
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

/// Tries whether a file can be made in the directory.
pub(crate) fn prepare(directory: &Path) -> Result<(), Box<dyn Error>> {
    Ok(fs::remove_file(create_in(directory)?.1)?)
}

/// What interrupted runs left in the directory.
pub(crate) fn left_over(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(directory.join("."))?.map(|entry| Ok(entry?.path()));
    let is_temporary = |path: &PathBuf| {
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        name.starts_with(TEMPORARY[0]) && name.ends_with(TEMPORARY[1])
    };
    paths.filter(|path| path.as_ref().map_or(true, is_temporary)).collect()
}

/// A temporary file of a name that nobody else has: if another run removes it, renaming fails.
fn create_in(directory: &Path) -> Result<(File, PathBuf), Box<dyn Error>> {
    let number = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let temporary = directory.join(TEMPORARY.join(&number.to_string()));
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    let file = options.write(true).create_new(true).open(&temporary);
    Ok((file.map_err(|error| format!("no file can be made beside it: {error}"))?, temporary))
}

/// Makes new names outlive a crash, too.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    // The current one has an empty name.
    if cfg!(unix) { File::open(directory.join("."))?.sync_all() } else { Ok(()) }
}

fn write(mut file: File, contents: &[u8], path: &Path) -> Result<(), Box<dyn Error>> {
    file.write_all(contents)?;
    let old = fs::metadata(path)?;
    #[cfg(unix)]
    {
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            let kept = fchown(&file, Some(old.uid()), Some(old.gid()));
            kept.map_err(|error| format!("its owner cannot be kept: {error}"))?;
        }
    }
    file.set_permissions(old.permissions())?;
    Ok(file.sync_all()?)
}
