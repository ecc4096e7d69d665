//! Lookups in a database, replayed key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::directories::read;
use crate::database::Database;
use crate::survey::sample::one_step_on;
use crate::table::{Table, has_value, user_key};

/// Tables as `Get` asks them.
pub(super) struct Replay(Vec<ReplayedTable>);

struct ReplayedTable {
    range: [Vec<u8>; 2],
    file: Vec<u8>,
    /// Each key with whether its newest entry has a value.
    keys: BTreeMap<Vec<u8>, bool>,
}

impl Replay {
    pub(super) fn of(directory: &Path) -> Self {
        let listed = Database::open(directory).unwrap().tables;
        let num_in_level_0 = listed.iter().filter(|table| table.level == 0).count();
        let replayed = listed.into_iter().map(|listed| {
            let (file, mut keys) = (read(&listed.path), BTreeMap::new());
            let table = Table::open(&file).unwrap();
            let add = |_: &_, key: &[u8]| {
                keys.entry(user_key(key).to_vec()).or_insert(has_value(key));
            };
            table.visit(table.data_blocks(), add).unwrap();
            let range = [listed.contents.smallest, listed.contents.largest];
            ReplayedTable { range, file, keys }
        });
        let mut tables: Vec<_> = replayed.collect();
        tables[..num_in_level_0].reverse();
        Self(tables)
    }

    fn exists(&self, key: &[u8]) -> bool {
        self.0.iter().find_map(|table| table.keys.get(key)).is_some_and(|&has_value| has_value)
    }

    /// The keys one step behind existing ones that do not exist, and all that do.
    pub(super) fn keys(&self) -> [Vec<Vec<u8>>; 2] {
        let all: BTreeSet<_> = self.0.iter().flat_map(|table| table.keys.keys()).collect();
        let existing: Vec<_> = all.into_iter().filter(|key| self.exists(key)).cloned().collect();
        let next: BTreeSet<_> = existing.iter().filter_map(|key| one_step_on(key)).collect();
        [next.into_iter().filter(|key| !self.exists(key)).collect(), existing]
    }

    /// How many data blocks lookups of these keys read of tables that lack them.
    pub(super) fn reads(&self, keys: &[Vec<u8>]) -> u64 {
        let tables = self.0.iter().map(|of| (of, Table::open(&of.file).unwrap()));
        let tables: Vec<_> = tables.collect();
        let reads = |key: &Vec<u8>| {
            let lacking = tables.iter().take_while(|(of, _)| !of.keys.contains_key(key));
            let asked = lacking.filter(|(of, _)| (&of.range[0]..=&of.range[1]).contains(&key));
            let is_read = |(_, table): &&(&ReplayedTable, Table<'_>)| {
                let block = &table.data_blocks()[table.place_of(key).unwrap()];
                let filters = table.filters().map(|filters| filters.contents).unwrap_or_default();
                FilterBlockReader::new(BloomFilterPolicy::default(), filters)
                    .key_may_match(block.offset(), key)
            };
            asked.filter(is_read).count() as u64
        };
        keys.iter().map(reads).sum()
    }

    /// The same for 1,000 lookups of each kind.
    pub(super) fn reads_of_1000(&self) -> [f64; 2] {
        self.keys().map(|keys| {
            let [number, reads] = [keys.len().max(1) as u64, self.reads(&keys)]
                .map(|number| f64::from(u32::try_from(number).unwrap()));
            1_000.0 * reads / number
        })
    }
}
