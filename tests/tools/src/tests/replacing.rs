//! Files are replaced wholly or not at all, and only if LevelDB laid them out.

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::directories::{copy_of, correct_checksum, database, directory_of, files, golden, read};
use crate::table::Table;
use crate::table::replace::{self, check, put_filters, version};
use crate::table::writer::{Layout, append_block, append_footer, block};

fn replace(
    path: &Path,
    check: impl FnOnce(&[u8]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    replace::replace((path, version(path)?), b"new", check)
}

#[test]
fn a_file_that_another_program_changes_meanwhile_is_left_to_it() {
    let directory = directory_of(&[("000005.ldb", b"old"), ("other", b"own")]);
    let [path, other] = ["000005.ldb", "other"].map(|name| directory.join(name));
    for is_renamed in [false, true].repeat(3) {
        fs::write(&path, b"old").unwrap();
        fs::copy(&path, &other).unwrap();
        let modified = path.metadata().unwrap().modified().unwrap();
        // File systems count time in ticks.
        thread::sleep(Duration::from_millis(20));
        let change = |_: &[u8]| {
            fs::write(&other, b"own")?;
            if is_renamed {
                return Ok(fs::rename(&other, &path)?);
            }
            // The same length, date and inode: only ctime tells.
            fs::write(&path, b"own")?;
            Ok(fs::File::options().write(true).open(&path)?.set_modified(modified)?)
        };
        let error = replace(&path, change).unwrap_err();
        assert!(error.to_string().contains("has changed it meanwhile"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"own");
        assert_eq!(files(&directory).len(), 1 + usize::from(!is_renamed));
    }
    // What is wrong in what is read back prevents it, too.
    let error = replace(&path, |back| Err(format!("{back:?}").into())).unwrap_err();
    assert_eq!(error.to_string(), format!("{:?}", b"new"));
    assert_eq!(fs::read(&path).unwrap(), b"own");
}

#[cfg(unix)]
#[test]
fn owner_and_permissions_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

    for mode in [0o600, 0o644, 0o440, 0o777, 0o4640] {
        let directory = directory_of(&[("000005.ldb", b"old")]);
        let path = directory.join("000005.ldb");
        if chown(&path, Some(1), Some(2)).is_err() {
            eprintln!("skipped: only the superuser may give {mode:o} another owner");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let of_file =
            || path.metadata().map(|of| (of.uid(), of.gid(), of.mode() & 0o7777)).unwrap();
        let before = of_file();
        replace(&path, |_| Ok(())).unwrap();
        assert_eq!((of_file(), before.2, read(&path)), (before, mode, b"new".to_vec()));
    }
}

#[test]
fn filters_that_miss_a_key_or_are_of_another_version_replace_nothing() {
    let directory = copy_of(&database("accounts"));
    let before = files(&directory);
    let of_another_key = |_: &Table<'_>| {
        let mut builder = FilterBlockBuilder::with_base_lg(BloomFilterPolicy::default(), 63);
        builder.add_key(b"another");
        Ok(builder.finish())
    };
    let path = directory.join("000005.ldb");
    let old = version(&path).unwrap();
    let error = put_filters((&path, old), of_another_key).unwrap_err();
    assert!(error.to_string().contains("proved wrong"), "{error}");
    let other = version(&directory.join("CURRENT")).unwrap();
    let same = |table: &Table<'_>| Ok(table.filters().unwrap().contents.into_owned());
    let error = put_filters((&path, other), same).unwrap_err();
    assert!(error.to_string().contains("has changed it meanwhile"), "{error}");
    assert_eq!(files(&directory), before);
}

/// A table of a key, a filter block under these names, and what lies between its blocks.
fn table_of(value: &[u8], meta: &[&str], gaps: [&str; 4]) -> Vec<u8> {
    let mut file = Vec::new();
    let key = b"key\x01\x05\0\0\0\0\0\0";
    let data = append_block(&mut file, &block(&[(0, key, value)]), 0);
    file.extend(gaps[0].bytes());
    let mut builder = FilterBlockBuilder::new(BloomFilterPolicy::default());
    builder.add_key(b"key");
    let filters = append_block(&mut file, &builder.finish(), 0);
    file.extend(gaps[1].bytes());
    let entries: Vec<_> = meta.iter().map(|name| (0, name.as_bytes(), &filters[..])).collect();
    let metaindex = append_block(&mut file, &block(&entries), 0);
    file.extend(gaps[2].bytes());
    let index = append_block(&mut file, &block(&[(0, key, &data)]), 0);
    file.extend(gaps[3].bytes());
    append_footer(&mut file, &[metaindex, index].concat());
    file
}

const FILTERS: &str = "filter.leveldb.BuiltinBloomFilter2";
const OTHERS: &str = "filter.leveldb.BuiltinBloomFilter";

#[test]
fn a_table_with_bytes_that_leveldb_does_not_write_is_left() {
    for (meta, gaps, is_usual) in [
        (&[FILTERS][..], ["", "", "", ""], true),
        (&[FILTERS], ["\0", "\0\0", "\0", ""], true),
        (&[FILTERS], ["x", "", "", ""], false),
        (&[FILTERS], ["", "\0x", "", ""], false),
        (&[FILTERS], ["", "", "x\0", ""], false),
        (&[FILTERS], ["", "", "", "\0"], false),
        (&[FILTERS, "stats"], ["", "", "", ""], false),
        (&["rocksdb.properties"], ["", "", "", ""], false),
        (&[OTHERS, FILTERS], ["", "", "", ""], false),
    ] {
        let file = table_of(b"value", meta, gaps);
        let table = Table::open(&file).unwrap();
        assert_eq!(Layout::of(&table).is_some(), is_usual, "{meta:?} {gaps:?}");
    }
}

#[test]
fn a_new_file_with_another_name_length_value_or_index_is_refused() {
    let old = table_of(b"value", &[FILTERS], ["", "\0", "", ""]);
    check(&old, &old).unwrap();
    let mut of_other_index = old.clone();
    // A byte of the index block's key, which need not be that of an entry.
    let place = old.len() - 48 - 5 - 8 - 2 - 8 - 1;
    of_other_index[place] += 1;
    correct_checksum(&mut of_other_index[old.len() - 48 - 29..old.len() - 48]);
    for (what, new) in [
        ("value", table_of(b"other", &[FILTERS], ["", "\0", "", ""])),
        ("name", table_of(b"value", &[OTHERS], ["", "\0\0", "", ""])),
        ("length", table_of(b"value", &[FILTERS], ["", "\0\0", "", ""])),
        ("filters", table_of(b"value", &[], [""; 4])),
        ("index", of_other_index),
    ] {
        let error = check(&old, &new).unwrap_err().to_string();
        assert!(error.contains("proved wrong"), "{what}: {error}");
    }
}

#[test]
fn filters_up_to_the_room_of_the_old_ones_fit() {
    let file = read(&golden("tables/db_bloom10.ldb"));
    let table = Table::open(&file).unwrap();
    let old = table.filters().unwrap().contents;
    let layout = Layout::of(&table).unwrap();
    // The old ones make the same file, also from a shorter one: zeros are room.
    let less = layout.with_filters(b"less").unwrap();
    let of_less = Table::open(&less).unwrap();
    for layout in [layout, Layout::of(&of_less).unwrap()] {
        assert_eq!(layout.with_filters(&old).as_ref(), Some(&file));
        assert!(layout.with_filters(&vec![7; old.len() + 1]).is_none());
    }
}
