//! Tables of several long ranges, and of one range for all, made by the crate's builder.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::random::words;
use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};
use crate::facts::{Facts, TableFilters};
use crate::same_bytes::Choice;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A table of a random half of these counters, in data blocks of 20, with values of 100 bytes.
fn table_of(num_counters: u64, mut builder: FilterBlockBuilder<BloomFilterPolicy>) -> Vec<u8> {
    let counters = (0..num_counters).zip(words(1)).filter(|(_, word)| word % 2 == 0);
    let keys: Vec<_> = counters.map(|(counter, _)| counter.to_be_bytes()).collect();
    let (mut file, mut index) = (Vec::new(), Vec::new());
    for keys in keys.chunks(20) {
        builder.start_block(file.len() as u64);
        let internal_key = |key: &[u8; 8]| {
            builder.add_key(key);
            [&key[..], b"\x01\0\0\0\0\0\0\0"].concat()
        };
        let keys: Vec<_> = keys.iter().map(internal_key).collect();
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &[b'v'; 100][..])).collect();
        index.push(append_block(&mut file, &block(&entries), UNCOMPRESSED));
    }
    let filters = append_block(&mut file, &builder.finish(), UNCOMPRESSED);
    let name = format!("filter.{}", BloomFilterPolicy::NAME);
    let metaindex = block(&[(0, name.as_bytes(), &filters)]);
    let metaindex = append_block(&mut file, &metaindex, UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|handle| (0, &b"key"[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}

#[test]
fn three_long_ranges_and_more_and_one_for_all_are_told() {
    let long_ranges = FilterBlockBuilder::with_long_ranges;
    for (builder, num_filters, choice) in [
        (long_ranges(POLICY.tuned()), 5, Some(Choice::Tuned(10))),
        (long_ranges(BloomFilterPolicy::new(16).tuned()), 5, Some(Choice::Tuned(16))),
        (FilterBlockBuilder::with_base_lg(POLICY, 63), 1, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY, 19), 5, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY.tuned(), 20), 3, None),
    ] {
        let facts = Facts::of(&table_of(40_000, builder)).unwrap();
        let TableFilters::Bloom(filters) = facts.filters else { panic!("no filters") };
        assert_eq!((filters.num_filters, filters.num_rejected), (num_filters, 0), "{choice:?}");
        assert_eq!(filters.choices.first().copied(), choice);
        // The same keys are absent in both columns, whichever ranges they are in.
        let [today, tuned] = filters.figures;
        assert!(today.absent == tuned.absent && today.absent > 9_000, "{today:?}");
        assert!(tuned.passing < tuned.absent / 40, "{tuned:?}");
        assert_eq!(today == tuned, choice == Some(Choice::Tuned(10)), "{choice:?}");
    }
}
