//! Files are replaced wholly or not at all, and only if LevelDB or these tools laid them out.

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::table::Table;
use crate::table::replace::{self, Filters, NAMES, read};
use crate::table::writer::{
    append_block, append_footer, block, with_filters_appended, with_filters_in_place,
};
use crate::tests::directories::{copy_of, database, directory_of, files, golden_table};

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

const NAME: &[&str] = &["leveldb.BuiltinBloomFilter2"];

/// The two ways to put filters into a table: whether each is possible.
fn is_possible(file: &[u8], filter_block: &[u8]) -> [bool; 2] {
    let table = Table::open(file).unwrap();
    [with_filters_in_place, with_filters_appended].map(|put| {
        let new = put(&table, file, NAME, filter_block).unwrap();
        if let Some(new) = &new {
            let filters = Table::open(new).unwrap().filter_block().unwrap();
            assert_eq!(filters.unwrap(), filter_block);
        }
        new.is_some()
    })
}

#[test]
fn filters_up_to_the_room_of_the_old_ones_fit_in_place() {
    let file = golden_table("db_bloom10.ldb");
    let table = Table::open(&file).unwrap();
    let old = table.filter_block().unwrap().unwrap();
    assert_eq!(table.policy_names(), NAME);
    // The old ones make the same file.
    let same = with_filters_in_place(&table, &file, NAME, &old).unwrap();
    assert_eq!(same.as_ref(), Some(&file));
    let len = old.len();
    for (len, fits) in [(0, true), (len - 1, true), (len, true), (len + 1, false), (2 * len, false)]
    {
        assert_eq!(is_possible(&file, &vec![7; len]), [fits, true], "{len}");
    }
    // A second name takes 4 bytes, and 4 for the place and the length.
    let layout = table.layout().unwrap().unwrap();
    assert!(layout.has_room(&NAMES, len - 8) && !layout.has_room(&NAMES, len - 7));
    // Zeros are room, too.
    let less = with_filters_in_place(&table, &file, NAME, b"less").unwrap().unwrap();
    assert_eq!(is_possible(&less, &old), [true, true]);
    assert_eq!(is_possible(&less, &vec![7; len + 1]), [false, true]);
}

/// A table of a data block, other blocks and an index block, and what lies between them.
pub(super) fn table_of(meta: &[&str], gaps: [&str; 4]) -> Vec<u8> {
    let mut file = Vec::new();
    let data = append_block(&mut file, &block(&[(0, b"key_\x01_______", b"value")]), 0);
    file.extend(gaps[0].bytes());
    let blocks: Vec<_> = meta.iter().map(|_| append_block(&mut file, &[0; 32], 0)).collect();
    file.extend(gaps[1].bytes());
    let names = meta.iter().map(|name| name.as_bytes());
    let entries: Vec<_> = names.zip(&blocks).map(|(name, of)| (0, name, &of[..])).collect();
    let metaindex = append_block(&mut file, &block(&entries), 0);
    file.extend(gaps[2].bytes());
    let index = append_block(&mut file, &block(&[(0, b"key_\x01_______", &data)]), 0);
    file.extend(gaps[3].bytes());
    append_footer(&mut file, &[metaindex, index].concat());
    file
}

#[test]
fn a_table_with_bytes_that_leveldb_does_not_write_is_left() {
    let filters = "filter.leveldb.BuiltinBloomFilter2";
    for (meta, gaps, is_usual) in [
        (&[filters][..], ["", "", "", ""], true),
        (&[filters], ["\0", "\0\0", "\0", ""], true),
        (&[filters], ["x", "", "", ""], false),
        (&[filters], ["", "\0x", "", ""], false),
        (&[filters], ["", "", "x\0", ""], false),
        (&[filters], ["", "", "", "\0"], false),
        // Of other blocks one may be a filter.
        (&[filters, "stats"], ["", "", "", ""], false),
        (&["rocksdb.properties"], ["", "", "", ""], false),
        (&[filters, "filter.other"], ["", "", "", ""], false),
    ] {
        let file = table_of(meta, gaps);
        assert_eq!(is_possible(&file, b"new"), [is_usual; 2], "{meta:?} {gaps:?}");
    }
    // After the first footer there may be filters, and a copy of it.
    let file = golden_table("db_snappy_no_filter.ldb");
    let added = with_filters_appended(&Table::open(&file).unwrap(), &file, NAME, b"filters");
    let added = added.unwrap().unwrap();
    assert_eq!(is_possible(&added, b"new"), [false, true]);
    for damaged in [file.len() - 20, added.len() - 20] {
        let mut file = added.clone();
        file[damaged] ^= 1;
        assert_eq!(is_possible(&file, b"new"), [false, false]);
    }
}
