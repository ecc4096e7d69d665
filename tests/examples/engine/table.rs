//! A table on disk: data blocks with internal keys, and filters of their user keys.
//!
//! ```text
//! | data block | ... | filter block | index | offset of the index |
//! ```
//!
//! The index has the offset of each data block under the block's last user key, then the number of
//! keys, and the offset of the filter block under its policy's name. A block follows its checksum.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, io, iter};

use leveldb_filter::{
    BloomFilterPolicy, BloomHash, FilterBlockBuilder, FilterBlockReader, InternalKeyPolicy,
    SortedRun, hash,
};

use crate::memtable::{Entries, Entry};

const BLOCK_LEN: usize = 4 << 10;
/// Asks filters of any number of bits per key.
const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);
/// Data blocks that lookups have read.
pub(crate) static NUM_READS: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn write_table(
    path: &Path,
    entries: Entries,
    (policy, base_lg): (BloomFilterPolicy, u8),
) -> io::Result<()> {
    let (mut file, mut index, num_keys) = (Vec::new(), Vec::new(), entries.len());
    let mut filters = FilterBlockBuilder::with_base_lg(InternalKeyPolicy::new(policy), base_lg);
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() {
        filters.start_block(file.len() as u64);
        let (mut block, mut last_key) = (Vec::new(), Vec::new());
        while block.len() < BLOCK_LEN {
            let Some((user_key, entry)) = entries.next() else { break };
            let trailer = entry.sequence << 8 | u64::from(entry.value.is_some());
            let internal_key = [&user_key, &trailer.to_le_bytes()[..]].concat();
            filters.add_key(&internal_key);
            append(&mut block, &internal_key, &entry.value.unwrap_or_default());
            last_key = user_key;
        }
        append(&mut index, &last_key, &append_block(&mut file, &block));
    }
    append(&mut index, b"keys", &num_keys.to_le_bytes());
    append(&mut index, policy.name().as_bytes(), &append_block(&mut file, &filters.finish()));
    let offset = append_block(&mut file, &index);
    file.extend(offset);
    fs::write(path.with_extension("new"), file)?;
    fs::rename(path.with_extension("new"), path)
}

pub(crate) struct Table {
    pub(crate) path: PathBuf,
    /// Read as a whole, in place of a file that is mapped into memory.
    file: Vec<u8>,
    /// The last user key of each data block, and the block's offset.
    index: Vec<(Vec<u8>, usize)>,
    filters: FilterBlockReader<BloomFilterPolicy, Vec<u8>>,
    pub(crate) filters_at: Range<usize>,
    pub(crate) size: SortedRun,
}

impl Table {
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let file = fs::read(&path)?;
        let number = |bytes: &[u8]| usize::from_le_bytes(bytes.try_into().expect("a number"));
        let index = read_block(&file, number(&file[file.len() - size_of::<usize>()..]))?;
        let index = entries(index).map(|(key, value)| (key.to_vec(), number(value)));
        let mut index: Vec<_> = index.collect();
        let (Some((name, offset)), Some((_, num_keys))) = (index.pop(), index.pop()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        // Filters of another policy, or whose checksum is wrong, would deny keys that are there. An
        // empty filter block denies none.
        let block = read_block(&file, offset).ok().filter(|_| name == POLICY.name().as_bytes());
        let block = block.unwrap_or_default();
        Ok(Self {
            size: size(num_keys, offset),
            filters: FilterBlockReader::new(POLICY, block.to_vec()),
            filters_at: offset..offset + block.len(),
            index,
            file,
            path,
        })
    }

    pub(crate) fn get(&self, key: &[u8], hash: BloomHash) -> io::Result<Option<Entry>> {
        let filter = self.filters.filter(self.block_offset(key) as u64);
        let must_read = filter.is_none_or(|filter| POLICY.hash_may_match(hash, filter));
        if must_read { self.read(key) } else { Ok(None) }
    }

    /// For keys in ascending order: those that share a filter are asked of it together.
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
        let offset = self.block_offset(key);
        if offset == usize::MAX {
            return Ok(None);
        }
        NUM_READS.fetch_add(1, Ordering::Relaxed);
        let mut entries = entries(read_block(&self.file, offset)?).map(parse);
        Ok(entries.find(|(user_key, _)| *user_key == key).map(|(_, entry)| entry))
    }

    /// Adds the entries of keys that have no newer one.
    pub(crate) fn add_to(&self, newer: &mut Entries) -> io::Result<()> {
        for (_, offset) in &self.index {
            for (user_key, entry) in entries(read_block(&self.file, *offset)?).map(parse) {
                newer.entry(user_key.to_vec()).or_insert(entry);
            }
        }
        Ok(())
    }

    /// Above all others, if the table ends before the key.
    fn block_offset(&self, key: &[u8]) -> usize {
        let i = self.index.partition_point(|(last_key, _)| last_key.as_slice() < key);
        self.index.get(i).map_or(usize::MAX, |(_, offset)| *offset)
    }
}

/// The filters of so many keys in so many bytes of data blocks, if each is for 2^19 of them.
pub(crate) fn size(num_keys: usize, len: usize) -> SortedRun {
    let num_filters = len.div_ceil(1 << 19).max(1);
    SortedRun { num_filters, keys_per_filter: num_keys / num_filters }
}

/// An internal key and a value, as a user key and an entry.
fn parse<'a>((internal_key, value): (&'a [u8], &[u8])) -> (&'a [u8], Entry) {
    let (user_key, trailer) = internal_key.split_last_chunk().expect("what was written");
    let trailer = u64::from_le_bytes(*trailer);
    let value = (trailer & 1 != 0).then(|| value.to_vec());
    (user_key, Entry { sequence: trailer >> 8, value })
}

/// Returns the block's offset. LevelDB's checksum is CRC-32C.
fn append_block(file: &mut Vec<u8>, contents: &[u8]) -> [u8; size_of::<usize>()] {
    let offset = file.len().to_le_bytes();
    append(file, &hash(contents, 0).to_le_bytes(), contents);
    offset
}

fn read_block(file: &[u8], offset: usize) -> io::Result<&[u8]> {
    match entries(file.get(offset..).unwrap_or_default()).next() {
        Some((checksum, contents)) if checksum == hash(contents, 0).to_le_bytes() => Ok(contents),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn append(bytes: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    for part in [key, value] {
        bytes.extend(part.len().to_le_bytes());
        bytes.extend(part);
    }
}

fn entries(mut bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut next = move || {
        let (len, rest) = bytes.split_first_chunk()?;
        let part;
        (part, bytes) = rest.split_at_checked(usize::from_le_bytes(*len))?;
        Some(part)
    };
    iter::from_fn(move || next().zip(next()))
}
