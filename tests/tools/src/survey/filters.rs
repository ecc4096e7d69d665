//! Judges the filters of a table by its own keys.

use std::io;

use leveldb_filter::{BloomFilter, BloomFilterPolicy, BloomHash, HashPolicy, bloom_hash};

use crate::table::{NAMES, StoredFilters, Table, has_value, user_key};

/// A table's filters, or that there are none.
#[derive(Default)]
pub(crate) struct Filters {
    pub(crate) policy_name: Option<String>,
    /// Whether they are of a known policy, but their block or what leads there is damaged.
    pub(crate) are_damaged: bool,
    /// Whether only their program knows what they are of: whole ones that are not Bloom filters of
    /// exactly the table's keys.
    pub(crate) are_foreign: bool,
    /// How many of the table's entries `LevelDB` misses, if the name is its own.
    pub(crate) num_rejected: usize,
    pub(crate) bits_per_key: usize,
    pub(crate) num_bits: usize,
}

/// A table's entries, and the hashes of their keys.
pub(crate) struct Keys {
    pub(crate) num_entries: usize,
    pub(crate) num_deletions: usize,
    /// Of each data block, with its offset.
    blocks: Vec<(u64, Vec<BloomHash>)>,
}

impl Keys {
    pub(crate) fn of(table: &Table<'_>) -> io::Result<Self> {
        let mut keys = Self { num_entries: 0, num_deletions: 0, blocks: Vec::new() };
        table.visit(table.data_blocks(), |block, key| {
            keys.num_entries += 1;
            keys.num_deletions += usize::from(!has_value(key));
            if keys.blocks.last().is_none_or(|(offset, _)| *offset != block.offset()) {
                keys.blocks.push((block.offset(), Vec::new()));
            }
            let (_, hashes) = keys.blocks.last_mut().expect("pushed above");
            hashes.push(bloom_hash(user_key(key)));
        })?;
        Ok(keys)
    }
}

impl Filters {
    pub(crate) fn of(stored: &StoredFilters<'_>, keys: &Keys) -> Self {
        let is_known = NAMES.contains(&stored.policy_name);
        let mut filters = Self {
            policy_name: Some(stored.policy_name.into()),
            are_damaged: is_known && stored.is_damaged,
            are_foreign: !is_known,
            ..Self::default()
        };
        if is_known {
            filters.judge(&stored.contents, keys);
        }
        filters
    }

    /// Whether whole filters reject keys of their own table.
    pub(crate) fn are_wrong(&self) -> bool {
        self.are_foreign && self.num_rejected > 0
    }

    fn judge(&mut self, contents: &[u8], keys: &Keys) {
        let base_lg = base_lg(contents);
        let mut most_keys = 0;
        for blocks in keys.blocks.chunk_by(|(a, _), (b, _)| a >> base_lg == b >> base_lg) {
            let hashes: Vec<_> = blocks.iter().flat_map(|(_, hashes)| hashes).copied().collect();
            let filter = filter_of(contents, blocks[0].0);
            let num_probes = filter.and_then(|filter| probes_of(&hashes, filter));
            self.are_foreign |= num_probes.is_none() && !self.are_damaged;
            let Some(filter) = filter else { continue };
            self.num_rejected += hashes.iter().filter(|&&hash| !may_match(filter, hash)).count();
            // Overlapping filters may have more bits than a 32-bit usize can count.
            let num_bits = filter.len().saturating_sub(1).saturating_mul(8);
            self.num_bits = self.num_bits.saturating_add(num_bits);
            if hashes.len() > most_keys {
                most_keys = hashes.len();
                // Short filters are longer than their policy's bits; it makes as many probes.
                let of_probes = (100 * usize::from(num_probes.unwrap_or_default()) + 99) / 69;
                self.bits_per_key = of_probes.min(num_bits / most_keys);
            }
        }
    }
}

/// The number of probes, if a filter has the bits of keys with these hashes and no others.
fn probes_of(hashes: &[BloomHash], filter: &[u8]) -> Option<u8> {
    let shape = BloomFilter::new(filter).ok()?.shape();
    let mut made = BloomFilter::empty(shape);
    for &hash in hashes {
        made.insert_hash(hash);
    }
    (shape.num_probes() > 0 && made.as_bytes() == filter).then_some(shape.num_probes())
}

pub(crate) fn may_match(filter: &[u8], hash: BloomHash) -> bool {
    BloomFilterPolicy::default().hash_may_match(hash, filter)
}

/// Of the block's last byte x86 takes the lower bits for a shift.
fn base_lg(filter_block: &[u8]) -> u8 {
    filter_block.last().map_or(0, |base_lg| base_lg % 64)
}

/// The filter that `LevelDB` asks for keys in a data block, however damaged the filter block is;
/// `None` if it reads the data block without asking. The crate's reader differs toward never losing
/// a key.
pub(crate) fn filter_of(filter_block: &[u8], block_offset: u64) -> Option<&[u8]> {
    let (rest, _) = filter_block.split_last_chunk::<1>()?;
    let (rest, start) = rest.split_last_chunk()?;
    let start_of_offsets = usize::try_from(u32::from_le_bytes(*start)).ok()?;
    let (filters, _) = rest.split_at_checked(start_of_offsets)?;
    let num_filters = (rest.len() - start_of_offsets) / 4;
    let index = usize::try_from(block_offset >> base_lg(filter_block)).ok()?;
    // The last filter ends where the offsets start, which is written behind them.
    let offset = |index: usize| {
        let bytes = filter_block[start_of_offsets + 4 * index..].first_chunk();
        bytes.map(|bytes| u32::from_le_bytes(*bytes) as usize)
    };
    if index >= num_filters {
        return None;
    }
    let (start, end) = (offset(index)?, offset(index + 1)?);
    match filters.get(start..end) {
        // Equal offsets are no keys, wherever they point to.
        None if start == end => Some(&[]),
        filter => filter,
    }
}
