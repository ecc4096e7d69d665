//! A table of LevelDB up to 1.17 on x86, made by plain loops.

use leveldb_filter::BloomFilterPolicy;

use super::made::{internal_key, table};
use crate::common::noise;
use crate::common::reference::create_filter_of_len;
use crate::facts;
use crate::leveldb::Leveldb;
use crate::table::Filters;

const SIGNED: Filters = Filters::Signed(Leveldb { bits_per_key: 10, base_lg: 11 });

/// The hash as C++ computes it where `char` is signed.
fn signed_hash(key: &[u8]) -> u32 {
    let m: u32 = 0xc6a4a793;
    let mut h = 0xbc9f1d34 ^ m.wrapping_mul(u32::try_from(key.len()).unwrap());
    for bytes in key.chunks(4) {
        if let [a, b, c, d] = *bytes {
            h = h.wrapping_add(u32::from_le_bytes([a, b, c, d])).wrapping_mul(m);
            h ^= h >> 16;
        } else {
            for (i, &byte) in bytes.iter().enumerate() {
                let number = if byte < 0x80 { i32::from(byte) } else { i32::from(byte) - 256 };
                h = h.wrapping_add_signed(number << (8 * i));
            }
            h = h.wrapping_mul(m);
            h ^= h >> 24;
        }
    }
    h
}

/// What is known of a table of these keys with this one filter.
fn filters(keys: &[Vec<u8>], name: &str, filter: &[u8]) -> (Filters, usize) {
    let len = u32::try_from(filter.len()).unwrap().to_le_bytes();
    let block = [filter, &[0; 4], &len, &[11]].concat();
    let facts = facts(&table(keys.iter().map(internal_key), 1, Some((name, &block)))).unwrap();
    (facts.filters, facts.faults.len())
}

#[test]
fn filters_of_signed_bytes_are_known_by_all_their_bytes_and_their_name() {
    let name = BloomFilterPolicy::GOLEVELDB_NAME;
    let known = [0x00, 0x04, 0x02, 0x81, 0x40, 0x20, 0x00, 0x00, 0x06];
    assert_eq!(create_filter_of_len(8, 6, &[signed_hash("é".as_bytes())]), known);
    assert_eq!(filters(&["é".into()], name, &known), (SIGNED, 0));

    let mut keys: Vec<_> = (0..80).map(|i| noise(1 + i as usize % 13, i)).collect();
    keys.sort();
    let hashes: Vec<_> = keys.iter().map(|key| signed_hash(key)).collect();
    let mut filter = create_filter_of_len(100, 6, &hashes);
    assert_eq!(filters(&keys, name, &filter), (SIGNED, 0));
    // By LevelDB's later hash, keys are missing.
    let (of_later, num_faults) = filters(&keys, BloomFilterPolicy::NAME, &filter);
    assert!(of_later != SIGNED && num_faults == 1, "{of_later:?}");
    filter[9] ^= 1;
    assert_ne!(filters(&keys, name, &filter).0, SIGNED);
}
