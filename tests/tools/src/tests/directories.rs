//! Golden files, and directories that tests write to.

use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;
use std::{env, fs, process};

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy};

use crate::table::block::UNCOMPRESSED;
use crate::table::crc32c::masked_crc32c;
use crate::table::varint::read_varint;
use crate::table::writer::{append_block, append_footer, block, with_filters_in_place};
use crate::table::{Table, manifest};
use crate::tests::manifest::manifest_of_tables;
use crate::tests::noise;

/// Relative to the package's directory, where Cargo runs tests.
pub(crate) fn golden(directory: &str) -> PathBuf {
    Path::new("../golden").join(directory)
}

pub(crate) fn database(name: &str) -> PathBuf {
    golden("databases").join(name)
}

pub(crate) fn fault(name: &str) -> PathBuf {
    golden("faults").join(name)
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn golden_table(file: &str) -> Vec<u8> {
    read(&golden("tables").join(file))
}

/// A directory that no other test or run uses, deleted when dropped.
pub(crate) struct Directory(PathBuf);

impl Deref for Directory {
    type Target = PathBuf;

    fn deref(&self) -> &PathBuf {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.parent().unwrap());
    }
}

pub(crate) fn directory_of(name: &str, files: &[(&str, &[u8])]) -> Directory {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let unique = format!("leveldb-filters-{}-{count}", process::id());
    let directory = env::temp_dir().join(unique).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).unwrap();
    for (file, contents) in files {
        fs::write(directory.join(file), contents).unwrap();
    }
    Directory(directory)
}

/// A copy of a golden database, whose files may be changed.
pub(crate) fn copy_of(database: &Path) -> Directory {
    let directory = directory_of("a copy", &[]);
    for entry in fs::read_dir(database).unwrap() {
        let path = entry.unwrap().path();
        fs::write(directory.join(path.file_name().unwrap()), read(&path)).unwrap();
    }
    directory
}

/// A database's table of `LevelDB`'s blocks, uncompressed, with what a MANIFEST says of it.
fn table_of_database(keys: &[Vec<u8>], value_len: usize) -> (Vec<u8>, manifest::Contents) {
    let internal = |key: &Vec<u8>| [&key[..], &[1, 5, 0, 0, 0, 0, 0, 0]].concat();
    let value = noise(value_len, 27);
    let policy = InternalKeyPolicy::new(BloomFilterPolicy::default());
    let (mut file, mut filters, mut index) =
        (Vec::new(), FilterBlockBuilder::new(policy), Vec::new());
    for keys in keys.chunks(4_096_usize.div_ceil(value_len + 20)) {
        let keys: Vec<_> = keys.iter().map(internal).collect();
        filters.start_block(file.len() as u64);
        for key in &keys {
            filters.add_key(key);
        }
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &value[..])).collect();
        let handle = append_block(&mut file, &block(&entries), UNCOMPRESSED);
        index.push((keys[keys.len() - 1].clone(), handle));
    }
    let filters = append_block(&mut file, &filters.finish(), UNCOMPRESSED);
    let metaindex = block(&[(0, b"filter.leveldb.BuiltinBloomFilter2", &filters)]);
    let metaindex = append_block(&mut file, &metaindex, UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|(key, handle)| (0, &key[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    let [smallest, largest] = [0, keys.len() - 1].map(|i| keys[i].clone());
    let len = file.len() as u64;
    (file, manifest::Contents { len, smallest, largest })
}

/// A database of tables of these keys, each with its level.
pub(crate) fn database_of_keys(value_len: usize, tables: Vec<(u8, Vec<Vec<u8>>)>) -> Directory {
    let directory = directory_of("made", &[("CURRENT", b"MANIFEST-000002\n")]);
    let table = |((level, mut keys), number): ((u8, Vec<Vec<u8>>), u64)| {
        keys.sort();
        let (file, contents) = table_of_database(&keys, value_len);
        fs::write(directory.join(format!("{number:06}.ldb")), &file).unwrap();
        (level, number, contents)
    };
    let tables: Vec<_> = tables.into_iter().zip(10..).map(table).collect();
    fs::write(directory.join("MANIFEST-000002"), manifest_of_tables(&tables)).unwrap();
    directory
}

pub(crate) fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "ldb")
}

/// The contents of a directory's files, and when they were written.
pub(crate) fn files(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of =
        |path: &PathBuf| (fs::read(path).unwrap(), path.metadata().unwrap().modified().unwrap());
    paths.map(|path| (path.clone(), of(&path))).collect()
}

/// The places of an undamaged table's blocks, with their trailers; the footer comes last.
pub(crate) fn blocks(file: &[u8]) -> Vec<Range<usize>> {
    let table = Table::open(file).unwrap();
    let footer = file.len() - 48;
    let mut handles = &file[footer..];
    let [metaindex, _, index, _] = [(); 4].map(|()| read_varint(&mut handles).unwrap());
    let data = table.data_blocks().iter().map(|block| block.offset()..block.end);
    let mut blocks: Vec<_> = data.collect();
    let end_of_data = blocks[blocks.len() - 1].end;
    let (footer, end) = (footer as u64, file.len() as u64);
    blocks.extend([end_of_data..metaindex, metaindex..index, index..footer, footer..end]);
    blocks.retain(|block| !block.is_empty());
    let in_memory = |number: u64| usize::try_from(number).unwrap();
    blocks.into_iter().map(|of| in_memory(of.start)..in_memory(of.end)).collect()
}

pub(crate) fn correct_checksum(block: &mut [u8]) {
    let (summed, checksum) = block.split_last_chunk_mut().unwrap();
    *checksum = masked_crc32c(summed).to_le_bytes();
}

/// A table with its filter block changed, of a policy of this name.
pub(crate) fn with_filters(
    file: &[u8],
    policy_name: &str,
    change: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let table = Table::open(file).unwrap();
    let mut filters = table.filter_block().unwrap().unwrap().into_owned();
    change(&mut filters);
    with_filters_in_place(&table, file, &[policy_name], &filters).unwrap().unwrap()
}
