//! The absent keys that a sample makes up, against those that would have been asked for.

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::levels::database_of_keys;
use super::{Report, answer};
use crate::database::Group;
use crate::survey::Survey;
use crate::survey::inspection::Inspection;
use crate::survey::lookups::Lookups;
use crate::survey::sample::BETWEEN;
use crate::table::Table;
use crate::tests::contents::table_of;
use crate::tests::kinds::KINDS;
use crate::tests::replay::Replay;

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

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// How many of 1,000 lookups read a data block.
fn reads_of(file: &Vec<u8>, keys: &[&[u8]]) -> f64 {
    let table = Table::open(file).unwrap();
    let filters = table.filter_block().unwrap().unwrap();
    let filters = FilterBlockReader::new(BloomFilterPolicy::default(), filters);
    let reads = keys.iter().filter(|key| {
        let blocks = table.data_blocks();
        let block = blocks.get(blocks.partition_point(|block| &block.index_key[..] < **key));
        block.is_some_and(|block| filters.key_may_match(block.offset(), key))
    });
    1_000.0 * number(reads.count()) / number(keys.len())
}

#[test]
fn sampled_absent_keys_match_as_often_as_those_of_real_kinds() {
    for kind in &KINDS {
        let keys = kind.keys(2_000);
        let [present, absent] = keys.each_ref().map(|keys| slices(keys));
        for value_len in [100, 1_000] {
            let file = table_of(BloomFilterPolicy::default(), &present, value_len);
            let lookups = Lookups { total: 1_000, num_tables: 1, ordinal: 0, compares: false };
            let inspection = Inspection::of(&file, lookups, None).unwrap();
            let sampled = 1_000.0 * inspection.reads.unwrap()[BETWEEN];
            let reads = reads_of(&file, &absent);
            let error = (1_000.0 * reads.max(sampled) / number(absent.len())).sqrt();
            assert!(
                (sampled - reads).abs() < 0.25 * reads + 3.0 * error,
                "{}, values of {value_len} bytes: {sampled}, not {reads}",
                kind.name
            );
        }
    }
}

fn slices(keys: &[Vec<u8>]) -> Vec<&[u8]> {
    keys.iter().map(Vec::as_slice).collect()
}
