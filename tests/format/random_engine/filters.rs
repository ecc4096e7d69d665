//! An engine's filters, and every way to look up in them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::ops::RangeInclusive;

use leveldb_filter::{AtomicBloomFilter, BloomFilter, FilterBlockReader, FilterKey};

use super::{Engine, Entries, InternalKey, MAX_USER_KEYS, PREFIX_LEN, Policy};
use crate::common::of_any_magnitude;
use crate::common::strategies::DataBlocks;
use crate::format::block_builder::add;

pub(super) struct Table {
    entries: Entries,
    /// The offset of each data block, by its last key.
    index: BTreeMap<InternalKey, u64>,
    filter_block: Vec<u8>,
}

struct Lookup {
    /// From the key to its oldest version, or to the last key that has its prefix.
    range: RangeInclusive<InternalKey>,
    /// What filters are asked for: a user key, and the same as an internal key.
    asked: [Vec<u8>; 2],
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
            let built_by = self.built_by;
            let key = |((user_key, sequence), kind): &(InternalKey, u64)| {
                self.forms(user_key, sequence.0, *kind)[built_by].clone()
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
        if (self.below)(4) == 0 {
            add(&mut self.builder, &blocks[..(self.below)(blocks.len())]);
            self.builder.add_key(b"of a table that could not be written");
            self.builder.clear();
        }
        add(&mut self.builder, &blocks);
        let filter_block = self.builder.finish();
        let reader = FilterBlockReader::new(&self.policies[0], &filter_block);
        for offset in index.values() {
            assert_ne!(reader.filter(*offset).expect("a filter"), b"");
        }
        self.tables.push(Table { entries, index, filter_block });
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
            let seeks = self.hashes_prefixes && (self.below)(4) == 0;
            let prefix = key.0.get(..PREFIX_LEN).filter(|_| seeks);
            let end = prefix.map_or(key.0.clone(), |prefix| [prefix, b"~"].concat());
            let asked = self.forms(&key.0, key.1.0, 1);
            Lookup { asked, range: key..=(end, Reverse(0)) }
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
            parts.push((&table.entries, table.may_match(&self.policies, &lookups)));
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
                    assert!(!self.hashes_prefixes || lookup.asked[0].len() >= PREFIX_LEN);
                    num_denied += 1;
                }
            }
            let is_all = self.entries.range(start..=end).eq(found);
            assert!(is_all, "{} of {:?} is lost", start.0.escape_ascii(), start.1);
        }
        (lookups.len() * parts.len(), num_denied)
    }

    fn memtable_may_match(&mut self, lookups: &[Lookup]) -> Vec<bool> {
        let shape = self.bloom.shape(1_000);
        let (atomic, mut filter) = (AtomicBloomFilter::new(shape), BloomFilter::empty(shape));
        for ((user_key, sequence), kind) in self.memtable.clone() {
            let [user_key, _] = self.forms(&user_key, sequence.0, kind);
            let key = FilterKey::new(&self.policies[0], &user_key);
            let matched = atomic.insert(&key);
            assert!(matched == filter.insert(&key) && (matched || key.hash().is_some()));
        }
        let copy = atomic.to_filter();
        let may_match = |lookup: &Lookup| {
            let answers = [0, 1].map(|form| {
                let key = FilterKey::new(&self.policies[form], &lookup.asked[form]);
                [atomic.may_match(&key), copy.may_match(&key), filter.may_match(&key)]
            });
            let answer = answers[0][0];
            assert_eq!(answers, [[answer; 3]; 2], "{:?}", lookup.range);
            answer
        };
        lookups.iter().map(may_match).collect()
    }
}

impl Table {
    fn may_match(&self, policies: &[Policy; 2], lookups: &[Lookup]) -> Vec<bool> {
        // After the last data block there is no filter either.
        let offset = |lookup: &Lookup| {
            self.index.range(lookup.range.start()..).next().map_or(u64::MAX, |(_, &offset)| offset)
        };
        let offsets: Vec<_> = lookups.iter().map(offset).collect();
        let mut answers = vec![];
        for (form, policy) in policies.iter().enumerate() {
            let reader = FilterBlockReader::new(policy, &self.filter_block);
            let asked = || lookups.iter().map(|lookup| &lookup.asked[form]);
            let keys: Vec<_> = asked().map(|key| FilterKey::new(policy, key)).collect();
            let mut matches = vec![false; keys.len()];
            reader.may_match_many(&offsets, &keys, &mut matches);
            for (i, key) in asked().enumerate() {
                let of_key = reader.key_may_match(offsets[i], key);
                let of_filter_key = reader.may_match(offsets[i], &keys[i]);
                assert_eq!([of_key, of_filter_key], [matches[i]; 2], "{:?}", lookups[i].range);
            }
            answers.push(matches);
        }
        assert!(answers[0] == answers[1], "internal keys get other answers than user keys");
        answers.swap_remove(0)
    }
}
