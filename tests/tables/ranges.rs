//! Tables of several long ranges, of one range for all, and without filters.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use super::made::{TRAILER, table};
use crate::common::random::words;
use crate::common::table::Table;
use crate::common::table::replace::with_filter_block;
use crate::facts::{Facts, TableFilters};
use crate::figures::Figures;
use crate::same_bytes::Choice;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A random half of the numbers below this.
fn half(numbers: u64) -> impl Iterator<Item = u64> {
    (0..numbers).zip(words(1)).filter(|(_, word)| word % 2 == 0).map(|(number, _)| number)
}

#[test]
fn many_long_ranges_and_one_for_all_are_told() {
    let keys: Vec<_> = half(40_000).map(u64::to_be_bytes).collect();
    let long_ranges = FilterBlockBuilder::with_long_ranges;
    for (builder, num_filters, choice) in [
        (long_ranges(POLICY.tuned()), 10, Some(Choice::Tuned(10))),
        (long_ranges(BloomFilterPolicy::new(16).tuned()), 10, Some(Choice::Tuned(16))),
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
        for (today, tuned) in [(today.next, tuned.next), (today.mixed, tuned.mixed)] {
            assert!(today.absent == tuned.absent && today.absent > 9_000, "{today:?}");
            assert!(tuned.passing < tuned.absent / 40, "{tuned:?}");
        }
        assert_eq!(today == tuned, choice == Some(Choice::Tuned(10)), "{choice:?}");
    }
}

#[test]
fn versions_of_a_key_count_once_in_long_ranges_and_in_a_table_without_filters() {
    let twice = |key: u64| [key.to_be_bytes(); 2];
    let keys: Vec<_> = half(6_000).flat_map(twice).collect();
    for (builder, choice) in [
        (FilterBlockBuilder::with_long_ranges(POLICY.tuned()), Choice::Tuned(10)),
        // Here each version counts.
        (FilterBlockBuilder::new(POLICY), Choice::Leveldb(10)),
    ] {
        let facts = Facts::of(&table(&keys, TRAILER, Some(builder))).unwrap();
        let TableFilters::Bloom(filters) = facts.filters else { panic!("no filters") };
        assert_eq!(filters.choices, [choice]);
    }
    // In two data blocks.
    let facts = Facts::of(&table(&[b"key"; 30], TRAILER, None)).unwrap();
    let TableFilters::None(Figures { next, .. }) = facts.filters else { panic!("filters") };
    assert_eq!(next.absent, 1);
}

#[test]
fn absent_keys_count_only_in_ranges_with_a_filter() {
    let keys: Vec<_> = half(200).map(|number| format!("{number:03}")).collect();
    let file = table(&keys, TRAILER, Some(FilterBlockBuilder::new(POLICY)));
    let facts = |file: &[u8]| match Facts::of(file).unwrap().filters {
        TableFilters::Bloom(filters) => (filters.num_filters, filters.figures),
        _ => panic!("no filters"),
    };
    // The same with the filter of the first data block alone.
    let filters = Table::open(&file).unwrap().filters().unwrap().unwrap();
    let reader = FilterBlockReader::new(POLICY, filters.contents);
    let filter = reader.filter(0).unwrap();
    let array_offset = u32::try_from(filter.len()).unwrap().to_le_bytes();
    let block = [filter, &[0; 4], &array_offset, &[reader.base_lg()]].concat();
    let less = with_filter_block(&file, &block).unwrap();
    let (num_all, all) = facts(&file);
    let (num_less, less) = facts(&less);
    assert!(num_all > 4 && num_less == 1, "{num_all} filters, {num_less} filters");
    for (all, less) in all.iter().zip(less) {
        for (all, less) in [(all.next, less.next), (all.mixed, less.mixed)] {
            assert!((1..=20).contains(&less.absent) && all.absent > 30, "{all:?} {less:?}");
        }
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
    let Figures { next, mixed, bytes } = figures(&pairs, b"");
    assert!((74_000..76_000).contains(&bytes), "{bytes}");
    for tested in [next, mixed] {
        let per_mille = 1_000 * tested.passing / tested.absent;
        assert!(tested.absent > 25_000 && (5..20).contains(&per_mille), "{tested:?}");
    }
    // Whole keys would have a next key each, since their last bytes are the same.
    for (trailer, is_trailer) in [
        (b"\x01\xff\xff\xff\xff\xff\xff\0", true),
        (b"\0\0\0\0\0\0\0\0", true),
        (b"\x02\0\0\0\0\0\0\0", false),
        (b"\x01\0\0\0\0\0\0\x01", false),
    ] {
        let absent = if is_trailer { next.absent } else { pairs.len() };
        assert_eq!(figures(&pairs, trailer).next.absent, absent, "{trailer:?}");
    }
}
