//! Tables made, and damaged, by tests.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder, InternalKeyPolicy};

use super::random_input::noise;
use crate::table::block::UNCOMPRESSED;
use crate::table::manifest;
use crate::table::writer::{append_block, append_footer, block, handle, varint};

/// The contents of a table's blocks, which tests may damage before checksums are added.
#[derive(Clone)]
pub(crate) struct Contents {
    pub(crate) data: Vec<u8>,
    pub(crate) metaindex: Vec<u8>,
    pub(crate) index: Vec<u8>,
}

impl Contents {
    pub(crate) fn new() -> Self {
        Self::of_data(block(&[
            (0, b"apple", b"1"),
            (2, b"ricot", b"2"),
            (0, b"pear", b""),
            (1, b"lum", b"4"),
        ]))
    }

    /// A table whose filter block is its only data block.
    pub(crate) fn of_data(data: Vec<u8>) -> Self {
        let handle = handle(0, data.len());
        let metaindex = block(&[(0, b"filter.leveldb.BuiltinBloomFilter2", &handle)]);
        let index = block(&[(0, b"q", &handle)]);
        Self { data, metaindex, index }
    }

    pub(crate) fn to_file(&self) -> Vec<u8> {
        self.to_file_of_type(UNCOMPRESSED)
    }

    /// A table whose data block has this compression type.
    pub(crate) fn to_file_of_type(&self, data_type: u8) -> Vec<u8> {
        let mut file = Vec::new();
        append_block(&mut file, &self.data, data_type);
        let metaindex = append_block(&mut file, &self.metaindex, UNCOMPRESSED);
        let index = append_block(&mut file, &self.index, UNCOMPRESSED);
        append_footer(&mut file, &[metaindex, index].concat());
        file
    }
}

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

/// Entries of a block: a key of this length, and then copies of it that share all its bytes.
pub(crate) fn repeated(key_len: usize, value: &[u8], num_keys: usize) -> Vec<u8> {
    let (key_len, key) = (varint(key_len), vec![b'k'; key_len]);
    let value = [&varint(value.len()), value].concat();
    let mut block = [&[0][..], &key_len, &value[..1], &key, &value[1..]].concat();
    block.extend([&key_len[..], &[0], &value].concat().repeat(num_keys - 1));
    block.extend([0, 0, 0, 0, 1, 0, 0, 0]);
    block
}
