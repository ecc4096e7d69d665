//! The absent keys that filters are tested with: those just after the keys of a table.

use std::collections::HashSet;

use crate::common::table::Keys;

/// Absent keys, each with the offset of the data block of a key that it comes after: once for each
/// range of 2<sup>`base_lg`</sup> bytes.
pub(crate) fn absent_keys(keys: &Keys, base_lg: u8) -> Vec<(u64, Vec<u8>)> {
    let present: HashSet<_> = keys.iter().map(|(_, key)| key).collect();
    let (mut absent, mut in_range, mut range) = (Vec::new(), HashSet::new(), 0);
    for (offset, key) in keys.iter() {
        if offset >> base_lg != range {
            range = offset >> base_lg;
            in_range.clear();
        }
        let next = next_key(key).filter(|next| !present.contains(&next[..]));
        if let Some(next) = next.filter(|next| in_range.insert(next.clone())) {
            absent.push((offset, next));
        }
    }
    absent
}

/// The next key of the same form: the last byte plus one, with carry, where digits stay digits and
/// letters letters. `None` after the last key of a form.
pub(crate) fn next_key(key: &[u8]) -> Option<Vec<u8>> {
    let mut next = key.to_vec();
    for byte in next.iter_mut().rev() {
        *byte = match *byte {
            b'9' => b'0',
            b'z' => b'a',
            b'Z' => b'A',
            0xff => 0,
            other => {
                *byte = other + 1;
                return Some(next);
            }
        };
    }
    None
}
