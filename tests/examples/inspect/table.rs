//! What is known of one table.

use std::io;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use crate::common::table::{Keys, Table};
use crate::common::terminal::grouped;
use crate::figures::Figures;
use crate::leveldb::Leveldb;

type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

pub(crate) struct Facts {
    pub(crate) num_entries: usize,
    pub(crate) filters: Filters,
    /// What is wrong with the table.
    pub(crate) faults: Vec<String>,
    /// What this crate's filters are compared with.
    pub(crate) leveldb: Leveldb,
    pub(crate) figures: Figures,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Filters {
    None,
    Damaged,
    /// The name of a policy that only its program knows.
    Foreign(String),
    /// The bytes of LevelDB up to 1.17, whose hash gives other keys to later programs.
    Signed(Leveldb),
    /// The name is that of LevelDB or of goleveldb.
    Bloom {
        name: String,
        each_passes: bool,
        same_bytes: Option<Leveldb>,
    },
}

impl Facts {
    pub(crate) fn of(file: &[u8], words: &mut impl Iterator<Item = u64>) -> io::Result<Self> {
        let table = Table::open(file)?;
        let keys = Keys::of(&table)?;
        let (filters, fault) = filters(&table, &keys);
        let leveldb = match filters {
            Filters::Bloom { same_bytes: Some(leveldb), .. } | Filters::Signed(leveldb) => leveldb,
            _ => Leveldb::DEFAULT,
        };
        let faults = fault.into_iter().chain(no_internal_keys(&keys)).collect();
        let figures = Figures::of(&keys, leveldb, words);
        Ok(Self { num_entries: keys.len(), filters, faults, leveldb, figures })
    }
}

/// The filters, and what is wrong with them.
fn filters(table: &Table<'_>, keys: &Keys) -> (Filters, Option<String>) {
    let (name, contents) = match table.filters() {
        Err(why) => return (Filters::Damaged, Some(format!("its filters: {why}"))),
        Ok(None) => return (Filters::None, None),
        Ok(Some(filters)) => (filters.policy_name, filters.contents),
    };
    if ![BloomFilterPolicy::NAME, BloomFilterPolicy::GOLEVELDB_NAME].contains(&&name[..]) {
        return (Filters::Foreign(name), None);
    }
    let reader = Reader::new(BloomFilterPolicy::default(), &contents);
    if reader.is_malformed() {
        return (Filters::Damaged, Some("its filters: the block is malformed".into()));
    }
    let same_bytes = maker(&reader, keys, |leveldb| keys.filter_block(leveldb.builder()));
    if same_bytes.is_none() && name == BloomFilterPolicy::GOLEVELDB_NAME {
        let signed = maker(&reader, keys, |leveldb| keys.filter_block(leveldb.signed_builder()));
        if let Some(leveldb) = signed {
            return (Filters::Signed(leveldb), None);
        }
    }
    let rejects = |(offset, key): &(u64, &[u8])| !reader.key_may_match(*offset, key);
    let num_rejected = keys.iter().filter(rejects).count();
    let [rejected, all] = [num_rejected, keys.len()].map(grouped);
    let fault = format!("its filters reject {rejected} of {all} entries");
    let each_passes = num_rejected == 0;
    (Filters::Bloom { name, each_passes, same_bytes }, (!each_passes).then_some(fault))
}

/// What makes this filter block of these keys, 10 bits per key if several numbers do.
fn maker(
    reader: &Reader<'_>,
    keys: &Keys,
    filter_block: impl Fn(Leveldb) -> Vec<u8>,
) -> Option<Leveldb> {
    let base_lg = reader.base_lg();
    // Each range has an offset. A wrong `base_lg` could ask for any memory.
    if keys.data_end() >> base_lg > reader.num_filters() as u64 {
        return None;
    }
    let offsets_len = 4 * reader.num_filters() + 5;
    let num_keys = keys.of_ranges(base_lg);
    let candidates = [Leveldb::DEFAULT.bits_per_key].into_iter().chain(0..=100);
    let mut candidates = candidates.map(|bits_per_key| Leveldb { bits_per_key, base_lg });
    candidates.find(|leveldb| {
        let policy = leveldb.policy();
        let filter_lens = num_keys.iter().map(|&num_keys| policy.shape(num_keys).filter_len());
        filter_lens.sum::<usize>() + offsets_len == reader.contents().len()
            && filter_block(*leveldb) == *reader.contents()
    })
}

/// Entries without a trailer in a table of internal keys.
fn no_internal_keys(keys: &Keys) -> Option<String> {
    let mut no_internal_keys = keys.not_internal();
    let first = no_internal_keys.next()?.escape_ascii().to_string();
    let [number, all] = [1 + no_internal_keys.count(), keys.len()].map(grouped);
    Some(format!("no internal keys: {number} of {all} entries, first \"{first:.40}\""))
}
