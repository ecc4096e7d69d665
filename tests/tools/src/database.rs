//! A database's directory: which tables are in use, and where their keys lie.
//!
//! Mirrors `db/filename.cc`, and `Version::ForEachOverlapping` in `db/version_set.cc`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::table::manifest::{Contents, Manifest, manifest_name};
use crate::table::{FOOTER_LEN, corrupt};

pub(crate) mod lock;

/// The only comparator whose order is known: that of the keys' bytes.
const BYTEWISE: &str = "leveldb.BytewiseComparator";

/// What is known of a database without reading its tables.
#[derive(PartialEq, Eq)]
pub(crate) struct Database {
    /// The directory's, on one line.
    pub(crate) name: String,
    pub(crate) directory: PathBuf,
    /// The name of the order of the keys.
    pub(crate) comparator: String,
    /// By level, and by number.
    pub(crate) tables: Vec<ListedTable>,
    /// The bytes of logs, which grow with each write.
    pub(crate) log_len: u64,
    /// Whether a program holds the LOCK.
    pub(crate) is_open: bool,
}

#[derive(PartialEq, Eq)]
pub(crate) struct ListedTable {
    pub(crate) path: PathBuf,
    pub(crate) level: u32,
    pub(crate) contents: Contents,
}

impl Database {
    pub(crate) fn open(directory: &Path) -> Result<Self, String> {
        let name = printable(&directory.to_string_lossy());
        // The current directory has an empty name.
        let directory = directory.join(".");
        let (mut log_len, mut is_rocksdb) = (0, false);
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            is_rocksdb |= file.starts_with("OPTIONS-") || file == "IDENTITY";
            if Path::new(&file).extension() == Some(OsStr::new("log")) {
                log_len += entry.metadata().map_or(0, |metadata| metadata.len());
            }
        }
        let manifest = if is_rocksdb {
            Err("a database of RocksDB, not of LevelDB".into())
        } else {
            read_manifest(&directory)
        };
        let manifest = manifest.map_err(|why| format!("{name}: {why}"))?;
        let tables = manifest.tables.into_iter().map(|((level, number), contents)| {
            // LevelDB tries these names, in this order, and no others.
            let names = ["ldb", "sst"].map(|end| directory.join(format!("{number:06}.{end}")));
            let path = names.iter().find(|name| name.exists()).unwrap_or(&names[0]).clone();
            ListedTable { path, level, contents }
        });
        Ok(Self {
            tables: tables.collect(),
            comparator: manifest.comparator.unwrap_or_default(),
            log_len,
            is_open: lock::is_held(&directory.join("LOCK")),
            name,
            directory,
        })
    }

    pub(crate) fn is_bytewise(&self) -> bool {
        self.comparator == BYTEWISE
    }

    /// The place of a table in the order in which `Get` asks them: the newest of level 0 first.
    pub(crate) fn order(&self, i: usize) -> usize {
        let num_in_level_0 = self.tables.partition_point(|table| table.level == 0);
        if i < num_in_level_0 { num_in_level_0 - 1 - i } else { i }
    }

    /// How many tables have a range of keys that meets another's, which `LevelDB` will compact
    /// though nothing is written: it charges a lookup that asks several tables to the first one,
    /// before it asks a filter, and compacts a table after `max(100, size / 16 KiB)` charges.
    pub(crate) fn num_meeting(&self) -> usize {
        let contents = self.tables.iter().map(|table| &table.contents);
        let mut ranges: Vec<_> = contents.map(|of| (&of.smallest, &of.largest)).collect();
        ranges.sort_unstable();
        let mut meets = vec![false; ranges.len()];
        // The table whose range reaches furthest so far.
        let mut furthest = 0;
        for (i, (smallest, largest)) in ranges.iter().enumerate().skip(1) {
            if *smallest <= ranges[furthest].1 {
                (meets[i], meets[furthest]) = (true, true);
            }
            if *largest > ranges[furthest].1 {
                furthest = i;
            }
        }
        meets.into_iter().filter(|&meets| meets).count()
    }
}

impl ListedTable {
    pub(crate) fn name(&self) -> String {
        printable(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The table's file, which may be longer than the MANIFEST says only if it ends with a copy of
    /// the footer that `LevelDB` reads there: earlier tools put filters in between.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let file = read_file(&self.path)?;
        let listed = usize::try_from(self.contents.len).unwrap_or(usize::MAX);
        let footer = |end: usize| file.get(end.checked_sub(FOOTER_LEN)?..end);
        if footer(listed) == footer(file.len()) {
            return Ok(file);
        }
        let lens = format!("{} bytes, of {listed} by the MANIFEST", file.len());
        Err(corrupt(format!("a length of {lens}")))
    }
}

fn read_manifest(directory: &Path) -> Result<Manifest, String> {
    let path = directory.join("CURRENT");
    let is_there = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    if !fs::metadata(&path).as_ref().map_or_else(is_there, |_| true) {
        let what = "no LevelDB database: a directory with CURRENT, MANIFEST-* and *.ldb or *.sst";
        return Err(what.into());
    }
    let named = |file: &str, error: &dyn ToString| format!("{file}: {}", error.to_string());
    let current = read_file(&path).map_err(|error| named("CURRENT", &error))?;
    let name = manifest_name(&current).map_err(|why| named("CURRENT", &why))?;
    let manifest = read_file(&directory.join(name)).and_then(|log| Manifest::read(&log));
    manifest.map_err(|error| named(name, &error))
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    // Devices and pipes may never end, and a pipe may not even open.
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(corrupt("not a regular file")) }
}

/// On one line, whatever characters it contains.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
