//! Next keys and mixed keys.

use super::made::{TRAILER, table};
use crate::absent::{Absent, mixed_keys, next_key, next_keys};
use crate::common::table::{Keys, Table};

#[test]
fn the_next_key_has_the_form_of_its_key() {
    for (key, next) in [
        (&b"\0\xff"[..], Some(&b"\x01\0"[..])),
        (b"a", Some(b"b")),
        (b"user:09", Some(b"user:10")),
        (b"aZz9", Some(b"bAa0")),
        (b"user:99", Some(b"user;00")),
        (b"\xff", None),
        (b"", None),
    ] {
        assert_eq!(next_key(key).as_deref(), next, "{key:?}");
    }
}

fn user_keys(keys: &[impl AsRef<[u8]>]) -> Keys {
    let file = table(keys, TRAILER, None);
    Keys::of(&Table::open(&file).unwrap()).unwrap().into_user_keys()
}

fn texts(absent: &[Absent]) -> Vec<&str> {
    absent.iter().map(|(_, key)| std::str::from_utf8(key).unwrap()).collect()
}

#[test]
fn a_mixed_key_has_the_first_half_of_one_key_and_the_second_half_of_another() {
    for (keys, mixed) in [
        (&["k1a", "k2b", "k3c"][..], &["k1b", "k2c", "k3a"][..]),
        // Halves of the last three bytes, the first of two.
        (&["kk11a", "kk22b"], &["kk11b", "kk22a"]),
        // The partners are half a table away: 1 and 3, 2 and 4.
        (&["1a", "2b", "3c", "4d"], &["1c", "2d", "3a", "4b"]),
        // Present keys are no mixed keys, and keys of other lengths are no partners.
        (&["1a", "1b", "2a", "2b"], &[]),
        (&["1a", "2b", "3cc", "4d"], &["2d", "4b"]),
        // Versions count as entries, and mix to the same keys.
        (&["1a", "1a", "2b", "2b"], &["1b", "2a"]),
        (&["k", "k2"], &[]),
        (&["only"], &[]),
        (&[], &[]),
        // Not in the order of bytes.
        (&["2b", "1a"], &[]),
    ] {
        assert_eq!(texts(&mixed_keys(&user_keys(keys))), mixed, "{keys:?}");
    }
}

#[test]
fn a_mixed_key_is_tested_in_the_block_of_the_first_key_after_it_or_in_the_last_block() {
    for (digits, in_first_block) in [(['0', '1'], 20), (['1', '0'], 19)] {
        // 20 keys in the first block, 4 in the second. Mixed keys have the other digit.
        let keys = ('a'..='x').map(|c| format!("{c}{}", digits[usize::from(c > 'l')]));
        let keys = user_keys(&keys.collect::<Vec<_>>());
        let second = keys.iter().last().unwrap().0;
        let offsets: Vec<_> = mixed_keys(&keys).iter().map(|&(offset, _)| offset).collect();
        let (first_block, last_block) = offsets.split_at(in_first_block);
        assert!(first_block.iter().all(|&offset| offset == 0), "{offsets:?}");
        assert!(last_block == vec![second; 24 - in_first_block], "{offsets:?}");
    }
}

#[test]
fn next_keys_count_once_for_each_range() {
    // Versions of k9 fill both blocks. After k9 comes l0, and the key after k8 is present.
    let mut versions = vec!["k8"];
    versions.resize(30, "k9");
    let keys = user_keys(&versions);
    let (first, second) = (0, keys.iter().last().unwrap().0);
    assert_eq!(texts(&next_keys(&keys, 63)), ["l0"]);
    assert_eq!(next_keys(&keys, 11), [(first, b"l0".to_vec()), (second, b"l0".to_vec())]);
}
