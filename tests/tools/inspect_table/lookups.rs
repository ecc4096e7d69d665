//! The example's estimates, against lookups replayed key by key.

use std::collections::BTreeMap;
use std::path::Path;

use leveldb_filter::{FilterBlockBuilder, InternalKeyPolicy};

use super::{database, read};
use crate::common::database::Group;
use crate::common::inspect_table::what_if::{best, proposals};
use crate::common::reference::{block_key_may_match, extract_user_key};
use crate::common::survey::Survey;
use crate::common::survey::lookups::RANDOM;
use crate::common::survey::sample::{BETWEEN, OWN};
use crate::common::survey::settings::{MIN_KEYS, Setting, Writer};
use crate::common::table::Table;
use crate::common::table::directory::read_manifest;
use crate::common::table::manifest::Contents;
use crate::common::{block_keys, drawn};

/// A database as `Get` sees it.
pub(super) struct Replay {
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
    end: u64,
    keys: Vec<Vec<u8>>,
    index_key: Vec<u8>,
}

impl Replay {
    pub(super) fn of(directory: &Path) -> Self {
        let manifest = read_manifest(directory).unwrap().expect("a MANIFEST");
        let replayed = |((level, number), contents)| {
            let file = read(&directory.join(format!("{number:06}.ldb")));
            let table = Table::open(&file).unwrap();
            let blocks = table.data_blocks().iter().map(|block| ReplayedBlock {
                offset: block.offset(),
                end: block.end,
                keys: block_keys(&table, block).unwrap(),
                index_key: block.index_key.clone(),
            });
            let blocks = blocks.collect();
            let filter_block = table.filter_block().unwrap();
            let filter_block = filter_block.map_or(Vec::new(), |block| block.contents.into_owned());
            // `Get` consults the newest table of level 0 first.
            let place = (level, if level == 0 { u64::MAX - number } else { number });
            (place, ReplayedTable { contents, blocks, filter_block })
        };
        let tables: BTreeMap<_, _> = manifest.tables.into_iter().map(replayed).collect();
        let mut keys = BTreeMap::new();
        for (order, table) in tables.values().enumerate() {
            for key in table.blocks.iter().flat_map(|block| &block.keys) {
                let trailer = u64::from_le_bytes(*key.last_chunk().unwrap());
                let (newest, _) = keys.entry(extract_user_key(key).to_vec()).or_insert((0, order));
                *newest = trailer.max(*newest);
            }
        }
        Self { tables, keys }
    }

    /// Replaces the filters of all tables, by their levels.
    pub(super) fn replace_filters(&mut self, of_level: impl Fn(u32) -> Setting) {
        for ((level, _), table) in &mut self.tables {
            let setting = of_level(*level);
            let min_keys = if setting.writer == Writer::ThisCrate { MIN_KEYS } else { 0 };
            let policy = InternalKeyPolicy::new(setting.policy());
            let builder = FilterBlockBuilder::new(policy).with_base_lg(setting.base_lg);
            let mut builder = builder.with_min_keys(min_keys);
            builder.start_block(0);
            for block in &table.blocks {
                for key in &block.keys {
                    builder.add_key(key);
                }
                builder.start_block(block.end);
            }
            table.filter_block = builder.finish();
        }
    }

    pub(super) fn num_filter_bytes(&self) -> usize {
        self.tables.values().map(|table| table.filter_block.len()).sum()
    }

    /// The data blocks that 1,000 lookups read before the keys are found, if they are.
    fn reads<'a>(&self, keys: impl IntoIterator<Item = &'a Vec<u8>>) -> f64 {
        let (mut num_lookups, mut num_reads) = (0, 0);
        for key in keys {
            num_lookups += 1;
            let num_newer = self.keys.get(key).map_or(usize::MAX, |(_, newer)| *newer);
            let newer = self.tables.values().take(num_newer);
            num_reads += newer.filter(|table| table.must_read(key)).count();
        }
        1_000.0 * f64::from(u32::try_from(num_reads).unwrap()) / f64::from(num_lookups)
    }

    pub(super) fn reads_of_own_keys(&self) -> f64 {
        self.reads(self.keys.keys())
    }

    /// Keys just after live ones.
    pub(super) fn reads_of_longer_keys(&self, num_keys: usize) -> f64 {
        let live = self.keys.iter().filter(|(_, (trailer, _))| trailer & 0xff == 1);
        let live: Vec<_> = live.map(|(key, _)| key).collect();
        let mut number = drawn(27);
        let mut longer = || {
            let live = live[number(live.len())];
            [&live[..], &number(1 << 24).to_le_bytes()[..3]].concat()
        };
        self.reads(&(0..num_keys).map(|_| longer()).collect::<Vec<_>>())
    }

    /// All absent numbers between the first present one and the last.
    pub(super) fn reads_of_counters_between(&self) -> f64 {
        let number = |key: &Vec<u8>| u64::from_be_bytes(key[..].try_into().unwrap());
        let [first, last] = [self.keys.first_key_value(), self.keys.last_key_value()]
            .map(|end| number(end.unwrap().0));
        let keys: Vec<_> = (first..last).map(|number| number.to_be_bytes().to_vec()).collect();
        self.reads(keys.iter().filter(|&key| !self.keys.contains_key(key)))
    }
}

impl ReplayedTable {
    /// Whether a lookup consults the table and its filter matches.
    fn must_read(&self, key: &[u8]) -> bool {
        let Contents { smallest, largest, .. } = &self.contents;
        if key < &smallest[..] || key > &largest[..] {
            return false;
        }
        let place = self.blocks.partition_point(|block| extract_user_key(&block.index_key) < key);
        block_key_may_match(&self.filter_block, self.blocks[place].offset, key)
    }
}

#[test]
fn proposed_filters_read_as_many_blocks_as_claimed() {
    // Few matches vary by chance.
    let assert_about = |claimed: f64, replayed: f64| {
        assert!((claimed - replayed).abs() < 1.0 + 0.15 * replayed, "{claimed}, not {replayed}");
    };
    for name in ["counters", "in_order", "partly_covered", "levels"] {
        let group = Group::of_directory(&database(name)).unwrap();
        let survey = Survey::of(&group, (1_000_000, true), |_| ());
        let mut replay = Replay::of(&database(name));
        let all = proposals(&survey);
        let usual = all.iter().filter(|one| one.setting.bits_per_key == 10).copied();
        for proposal in best(&survey, &all).into_iter().chain(usual) {
            let (setting, claimed) = (proposal.setting, proposal.candidate);
            if setting.block_size > 0 {
                continue;
            }
            replay.replace_filters(|_| setting);
            assert_eq!(claimed.num_bytes, replay.num_filter_bytes(), "{name}, {setting:?}");
            assert_about(claimed.reads[OWN], replay.reads_of_own_keys());
            if name == "counters" {
                assert_about(claimed.reads[BETWEEN], replay.reads_of_counters_between());
            }
            if setting.writer == Writer::ThisCrate {
                assert_about(claimed.reads[RANDOM], replay.reads_of_longer_keys(20_000));
            }
        }
    }
}
