//! Files are replaced wholly or not at all.

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::table::Table;
use crate::table::replace::{self, Filters, NAMES, read};
use crate::tests::directories::{copy_of, database, directory_of, files};

fn replace(
    path: &Path,
    check: impl FnOnce(&[u8]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    replace::replace((path, read(path).unwrap().1), b"new", check)
}

#[test]
fn a_file_that_another_program_changes_meanwhile_is_left_to_it() {
    let directory = directory_of("changed", &[("000005.ldb", b"old"), ("other", b"own")]);
    let [path, other] = ["000005.ldb", "other"].map(|name| directory.join(name));
    for is_renamed in [false, true].repeat(10) {
        fs::write(&path, b"old").unwrap();
        fs::copy(&path, &other).unwrap();
        // File systems count time in ticks.
        thread::sleep(Duration::from_millis(20));
        let change = |_: &[u8]| {
            fs::write(&other, b"own")?;
            let renamed = is_renamed.then(|| fs::rename(&other, &path));
            Ok(renamed.unwrap_or_else(|| fs::write(&path, b"own"))?)
        };
        let error = replace(&path, change).unwrap_err();
        assert!(error.to_string().contains("it has changed meanwhile"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"own");
        assert_eq!(files(&directory).len(), 1 + usize::from(!is_renamed));
    }
}

#[cfg(unix)]
#[test]
fn owner_and_permissions_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    for mode in [0o600, 0o644, 0o440, 0o777, 0o4640] {
        let directory = directory_of("permissions", &[("000005.ldb", b"old")]);
        let path = directory.join("000005.ldb");
        if chown(&path, Some(1), Some(2)).is_err() {
            eprintln!("skipped: only the superuser may give {mode:o} another owner");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let of_file = || {
            let metadata = path.metadata().unwrap();
            (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
        };
        let (before, inode) = (of_file(), path.metadata().unwrap().ino());
        assert_eq!(before.2, mode);
        replace(&path, |_| Ok(())).unwrap();
        assert_eq!(of_file(), before);
        assert_ne!(path.metadata().unwrap().ino(), inode);
    }
}

#[test]
fn filters_that_miss_a_key_replace_nothing() {
    let directory = copy_of(&database("accounts"));
    let before = files(&directory);
    for is_appended in [false, true] {
        let filters = Filters { policy_names: &NAMES, is_appended, trailer_len: 8 };
        let of_another_key = |_: &Table<'_>| {
            let mut builder = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::default(), 63);
            builder.add_key(b"another");
            Ok(builder.finish())
        };
        let error = filters.put(&directory.join("000005.ldb"), of_another_key).unwrap_err();
        assert!(error.to_string().contains("proved wrong"), "{error}");
        assert_eq!(files(&directory), before);
    }
}
