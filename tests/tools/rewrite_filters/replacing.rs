//! Files are replaced wholly or not at all.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::files;
use crate::common::table::Table;
use crate::common::table::replace::{Filters, TEMPORARY, replace};
use crate::tools::inspect_table::{copy_of, directory_of};

#[test]
fn a_file_is_replaced_only_by_what_was_read_back_and_checked() {
    let directory = directory_of("replaced", &[("000005.ldb", b"old")]);
    let path = directory.join("000005.ldb");
    let before = files(&directory);
    let refused = replace(&path, b"new", |read_back| {
        assert_eq!((read_back, &fs::read(&path).unwrap()[..]), (&b"new"[..], &b"old"[..]));
        Err("wrong".into())
    });
    assert_eq!(refused.unwrap_err().to_string(), "wrong");
    assert_eq!(files(&directory), before);
    replace(&path, b"new", |_| Ok(())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(files(&directory).len(), 1);
}

#[test]
fn a_temporary_file_of_another_run_is_never_deleted() {
    let directory = directory_of("left_over", &[("000005.ldb", b"old"), (TEMPORARY, b"other's")]);
    let before = files(&directory);
    let error = replace(&directory.join("000005.ldb"), b"new", |_| Ok(())).unwrap_err();
    assert!(error.to_string().starts_with("000000.dbtmp is there already"), "{error}");
    assert_eq!(files(&directory), before);
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
        replace(&path, b"new", |_| Ok(())).unwrap();
        assert_eq!(of_file(), before);
        assert_ne!(path.metadata().unwrap().ino(), inode);
    }
}

#[test]
fn filters_that_miss_a_key_replace_nothing() {
    let directory = copy_of("accounts", "wrong_filters");
    let before = files(&directory);
    for is_appended in [false, true] {
        let policy_name = BloomFilterPolicy::NAME.into();
        let filters = Filters { policy_name, is_appended, trailer_len: 8 };
        let of_another_key = |_: &Table<'_>| {
            let mut builder =
                FilterBlockBuilder::new(BloomFilterPolicy::default()).with_base_lg(63);
            builder.add_key(b"another");
            Ok(builder.finish())
        };
        let error = filters.put(&directory.join("000005.ldb"), of_another_key).unwrap_err();
        assert!(error.to_string().contains("proved wrong"), "{error}");
        assert_eq!(files(&directory), before);
    }
}
