//! A table on disk: data blocks with internal keys, and filters of their user keys.
//!
//! ```text
//! | data block | ... | filter block | index | offset of the index |
//! ```
//!
//! The index has each data block's offset under its first user key and, last, the filter block's
//! offset under its policy's name. A block is a checksum and the contents.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io, iter};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockReader, FilterKey, FilterPolicy, HashPolicy, hash,
};

use crate::db::{Builder, Entries, Entry};

const KEYS_PER_BLOCK: usize = 30; // about 4 KiB

/// Reads the filters of all user keys, whatever their bits per key.
pub(crate) const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);
pub(crate) static NUM_READS: AtomicU32 = AtomicU32::new(0); // of data blocks, by lookups

pub(crate) struct Table {
    /// An upper bound, since the last data block may have fewer.
    pub(crate) num_keys: usize,
    /// The whole file; a real engine would map it into memory.
    file: Vec<u8>,
    index: Vec<(Vec<u8>, usize)>,
    filters: FilterBlockReader<BloomFilterPolicy, Vec<u8>>,
    /// Empty if the filters cannot be used.
    pub(crate) filters_at: Range<usize>,
}

impl Table {
    /// All entries get one sequence number, since nobody reads the entries that they replaced.
    pub(crate) fn create(
        path: &Path,
        entries: Entries,
        sequence: u64,
        mut filters: Builder,
    ) -> io::Result<Self> {
        let (mut file, mut index) = (Vec::new(), Vec::new());
        for entries in Vec::from_iter(entries).chunks(KEYS_PER_BLOCK) {
            filters.start_block(file.len() as u64);
            let mut block = Vec::new();
            for (user_key, value) in entries {
                let trailer = sequence << 8 | u64::from(value.is_some());
                let internal_key = [user_key, &trailer.to_le_bytes()[..]].concat();
                filters.add_key(&internal_key);
                append(&mut block, &internal_key, value.as_deref().unwrap_or_default());
            }
            append(&mut index, &entries[0].0, &append_block(&mut file, &block));
        }
        let filter_block = append_block(&mut file, &filters.finish());
        append(&mut index, filters.policy().name().as_bytes(), &filter_block);
        let offset = append_block(&mut file, &index);
        file.extend(offset);
        fs::write(path, file)?;
        Self::open(path)
    }

    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = fs::read(path)?;
        let index = read_block(&file, number(&file[file.len().saturating_sub(8)..]))?;
        let mut index: Vec<_> = pairs(index).map(|(key, at)| (key.to_vec(), number(at))).collect();
        let last = index.pop().filter(|_| !index.is_empty()); // a table has data blocks
        let (name, offset) = last.ok_or(io::ErrorKind::InvalidData)?;
        // Filters of another policy, or with a wrong checksum, could reject present keys; an empty
        // filter block rejects none.
        let filters = read_block(&file, offset).ok().filter(|_| name == POLICY.name().as_bytes());
        let filters = filters.unwrap_or_default().to_vec();
        let filters_at = offset..offset + filters.len();
        let filters = FilterBlockReader::new(POLICY, filters);
        Ok(Self { num_keys: index.len() * KEYS_PER_BLOCK, file, index, filters, filters_at })
    }

    pub(crate) fn may_have(&self, user_key: &[u8], key: &FilterKey) -> bool {
        self.filters.may_match(self.block_offset(user_key) as u64, key)
    }

    /// For keys in ascending order: looks up those that share a filter together.
    pub(crate) fn must_read(&self, keys: &[&[u8]], hashes: &[BloomHash]) -> Vec<bool> {
        let offsets: Vec<_> = keys.iter().map(|key| self.block_offset(key)).collect();
        let base_lg = self.filters.base_lg();
        let mut must_read = vec![true; keys.len()];
        let mut next = 0;
        for group in offsets.chunk_by(|a, b| a >> base_lg == b >> base_lg) {
            let keys = next..next + group.len();
            next = keys.end;
            if let Some(filter) = self.filters.filter(group[0] as u64) {
                POLICY.hashes_may_match(&hashes[keys.clone()], filter, &mut must_read[keys]);
            }
        }
        must_read
    }

    /// Reads the only data block that may have the key.
    pub(crate) fn read(&self, key: &[u8]) -> io::Result<Option<Entry>> {
        NUM_READS.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries(self.block_offset(key))?;
        Ok(entries.find(|(user_key, _)| *user_key == key).map(|(_, entry)| entry))
    }

    /// Replaces older entries of the same keys.
    pub(crate) fn add_to(&self, older: &mut Entries) -> io::Result<()> {
        for (_, offset) in &self.index {
            older.extend(self.entries(*offset)?.map(|(key, entry)| (key.to_vec(), entry)));
        }
        Ok(())
    }

    fn block_offset(&self, key: &[u8]) -> usize {
        let i = self.index.partition_point(|(first_key, _)| first_key.as_slice() <= key);
        self.index[i.saturating_sub(1)].1
    }

    fn entries(&self, block_offset: usize) -> io::Result<impl Iterator<Item = (&[u8], Entry)>> {
        Ok(pairs(read_block(&self.file, block_offset)?).map(|(internal_key, value)| {
            let (user_key, trailer) = internal_key.split_at(internal_key.len() - 8);
            (user_key, (trailer[0] != 0).then(|| value.to_vec()))
        }))
    }
}

/// Returns the block's offset. LevelDB's checksum is CRC-32C.
fn append_block(file: &mut Vec<u8>, contents: &[u8]) -> [u8; 8] {
    let offset = file.len() as u64;
    append(file, &hash(contents, 0).to_le_bytes(), contents);
    offset.to_le_bytes()
}

fn read_block(file: &[u8], offset: usize) -> io::Result<&[u8]> {
    match pairs(file.get(offset..).unwrap_or_default()).next() {
        Some((checksum, contents)) if checksum == hash(contents, 0).to_le_bytes() => Ok(contents),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn append(bytes: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    for part in [key, value] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
}

/// The keys and values that were appended.
fn pairs(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut next = move || {
        let (len, rest) = bytes.split_at_checked(8)?;
        let part;
        (part, bytes) = rest.split_at_checked(number(len))?;
        Some(part)
    };
    iter::from_fn(move || next().zip(next()))
}

/// An offset or a length; malformed bytes give one outside of any file.
fn number(bytes: &[u8]) -> usize {
    let number = bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
    usize::try_from(number).unwrap_or(usize::MAX)
}
