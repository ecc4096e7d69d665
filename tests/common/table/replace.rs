//! Replaces the filters of a table's file so that a crash leaves the old file or the new one, both
//! whole.

use std::error::Error;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::time::SystemTime;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::Table;
use super::writer::{has_data_of, with_filters_appended, with_filters_in_place};

/// `LevelDB` deletes temporary files with numbers that no table has when it opens a database.
pub(crate) const TEMPORARY: &str = "000000.dbtmp";
const LEFT_OVER: &str = "000000.dbtmp is there already, from an interrupted run or another one: \
    delete it when none is running";

const LINK: &str = "a symbolic link: name the directory that it leads to";
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

/// Tells a file from others that took its place, and from itself after a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Version {
    len: u64,
    modified: Option<SystemTime>,
    /// Device and inode, and when anything of it changed.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

impl From<Metadata> for Version {
    fn from(file: Metadata) -> Self {
        Self {
            len: file.len(),
            modified: file.modified().ok(),
            #[cfg(unix)]
            inode: (file.dev(), file.ino(), file.ctime(), file.ctime_nsec()),
        }
    }
}

/// The bytes of a table's file that may be replaced as long as it has this version.
pub(crate) fn read(path: &Path) -> Result<(Vec<u8>, Version), Box<dyn Error>> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(LINK.into());
    }
    Ok((fs::read(path)?, metadata.into()))
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
            && filters.policy_names == self.policy_names
            && (self.is_appended || new.len() == old.len());
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters.contents[..]);
        for block in table.data_blocks() {
            table.visit_keys(block, |key| {
                let user_key = &key[..key.len().saturating_sub(self.trailer_len)];
                is_right &= reader.key_may_match(block.offset(), user_key);
            })?;
        }
        if is_right { Ok(()) } else { Err(WRONG.into()) }
    }
}

/// Writes the contents beside the file, syncs them, reads them back to check them, and renames, if
/// nobody has changed the file meanwhile.
///
/// Owner and permission bits stay. After an error the file is as before and nothing is left behind.
pub(crate) fn replace(
    (path, version): (&Path, Version),
    contents: &[u8],
    check: impl FnOnce(&[u8]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let temporary = path.with_file_name(TEMPORARY);
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    let file = options.write(true).create_new(true).open(&temporary);
    let file = file.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => LEFT_OVER.into(),
        _ => format!("{TEMPORARY} cannot be created: {error}"),
    })?;
    let replaced = write(file, contents, path)
        .map_err(|error| format!("{TEMPORARY} cannot be written: {error}").into())
        .and_then(|()| check(&fs::read(&temporary)?))
        // Nothing slow may come in between: freeing what was read back takes milliseconds.
        .and_then(|()| {
            let is_same = Version::from(fs::symlink_metadata(path)?) == version;
            if is_same { Ok(fs::rename(&temporary, path)?) } else { Err(CHANGED.into()) }
        });
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced
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
