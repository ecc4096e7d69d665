//! An engine's filters, and every way to look up in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::ops::RangeInclusive;

use leveldb_filter::{AtomicBloomFilter, FilterBlockBuilder, FilterBlockReader, FilterKey};

use super::{Engine, Entries, InternalKey, MAX_USER_KEYS, PREFIX_LEN, Policy};
use crate::common::of_any_magnitude;
use crate::common::strategies::DataBlocks;
use crate::format::block_builder::add;

pub(super) struct Table {
    entries: Entries,
    /// The offset of each data block, by its last key.
    index: BTreeMap<InternalKey, u64>,
    filters: FilterBlockReader<Policy>,
}

struct Lookup {
    /// From the key to its oldest version, or to the last key that has its prefix.
    range: RangeInclusive<InternalKey>,
    /// What filters are asked for, and the policy that makes it a `FilterKey`.
    user_key: Vec<u8>,
    made_by: Policy,
}

impl Engine {
    /// Writes the memtable as a table, perhaps after writing it has failed halfway.
    pub(super) fn flush(&mut self) {
        let range = 1 << self.base_lg.unwrap_or(16).min(24);
        let max_len = of_any_magnitude(4 * range, &mut self.below);
        let max_entries = of_any_magnitude(300, &mut self.below);
        let (mut index, mut blocks, mut offset) = (BTreeMap::new(), DataBlocks::new(), 0);
        let entries = mem::take(&mut self.memtable);
        let mut rest = &entries.clone().into_iter().collect::<Vec<_>>()[..];
        while !rest.is_empty() {
            let (block, after) = rest.split_at(rest.len().min(1 + (self.below)(max_entries)));
            rest = after;
            index.insert(block[block.len() - 1].0.clone(), offset);
            let key = |((user_key, sequence), kind): &(InternalKey, u64)| {
                let user_key = self.any_case(user_key);
                let trailer = (sequence.0 << 8 | kind).to_le_bytes();
                if self.has_trailers { [&user_key[..], &trailer].concat() } else { user_key }
            };
            blocks.push((offset, block.iter().map(key).collect()));
            offset += of_any_magnitude(max_len, &mut self.below) as u64 + 5;
            if (self.below)(4) == 0 {
                // Where a range begins, or a byte before.
                offset = offset.next_multiple_of(range as u64) - (self.below)(2) as u64;
            }
        }
        if (self.below)(2) == 0 {
            blocks.push((offset, vec![])); // as LevelDB does
        }
        let add_key = if self.has_trailers {
            FilterBlockBuilder::add_internal_key
        } else {
            FilterBlockBuilder::add_key
        };
        let policy = self.any_fitting_policy();
        let builder = &mut self.builders[policy];
        if (self.below)(4) == 0 {
            add(builder, &blocks[..(self.below)(blocks.len())], add_key);
            builder.add_key(b"of a table that could not be written");
            builder.clear();
        }
        add(builder, &blocks, add_key);
        let filters = FilterBlockReader::new(self.policies[policy].clone(), builder.finish());
        for offset in index.values() {
            assert_ne!(filters.filter(*offset).expect("a filter"), b"");
        }
        self.tables.push(Table { entries, index, filters });
    }

    /// Lookups of all entries, and of keys that are mostly absent, in the tables' order.
    fn lookups(&mut self) -> Vec<Lookup> {
        let mut keys: Vec<_> = self.entries.keys().cloned().collect();
        for _ in 0..50 {
            let max = of_any_magnitude(MAX_USER_KEYS, &mut self.below);
            keys.push((self.any_user_key(max), Reverse((self.below)(keys.len()) as u64)));
        }
        keys.sort();
        let lookup = |key: InternalKey| {
            let seeks = self.seeks_prefixes && (self.below)(4) == 0;
            let prefix = key.0.get(..PREFIX_LEN).filter(|_| seeks);
            let end = prefix.map_or(key.0.clone(), |prefix| [prefix, b"~"].concat());
            let made_by = self.policies[(self.below)(self.policies.len())].clone();
            Lookup { user_key: self.any_case(&key.0), made_by, range: key..=(end, Reverse(0)) }
        };
        keys.into_iter().map(lookup).collect()
    }

