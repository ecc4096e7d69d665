//! The oracle: LevelDB's loops, transcribed from its C++ too plainly to be wrong.
//!
//! Transcribes [`util/hash.cc`], [`util/bloom.cc`], [`table/filter_block.cc`] and
//! `ExtractUserKey` of [`db/dbformat.h`], and shares no code with the library.
//!
//! [`util/hash.cc`]: https://github.com/google/leveldb/blob/1.23/util/hash.cc
//! [`util/bloom.cc`]: https://github.com/google/leveldb/blob/1.23/util/bloom.cc
//! [`table/filter_block.cc`]: https://github.com/google/leveldb/blob/1.23/table/filter_block.cc
//! [`db/dbformat.h`]: https://github.com/google/leveldb/blob/1.23/db/dbformat.h
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::manual_div_ceil,
    clippy::manual_rotate,
    reason = "follows the C++"
)]

const BLOOM_SEED: u32 = 0xbc9f1d34;

pub fn hash(mut data: &[u8], seed: u32) -> u32 {
    let m: u32 = 0xc6a4a793;
    let r = 24;
    let mut h = seed ^ (data.len() as u64).wrapping_mul(u64::from(m)) as u32;

    while data.len() >= 4 {
        let w = decode_fixed32(data);
        data = &data[4..];
        h = h.wrapping_add(w);
        h = h.wrapping_mul(m);
        h ^= h >> 16;
    }

    if data.len() == 3 {
        h = h.wrapping_add(u32::from(data[2]) << 16);
    }
    if data.len() >= 2 {
        h = h.wrapping_add(u32::from(data[1]) << 8);
    }
    if !data.is_empty() {
        h = h.wrapping_add(u32::from(data[0]));
        h = h.wrapping_mul(m);
        h ^= h >> r;
    }
    h
}

pub fn bloom_hash(key: &[u8]) -> u32 {
    hash(key, BLOOM_SEED)
}

pub fn num_probes(bits_per_key: usize) -> u8 {
    let k = (bits_per_key as f64 * 0.69) as usize;
    k.clamp(1, 30) as u8
}

/// The length of a filter without the byte of the probe count.
pub fn num_bytes(bits_per_key: usize, num_keys: usize) -> usize {
    let mut bits = num_keys * bits_per_key;
    if bits < 64 {
        bits = 64;
    }
    (bits + 7) / 8
}

pub fn create_filter<K: AsRef<[u8]>>(bits_per_key: usize, num_probes: u8, keys: &[K]) -> Vec<u8> {
    let hashes: Vec<u32> = keys.iter().map(|key| bloom_hash(key.as_ref())).collect();
    create_filter_of_len(num_bytes(bits_per_key, hashes.len()), num_probes, &hashes)
}

/// The filter that LevelDB would make with this many bytes of bits.
pub fn create_filter_of_len(bytes: usize, num_probes: u8, hashes: &[u32]) -> Vec<u8> {
    let mut filter = vec![0; bytes + 1];
    filter[bytes] = num_probes;
    for &hash in hashes {
        insert_hash(hash, &mut filter);
    }
    filter
}

pub fn insert_hash(hash: u32, filter: &mut [u8]) {
    let len = filter.len();
    let bits = (len as u64 - 1) * 8;
    let k = filter[len - 1];

    let mut h = hash;
    let delta = (h >> 17) | (h << 15);
    for _ in 0..k {
        let bitpos = u64::from(h) % bits;
        filter[(bitpos / 8) as usize] |= 1 << (bitpos % 8);
        h = h.wrapping_add(delta);
    }
}

pub fn key_may_match(key: &[u8], filter: &[u8]) -> bool {
    hash_may_match(bloom_hash(key), filter)
}

