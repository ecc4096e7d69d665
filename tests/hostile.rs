//! Bytes from a broken disk or an attacker: the library gives LevelDB's answers, and never panics.

mod common;

use common::{assert_matches_as_reference, assert_reads_as_reference, create_filter, noise};
use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, InternalKeyPolicy,
};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// A filter of keys, a filter of no keys, and a filter of the empty key.
fn real_filter_block() -> Vec<u8> {
    let mut builder = FilterBlockBuilder::new(POLICY);
    builder.start_block(0);
    for key in ["apple", "fig", "lime", "pear", "plum", "quince"] {
        builder.add_key(key.as_bytes());
    }
    builder.start_block(5000);
    builder.add_key(b"");
    builder.finish()
}

fn filter_block(filters: &[u8], offsets: &[u32], array_offset: u32, base_lg: u8) -> Vec<u8> {
    let words = offsets.iter().chain([&array_offset]);
    let words: Vec<_> = words.flat_map(|word| word.to_le_bytes()).collect();
    [filters, &words, &[base_lg]].concat()
}

/// Both sides of each range of 2 KiB in `real_filter_block`, and far behind.
fn assert_lookups_as_reference(contents: &[u8]) {
    for block_offset in [0, 2047, 2048, 4095, 4096, 6143, 6144, 1 << 40, u64::MAX] {
        assert_reads_as_reference(contents, block_offset, b"fig");
        assert_reads_as_reference(contents, block_offset, b"");
    }
}

#[test]
fn filters_of_up_to_two_bytes_answer_as_leveldb() {
    let keys: [&[u8]; 4] = [b"", b"a", b"key", b"another key"];
    for key in keys {
        assert_matches_as_reference(key, &[]);
        for first in 0..=255 {
            assert_matches_as_reference(key, &[first]);
            for second in 0..=255 {
                assert_matches_as_reference(key, &[first, second]);
            }
        }
    }
}

#[test]
fn filters_with_any_probe_count_answer_as_leveldb() {
    for num_bytes in [2, 3, 7, 8, 9, 63, 64, 65, 1000] {
        let sparse = noise(num_bytes, 1);
        let dense: Vec<_> =
            sparse.iter().zip(noise(num_bytes, 2)).map(|(byte, other)| byte | other).collect();
        for bits in [vec![0; num_bytes], sparse, dense, vec![0xff; num_bytes]] {
            for num_probes in 0..=255 {
                let filter = [bits.as_slice(), &[num_probes]].concat();
                for i in 0..16u8 {
                    assert_matches_as_reference(&[i], &filter);
                }
            }
        }
    }
}

#[test]
fn truncated_filter_blocks_answer_as_leveldb() {
    let contents = real_filter_block();
    for len in 0..=contents.len() {
        assert_lookups_as_reference(&contents[..len]);
    }
}

#[test]
fn filter_blocks_with_a_changed_byte_answer_as_leveldb() {
    let mut contents = real_filter_block();
    for i in 0..contents.len() {
        for _ in 0..=255 {
            contents[i] = contents[i].wrapping_add(1);
            assert_lookups_as_reference(&contents);
        }
    }
}

#[test]
fn filter_blocks_of_arbitrary_bytes_answer_as_leveldb() {
    for seed in 0..20 {
        let mut contents = noise(200, seed);
        for len in 0..=contents.len() {
            assert_lookups_as_reference(&contents[..len]);
        }
        // With a likely frame, the offsets are what is arbitrary.
        contents.extend([100, 0, 0, 0, 11]);
        assert_lookups_as_reference(&contents);
    }
}

/// Among them zeros, which are a frame without filters, and could be taken for offsets.
#[test]
fn filter_blocks_of_one_repeated_byte_answer_as_leveldb() {
    for byte in 0..=255 {
        let contents = [byte; 40];
        for len in 0..=contents.len() {
            assert_lookups_as_reference(&contents[..len]);
        }
    }
}

