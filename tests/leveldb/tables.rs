//! Filter blocks in tables written by LevelDB.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fmt, fs};

use leveldb_filter::{BloomFilterPolicy, FilterPolicy, InternalKeyPolicy};
use proptest::prelude::*;

use super::cases::check;
use crate::common::exchange::{TRAILER_LEN, TempPath, tables};
use crate::common::process::{LevelDb, Request};
use crate::common::random::words;
use crate::common::strategies::{Keys, any_keys, many_keys};
use crate::common::table::Table;

/// Instead of bits per key: no filters.
pub(crate) const NO_POLICY: u32 = u32::MAX;

/// LevelDB's options that shape a table.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) bits_per_key: u32,
    block_size: u32,
    restart_interval: u32,
    snappy: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Values {
    max_len: u64,
    compressible: bool,
    seed: u64,
}

pub(crate) fn any_options() -> BoxedStrategy<Options> {
    let block_size = prop_oneof![1..=1_000_u32, 1_000..=20_000_u32];
    (0..=100_u32, block_size, 1..=64_u32, any::<bool>())
        .prop_map(|(bits_per_key, block_size, restart_interval, snappy)| Options {
            bits_per_key,
            block_size,
            restart_interval,
            snappy,
        })
        .boxed()
}

fn any_values() -> BoxedStrategy<Values> {
    // The longest values fill a data block each, which leaves filters without keys.
    let max_len = prop_oneof![3 => 1..=200_u64, 1 => 1..=8_000_u64];
    (max_len, any::<bool>(), any::<u64>())
        .prop_map(|(max_len, compressible, seed)| Values { max_len, compressible, seed })
        .boxed()
}

/// Keys of a common prefix and a number.
fn numbered_keys(max: u32) -> impl Strategy<Value = Keys> {
    (0..=max).prop_map(|num_keys| {
        Keys((0..num_keys).map(|i| format!("user{i:08}").into_bytes()).collect())
    })
}

impl Options {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .u32(self.bits_per_key)
            .u32(self.block_size)
            .u32(self.restart_interval)
            .u32(self.snappy.into())
    }

    pub(crate) fn policy(&self) -> BloomFilterPolicy {
        BloomFilterPolicy::new(self.bits_per_key as usize)
    }
}

impl Values {
    /// An endless series of values, none of them empty.
    fn iter(self) -> impl Iterator<Item = Vec<u8>> {
        let mut words = words(self.seed);
        std::iter::repeat_with(move || {
            let [len, first] = [(); 2].map(|()| words.next().unwrap_or_default());
            let len = 1 + usize::try_from(len % self.max_len).expect("short");
            if self.compressible {
                first.to_le_bytes().into_iter().cycle().take(len).collect()
            } else {
                words.by_ref().flat_map(u64::to_le_bytes).take(len).collect()
            }
        })
    }
}

fn assert_filters_are_rebuilt(path: &Path, policy: impl FilterPolicy + Copy) -> Vec<Vec<u8>> {
    let file = fs::read(path).unwrap();
    crate::common::assert_filters_are_rebuilt(&Table::open(&file).unwrap(), policy, 11)
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn filter_blocks_of_tables_are_rebuilt_byte_for_byte() {
    let num_compressed = Cell::new(0);
    let keys = prop_oneof![any_keys(500), many_keys(0..=1_500), numbered_keys(1_500)];
    check(300, (any_options(), keys, any_values()), |leveldb, (options, mut keys, values)| {
        keys.0.sort_unstable();
        keys.0.dedup();
        let path = TempPath::new();
        let values: Vec<_> = values.iter().take(keys.0.len()).collect();
        let request = options.add_to(Request::new(b't').string(path.as_bytes()));
        leveldb.ask(&request.strings(&keys.0).strings(&values));
        assert!(
            assert_filters_are_rebuilt(&path.0, options.policy()) == keys.0,
            "the table has other keys"
        );
        let values_len: usize = values.iter().map(Vec::len).sum();
        let is_compressed = fs::metadata(&path.0).unwrap().len() < values_len as u64;
        num_compressed.set(num_compressed.get() + u32::from(is_compressed));
    });
    assert!(num_compressed.get() >= 10, "only {} tables are compressed", num_compressed.get());
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn keys_of_databases_are_found_behind_their_filters() {
    let num_tables = Cell::new(0);
    check(16, (any_options(), any_writes()), |leveldb, (options, writes)| {
        let path = TempPath::new();
        write_database(leveldb, &path, &options, &writes, false);

        let policy = InternalKeyPolicy::new(options.policy());
        let mut found = BTreeSet::new();
        for table in tables(&path.0) {
            num_tables.set(num_tables.get() + 1);
            for mut internal_key in assert_filters_are_rebuilt(&table, policy) {
                internal_key.truncate(internal_key.len() - TRAILER_LEN);
                found.insert(internal_key);
            }
        }
        let last_values: BTreeMap<_, _> = writes.0.into_iter().collect();
        for (key, value) in last_values {
            assert!(value.is_empty() || found.contains(&key), "key {key:02x?} is in no table");
        }
    });
    assert!(num_tables.get() >= 24, "only {} tables", num_tables.get());
}

/// Keys with values, or without a value if the key is deleted.
#[derive(Clone)]
pub(crate) struct Writes(pub(crate) Vec<(Vec<u8>, Vec<u8>)>);

impl fmt::Debug for Writes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} writes", self.0.len())
    }
}

/// Many writes of each key.
pub(crate) fn any_writes() -> BoxedStrategy<Writes> {
    let keys = prop_oneof![many_keys(1..=4_000), numbered_keys(4_000)];
    let values = any_values()
        .prop_map(|values| Values { max_len: values.max_len.clamp(100, 500), ..values });
    (keys, values, 8_000..=16_000_usize)
        .prop_map(|(keys, values, num_writes)| {
            if keys.0.is_empty() {
                return Writes(Vec::new());
            }
            let choices = words(!values.seed).zip(values.iter()).take(num_writes);
            let write = |(choice, value): (u64, Vec<u8>)| {
                let key = &keys.0[usize::try_from(choice >> 40).expect("24 bits") % keys.0.len()];
                (key.clone(), if choice % 8 == 0 { Vec::new() } else { value })
            };
            Writes(choices.map(write).collect())
        })
        .boxed()
}

/// If `compacted`, no key is in two tables, and no deleted key in any.
pub(crate) fn write_database(
    leveldb: &mut LevelDb,
    path: &TempPath,
    options: &Options,
    writes: &Writes,
    compacted: bool,
) {
    let (keys, values): (Vec<_>, Vec<_>) = writes.0.iter().cloned().unzip();
    // The smallest write buffer that LevelDB takes, for many tables and compactions.
    let request = Request::new(b'd').string(path.as_bytes()).u32(compacted.into());
    let request = request.u32(64 << 10).u32(1 << 20);
    leveldb.ask(&options.add_to(request).strings(&keys).strings(&values));
}
