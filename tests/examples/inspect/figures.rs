//! How many absent keys match LevelDB's filters of a table and this crate's, and the bytes of both.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::table::Keys;

/// `BloomFilterPolicy::new(bits_per_key)` in LevelDB's own ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Leveldb {
    pub(crate) bits_per_key: u32,
    pub(crate) base_lg: u8,
}

/// Of LevelDB's filters and of this crate's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) num_absent: usize,
    pub(crate) num_matching: [usize; 2],
    /// The bytes of the filter blocks of all keys.
    pub(crate) len: [usize; 2],
}

impl Leveldb {
    pub(crate) fn builder(self) -> FilterBlockBuilder {
        let policy = BloomFilterPolicy::new(self.bits_per_key);
        FilterBlockBuilder::with_base_lg(policy, self.base_lg)
    }
}

impl Figures {
    /// Leaves a random half of the keys out of both filters, each with all its versions, and looks
    /// these keys up. None are left out of a table with fewer than two keys.
    pub(crate) fn of(keys: &Keys, leveldb: Leveldb, words: &mut impl Iterator<Item = u64>) -> Self {
        let policy = BloomFilterPolicy::new(10).tuned();
        let builders = [leveldb.builder(), FilterBlockBuilder::with_long_ranges(policy)];
        let (present, absent) = halves(keys, words);
        let num_matching = builders.clone().map(|mut builder| {
            for &(offset, key) in &present {
                builder.start_block(offset);
                builder.add_key(key);
            }
            let reader = FilterBlockReader::new(policy, builder.finish());
            absent.iter().filter(|(offset, key)| reader.key_may_match(*offset, key)).count()
        });
        let len = builders.map(|builder| keys.filter_block(builder).len());
        Self { num_absent: absent.len(), num_matching, len }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.num_absent += other.num_absent;
        for i in 0..2 {
            self.num_matching[i] += other.num_matching[i];
            self.len[i] += other.len[i];
        }
    }
}

/// Keys with the offsets of data blocks.
type Entries<'a> = Vec<(u64, &'a [u8])>;

/// The entries without a random half of the keys; and these keys, each with the data block of the
/// next entry, where a database without the key looks for it. Its own data block may have no other
/// entry, and so no filter. The last key stays, so that each has a next entry.
pub(crate) fn halves<'a>(
    keys: &'a Keys,
    words: &mut impl Iterator<Item = u64>,
) -> (Entries<'a>, Entries<'a>) {
    let entries: Vec<_> = keys.iter().collect();
    let versions = || entries.chunk_by(|(_, a), (_, b)| a == b);
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    let (num_keys, mut num_placed) = (versions().count() as u64, 0);
    let mut num_missing = num_keys / 2;
    for ((num_after, versions), word) in (0..num_keys).rev().zip(versions()).zip(words) {
        // Of the keys from here on but the last, each choice of so many is equally likely.
        if num_missing > 0 && word % num_after < num_missing {
            num_missing -= 1;
            absent.push(versions[0]);
        } else {
            absent[num_placed..].iter_mut().for_each(|(offset, _)| *offset = versions[0].0);
            num_placed = absent.len();
            present.extend_from_slice(versions);
        }
    }
    (present, absent)
}
