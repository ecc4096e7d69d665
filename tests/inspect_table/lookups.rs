//! What the example reckons, against lookups replayed key by key.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy, bloom_hash};

use super::databases::answer;
use crate::common::reference::{block_key_may_match, extract_user_key};
use crate::common::{block_keys, drawn};
use crate::inspect_table::database::Group;
use crate::inspect_table::levels::{KeySample, sorted_runs};
use crate::inspect_table::survey::Survey;
use crate::inspect_table::table::Inspection;
use crate::inspect_table::what_if::{TUNED_BASE_LG, policies_of_runs};
use crate::table::Table;
use crate::table::manifest::{Contents, Manifest, manifest_name};
use crate::terminal::grouped;
use crate::{Report, database, read};

/// A database as `Get` sees it.
struct Replay {
    tables: Vec<ReplayedTable>,
    live_keys: Vec<Vec<u8>>,
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
    fn of(directory: &Path) -> Self {
        let current = read(&directory.join("CURRENT"));
        let manifest = directory.join(manifest_name(&current).unwrap());
        let manifest = Manifest::read(File::open(manifest).unwrap()).unwrap();
        let mut newest = BTreeMap::new();
        let mut tables = Vec::new();
        for ((_, number), contents) in manifest.tables {
            let file = read(&directory.join(format!("{number:06}.ldb")));
            let table = Table::open(&file).unwrap();
            let blocks = table.data_blocks().iter().map(|block| ReplayedBlock {
                offset: block.offset(),
                end: block.end,
                keys: block_keys(&table, block).unwrap(),
                index_key: block.index_key.clone(),
            });
            let blocks: Vec<_> = blocks.collect();
            for key in blocks.iter().flat_map(|block| &block.keys) {
                let trailer = u64::from_le_bytes(*key.last_chunk().unwrap());
                let newest = newest.entry(extract_user_key(key).to_vec()).or_insert(0);
                *newest = trailer.max(*newest);
            }
            let filter_block = table.filter_block().unwrap().unwrap().contents.into_owned();
            tables.push(ReplayedTable { contents, blocks, filter_block });
        }
        newest.retain(|_, trailer| *trailer & 0xff == 1);
        Self { tables, live_keys: newest.into_keys().collect() }
    }

    /// With other filters for all tables.
    fn with(mut self, policies: &[Option<BloomFilterPolicy>]) -> Self {
        assert_eq!(self.tables.len(), policies.len());
        for (table, &policy) in self.tables.iter_mut().zip(policies) {
            let policy = InternalKeyPolicy::new(policy.unwrap());
            let mut builder = FilterBlockBuilder::with_base_lg(policy, TUNED_BASE_LG);
            builder.start_block(0);
            for block in &table.blocks {
                for key in &block.keys {
                    builder.add_key(key);
                }
                builder.start_block(block.end);
            }
            table.filter_block = builder.finish();
        }
        self
    }

    /// The data blocks that 1,000 lookups of keys right behind live ones read.
    fn reads(&self) -> f64 {
        const NUM_LOOKUPS: u32 = 50_000;
        let mut number = drawn(27);
        let mut num_reads = 0;
        for _ in 0..NUM_LOOKUPS {
            let live = &self.live_keys[number(self.live_keys.len())];
            let key = [&live[..], &number(1 << 24).to_le_bytes()[..3]].concat();
            num_reads += self.tables.iter().filter(|table| table.must_read(&key)).count();
        }
        1_000.0 * f64::from(u32::try_from(num_reads).unwrap()) / f64::from(NUM_LOOKUPS)
    }
}

impl ReplayedTable {
    /// Whether the table is asked, and its filters do not spare the data block.
    fn must_read(&self, key: &[u8]) -> bool {
        let Contents { smallest, largest, .. } = &self.contents;
        if key < &smallest[..] || key > &largest[..] {
            return false;
        }
        let place = self.blocks.partition_point(|block| extract_user_key(&block.index_key) < key);
        block_key_may_match(&self.filter_block, self.blocks[place].offset, key)
    }
}

