//! The example's estimates, against lookups replayed key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use leveldb_filter::{FilterBlockBuilder, InternalKeyPolicy};

use super::{Report, answer, assert_near, database, read};
use crate::common::database::Group;
use crate::common::database::ranges::Ranges;
use crate::common::inspect_table::what_if::{best, proposals};
use crate::common::reference::{block_key_may_match, extract_user_key};
use crate::common::survey::Survey;
use crate::common::survey::lookups::RANDOM;
use crate::common::survey::neighbours::{Neighbours, counted_as_seen, counted_by_bytes, in_gaps};
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
            let builder = FilterBlockBuilder::with_base_lg(policy, setting.base_lg);
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
    fn reads_of_counters_between(&self) -> f64 {
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
fn todays_reads_match_a_replay() {
    for name in
        ["in_order", "partly_covered", "repaired", "levels", "counters", "posts", "object_ids"]
    {
        let [between, own, at_random] = answer(Report::on_golden(name)).reads;
        let replay = Replay::of(&database(name));
        assert_near(at_random, replay.reads_of_longer_keys(50_000));
        assert_near(own + 1.0, replay.reads_of_own_keys() + 1.0);
        if name == "counters" {
            assert_near(between, replay.reads_of_counters_between());
        }
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

fn contents(smallest: u64, largest: u64) -> Contents {
    let [smallest, largest] = [smallest, largest].map(|key| key.to_be_bytes().to_vec());
    Contents { len: 0, smallest, largest }
}

#[test]
fn runs_of_level_0_do_not_overlap_and_are_as_few_as_possible() {
    let mut number = drawn(27);
    for num_tables in (1..60).chain([500]) {
        let tables: Vec<_> = (0..num_tables)
            .map(|_| {
                let (start, len) = (number(1_000) as u64, number(300) as u64);
                contents(start, start + len)
            })
            .collect();
        let ranges = Ranges::new(None, tables.iter().map(|table| (0, table)).collect()).unwrap();
        let spans = ranges.spans();
        let runs = ranges.sorted_runs();
        assert_eq!(runs.iter().flatten().count(), tables.len());
        for run in &runs {
            let apart = |pair: &[usize]| spans[pair[0]].end <= spans[pair[1]].start;
            assert!(run.windows(2).all(apart));
        }
        let depth = |place| spans.iter().filter(|span| span.contains(&place)).count();
        assert_eq!(runs.len(), (0..=2 * num_tables).map(depth).max().unwrap().max(1));
    }
}

#[test]
fn absent_keys_are_as_near_to_present_ones_as_these_to_each_other() {
    // Bursts of four numbers, 3 apart, with wide gaps between them.
    let number = |i: u64| (i / 4 * 0x0005_0000 + i % 4 * 3).to_be_bytes();
    let keys: Vec<_> = (0..4_000).map(number).collect();
    let neighbours: Vec<Neighbours<'_>> =
        keys.windows(2).map(|pair| (&pair[0][..], Some(&pair[1][..]))).collect();
    let between = in_gaps(&neighbours, 4_000);
    let is_in_burst =
        |key: &&Vec<u8>| (u64::from_be_bytes(key[..].try_into().unwrap()) + 3) % 0x10000 < 16;
    let num_in_burst = between.iter().filter(is_in_burst).count();
    assert!(between.len() > 2_000 && 10 * num_in_burst > 8 * between.len(), "{num_in_burst}");
}

#[test]
fn absent_keys_of_bursts_lie_inside_and_at_their_ends_like_those_that_were_made() {
    let mut number = drawn(43);
    // Each eight numbers have the same time before them, and a random half is present.
    let made: Vec<_> = (0..8_000).map(|i: u64| (((i / 8) << 24) | i, number(2) == 0)).collect();
    let present: Vec<_> = made.iter().filter(|made| made.1).map(|made| made.0).collect();
    let keys: Vec<_> = present.iter().map(|number| number.to_be_bytes()).collect();
    let neighbours: Vec<Neighbours<'_>> =
        keys.windows(2).map(|pair| (&pair[0][..], Some(&pair[1][..]))).collect();
    let between = in_gaps(&neighbours, 20_000);
    let between = between.iter().map(|key| u64::from_be_bytes(key[..].try_into().unwrap()));
    let absent = made.iter().filter(|made| !made.1).map(|made| made.0);
    // How many have no present number of their burst, on one side, and on both sides, next to them
    // and farther away.
    let shares = |absent: Vec<u64>| {
        let mut nums = [0.0; 4];
        for &number in &absent {
            let place = present.partition_point(|&one| one < number);
            let is_near = |other: Option<&u64>| other.is_some_and(|&one| one.abs_diff(number) < 8);
            let sides = [place.checked_sub(1), Some(place)]
                .map(|i| is_near(i.and_then(|i| present.get(i))));
            let is_next = [number - 1, number + 1].map(|one| present.binary_search(&one).is_ok());
            let kind = match sides {
                [true, true] if is_next == [true, true] => 3,
                [true, true] => 2,
                [false, false] => 0,
                _ => 1,
            };
            nums[kind] += 1.0 / f64::from(u32::try_from(absent.len()).unwrap());
        }
        nums
    };
    let [sampled, made] = [shares(between.collect()), shares(absent.collect())];
    for (sampled_share, share) in sampled.iter().zip(made) {
        assert!((sampled_share - share).abs() < 0.04, "{sampled:?}, not {made:?}");
    }
}

#[test]
fn keys_are_counted_by_the_bytes_seen_at_each_position_or_by_all() {
    let distinct = |keys: Vec<_>| keys.into_iter().collect::<BTreeSet<Vec<u8>>>();
    let keys = [b"n:08x", b"n:19x", b"n:47x"].map(|key| (&key[..], None));
    let next = [b"n:09x", b"n:17x", b"n:18x", b"n:19x"].map(|key| key.to_vec());
    assert_eq!(distinct(counted_as_seen(&keys, 100)), next.into());
    let keys: [Neighbours<'_>; 2] = [(&[7, 255, 254], None), (&[8, 0, 1], None)];
    assert_eq!(distinct(counted_by_bytes(&keys, 100)), [vec![7, 255, 255], vec![8, 0, 0]].into());
}
