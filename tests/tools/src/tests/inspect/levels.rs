//! Databases made by tests.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, InternalKeyPolicy};

use super::manifest::manifest_of_tables;
use super::{Directory, directory_of};
use crate::table::manifest::Contents;
use crate::tests::contents::table_of;

/// Tables of these keys, each with its level.
pub(super) fn database_of_keys(name: &str, tables: Vec<(u8, Vec<Vec<u8>>)>) -> Directory {
    let directory = directory_of(name, &[("CURRENT", b"MANIFEST-000002\n")]);
    let table = |((level, mut keys), number): ((u8, Vec<Vec<u8>>), u64)| {
        keys.sort();
        let [smallest, largest] = [0, keys.len() - 1].map(|i| keys[i].clone());
        for key in &mut keys {
            key.extend([1, 5, 0, 0, 0, 0, 0, 0]);
        }
        let policy = InternalKeyPolicy::new(BloomFilterPolicy::default());
        let keys: Vec<_> = keys.iter().map(|key| &key[..]).collect();
        let file = table_of(policy, &keys, 20);
        fs::write(directory.join(format!("{number:06}.ldb")), &file).unwrap();
        (level, number, Contents { len: file.len() as u64, smallest, largest })
    };
    let tables: Vec<_> = tables.into_iter().zip(10..).map(table).collect();
    fs::write(directory.join("MANIFEST-000002"), manifest_of_tables(&tables)).unwrap();
    directory
}
