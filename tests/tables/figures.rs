//! Which keys are left out, and which policies are known by their bytes.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{TRAILER, table};
use crate::common::random::words;
use crate::common::table::replace::with_filter_block;
use crate::common::table::{Keys, Table};
use crate::figures::{Leveldb, halves};
use crate::table::Filters;
use crate::{facts, read_golden};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A random half of the numbers below this.
fn half(numbers: u64) -> Vec<[u8; 8]> {
    let half = (0..numbers).zip(words(1)).filter(|(_, word)| word % 2 == 0);
    half.map(|(number, _)| number.to_be_bytes()).collect()
}

/// What makes the same bytes as the filters of a table, which each entry passes.
fn same_bytes(file: &[u8]) -> Option<Leveldb> {
    match facts(file).unwrap().filters {
        Filters::Bloom { same_bytes, each_passes: true, .. } => same_bytes,
        _ => panic!("no filters that match each entry"),
    }
}

#[test]
fn another_random_half_of_the_keys_of_each_table_is_absent_with_all_versions() {
    let versions: Vec<_> = half(2_000).iter().flat_map(|&key| [key; 3]).collect();
    let file = table(&versions, TRAILER, 100, None);
    let keys = Keys::of(&Table::open(&file).unwrap()).unwrap().into_user_keys();
    let (num_keys, mut words) = (versions.len() / 3, words(1));
    let halves = [halves(&keys, &mut words), halves(&keys, &mut words)];
    assert_ne!(halves[0].1, halves[1].1);
    for (present, absent) in halves {
        assert_eq!([absent.len(), present.len()], [num_keys / 2, num_keys.div_ceil(2) * 3]);
        let is_absent = |key: &[u8]| absent.iter().any(|&(_, absent)| absent == key);
        assert!(present.iter().all(|(_, key)| !is_absent(key)));
        // A quarter of the pairs: neither every second key nor the first half.
        let pairs = versions.windows(4).step_by(3);
        let both = pairs.filter(|keys| is_absent(&keys[0]) && is_absent(&keys[3])).count();
        assert!((num_keys / 5..num_keys / 3).contains(&both), "{both} of {num_keys}");
    }
    for (num_keys, num_absent) in [(0, 0), (1, 0), (2, 1), (3, 1)] {
        let facts = facts(&table(&half(9)[..num_keys], TRAILER, 100, None)).unwrap();
        assert_eq!(facts.figures.num_absent, num_absent, "{num_keys} keys");
    }
}

#[test]
fn absent_keys_meet_filters_where_each_data_block_has_one_key() {
    // LevelDB's filters of one counter match almost all others.
    let figures = facts(&table(&half(400), TRAILER, 4_000, None)).unwrap().figures;
    let [leveldb, tuned] = figures.num_matching;
    assert!(leveldb > figures.num_absent * 9 / 10 && tuned < 5, "{figures:?}");
}

#[test]
fn keys_end_in_trailers_if_most_look_like_it_and_filters_agree() {
    // One user key, if the numbers are trailers.
    let pairs: Vec<_> = half(600).iter().map(|number| [[7; 8], *number].concat()).collect();
    let num_absent = |file: &[u8]| facts(file).unwrap().figures.num_absent;
    assert_eq!(num_absent(&table(&pairs, b"", 100, None)), pairs.len() / 2);
    let whole: Vec<_> = pairs.iter().map(|key| [&key[..], TRAILER].concat()).collect();
    let unlikely = &b"\x01\0\0\0\0\0\0\x01"[..];
    for (keys, trailer) in [(&pairs, TRAILER), (&pairs, unlikely), (&whole, b"")] {
        let file = table(keys, trailer, 100, Some(FilterBlockBuilder::new(POLICY)));
        assert_eq!(num_absent(&file), pairs.len() / 2, "{trailer:?}");
        assert!(same_bytes(&file).is_some(), "{trailer:?}");
    }
}

#[test]
fn bits_per_key_and_ranges_are_known_by_their_bytes() {
    let file = read_golden("databases/sequence/000005.ldb");
    let keys = Keys::of(&Table::open(&file).unwrap()).unwrap().into_user_keys();
    let with = |builder| with_filter_block(&file, &keys.filter_block(builder)).unwrap();
    for (bits_per_key, base_lg) in [(0, 11), (9, 11), (10, 19), (8, 63)] {
        let leveldb = Leveldb { bits_per_key, base_lg };
        assert_eq!(same_bytes(&with(leveldb.builder())), Some(leveldb));
    }
    assert_eq!(same_bytes(&with(FilterBlockBuilder::with_long_ranges(POLICY.tuned()))), None);
}
