//! What the lines between title and figures say, and the last lines, of made tables.

use std::fs;

use super::made::of_one_block;
use crate::common::table::writer::block;
use crate::common::temp::TempPath;
use crate::report::Report;

/// The report of files of these bytes.
fn report(files: &[impl AsRef<[u8]>]) -> Report {
    let paths: Vec<_> = files.iter().map(|_| TempPath::new()).collect();
    for (path, file) in paths.iter().zip(files) {
        fs::write(&path.0, file).unwrap();
    }
    Report::of(&paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>())
}

#[test]
fn compressions_are_called_what_they_can_be_and_are_no_sign_of_an_unfinished_table() {
    let entries = block(&[(0, b"key\x01\0\0\0\0\0\0\0", b"value")]);
    for (block_type, compression) in [
        (2, "2, which is zstd in LevelDB after 1.23, and zlib in forks"),
        (3, "3"),
        (4, "4, which is raw zlib in the fork of Minecraft's Bedrock Edition"),
        (255, "255"),
    ] {
        let why = format!(" has the compression type {compression}");
        for (block_types, title) in [
            ([block_type, 0, 0], "1 table (1 unreadable), 0 entries"),
            ([0, 0, block_type], "1 table (1 unreadable), 0 entries"),
            ([0, block_type, 0], "1 table, 1 entry"),
        ] {
            let file = of_one_block(&entries, block_types);
            let report = report(&[&file]);
            let (lines, status) = (report.lines(), report.exit_status());
            assert!(lines[0] == title && lines[1].ends_with(&why), "{lines:#?}");
            assert_eq!((lines.len(), status), (2, 1), "{lines:#?}");
        }
        // Beside a truncated table.
        let file = of_one_block(&entries, [block_type, 0, 0]);
        let lines = report(&[&file, &file[..file.len() - 1]]).lines();
        assert!(lines[1].ends_with(&why) && may_be_unfinished(&lines), "{lines:#?}");
    }
}

#[test]
fn damaged_blocks_can_be_of_unfinished_tables_whatever_their_compression() {
    let entries = block(&[(0, b"key\x01\0\0\0\0\0\0\0", b"value")]);
    // Now the checksum is wrong, too.
    let mut flipped = of_one_block(&entries, [0; 3]);
    flipped[entries.len()] = 2;
    let no_snappy_data = of_one_block(&entries, [1, 0, 0]);
    for file in [flipped, no_snappy_data] {
        let lines = report(&[&file]).lines();
        assert!(lines[0].contains("1 unreadable") && may_be_unfinished(&lines), "{lines:#?}");
    }
}

fn may_be_unfinished(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("A table that LevelDB never finished"))
}
