//! Tables that tests make.

use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::writer::{append_block, append_footer, block};

/// The key with LevelDB's trailer: a value, and the sequence number 0.
pub(super) fn internal_key(key: impl AsRef<[u8]>) -> Vec<u8> {
    [key.as_ref(), b"\x01\0\0\0\0\0\0\0"].concat()
}

/// A table of these keys, in data blocks of about 4 KiB, with values of this length, and with a
/// filter block under the name of its policy, if one is given.
pub(super) fn table(
    keys: impl IntoIterator<Item = Vec<u8>>,
    value_len: usize,
    filters: Option<(&str, &[u8])>,
) -> Vec<u8> {
    let (mut file, mut index, value) = (Vec::new(), Vec::new(), vec![b'v'; value_len]);
    for keys in Vec::from_iter(keys).chunks(4_096 / value_len) {
        let entries: Vec<_> = keys.iter().map(|key| (0, &key[..], &value[..])).collect();
        index.push(append_block(&mut file, &block(&entries), UNCOMPRESSED));
    }
    let filters = filters.map(|(name, contents)| {
        (format!("filter.{name}"), append_block(&mut file, contents, UNCOMPRESSED))
    });
    let filters: Vec<_> = filters.iter().map(|(name, at)| (0, name.as_bytes(), &at[..])).collect();
    let metaindex = append_block(&mut file, &block(&filters), UNCOMPRESSED);
    let index: Vec<_> = index.iter().map(|handle| (0, &b"key"[..], &handle[..])).collect();
    let index = append_block(&mut file, &block(&index), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    file
}
