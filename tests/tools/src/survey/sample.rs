//! The keys to look up: a sample of a database's own, and missing ones a step behind them.

use std::collections::BTreeSet;
use std::ops::Range;

use leveldb_filter::bloom_hash;

use super::cost::Counts;
use super::filters::{filter_of, may_match};
use crate::database::{Database, ListedTable};
use crate::random::words;
use crate::table::{Table, has_value, user_key};

/// How many keys of each kind a sample may have.
const MAX_KEYS: usize = 20_000;
/// Where keys are long, a sample has fewer.
const MAX_BYTES: usize = 8 << 20;

pub(crate) struct Sample {
    /// Of each kind in bytewise order.
    keys: [Vec<Key>; 2],
    /// Whether it has all keys that exist.
    pub(crate) is_all: bool,
    /// Whether no filter is asked for a key one step on, so that missing ones are longer.
    pub(crate) has_longer: bool,
}

struct Key {
    bytes: Vec<u8>,
    /// Where `Get` ends: the first table in its order that has an entry, and whether with a value.
    newest: Option<(usize, bool)>,
}

impl Sample {
    pub(crate) fn draw(database: &Database) -> Self {
        let (drawn, is_all) = drawn(database);
        let existing = find(database, drawn);
        let existing: Vec<_> = existing.into_iter().filter(Key::exists).collect();
        let missing = |keys: BTreeSet<_>| -> Vec<_> {
            find(database, keys).into_iter().filter(|key| !key.exists()).collect()
        };
        let keys = || existing.iter().map(|key| &key.bytes[..]);
        let mut next = missing(keys().filter_map(one_step_on).collect());
        let is_asked = |table: &ListedTable| !in_range(table, &next).is_empty();
        let has_longer = !database.tables.iter().any(is_asked);
        if has_longer {
            next = missing(keys().map(longer).collect());
        }
        Self { keys: [next, existing], is_all, has_longer }
    }

    /// How many lookups there are.
    pub(crate) fn number(&self) -> Counts {
        self.keys.each_ref().map(Vec::len)
    }

    /// Of lookups that ask the `i`-th table, which lacks their key, how many read a data block.
    pub(crate) fn reads(
        &self,
        (database, i): (&Database, usize),
        table: &Table<'_>,
        filter_block: Option<&[u8]>,
    ) -> Counts {
        let order = database.order(i);
        let is_asked = |key: &&Key| key.newest.is_none_or(|(at, _)| order < at);
        let is_read = |key: &&Key| {
            let Some(place) = table.place_of(&key.bytes) else { return false };
            let offset = table.data_blocks()[place].offset();
            let filter = filter_block.and_then(|block| filter_of(block, offset));
            filter.is_none_or(|filter| may_match(filter, bloom_hash(&key.bytes)))
        };
        self.keys.each_ref().map(|keys| {
            let keys = keys[in_range(&database.tables[i], keys)].iter();
            keys.filter(is_asked).filter(is_read).count()
        })
    }
}

impl Key {
    fn exists(&self) -> bool {
        self.newest.is_some_and(|(_, has_value)| has_value)
    }
}

/// The next key of the same form: the last byte counts on, digits and letters stay such, with a
/// carry. Between text and other bytes nothing is carried.
pub(crate) fn one_step_on(key: &[u8]) -> Option<Vec<u8>> {
    let mut next = key.to_vec();
    let mut carries_text = false;
    for byte in next.iter_mut().rev() {
        if carries_text && !byte.is_ascii_alphanumeric() {
            return None;
        }
        *byte = match *byte {
            b'9' => b'0',
            b'z' => b'a',
            b'Z' => b'A',
            0xff => 0,
            other => {
                *byte = other + 1;
                return Some(next);
            }
        };
        carries_text |= *byte != 0;
    }
    None
}

/// The key with four bytes more, the same ones in every run.
fn longer(key: &[u8]) -> Vec<u8> {
    [key, &rank(key).to_le_bytes()[..4]].concat()
}

/// A pseudorandom number that depends on the bytes only.
fn rank(bytes: &[u8]) -> u64 {
    words(bloom_hash(bytes).to_u32().into()).next().expect("endless")
}

/// Does nothing for a table that cannot be read, which is told elsewhere.
fn with_table(listed: &ListedTable, mut visit: impl FnMut(&Table<'_>)) {
    if let Ok(file) = listed.read() {
        let _ = Table::open(&file).map(|table| visit(&table));
    }
}

/// The keys with values of the least ranks, and whether these are all.
fn drawn(database: &Database) -> (BTreeSet<Vec<u8>>, bool) {
    let (mut drawn, mut num_bytes, mut max_rank) = (BTreeSet::new(), 0, None);
    let mut add = |key: &[u8]| {
        let rank = rank(key);
        if max_rank.is_some_and(|max| rank > max) {
            return;
        }
        if drawn.insert((rank, key.to_vec())) {
            num_bytes += key.len();
        }
        while drawn.len() > MAX_KEYS || num_bytes > MAX_BYTES {
            let Some((highest, key)) = drawn.pop_last() else { break };
            num_bytes -= key.len();
            max_rank = Some(highest);
        }
    };
    for listed in &database.tables {
        with_table(listed, |table| {
            let _ = table.visit(table.data_blocks(), |_, key| {
                if has_value(key) {
                    add(user_key(key));
                }
            });
        });
    }
    (drawn.into_iter().map(|(_, key)| key).collect(), max_rank.is_none())
}

/// The sorted keys that are in a table's range.
fn in_range(listed: &ListedTable, keys: &[Key]) -> Range<usize> {
    let start = keys.partition_point(|key| key.bytes < listed.contents.smallest);
    let end = keys.partition_point(|key| key.bytes <= listed.contents.largest);
    start..end.max(start)
}

/// Finds the newest entry of each key.
fn find(database: &Database, keys: BTreeSet<Vec<u8>>) -> Vec<Key> {
    let mut keys: Vec<_> = keys.into_iter().map(|bytes| Key { bytes, newest: None }).collect();
    for (i, listed) in database.tables.iter().enumerate() {
        let in_range = in_range(listed, &keys);
        let keys = &mut keys[in_range];
        if !keys.is_empty() {
            with_table(listed, |table| find_in(table, database.order(i), keys));
        }
    }
    keys
}

fn find_in(table: &Table<'_>, order: usize, mut keys: &mut [Key]) {
    while let Some(place) = keys.first().and_then(|key| table.place_of(&key.bytes)) {
        let num_there = keys.partition_point(|key| table.place_of(&key.bytes) <= Some(place));
        let there;
        (there, keys) = keys.split_at_mut(num_there);
        let mut i = 0;
        let _ = table.visit(&table.data_blocks()[place..=place], |_, entry| {
            while there.get(i).is_some_and(|key| key.bytes[..] < *user_key(entry)) {
                i += 1;
            }
            // In a table, the newest entry of a key comes first.
            let is_it = |key: &&mut Key| key.bytes == user_key(entry);
            if let Some(key) = there.get_mut(i).filter(is_it) {
                if key.newest.is_none_or(|(at, _)| order < at) {
                    key.newest = Some((order, has_value(entry)));
                }
            }
        });
    }
}
