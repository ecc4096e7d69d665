//! Lookups in a database, replayed key by key.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

// Of the tools, or of the crate's tests, which use this file, too.
use super::table::directory::read_manifest;
use super::table::manifest::Contents;
use super::table::{DataBlock, Table};

/// After an internal key's user key: its sequence number and type.
const TRAILER_LEN: usize = 8;

/// A database as `Get` sees it.
pub(crate) struct Replay {
    /// By level and number, in `Get`'s order.
    tables: BTreeMap<(u32, u64), ReplayedTable>,
    /// Each with its newest trailer, and with how many tables `Get` may ask before it finds it.
    keys: BTreeMap<Vec<u8>, (u64, usize)>,
}

struct ReplayedTable {
    contents: Contents,
    blocks: Vec<ReplayedBlock>,
    filter_block: Vec<u8>,
}

struct ReplayedBlock {
    offset: u64,
    keys: Vec<Vec<u8>>,
    index_key: Vec<u8>,
}

impl Replay {
    pub(crate) fn of(directory: &Path) -> Self {
        let manifest = read_manifest(directory).unwrap().expect("a MANIFEST");
        let replayed = |((level, number), contents)| {
            let file = fs::read(directory.join(format!("{number:06}.ldb"))).unwrap();
            let table = Table::open(&file).unwrap();
            let blocks = table.data_blocks().iter().map(|block| ReplayedBlock {
                offset: block.offset(),
                keys: keys_of(&table, block),
                index_key: block.index_key.clone(),
            });
            let blocks = blocks.collect();
            let filter_block = table.filter_block().unwrap().unwrap_or_default().into_owned();
            // `Get` consults the newest table of level 0 first.
            let place = (level, if level == 0 { u64::MAX - number } else { number });
            (place, ReplayedTable { contents, blocks, filter_block })
        };
        let tables: BTreeMap<_, _> = manifest.tables.into_iter().map(replayed).collect();
        let mut keys = BTreeMap::new();
        for (order, table) in tables.values().enumerate() {
            for key in table.blocks.iter().flat_map(|block| &block.keys) {
                let trailer = u64::from_le_bytes(*key.last_chunk().unwrap());
                let (newest, _) = keys.entry(user_key(key).to_vec()).or_insert((0, order));
                *newest = trailer.max(*newest);
            }
        }
        Self { tables, keys }
    }

    /// How many tables lookups consult before the keys are found, if they are, and of how many they
    /// read a data block.
    pub(crate) fn count<'a>(&self, keys: impl IntoIterator<Item = &'a Vec<u8>>) -> (u64, u64) {
        let (mut num_consulted, mut num_reads) = (0, 0);
        for key in keys {
            let num_newer = self.keys.get(key).map_or(usize::MAX, |(_, newer)| *newer);
            let newer = self.tables.values().take(num_newer);
            for must_read in newer.filter_map(|table| table.must_read(key)) {
                num_consulted += 1;
                num_reads += u64::from(must_read);
            }
        }
        (num_consulted, num_reads)
    }

    /// The data blocks that 1,000 lookups read.
    pub(crate) fn reads<'a>(&self, keys: impl ExactSizeIterator<Item = &'a Vec<u8>>) -> f64 {
        let [num_keys, num_reads] = [keys.len() as u64, self.count(keys).1]
            .map(|number| f64::from(u32::try_from(number).unwrap()));
        1_000.0 * num_reads / num_keys
    }
}

impl ReplayedTable {
    /// Whether the filter matches; `None` if a lookup does not consult the table.
    fn must_read(&self, key: &[u8]) -> Option<bool> {
        let Contents { smallest, largest, .. } = &self.contents;
        if key < &smallest[..] || key > &largest[..] {
            return None;
        }
        let place = self.blocks.partition_point(|block| user_key(&block.index_key) < key);
        let filters = FilterBlockReader::new(BloomFilterPolicy::default(), &self.filter_block);
        Some(filters.key_may_match(self.blocks[place].offset, key))
    }
}

fn keys_of(table: &Table<'_>, block: &DataBlock) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let budget = &mut table.key_budget();
    table.visit_keys_of(budget, block, |key| keys.push(key.to_vec())).unwrap();
    keys
}

fn user_key(internal_key: &[u8]) -> &[u8] {
    &internal_key[..internal_key.len() - TRAILER_LEN]
}