/// A tenth apart at most.
#[track_caller]
fn assert_near(reckoned: f64, replayed: f64) {
    assert!((0.9..1.1).contains(&(reckoned / replayed)), "{reckoned}, not {replayed}");
}

#[test]
fn reads_of_today_are_those_of_a_replay() {
    for name in ["in_order", "partly_covered", "repaired", "levels"] {
        let (_, reckoned) = answer(&Report::on(&database(name)));
        assert_near(reckoned, Replay::of(&database(name)).reads());
    }
}

#[test]
fn proposed_filters_read_what_is_claimed() {
    let shared = "this crate's filters, with bytes shared by for_runs()";
    for (name, proposal) in [
        ("in_order", "  this crate's filters"),
        ("partly_covered", "  this crate's filters"),
        ("levels", shared),
    ] {
        let group = Group::of_directory(&database(name)).unwrap();
        let survey = Survey::of(&group, 1_000, |_| ());
        let policy_of_budget = |table: &Inspection| {
            Some(table.others.as_ref().unwrap().policy_of_budget(table.num_keys))
        };
        let policies = if proposal == shared {
            policies_of_runs(&survey)
        } else {
            survey.tables.iter().flatten().map(policy_of_budget).collect()
        };
        let replay = Replay::of(&database(name)).with(&policies);
        let report = Report::what_if(&database(name));
        let cells = report.cells_of(proposal);
        assert_near(cells[0].parse().unwrap(), replay.reads());
        let num_bytes: usize = replay.tables.iter().map(|table| table.filter_block.len()).sum();
        assert_eq!(cells[1], grouped(num_bytes));
        let brings_nothing = "for_runs() brings nothing";
        assert_ne!(report.has(brings_nothing), proposal == shared, "{:#?}", report.lines);
    }
}

fn contents(smallest: u64, largest: u64) -> Contents {
    let [smallest, largest] = [smallest, largest].map(|key| key.to_be_bytes().to_vec());
    Contents { len: 0, smallest, largest }
}

#[test]
fn runs_of_level_0_do_not_overlap_and_are_as_few_as_can_be() {
    let mut number = drawn(27);
    for num_tables in (1..60).chain([500]) {
        let tables: Vec<_> = (0..num_tables)
            .map(|_| {
                let (start, len) = (number(1_000) as u64, number(300) as u64);
                contents(start, start + len)
            })
            .collect();
        let sample = KeySample::new(None, &tables.iter().collect::<Vec<_>>()).unwrap();
        let spans: Vec<_> = tables.iter().map(|table| (0, sample.span(table))).collect();
        let runs = sorted_runs(&spans);
        assert_eq!(runs.iter().flatten().count(), tables.len());
        for run in &runs {
            let apart = |pair: &[usize]| spans[pair[0]].1.end <= spans[pair[1]].1.start;
            assert!(run.windows(2).all(apart));
        }
        let depth = |place| spans.iter().filter(|(_, span)| span.contains(&place)).count();
        assert_eq!(runs.len(), (0..=2 * num_tables).map(depth).max().unwrap().max(1));
    }
}

#[test]
fn lookups_are_beside_live_keys_whatever_versions_tables_have() {
    let tables: Vec<_> = (0..10).map(|i| contents(10_000 * i, 10_000 * i + 9_999)).collect();
    let tables: Vec<_> = tables.iter().collect();
    let mut sample = KeySample::new(Some("leveldb.BytewiseComparator"), &tables).unwrap();
    for key in 0..100_000u64 {
        let is_deleted = key < 50_000;
        for (sequence, is_value) in [(6, !is_deleted), (5, is_deleted), (4, true)] {
            let key = key.to_be_bytes();
            sample.add(&key, sequence << 8 | u64::from(is_value), bloom_hash(&key));
        }
    }
    let spans: Vec<_> = tables.iter().map(|table| sample.span(table)).collect();
    let shares = sample.shares(&spans);
    assert_eq!(shares[..5], [0.0; 5]);
    assert!(shares[5..].iter().all(|share| (0.19..0.21).contains(share)), "{shares:?}");
}