#[test]
fn filter_blocks_shorter_than_their_frame_match_everything() {
    for len in 0..5 {
        for byte in 0..=255 {
            let reader = FilterBlockReader::new(POLICY, vec![byte; len]);
            assert_eq!(reader.filter(0), None, "{len} bytes of {byte:#x}");
            assert!(reader.key_may_match(0, b"key"), "{len} bytes of {byte:#x}");
        }
    }
}

#[test]
fn any_base_lg_and_block_offset_answer_as_leveldb() {
    let mut contents = real_filter_block();
    let last = contents.len() - 1;
    for base_lg in 0..=255 {
        contents[last] = base_lg;
        for bit in 0..64 {
            for block_offset in [(1 << bit) - 1, 1 << bit, 3 << bit, u64::MAX - (1 << bit)] {
                assert_reads_as_reference(&contents, block_offset, b"fig");
            }
        }
        assert_reads_as_reference(&contents, u64::MAX, b"fig");
    }
}

#[test]
fn a_base_lg_of_64_or_more_matches_everything() {
    let filter = create_filter(POLICY, &["fig"]);
    let contents = |base_lg| filter_block(&filter, &[0], 9, base_lg);
    assert!(!FilterBlockReader::new(POLICY, contents(63)).key_may_match(0, b"apple"));
    for base_lg in 64..=255 {
        let reader = FilterBlockReader::new(POLICY, contents(base_lg));
        assert_eq!(reader.filter(0), None, "base_lg {base_lg}");
        assert!(reader.key_may_match(0, b"apple"), "base_lg {base_lg}");
    }
}

#[test]
fn equal_offsets_match_nothing_inside_the_filters_and_everything_outside() {
    let filter = create_filter(POLICY, &["fig"]);
    for offset in 0..=9 {
        let contents = filter_block(&filter, &[offset, offset], 9, 11);
        let reader = FilterBlockReader::new(POLICY, contents);
        assert_eq!(reader.filter(0), Some(&[][..]), "offset {offset}");
        assert!(!reader.key_may_match(0, b"fig"), "offset {offset}");
    }
    for offset in [10, 17, 22, 23, 1000, u32::MAX] {
        let contents = filter_block(&filter, &[offset, offset], 9, 11);
        let reader = FilterBlockReader::new(POLICY, contents);
        assert_eq!(reader.filter(0), None, "offset {offset}");
        assert!(reader.key_may_match(0, b"apple"), "offset {offset}");
    }
}

#[test]
fn offsets_in_any_order_answer_as_leveldb() {
    let filter = create_filter(POLICY, &["fig", "lime"]);
    let offsets = (0..=30).chain(u32::MAX - 4..=u32::MAX);
    for start in offsets.clone() {
        for limit in offsets.clone() {
            assert_lookups_as_reference(&filter_block(&filter, &[start, limit], 9, 11));
        }
    }
}

#[test]
fn any_array_offset_answers_as_leveldb() {
    let filter = create_filter(POLICY, &["fig", "lime"]);
    for array_offset in (0..=30).chain(u32::MAX - 30..=u32::MAX) {
        assert_lookups_as_reference(&filter_block(&filter, &[0, 9, 9], array_offset, 11));
    }
}

#[test]
fn a_data_block_whose_only_key_is_empty_gets_a_filter() {
    let reader = FilterBlockReader::new(POLICY, real_filter_block());
    assert_eq!(reader.filter(5000), Some(create_filter(POLICY, &[""]).as_slice()));
    assert!(reader.key_may_match(5000, b""));
    assert!(!reader.key_may_match(5000, b"fig"));
}

#[test]
fn internal_keys_shorter_than_their_trailer_stand_for_themselves() {
    let policy = InternalKeyPolicy::new(POLICY);
    let bytes = *b"123456789";
    for len in 0..=9 {
        let key = &bytes[..len];
        let user_key = if len < 8 { key } else { &bytes[..len - 8] };
        let filter = create_filter(policy, &[key]);
        assert_eq!(filter, create_filter(POLICY, &[user_key]), "{len} bytes");
        assert!(policy.key_may_match(key, &filter), "{len} bytes");
        assert!(!policy.key_may_match(b"absent", &filter), "{len} bytes");
    }
}
