//! How many absent keys match LevelDB's filters of a table and this crate's, and the bytes of both.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use crate::common::table::Keys;
use crate::leveldb::Leveldb;

/// Of LevelDB's filters and of this crate's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) num_absent: usize,
    pub(crate) num_matching: [usize; 2],
    /// The bytes of the filter blocks of all keys.
    pub(crate) len: [usize; 2],
}

impl Figures {
    /// Leaves a random tenth of the keys out of both filters, each with all its versions, and looks
    /// these keys up. None are left out of a table with fewer than ten keys.
    pub(crate) fn of(keys: &Keys, leveldb: Leveldb, words: &mut impl Iterator<Item = u64>) -> Self {
        let policy = BloomFilterPolicy::new(10).tuned();
        let builders = [leveldb.builder(), FilterBlockBuilder::with_long_ranges(policy)];
        let (present, absent) = leave_out_a_tenth(keys, words);
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
}

/// Keys with the offsets of data blocks.
type Entries<'a> = Vec<(u64, &'a [u8])>;

/// The entries without a random tenth of the keys; and these keys, each with the data block of the
/// next entry, where a database without the key looks for it. Its own data block may have no other
/// entry, and so no filter. The last key stays, so that each has a next entry.
pub(crate) fn leave_out_a_tenth<'a>(
    keys: &'a Keys,
    words: &mut impl Iterator<Item = u64>,
) -> (Entries<'a>, Entries<'a>) {
    let entries: Vec<_> = keys.iter().collect();
    let versions = || entries.chunk_by(|(_, a), (_, b)| a == b);
    let (mut present, mut absent) = (Vec::new(), Vec::new());
    let (num_keys, mut num_placed) = (versions().count() as u64, 0);
    let mut num_missing = num_keys / 10;
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
