//! Damaged files are told apart from whole ones, and no byte of theirs makes anything panic.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use crate::common::drawn;
use crate::common::table::block::UNCOMPRESSED;
use crate::common::table::replace::with_filter_block;
use crate::common::table::writer::{append_block, append_footer, block};
use crate::common::table::{Table, read_file};
use crate::common::temp::TempPath;
use crate::table::Filters;
use crate::{facts, read_golden};

const TABLES: [&str; 3] = [
    "tables/db_bloom16_block1k.ldb",
    "tables/goleveldb_bloom10_user_keys.ldb",
    "databases/reverse_comparator/000005.ldb",
];

fn filter_block(file: &[u8]) -> Vec<u8> {
    Table::open(file).unwrap().filters().unwrap().unwrap().contents.into_owned()
}

#[test]
fn every_flipped_bit_and_every_lost_end_is_noticed_and_nothing_panics() {
    let mut below = drawn(1);
    for name in TABLES {
        let (file, filters) = (read_golden(name), filter_block(&read_golden(name)));
        for i in 0..60 {
            assert!(facts(&file[..below(file.len())]).is_err(), "{name}");
            let mut flipped = |bytes: &[u8], place: usize| {
                let mut bytes = bytes.to_vec();
                bytes[place] ^= 1 << below(8);
                bytes
            };
            // In blocks, in the footer, and in the filter block below its checksum; there, half of
            // the flips are in what leads to the filters.
            let of_block = facts(&flipped(&file, i * (file.len() - 48) / 60));
            assert!(of_block.map_or(true, |facts| !facts.faults.is_empty()), "{name}: {i}");
            let _ = facts(&flipped(&file, file.len() - 1 - i % 48));
            let end = if i % 2 == 0 { 40 } else { filters.len() };
            let block = flipped(&filters, filters.len() - 1 - i * end / 60);
            let facts = facts(&with_filter_block(&file, &block).unwrap()).unwrap();
            let is_same = matches!(facts.filters, Filters::Bloom { same_bytes: Some(_), .. });
            assert!(!is_same, "{name}: {i}");
        }
    }
}

#[test]
fn malformed_filter_blocks_are_damaged_whatever_their_checksum() {
    let file = read_golden(TABLES[0]);
    let old = filter_block(&file);
    let with_end = |end: &[u8]| [&old[..old.len() - end.len()], end].concat();
    let wrong = [&[64][..], &[255], &[0xff, 0xff, 0xff, 0xff, 11]].map(with_end);
    for block in (0..5).map(|len| old[..len].to_vec()).chain(wrong) {
        let facts = facts(&with_filter_block(&file, &block).unwrap()).unwrap();
        assert_eq!(facts.faults, ["its filters: the block is malformed"], "{block:?}");
    }
}

#[test]
fn a_table_whose_keys_have_a_thousand_times_its_bytes_is_refused() {
    // One long key, and the same again and again.
    let mut entries = vec![(0, &[b'k'; 20_000][..], &b""[..])];
    entries.resize(20_000, (20_000, &b""[..], &b""[..]));
    let mut file = Vec::new();
    let data = append_block(&mut file, &block(&entries), UNCOMPRESSED);
    let metaindex = append_block(&mut file, &block(&[]), UNCOMPRESSED);
    let index = append_block(&mut file, &block(&[(0, b"key", &data)]), UNCOMPRESSED);
    append_footer(&mut file, &[metaindex, index].concat());
    let why = facts(&file).err().expect("refused").to_string();
    assert!(why.contains("more than a thousand times"), "{why}");
}

#[test]
#[cfg_attr(windows, ignore = "Windows would write 10 GiB of zeros")]
fn of_files_whose_end_makes_no_sense_nothing_else_is_read() {
    let path = TempPath::new();
    let mut sparse = File::create(&path.0).unwrap();
    sparse.set_len(10 << 30).unwrap();
    let why = || read_file(&path.0).unwrap_err().to_string();
    assert!(why().contains("not a LevelDB table"), "{}", why());
    // The footer of a table, whose index block is not there.
    sparse.seek(SeekFrom::End(-48)).unwrap();
    sparse.write_all(read_golden(TABLES[0]).last_chunk::<48>().unwrap()).unwrap();
    assert!(why().contains("does not match its checksum"), "{}", why());
}
