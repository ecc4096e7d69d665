//! Tables of several long ranges, of one range for all, and without filters.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{TRAILER, table};
use crate::common::random::words;
use crate::facts::{Facts, Figures, TableFilters};
use crate::same_bytes::Choice;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A random half of the numbers below this.
fn half(numbers: u64) -> impl Iterator<Item = u64> {
    (0..numbers).zip(words(1)).filter(|(_, word)| word % 2 == 0).map(|(number, _)| number)
}

#[test]
fn three_long_ranges_and_more_and_one_for_all_are_told() {
    let keys: Vec<_> = half(40_000).map(u64::to_be_bytes).collect();
    let long_ranges = FilterBlockBuilder::with_long_ranges;
    for (builder, num_filters, choice) in [
        (long_ranges(POLICY.tuned()), 5, Some(Choice::Tuned(10))),
        (long_ranges(BloomFilterPolicy::new(16).tuned()), 5, Some(Choice::Tuned(16))),
        (FilterBlockBuilder::with_base_lg(POLICY, 63), 1, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY, 19), 5, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY.tuned(), 20), 3, None),
    ] {
        let facts = Facts::of(&table(&keys, TRAILER, Some(builder))).unwrap();
        let TableFilters::Bloom(filters) = facts.filters else { panic!("no filters") };
        assert_eq!((filters.num_filters, filters.num_rejected), (num_filters, 0), "{choice:?}");
        assert_eq!(filters.choices, Vec::from_iter(choice));
        // The same keys are absent in both columns, whichever ranges they are in.
        let [today, tuned] = filters.figures;
        assert!(today.absent == tuned.absent && today.absent > 9_000, "{today:?}");
        assert!(tuned.passing < tuned.absent / 40, "{tuned:?}");
        assert_eq!(today == tuned, choice == Some(Choice::Tuned(10)), "{choice:?}");
    }
}

#[test]
fn without_filters_keys_end_in_trailers_only_if_types_and_sequence_numbers_are_likely() {
    let figures = |keys: &[Vec<u8>], trailer: &[u8]| match Facts::of(&table(keys, trailer, None))
        .unwrap()
        .filters
    {
        TableFilters::None(figures) => figures,
        _ => panic!("filters"),
    };
    let pair = |number: u64| [7u64, number].map(u64::to_be_bytes).concat();
    let pairs: Vec<_> = half(120_000).take(60_000).map(pair).collect();
    let Figures { absent: num_absent, passing, bytes } = figures(&pairs, b"");
    assert!((74_000..76_000).contains(&bytes), "{bytes}");
    let per_mille = 1_000 * passing / num_absent;
    assert!(num_absent > 25_000 && (5..20).contains(&per_mille), "{passing} of {num_absent}");
    // Whole keys would have a next key each, since their last bytes are the same.
    for (trailer, is_trailer) in [
        (b"\x01\xff\xff\xff\xff\xff\xff\0", true),
        (b"\0\0\0\0\0\0\0\0", true),
        (b"\x02\0\0\0\0\0\0\0", false),
        (b"\x01\0\0\0\0\0\0\x01", false),
    ] {
        let absent = if is_trailer { num_absent } else { pairs.len() };
        assert_eq!(figures(&pairs, trailer).absent, absent, "{trailer:?}");
    }
}
