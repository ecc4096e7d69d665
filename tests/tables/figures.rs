//! Which keys are left out, and which policies are known by their bytes.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{internal_key, table};
use crate::common::random::words;
use crate::common::table::replace::with_filter_block;
use crate::common::table::{Keys, Table};
use crate::figures::leave_out_a_tenth;
use crate::leveldb::Leveldb;
use crate::table::Filters;
use crate::{facts, read_golden};

/// A random half of the numbers below this, as internal keys.
fn half(numbers: u64) -> impl Iterator<Item = Vec<u8>> {
    let half = (0..numbers).zip(words(1)).filter(|(_, word)| word % 2 == 0);
    half.map(|(number, _)| internal_key(number.to_be_bytes()))
}

#[test]
fn another_random_tenth_of_the_keys_of_each_table_is_absent_with_all_versions() {
    let file = table(half(4_000).flat_map(|key| vec![key; 3]), 2_000, None);
    let keys = Keys::of(&Table::open(&file).unwrap()).unwrap();
    let (num_keys, mut words) = (keys.len() / 3, words(1));
    let both = [leave_out_a_tenth(&keys, &mut words), leave_out_a_tenth(&keys, &mut words)];
    assert_ne!(both[0].1, both[1].1);
    for (present, absent) in both {
        let num_absent = num_keys / 10;
        assert_eq!([absent.len(), present.len()], [num_absent, 3 * (num_keys - num_absent)]);
        for &(offset, absent) in &absent {
            let next = present.iter().find(|(_, key)| *key >= absent).unwrap();
            assert!(next.1 != absent && next.0 == offset, "{absent:?}");
        }
        // A hundredth of the pairs: neither every tenth key nor the first tenth.
        let keys: Vec<_> = keys.iter().step_by(3).map(|(_, key)| key).collect();
        let is_absent = |key: &&[u8]| absent.iter().any(|(_, absent)| absent == key);
        let pairs = keys.windows(2).filter(|pair| pair.iter().all(is_absent)).count();
        assert!((num_keys / 200..num_keys / 50).contains(&pairs), "{pairs} of {num_keys}");
    }
    for (num_keys, num_absent) in [(0, 0), (1, 0), (9, 0), (10, 1), (29, 2)] {
        let facts = facts(&table(half(99).take(num_keys), 100, None)).unwrap();
        assert_eq!(facts.figures.num_absent, num_absent, "{num_keys} keys");
    }
}

#[test]
fn bits_per_key_and_ranges_are_known_by_their_bytes() {
    let file = read_golden("databases/sequence/000005.ldb");
    let keys = Keys::of(&Table::open(&file).unwrap()).unwrap();
    let same_bytes = |builder| {
        let file = with_filter_block(&file, &keys.filter_block(builder)).unwrap();
        let filters = facts(&file).unwrap().filters;
        let Filters::Bloom { same_bytes, each_passes: true, .. } = filters else {
            panic!("{filters:?}")
        };
        same_bytes
    };
    for (bits_per_key, base_lg) in [(0, 11), (9, 11), (10, 19), (8, 63)] {
        let leveldb = Leveldb { bits_per_key, base_lg };
        assert_eq!(same_bytes(leveldb.builder()), Some(leveldb));
    }
    let tuned = BloomFilterPolicy::new(10).tuned();
    assert_eq!(same_bytes(FilterBlockBuilder::with_long_ranges(tuned)), None);
}
