//! How many absent keys pass a filter block, and its length.

use std::array;

use leveldb_filter::BloomFilterPolicy;

use crate::absent::{Absent, mixed_keys, next_keys};
use crate::common::table::Keys;
use crate::same_bytes::Reader;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) next: Tested,
    pub(crate) mixed: Tested,
    pub(crate) bytes: usize,
}

/// How many absent keys filters are tested with, and how many pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tested {
    pub(crate) absent: usize,
    pub(crate) passing: usize,
}

impl Figures {
    /// The figures of filter blocks of these keys. All are tested with the same absent keys, which
    /// are next keys once for each range of 2<sup>`base_lg`</sup> bytes, and mixed keys. Only data
    /// blocks that have a filter count.
    pub(crate) fn of<const N: usize>(
        filter_blocks: [&[u8]; N],
        keys: &Keys,
        base_lg: u8,
        has_filter: impl Fn(u64) -> bool,
    ) -> [Self; N] {
        let test = |mut absent: Vec<Absent>| {
            absent.retain(|&(offset, _)| has_filter(offset));
            filter_blocks.map(|filter_block| Tested::of(filter_block, &absent))
        };
        let (next, mixed) = (test(next_keys(keys, base_lg)), test(mixed_keys(keys)));
        array::from_fn(|i| Self { next: next[i], mixed: mixed[i], bytes: filter_blocks[i].len() })
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.next.add(other.next);
        self.mixed.add(other.mixed);
        self.bytes += other.bytes;
    }
}

impl Tested {
    fn of(filter_block: &[u8], absent: &[Absent]) -> Self {
        let reader = Reader::new(BloomFilterPolicy::default(), filter_block);
        let passes = |(offset, key): &&Absent| reader.key_may_match(*offset, key);
        Self { absent: absent.len(), passing: absent.iter().filter(passes).count() }
    }

    fn add(&mut self, other: Self) {
        self.absent += other.absent;
        self.passing += other.passing;
    }
}
