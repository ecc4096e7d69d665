//! Tables that tests make.

use leveldb_filter::FilterBlockBuilder;

use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};

/// After the user key in an internal key: a value, and the sequence number 0.
pub(super) const TRAILER: &[u8] = b"\x01\0\0\0\0\0\0\0";

/// A table of these user keys, each with this trailer, in data blocks of 20 entries, with values of
/// 100 bytes, and with a filter block if there is a builder.
pub(super) fn table<K: AsRef<[u8]>>(
    keys: &[K],
    trailer: &[u8],
    mut builder: Option<FilterBlockBuilder>,
) -> Vec<u8> {
    let (mut file, mut index) = (Vec::new(), Vec::new());
    for keys in keys.chunks(20) {
        if let Some(builder) = &mut builder {
            builder.start_block(file.len() as u64);
            for key in keys {
                builder.add_key(key.as_ref());
            }
        }
        let keys: Vec<_> = keys.iter().map(|key| [key.as_ref(), trailer].concat()).collect();
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &[b'v'; 100][..])).collect();
        index.push(append_block(&mut file, &block(&entries), UNCOMPRESSED));
    }
    let filters = builder.map(|mut builder| {
        let name = format!("filter.{}", builder.policy().name());
        let filters = append_block(&mut file, &builder.finish(), UNCOMPRESSED);
        block(&[(0, name.as_bytes(), &filters)])
    });
    let metaindex = filters.unwrap_or_else(|| block(&[]));
    let metaindex = append_block(&mut file, &metaindex, UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|handle| (0, &b"key"[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}

/// A table of one data block, without filters. Its data block, metaindex block and index block have
/// these types.
pub(super) fn of_one_block(data: &[u8], block_types: [u8; 3]) -> Vec<u8> {
    let [of_data, of_metaindex, of_index] = block_types;
    let mut file = Vec::new();
    let data = append_block(&mut file, data, of_data);
    let metaindex = append_block(&mut file, &block(&[]), of_metaindex);
    let index = append_block(&mut file, &block(&[(0, b"key", &data)]), of_index);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}
