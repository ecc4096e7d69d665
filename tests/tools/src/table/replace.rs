//! Replaces a table's filters so that a crash leaves the old file or the new one, both whole.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::writer::Layout;
use super::{Table, user_key};

/// What stands around our process's number in the names of temporary files. `LevelDB` deletes those
/// with numbers that no table has when it opens a database, and its own do not begin so.
const TEMPORARY: [&str; 2] = ["000000", ".dbtmp"];
const CHANGED: &str = "another program has changed it meanwhile";
const WRONG: &str = "the new file proved wrong, so the old one stays";

/// Tells a file from others in its place, and from itself after a change: its length, when it was
/// modified, device and inode, and when anything of it changed.
pub(crate) type Version = (u64, Option<SystemTime>, [u64; 2], [i64; 2]);

pub(crate) fn version(path: &Path) -> io::Result<Version> {
    let of = fs::symlink_metadata(path)?;
    if of.is_symlink() {
        return Err(io::Error::other("a symbolic link"));
    }
    #[cfg(unix)]
    let (place, changed) = ([of.dev(), of.ino()], [of.ctime(), of.ctime_nsec()]);
    #[cfg(not(unix))]
    let (place, changed) = ([0; 2], [0; 2]);
    Ok((of.len(), of.modified().ok(), place, changed))
}

/// Puts the filter block that `make` makes into a table's file that has this version.
pub(crate) fn put_filters(
    (path, version): (&Path, Version),
    make: impl FnOnce(&Table<'_>) -> io::Result<Vec<u8>>,
) -> Result<(), Box<dyn Error>> {
    let old = fs::read(path)?;
    let table = Table::open(&old)?;
    let new = Layout::of(&table).and_then(|layout| layout.with_filters(&make(&table).ok()?));
    replace((path, version), &new.ok_or(CHANGED)?, |new| check(&old, new))
}

/// Whether the new file has all keys and values where they were, and filters that match each.
pub(crate) fn check(old: &[u8], new: &[u8]) -> Result<(), Box<dyn Error>> {
    let [before, after] = [Table::open(old)?, Table::open(new)?];
    let mut is_right =
        Layout::of(&before).zip(Layout::of(&after)).is_some_and(|(old, new)| old.is_like(&new));
    let filters = after.filters().filter(|filters| !filters.is_damaged).ok_or(WRONG)?;
    let reader = FilterBlockReader::new(BloomFilterPolicy::default(), &filters.contents[..]);
    after.visit(after.data_blocks(), |block, key| {
        is_right &= reader.key_may_match(block.offset(), user_key(key));
    })?;
    if is_right { Ok(()) } else { Err(WRONG.into()) }
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
    let temporary = path.with_file_name(TEMPORARY.join(&process::id().to_string()));
    let file = create(&temporary).map_err(|error| format!("no file can be made there: {error}"))?;
    let replaced = write(file, contents, path)
        .map_err(|error| format!("the new file cannot be written: {error}").into())
        .and_then(|()| check(&fs::read(&temporary)?))
        // Nothing slow may come in between: freeing what was read back takes milliseconds.
        .and_then(|()| {
            let is_same = version(path)? == old;
            Ok(is_same.then(|| fs::rename(&temporary, path)).ok_or(CHANGED)??)
        });
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(0o600);
    options.write(true).create_new(true).open(path)
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

/// What interrupted runs left in the directory; not what a running one has there.
pub(crate) fn left_over(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let is_left_over = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix(TEMPORARY[0]).and_then(|rest| rest.strip_suffix(TEMPORARY[1]));
        let number = name.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        number.is_some_and(|number| !is_running(number))
    };
    paths.filter(|path| path.as_ref().map_or(true, is_left_over)).collect()
}

/// Whether another process has this number, or that cannot be known.
fn is_running(number: &str) -> bool {
    let processes = Path::new("/proc");
    let is_own = number == process::id().to_string();
    !is_own && (!processes.join("self").exists() || processes.join(number).exists())
}

pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
