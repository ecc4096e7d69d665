//! Tables of several long ranges, and of one range for all, made by the crate's builder.

use std::collections::HashSet;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::absent::next_key;
use crate::common::random::words;
use crate::common::reference;
use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};
use crate::facts::{BloomFilters, Facts, TableFilters};
use crate::same_bytes::Choice;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// Data blocks of a random half of these counters, with values of 100 bytes.
struct Table {
    file: Vec<u8>,
    /// The keys of each block, and its offset.
    blocks: Vec<(u64, Vec<[u8; 8]>)>,
    index: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Table {
    fn of_counters(num_counters: u64) -> Self {
        let counters = (0..num_counters).zip(words(1)).filter(|(_, word)| word % 2 == 0);
        let keys: Vec<_> = counters.map(|(counter, _)| counter.to_be_bytes()).collect();
        let mut table = Self { file: Vec::new(), blocks: Vec::new(), index: Vec::new() };
        for keys in keys.chunks(20) {
            let internal_keys: Vec<_> =
                keys.iter().map(|key| [&key[..], b"\x01\0\0\0\0\0\0\0"].concat()).collect();
            let entries: Vec<_> =
                internal_keys.iter().map(|key| (0, &key[..], &[b'v'; 100][..])).collect();
            table.blocks.push((table.file.len() as u64, keys.to_vec()));
            let handle = append_block(&mut table.file, &block(&entries), UNCOMPRESSED);
            table.index.push((internal_keys.last().expect("keys").clone(), handle));
        }
        table
    }

    fn filter_block(&self, mut builder: FilterBlockBuilder<BloomFilterPolicy>) -> Vec<u8> {
        for (offset, keys) in &self.blocks {
            builder.start_block(*offset);
            for key in keys {
                builder.add_key(key);
            }
        }
        builder.finish()
    }

    fn with_filters(&self, filter_block: &[u8]) -> Vec<u8> {
        let mut file = self.file.clone();
        let filters = append_block(&mut file, filter_block, UNCOMPRESSED);
        let name = format!("filter.{}", BloomFilterPolicy::NAME);
        let metaindex = block(&[(0, name.as_bytes(), &filters)]);
        let metaindex = append_block(&mut file, &metaindex, UNCOMPRESSED);
        let index: Vec<_> =
            self.index.iter().map(|(key, handle)| (0, &key[..], &handle[..])).collect();
        let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
        append_footer(&mut file, &[metaindex, index].concat());
        file
    }

    /// The absent keys of each range of this filter block, and how many match by the oracle.
    fn absent_and_passing(&self, filter_block: &[u8]) -> (usize, usize) {
        let reader = FilterBlockReader::new(POLICY, filter_block);
        let present: HashSet<_> = self.blocks.iter().flat_map(|(_, keys)| keys).collect();
        let (mut absent, mut num_passing) = (HashSet::new(), 0);
        for (offset, keys) in &self.blocks {
            for key in keys {
                let next = next_key(key).expect("a counter");
                let next: [u8; 8] = next.try_into().expect("a counter");
                let range = offset >> reader.base_lg();
                if !present.contains(&next) && absent.insert((range, next)) {
                    let filter = reader.filter(*offset).expect("a filter");
                    num_passing += usize::from(reference::key_may_match(&next, filter));
                }
            }
        }
        (absent.len(), num_passing)
    }
}

fn facts_of(file: &[u8]) -> BloomFilters {
    match Facts::of(file).unwrap().filters {
        TableFilters::Bloom(filters) => filters,
        _ => panic!("no filters"),
    }
}

#[test]
fn three_long_ranges_and_more_and_one_for_all_are_told() {
    // About 120 bytes an entry.
    let table = Table::of_counters(40_000);
    let long_ranges = FilterBlockBuilder::with_long_ranges;
    for (builder, num_filters, choice) in [
        (long_ranges(POLICY.tuned()), 5, Some(Choice::Tuned(10))),
        (long_ranges(BloomFilterPolicy::new(16).tuned()), 5, Some(Choice::Tuned(16))),
        (FilterBlockBuilder::with_base_lg(POLICY, 63), 1, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY, 19), 5, Some(Choice::Leveldb(10))),
        (FilterBlockBuilder::with_base_lg(POLICY.tuned(), 20), 3, None),
    ] {
        let filter_block = table.filter_block(builder);
        let filters = facts_of(&table.with_filters(&filter_block));
        assert_eq!((filters.num_filters, filters.num_rejected), (num_filters, 0), "{choice:?}");
        assert_eq!(filters.choices.first().copied(), choice);
        let [today, _] = filters.figures;
        let expected = table.absent_and_passing(&filter_block);
        assert_eq!((today.absent, today.passing), expected, "{choice:?}");
        assert_eq!(today.bytes, filter_block.len());
    }
}
