//! Tables with filter blocks of the crate's builder.

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};

/// After the user key in an internal key: a value, and the sequence number 0.
pub(super) const TRAILER: &[u8] = b"\x01\0\0\0\0\0\0\0";

/// A table of these user keys, each with this trailer, in data blocks of 20 entries, with values of
/// 100 bytes, and with a filter block if there is a builder.
pub(super) fn table<K: AsRef<[u8]>>(
    keys: &[K],
    trailer: &[u8],
    mut builder: Option<FilterBlockBuilder<BloomFilterPolicy>>,
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
    let name = format!("filter.{}", BloomFilterPolicy::NAME);
    let filters = builder.map(|mut builder| {
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
