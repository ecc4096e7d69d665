//! Filter blocks of tables that are laid out as LevelDB does it.

use std::mem;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey};

use crate::POLICY;

/// Defaults of LevelDB's options.
const BLOCK_SIZE: usize = 4096;
const RESTART_INTERVAL: usize = 16;
pub(crate) const TABLE_LEN: u64 = 2 << 20;

/// After each data block: its compression type and its checksum.
const BLOCK_TRAILER_LEN: usize = 5;

/// After each user key: its sequence number and type.
const KEY_TRAILER_LEN: usize = 8;

/// A data block's end in the file, its keys, and the absent keys that would be looked up in it.
#[derive(Default)]
struct DataBlock<'a> {
    end: u64,
    keys: Vec<&'a [u8]>,
    absent: Vec<FilterKey<'a>>,
}

/// The data blocks of a table.
pub(crate) struct Table<'a> {
    blocks: Vec<DataBlock<'a>>,
}

impl<'a> Table<'a> {
    /// Tables of at least `table_len` bytes, and a last one, with the present ones of the sorted
    /// `keys`; `value_len(i)` is the length of the value of the `i`-th of them. Not compressed.
    pub(crate) fn of_keys(
        keys: &'a [(Vec<u8>, bool)],
        table_len: u64,
        value_len: impl Fn(usize) -> usize,
    ) -> Vec<Self> {
        Self::compressed(keys, table_len, value_len, |_, len| len)
    }

    /// The same with compression: `stored_len` gets how many keys there are up to a data block's
    /// end, and the block's length.
    pub(crate) fn compressed(
        keys: &'a [(Vec<u8>, bool)],
        table_len: u64,
        value_len: impl Fn(usize) -> usize,
        stored_len: impl Fn(usize, usize) -> usize,
    ) -> Vec<Self> {
        let (mut tables, mut blocks, mut block) = (vec![], vec![], DataBlock::default());
        let (mut len, mut end, mut num_keys) = (0, 0, 0);
        for (key, is_present) in keys {
            if !is_present {
                // The index leads to the first block whose last key is not less than the key.
                block.absent.push(FilterKey::new(&POLICY, key));
                continue;
            }
            if blocks.is_empty() && block.keys.is_empty() {
                // LevelDB looks up no key below a table's first one.
                block.absent.clear();
            }
            let shared = match block.keys.last() {
                Some(last) if block.keys.len() % RESTART_INTERVAL != 0 => {
                    last.iter().zip(key).take_while(|(a, b)| a == b).count()
                }
                _ => 0,
            };
            let value_len = value_len(num_keys);
            len += 2 + varint_len(value_len) + key.len() + KEY_TRAILER_LEN - shared + value_len;
            block.keys.push(key);
            num_keys += 1;
            let block_len = len + 4 * block.keys.len().div_ceil(RESTART_INTERVAL) + 4;
            if block_len >= BLOCK_SIZE {
                end += (stored_len(num_keys, block_len) + BLOCK_TRAILER_LEN) as u64;
                blocks.push(DataBlock { end, ..mem::take(&mut block) });
                len = 0;
                if end >= table_len {
                    tables.push(Self { blocks: mem::take(&mut blocks) });
                    end = 0;
                }
            }
        }
        if !block.keys.is_empty() {
            end += (len + 4 * block.keys.len().div_ceil(RESTART_INTERVAL) + 9) as u64;
            blocks.push(DataBlock { end, ..block });
        }
        if !blocks.is_empty() {
            tables.push(Self { blocks });
        }
        tables
    }

    /// The filter block's length, and how many of the absent keys it matches.
    fn len_and_matches(
        &self,
        mut builder: FilterBlockBuilder<BloomFilterPolicy>,
    ) -> (usize, usize) {
        builder.start_block(0);
        for block in &self.blocks {
            block.keys.iter().for_each(|key| builder.add_key(key));
            builder.start_block(block.end);
        }
        let filter_block = builder.finish();
        let reader = FilterBlockReader::new(POLICY, &filter_block);
        let (mut offset, mut num_matches) = (0, 0);
        for block in &self.blocks {
            num_matches += block.absent.iter().filter(|key| reader.may_match(offset, key)).count();
            offset = block.end;
        }
        (filter_block.len(), num_matches)
    }
}

fn varint_len(number: usize) -> usize {
    (number.max(1).ilog2() / 7 + 1) as usize
}

/// The share of absent keys that the tables' filter blocks match, and the blocks' length in all.
#[expect(clippy::cast_precision_loss, reason = "more digits than a rate needs")]
pub(crate) fn rate_and_len(
    tables: &[Table<'_>],
    builder: &FilterBlockBuilder<BloomFilterPolicy>,
) -> (f64, usize) {
    let (mut len, mut num_matches) = (0, 0);
    for table in tables {
        let (len_of_table, matches_of_table) = table.len_and_matches(builder.clone());
        len += len_of_table;
        num_matches += matches_of_table;
    }
    let blocks = tables.iter().flat_map(|table| &table.blocks);
    let num_lookups: usize = blocks.map(|block| block.absent.len()).sum();
    (num_matches as f64 / num_lookups.max(1) as f64, len)
}