pub fn hash_may_match(hash: u32, filter: &[u8]) -> bool {
    let len = filter.len();
    if len < 2 {
        return false;
    }
    let bits = (len as u64 - 1) * 8;

    let k = filter[len - 1];
    if k > 30 {
        return true;
    }

    let mut h = hash;
    let delta = (h >> 17) | (h << 15);
    for _ in 0..k {
        let bitpos = u64::from(h) % bits;
        if (filter[(bitpos / 8) as usize] & (1 << (bitpos % 8))) == 0 {
            return false;
        }
        h = h.wrapping_add(delta);
    }
    true
}

/// A data block's offset, and its keys.
pub type DataBlock = (u64, Vec<Vec<u8>>);

/// The calls of `FilterBlockBuilder`, whose policy is a function from keys to a filter, with any
/// `kFilterBaseLg`.
pub fn filter_block(
    create_filter: impl Fn(&[Vec<u8>]) -> Vec<u8>,
    base_lg: u8,
    blocks: &[DataBlock],
) -> Vec<u8> {
    let (mut result, mut filter_offsets, mut keys) = (vec![], vec![], vec![]);
    let generate_filter = |result: &mut Vec<u8>, offsets: &mut Vec<u32>, keys: &mut Vec<_>| {
        offsets.push(result.len() as u32);
        if keys.is_empty() {
            return;
        }
        result.extend(create_filter(keys));
        keys.clear();
    };
    for (block_offset, keys_of_block) in blocks {
        let filter_index = block_offset / (1 << base_lg);
        assert!(filter_index >= filter_offsets.len() as u64);
        while filter_index > filter_offsets.len() as u64 {
            generate_filter(&mut result, &mut filter_offsets, &mut keys);
        }
        keys.extend_from_slice(keys_of_block);
    }
    if !keys.is_empty() {
        generate_filter(&mut result, &mut filter_offsets, &mut keys);
    }
    finish(result, &filter_offsets, base_lg)
}

/// `FilterBlockBuilder::Finish`.
pub fn finish(mut result: Vec<u8>, filter_offsets: &[u32], base_lg: u8) -> Vec<u8> {
    let array_offset = result.len() as u32;
    for offset in filter_offsets.iter().chain([&array_offset]) {
        result.extend(offset.to_le_bytes());
    }
    result.push(base_lg);
    result
}

/// The filter that `FilterBlockReader` gives to its policy; `None` if it answers `true` without.
pub fn block_filter(contents: &[u8], block_offset: u64) -> Option<&[u8]> {
    let n = contents.len();
    if n < 5 {
        return None;
    }
    let base_lg = contents[n - 1];
    let last_word = decode_fixed32(&contents[n - 5..]) as usize;
    if last_word > n - 5 {
        return None;
    }
    let num = (n - 5 - last_word) / 4;

    // The first deliberate difference: such a shift is undefined in C++.
    if base_lg >= 64 {
        return None;
    }
    let index = block_offset >> base_lg;
    if index >= num as u64 {
        return None;
    }
    let entry = last_word + index as usize * 4;
    let start = decode_fixed32(&contents[entry..]) as usize;
    let limit = decode_fixed32(&contents[entry + 4..]) as usize;
    if start <= limit && limit <= last_word {
        return Some(&contents[start..limit]);
    }
    // The second: if start == limit, C++ answers `false` even if both lie outside.
    None
}

pub fn block_key_may_match(contents: &[u8], block_offset: u64, key: &[u8]) -> bool {
    match block_filter(contents, block_offset) {
        Some(filter) => key_may_match(key, filter),
        None => true,
    }
}

/// `ExtractUserKey`, which C++ allows only for keys of at least 8 bytes.
pub fn extract_user_key(internal_key: &[u8]) -> &[u8] {
    if internal_key.len() < 8 {
        return internal_key;
    }
    &internal_key[..internal_key.len() - 8]
}

fn decode_fixed32(bytes: &[u8]) -> u32 {
    u32::from(bytes[0])
        | u32::from(bytes[1]) << 8
        | u32::from(bytes[2]) << 16
        | u32::from(bytes[3]) << 24
}
