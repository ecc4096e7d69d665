//! Filter blocks of tables with a [kind](super::kinds) of keys, laid out as LevelDB does.

use std::mem;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader};

use super::kinds::Kind;

/// Defaults of LevelDB's options.
const BLOCK_SIZE: usize = 4096;
const RESTART_INTERVAL: usize = 16;

/// After each data block: its compression type and its checksum.
const BLOCK_TRAILER_LEN: usize = 5;

/// After each user key: its sequence number and type.
const KEY_TRAILER_LEN: usize = 8;

/// A data block's end in the file, its keys, and the absent keys that would be looked up in it.
#[derive(Default)]
struct DataBlock {
    end: u64,
    keys: Vec<Vec<u8>>,
    absent: Vec<Vec<u8>>,
}

/// The data blocks of a table, not compressed.
pub(crate) struct Table {
    blocks: Vec<DataBlock>,
}

impl Table {
    /// The keys of a [run](Kind::visit), and values of `value_len` bytes, at most 127.
    pub(crate) fn new(kind: &Kind, num_keys: usize, value_len: usize, seed: u64) -> Self {
        let mut keys = Vec::with_capacity(2 * num_keys);
        kind.visit(num_keys, seed, |key, is_present| keys.push((key.to_vec(), is_present)));
        keys.sort_unstable();
        let (mut blocks, mut block, mut len, mut end) = (vec![], DataBlock::default(), 0, 0);
        for (key, is_present) in keys {
            if !is_present {
                // The index leads to the first block whose last key is not less than the key.
                block.absent.push(key);
                continue;
            }
            let shared = match block.keys.last() {
                Some(last) if block.keys.len() % RESTART_INTERVAL != 0 => {
                    last.iter().zip(&key).take_while(|(a, b)| a == b).count()
                }
                _ => 0,
            };
            len += 3 + key.len() + KEY_TRAILER_LEN - shared + value_len;
            block.keys.push(key);
            let num_restarts = block.keys.len().div_ceil(RESTART_INTERVAL);
            let block_len = len + 4 * num_restarts + 4;
            if block_len >= BLOCK_SIZE {
                end += (block_len + BLOCK_TRAILER_LEN) as u64;
                blocks.push(DataBlock { end, ..mem::take(&mut block) });
                len = 0;
            }
        }
        Self { blocks }
    }

    /// The share of absent keys that a filter block matches, and the block's bytes.
    #[expect(clippy::cast_precision_loss, reason = "more digits than a rate needs")]
    pub(crate) fn rate_and_len(&self, policy: BloomFilterPolicy, base_lg: u8) -> (f64, usize) {
        let mut builder = FilterBlockBuilder::with_base_lg(policy, base_lg);
        builder.start_block(0);
        for block in &self.blocks {
            block.keys.iter().for_each(|key| builder.add_key(key));
            builder.start_block(block.end);
        }
        let filter_block = builder.finish();
        let reader = FilterBlockReader::new(policy, &filter_block);
        let (mut matches, mut lookups, mut offset) = (0, 0, 0);
        for block in &self.blocks {
            assert!(
                block.keys.iter().all(|key| reader.key_may_match(offset, key)),
                "the filter block loses a key"
            );
            matches += block.absent.iter().filter(|key| reader.key_may_match(offset, key)).count();
            lookups += block.absent.len();
            offset = block.end;
        }
        (matches as f64 / lookups as f64, filter_block.len())
    }
}
