//! Every policy that makes a table's filter block is named, and damage does not make it costly.

use std::fs;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::made::{TRAILER, table};
use crate::common::allocations::peak_bytes;
use crate::common::random::words;
use crate::common::table::{Keys, Table};
use crate::common::temp::TempPath;
use crate::report::Report;
use crate::same_bytes::{Choice, Reader, choices};

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10);

/// The line about tables, each of keys and a number of bits per key.
fn line(tables: &[(&[&str], usize)]) -> String {
    let paths: Vec<_> = tables.iter().map(|_| TempPath::new()).collect();
    for (path, (keys, bits_per_key)) in paths.iter().zip(tables) {
        let builder = FilterBlockBuilder::new(BloomFilterPolicy::new(*bits_per_key));
        fs::write(&path.0, table(keys, TRAILER, Some(builder))).unwrap();
    }
    let report = Report::of(&paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>());
    assert_eq!(report.exit_status(), 0, "{:#?}", report.lines());
    report.lines().swap_remove(1)
}

#[test]
fn each_whole_number_of_bits_per_key_that_makes_the_same_bytes_of_all_tables_is_named() {
    let seven = ["a", "b", "c", "d", "e", "f", "g"];
    for (tables, policies) in [
        // One key has 64 bits up to 64 bits per key; 9 and 10 have 6 probes, 0 to 2 have one.
        (&[(&["key"][..], 10)][..], "new(9) and new(10) make the same bytes."),
        (&[(&["key"], 1)], "new(0), new(1) and new(2) make the same bytes."),
        // Seven keys have 72 bits at 10.
        (&[(&["key"], 10), (&seven, 10)], "new(10) makes the same bytes."),
        (&[(&["key"], 10), (&[], 16)], "new(9) and new(10) make the same bytes."),
        (
            &[(&["key"], 10), (&["key"], 11)],
            "new(9), new(10) and new(11) each make other bytes for 1 of 2 tables.",
        ),
    ] {
        let expected = format!("Each entry passes its filter. BloomFilterPolicy::{policies}");
        assert_eq!(line(tables), expected, "{tables:?}");
    }
}

fn user_keys(keys: &[impl AsRef<[u8]>]) -> Keys {
    let file = table(keys, TRAILER, None);
    Keys::of(&Table::open(&file).unwrap()).unwrap().into_user_keys()
}

fn counters(num_keys: usize) -> Keys {
    user_keys(&(0_u64..).take(num_keys).map(u64::to_be_bytes).collect::<Vec<_>>())
}

fn long_ranges(keys: &Keys, bits_per_key: usize) -> Vec<u8> {
    let policy = Choice::Tuned(bits_per_key).policy();
    keys.filter_block(FilterBlockBuilder::with_long_ranges(policy))
}

#[test]
fn long_ranges_are_recognized_whatever_their_number() {
    for (num_keys, is_one) in [
        (1, true),
        (2, true),
        (39, true),
        (250, true),
        (1_999, true),
        (3_000, false),
        (5_000, false),
        (40_000, false),
    ] {
        let keys = counters(num_keys);
        for bits_per_key in [3, 10, 16, 1_000] {
            let block = long_ranges(&keys, bits_per_key);
            let reader = Reader::new(POLICY, &block);
            let choices = choices(&keys, &reader);
            assert!(choices.contains(&Choice::Tuned(bits_per_key)), "{num_keys}: {choices:?}");
            assert_eq!((reader.num_filters() == 1, reader.base_lg() == 63), (is_one, is_one));
        }
    }
}

#[test]
fn a_block_of_another_length_or_range_is_not_built() {
    // A filter for each byte, in a table of one long key, would take four times its length.
    let (long, damaged) = (user_keys(&[vec![7; 1 << 20]]), b"12345678\x06\0\0\0\0\x09\0\0\0\0");
    let peak = peak_bytes(|| {
        let reader = Reader::new(POLICY, damaged);
        assert_eq!((reader.num_filters(), reader.base_lg()), (1, 0));
        assert_eq!(choices(&long, &reader), []);
    });
    assert!(peak < 1_000, "{peak} bytes");

    // The first filter has a thousand bits for each key, the others have none.
    let keys = counters(40_000);
    let whole = long_ranges(&keys, 1_000);
    let reader = Reader::new(POLICY, &whole);
    let first = reader.filter(0).unwrap();
    let end = u32::try_from(first.len()).unwrap().to_le_bytes();
    let offsets = [&[0; 4], &end.repeat(reader.num_filters())[..]].concat();
    let block = [first, &offsets, &[reader.base_lg()]].concat();
    let peak = peak_bytes(|| {
        let damaged = Reader::new(POLICY, &block);
        assert_eq!(damaged.num_filters(), reader.num_filters());
        assert_eq!(choices(&keys, &damaged), []);
    });
    assert!(peak < whole.len() / 5, "{peak} of {} bytes", whole.len());
}

#[test]
fn no_block_with_a_flipped_bit_is_recognized_or_takes_more_memory() {
    let keys = counters(5_000);
    for block in [long_ranges(&keys, 10), keys.filter_block(FilterBlockBuilder::new(POLICY))] {
        let intact = peak_bytes(|| drop(choices(&keys, &Reader::new(POLICY, &block))));
        let array_len = Reader::new(POLICY, &block).num_filters() * 4 + 5;
        // Half of the flips are in what leads to the filters, and all are in its last bytes.
        let mut words = words(3).map(|word| usize::try_from(word >> 33).unwrap());
        let mut below = |end: usize| words.next().unwrap() % end;
        let last_bits = (0..40).map(|bit| (bit / 8, bit % 8));
        let drawn: Vec<_> = (0..60)
            .map(|i| (below(if i % 2 == 0 { array_len } else { block.len() }), below(8)))
            .collect();
        for (from_end, bit) in last_bits.chain(drawn) {
            let mut damaged = block.clone();
            damaged[block.len() - 1 - from_end] ^= 1 << bit;
            let peak = peak_bytes(|| {
                let reader = Reader::new(POLICY, &damaged);
                assert_eq!(choices(&keys, &reader), [], "bit {bit} at {from_end} from the end");
            });
            assert!(peak <= intact + 5_000, "{peak} for {intact} bytes, bit {bit} at {from_end}");
        }
    }
}
