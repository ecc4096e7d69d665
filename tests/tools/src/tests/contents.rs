//! Tables made by tests.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy};

use super::random_input::noise;
use crate::table::block::UNCOMPRESSED;
use crate::table::manifest;
use crate::table::writer::{append_block, append_footer, block};

/// A database's table of `LevelDB`'s blocks, uncompressed, with what a MANIFEST says of it.
pub(crate) fn table_of_database(
    keys: &[Vec<u8>],
    value_len: usize,
) -> (Vec<u8>, manifest::Contents) {
    let internal = |key: &Vec<u8>| [&key[..], &[1, 5, 0, 0, 0, 0, 0, 0]].concat();
    let value = noise(value_len, 27);
    let policy = InternalKeyPolicy::new(BloomFilterPolicy::default());
    let (mut file, mut filters, mut index) =
        (Vec::new(), FilterBlockBuilder::new(policy), Vec::new());
    for keys in keys.chunks(4_096_usize.div_ceil(value_len + 20)) {
        let keys: Vec<_> = keys.iter().map(internal).collect();
        filters.start_block(file.len() as u64);
        for key in &keys {
            filters.add_key(key);
        }
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &value[..])).collect();
        let handle = append_block(&mut file, &block(&entries), UNCOMPRESSED);
        index.push((keys[keys.len() - 1].clone(), handle));
    }
    let filters = append_block(&mut file, &filters.finish(), UNCOMPRESSED);
    let metaindex = block(&[(0, b"filter.leveldb.BuiltinBloomFilter2", &filters)]);
    let metaindex = append_block(&mut file, &metaindex, UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|(key, handle)| (0, &key[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    let [smallest, largest] = [0, keys.len() - 1].map(|i| keys[i].clone());
    let len = file.len() as u64;
    (file, manifest::Contents { len, smallest, largest })
}