    /// Asserts that the memtable and the tables whose filters deny nothing have all that there is,
    /// also what newer entries hide. Returns how often filters were asked, and how often they denied.
    pub(super) fn look_up(&mut self) -> (usize, usize) {
        let lookups = self.lookups();
        let in_memtable = self.memtable_may_match(&lookups);
        let mut parts = vec![(&self.memtable, in_memtable)];
        for table in &self.tables {
            parts.push((&table.entries, table.may_match(&lookups)));
        }
        let mut num_denied = 0;
        for (i, lookup) in lookups.iter().enumerate() {
            let (start, end) = (lookup.range.start(), lookup.range.end());
            let mut found = BTreeMap::new();
            for (entries, may_match) in &parts {
                if may_match[i] {
                    found.extend(entries.range(start..=end));
                } else {
                    // Keys that have a prefix may begin with a shorter key.
                    assert!(!self.seeks_prefixes || lookup.user_key.len() >= PREFIX_LEN);
                    num_denied += 1;
                }
            }
            let is_all = self.entries.range(start..=end).eq(found);
            assert!(is_all, "{} of {:?} is lost", start.0.escape_ascii(), start.1);
        }
        (lookups.len() * parts.len(), num_denied)
    }

    fn memtable_may_match(&mut self, lookups: &[Lookup]) -> Vec<bool> {
        let mut policy = &self.policies[self.any_fitting_policy()];
        if policy.by_hash().is_none() {
            policy = &self.policies[4]; // which it wraps
        }
        let (policy, shape) = (policy.clone(), self.bloom.shape(1_000));
        let mut filter = AtomicBloomFilter::new(policy.clone(), shape);
        for (user_key, _) in self.memtable.clone().into_keys() {
            let user_key = self.any_case(&user_key);
            let matched = filter.key_may_match(&user_key);
            assert_eq!(filter.insert_key(&user_key), matched);
            if (self.below)(8) == 0 {
                let bytes = filter.to_bytes();
                filter = AtomicBloomFilter::from_bytes(policy.clone(), &bytes).expect("a filter");
            }
        }
        let bytes = filter.to_bytes();
        let may_match = |lookup: &Lookup| {
            let answer = filter.key_may_match(&lookup.user_key);
            assert_eq!(filter.may_match(&lookup.key()), answer, "{:?}", lookup.range);
            assert_eq!(policy.key_may_match(&lookup.user_key, &bytes), answer);
            answer
        };
        lookups.iter().map(may_match).collect()
    }
}

impl Lookup {
    fn key(&self) -> FilterKey<'_> {
        FilterKey::new(&self.made_by, &self.user_key)
    }
}

impl Table {
    fn may_match(&self, lookups: &[Lookup]) -> Vec<bool> {
        // After the last data block there is no filter either.
        let offset = |lookup: &Lookup| {
            self.index.range(lookup.range.start()..).next().map_or(u64::MAX, |(_, &offset)| offset)
        };
        let offsets: Vec<_> = lookups.iter().map(offset).collect();
        let keys: Vec<_> = lookups.iter().map(Lookup::key).collect();
        let mut matches = vec![false; keys.len()];
        self.filters.may_match_many(&offsets, &keys, &mut matches);
        for (i, lookup) in lookups.iter().enumerate() {
            let of_key = self.filters.key_may_match(offsets[i], &lookup.user_key);
            let of_filter_key = self.filters.may_match(offsets[i], &keys[i]);
            assert_eq!([of_key, of_filter_key], [matches[i]; 2], "{:?}", lookup.range);
        }
        matches
    }
}
