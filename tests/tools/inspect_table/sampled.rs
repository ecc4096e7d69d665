//! The absent keys that the example makes up, against those that would have been asked for.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterPolicy};

use super::levels::database_of_keys;
use super::lookups::Replay;
use super::{Report, answer};
use crate::common::database::Group;
use crate::common::kinds::{COUNTERS, DIGITS, IDS, Kind, NAMES, PARTS, RANDOM, STEPS};
use crate::common::noise;
use crate::common::reference::block_key_may_match;
use crate::common::survey::Survey;
use crate::common::survey::inspection::Inspection;
use crate::common::survey::lookups::Lookups;
use crate::common::survey::sample::BETWEEN;
use crate::common::table::writer::{UNCOMPRESSED, append_block, append_footer, block};

#[test]
fn absent_keys_between_equally_distant_ones_are_asked_for() {
    let steps = |num_keys, step: u64| (0..num_keys).map(move |i| step * i);
    let few_absent = (0..8_000).filter(|i| i % 500 != 7);
    for (name, tables) in [
        ("step 2", vec![(2, steps(4_000, 2).collect())]),
        (
            "step 2 below few of 3",
            vec![(0, steps(600, 3).collect()), (2, steps(4_000, 2).collect())],
        ),
        ("step 10", vec![(1, steps(4_000, 10).collect())]),
        ("few absent", vec![(1, few_absent.collect::<Vec<_>>())]),
    ] {
        let key = |number: u64| number.to_be_bytes().to_vec();
        let tables =
            tables.into_iter().map(|(level, of)| (level, of.into_iter().map(key).collect()));
        let directory = database_of_keys(name, tables.collect());
        let replayed = Replay::of(&directory).reads_of_counters_between();
        let answer = answer(&Report::on(&directory));
        let error = (answer.reads[0] - replayed).abs();
        assert!(error < 0.25 * replayed, "{name}: {:?}, not {replayed}", answer.reads);
    }
}

#[test]
fn a_sample_has_fewer_keys_where_they_are_long() {
    let key = |i: u32| [&vec![b'k'; 100_000][..], &(3 * i * i).to_be_bytes()].concat();
    let tables = [0..60, 60..120].map(|numbers| (1, numbers.map(key).collect()));
    let directory = database_of_keys("long_keys", tables.into());
    let group = Group::of_directory(&directory).unwrap();
    let survey = Survey::of(&group, (1_000_000, false), |_| ());
    let sample = survey.sample.unwrap();
    for number in sample.numbers {
        assert!((20..90).contains(&number), "{:?}", sample.numbers);
    }
}

/// A table as `LevelDB` lays it out.
#[derive(Default)]
pub(super) struct WrittenTable {
    pub(super) file: Vec<u8>,
    /// Where each data block starts, and its last key.
    blocks: Vec<(u64, Vec<u8>)>,
    filter_block: Vec<u8>,
}

impl WrittenTable {
    pub(super) fn of(policy: impl FilterPolicy, keys: &[&[u8]], value_len: usize) -> Self {
        let mut table = Self::default();
        let value = noise(value_len, 27);
        let mut filters = FilterBlockBuilder::new(policy);
        let mut handles = Vec::new();
        for keys in keys.chunks(4_096_usize.div_ceil(value_len + 20)) {
            let offset = table.file.len() as u64;
            filters.start_block(offset);
            for key in keys {
                filters.add_key(key);
            }
            let entries: Vec<_> = keys.iter().map(|key| (0, *key, &value[..])).collect();
            handles.push(append_block(&mut table.file, &block(&entries), UNCOMPRESSED));
            table.blocks.push((offset, keys[keys.len() - 1].to_vec()));
        }
        table.filter_block = filters.finish();
        let filters = append_block(&mut table.file, &table.filter_block, UNCOMPRESSED);
        let name = format!("filter.{}", BloomFilterPolicy::NAME);
        let metaindex = block(&[(0, name.as_bytes(), &filters)]);
        let metaindex = append_block(&mut table.file, &metaindex, UNCOMPRESSED);
        let index = table.blocks.iter().zip(&handles).map(|((_, key), at)| (0, &key[..], &at[..]));
        let index = block(&index.collect::<Vec<_>>());
        let index = append_block(&mut table.file, &index, UNCOMPRESSED);
        append_footer(&mut table.file, &[metaindex, index].concat());
        table
    }

    /// How many of 1,000 lookups read a data block.
    fn reads(&self, keys: &[&[u8]]) -> f64 {
        let reads = keys.iter().filter(|key| {
            let place = self.blocks.partition_point(|(_, last)| &last[..] < **key);
            let block = self.blocks.get(place);
            block.is_some_and(|(offset, _)| block_key_may_match(&self.filter_block, *offset, key))
        });
        1_000.0 * number(reads.count()) / number(keys.len())
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

#[test]
fn sampled_absent_keys_match_as_often_as_those_of_real_kinds() {
    let kinds: [&[Kind]; 7] =
        [&COUNTERS[..1], &STEPS, &DIGITS, &IDS, &NAMES, &PARTS[1..2], &RANDOM[..1]];
    for kind in kinds.into_iter().flatten() {
        for value_len in [100, 1_000] {
            let keys = kind.sorted(2_000, 43);
            let of = |is_present| {
                let keys = keys.iter().filter(move |key| key.1 == is_present);
                keys.map(|(key, _)| &key[..]).collect::<Vec<_>>()
            };
            let (present, absent) = (of(true), of(false));
            let table = WrittenTable::of(BloomFilterPolicy::default(), &present, value_len);
            let lookups = Lookups { total: 1_000, num_tables: 1, ordinal: 0, compares: false };
            let inspection = Inspection::of(&table.file, lookups, None).unwrap();
            let sampled = 1_000.0 * inspection.reads.unwrap()[BETWEEN];
            let reads = table.reads(&absent);
            let error = (1_000.0 * reads.max(sampled) / number(absent.len())).sqrt();
            assert!(
                (sampled - reads).abs() < 0.25 * reads + 3.0 * error,
                "{}, values of {value_len} bytes: {sampled}, not {reads}",
                kind.name
            );
        }
    }
}
