//! Data blocks of another size, as the example expects LevelDB to write them.

use crate::common::survey::filters::SurveyedBlock;
use crate::common::survey::lookups::cut;

fn num_keys(blocks: &[SurveyedBlock]) -> Vec<usize> {
    blocks.iter().map(|block| block.num_keys).collect()
}

/// Blocks as LevelDB's `BlockBuilder` and `TableBuilder` cut them.
fn written(keys: &[Vec<u8>], value_len: usize, block_size: usize) -> Vec<SurveyedBlock> {
    let mut blocks: Vec<SurveyedBlock> = Vec::new();
    let (mut last_key, mut entries_len, mut is_full) = (&[][..], 0, true);
    for key in keys {
        if is_full {
            let offset = blocks.last().map_or(0, |block| block.end);
            blocks.push(SurveyedBlock { offset, ..SurveyedBlock::default() });
            entries_len = 0;
        }
        let block = blocks.last_mut().unwrap();
        let shared = last_key.iter().zip(key).take_while(|(a, b)| a == b).count();
        // Three lengths, each of one byte, precede the key and the value.
        let len = 3 + key.len() + value_len;
        block.len += len as u64;
        block.shared += shared as u64;
        entries_len += if block.num_keys % 16 == 0 { len } else { len - shared };
        block.num_keys += 1;
        let block_len = entries_len + 4 * block.num_keys.div_ceil(16) + 4;
        block.end = block.offset + block_len as u64 + 5;
        is_full = block_len >= block_size;
        last_key = key;
    }
    blocks
}

#[test]
fn joined_blocks_have_the_keys_of_the_larger_ones_that_leveldb_writes() {
    let counters: Vec<_> = (0..40_000u64).map(|i| (3 * i).to_be_bytes().to_vec()).collect();
    let digits: Vec<_> = (0..40_000).map(|i| format!("{i:016}-------!").into_bytes()).collect();
    for keys in [counters, digits] {
        for value_len in [8, 20, 100, 127] {
            let blocks = written(&keys, value_len, 4_096);
            for block_size in [16 << 10, 32 << 10] {
                let expected = written(&keys, value_len, block_size);
                let [cut, expected] =
                    [cut(&blocks, block_size as u64), expected].map(|blocks| num_keys(&blocks));
                // A few keys left over may get a block of their own.
                assert!(cut.len().abs_diff(expected.len()) <= 1, "{cut:?}, not {expected:?}");
                let num_equal = cut.len().min(expected.len()) - 1;
                let mut pairs = cut.iter().zip(&expected).take(num_equal);
                assert!(pairs.all(|(a, b)| a.abs_diff(*b) <= 1), "{cut:?}, not {expected:?}");
            }
        }
    }
}
