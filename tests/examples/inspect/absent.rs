//! The absent keys that filters are tested with.

use std::collections::HashSet;

use crate::common::table::Keys;

/// An absent key, and the offset of the data block whose filter it is tested with.
pub(crate) type Absent = (u64, Vec<u8>);

/// The next key of each key, in the data block of that key, once for each range of
/// 2<sup>`base_lg`</sup> bytes.
pub(crate) fn next_keys(keys: &Keys, base_lg: u8) -> Vec<Absent> {
    let present: HashSet<_> = keys.iter().map(|(_, key)| key).collect();
    let next = keys.iter().filter_map(|(offset, key)| Some((offset, next_key(key)?)));
    let mut absent: Vec<_> = next.filter(|(_, key)| !present.contains(&key[..])).collect();
    // Stable, so that of equal keys in a range the first is left.
    absent.sort_by(|a, b| in_range(a, base_lg).cmp(&in_range(b, base_lg)));
    absent.dedup_by(|later, first| in_range(later, base_lg) == in_range(first, base_lg));
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

fn in_range((offset, key): &Absent, base_lg: u8) -> (u64, &[u8]) {
    (offset >> base_lg, key)
}

/// The first half of each key with the second half of the key half a table later, if both keys are
/// equally long. The halves begin after the bytes that all keys share. Each mixed key is there
/// once, in the data block where a lookup would look for it.
///
/// Empty unless the keys ascend by their bytes.
pub(crate) fn mixed_keys(keys: &Keys) -> Vec<Absent> {
    let keys: Vec<_> = keys.iter().collect();
    let (Some((_, first)), Some((_, last))) = (keys.first(), keys.last()) else {
        return Vec::new();
    };
    if !keys.is_sorted_by_key(|(_, key)| key) {
        return Vec::new();
    }
    // What the first and the last of sorted keys have in common, all have.
    let common = first.iter().zip(*last).take_while(|(a, b)| a == b).count();
    let partners = keys.iter().cycle().skip(keys.len() / 2);
    let pairs = keys.iter().zip(partners).filter(|((_, a), (_, b))| a.len() == b.len());
    let mixed = pairs.map(|((_, a), (_, b))| {
        let middle = common + (a.len() - common).div_ceil(2);
        [&a[..middle], &b[middle..]].concat()
    });
    let mut absent: Vec<_> = mixed.filter_map(|mixed| absent_among(&keys, mixed)).collect();
    absent.sort_unstable();
    absent.dedup();
    absent
}

/// The key in the data block of the first of these sorted keys that is not below it, or in the last
/// data block. `None` if the key is one of them.
fn absent_among(keys: &[(u64, &[u8])], key: Vec<u8>) -> Option<Absent> {
    let index = keys.partition_point(|(_, present)| *present < &key[..]);
    let &(offset, found) = keys.get(index).or(keys.last())?;
    (found != key).then_some((offset, key))
}
