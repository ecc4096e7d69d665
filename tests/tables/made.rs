//! Tables that tests make.

use leveldb_filter::FilterBlockBuilder;

use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};

/// After the user key in an internal key: a value, and the sequence number 0.
pub(super) const TRAILER: &[u8] = b"\x01\0\0\0\0\0\0\0";

/// A table of these user keys, each with this trailer, in data blocks of about 4 KiB, with values of
/// this length, and with a filter block if there is a builder.
pub(super) fn table<K: AsRef<[u8]>>(
    keys: &[K],
    trailer: &[u8],
    value_len: usize,
    mut builder: Option<FilterBlockBuilder>,
) -> Vec<u8> {
    let (mut file, mut index, value) = (Vec::new(), Vec::new(), vec![b'v'; value_len]);
    for keys in keys.chunks(4_096 / value_len) {
        if let Some(builder) = &mut builder {
            builder.start_block(file.len() as u64);
            for key in keys {
                builder.add_key(key.as_ref());
            }
        }
        let keys: Vec<_> = keys.iter().map(|key| [key.as_ref(), trailer].concat()).collect();
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &value[..])).collect();
        index.push(append_block(&mut file, &block(&entries), UNCOMPRESSED));
    }
    let filters = builder.map(|mut builder| {
        let name = format!("filter.{}", builder.policy().name());
        builder.start_block(file.len() as u64);
        (name, append_block(&mut file, &builder.finish(), UNCOMPRESSED))
    });
    let filters: Vec<_> = filters.iter().map(|(name, at)| (0, name.as_bytes(), &at[..])).collect();
    let metaindex = append_block(&mut file, &block(&filters), UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|handle| (0, &b"key"[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}
