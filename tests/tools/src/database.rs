//! The tables that a path names: those of a database, or single ones.

use std::collections::BTreeSet;
use std::env;
use std::io;
use std::path::{Path, PathBuf};

use crate::table::directory::{Files, is_other_file, len_of_log, read_manifest};
use crate::table::manifest::{Contents, Manifest};
use crate::text::part;
use lock::is_held;
use ranges::Ranges;

mod lock;
pub(crate) mod ranges;

/// `LevelDB` compacts level 0 when it has this many tables.
const MANY_IN_LEVEL_0: usize = 4;

/// Tables that belong together.
#[derive(Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// The directory's name; empty for files that are named one by one.
    pub(crate) name: String,
    /// `None` if there is no MANIFEST that lists the tables.
    pub(crate) database: Option<Database>,
    pub(crate) tables: Vec<ListedTable>,
    /// The names of tables that the database does not use.
    pub(crate) not_in_use: Vec<String>,
    /// Why `LevelDB` would not open this directory, if it looks like a damaged database.
    pub(crate) lost: Option<String>,
    /// Whether a program holds the LOCK in the directory.
    pub(crate) is_open: bool,
}

#[derive(PartialEq, Eq)]
pub(crate) struct Database {
    pub(crate) comparator: Option<String>,
    /// The bytes that are not in tables yet.
    pub(crate) log_len: u64,
}

#[derive(PartialEq, Eq)]
pub(crate) struct ListedTable {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) place: Option<Place>,
}

#[derive(PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) level: u32,
    pub(crate) contents: Contents,
}

impl Group {
    pub(crate) fn title(&self) -> String {
        match (&self.name[..], &self.tables[..]) {
            ("", [table]) => table.name.clone(),
            ("", [table, ..]) => format!("{} and others", table.name),
            (name, _) => name.into(),
        }
    }

    /// The name of the order of a database's keys.
    pub(crate) fn comparator(&self) -> Option<&str> {
        self.database.as_ref()?.comparator.as_deref()
    }

    /// Whether `LevelDB` will compact tables, and give them its own filters, though nothing is
    /// written. It charges a lookup that asks several tables to the first one, before it asks a
    /// filter, and compacts a table after `max(100, size / 16 KiB)` charges.
    pub(crate) fn compactions(&self) -> Option<String> {
        let ranges = Ranges::of(self)?;
        let num_meeting = ranges.num_meeting();
        let opens = ranges.num_in_level_0() >= MANY_IN_LEVEL_0;
        let when = if opens { "when it opens, or after some reads" } else { "after some reads" };
        (num_meeting > 0).then(|| {
            let tables = part(num_meeting, self.tables.len(), "tables");
            format!("{tables} overlap others: LevelDB compacts them {when}, with its own filters.")
        })
    }

    /// A directory, or files that belong together.
    pub(crate) fn of_paths(paths: &[PathBuf]) -> Result<Self, String> {
        let lock = |path: &PathBuf| {
            if path.is_dir() { path.join("LOCK") } else { path.with_file_name("LOCK") }
        };
        let group = match paths {
            [directory] if directory.is_dir() => Self::of_directory(directory)?,
            files => Self::of_files(files)?,
        };
        let is_open = paths.iter().map(lock).any(|lock| is_held(&lock));
        Ok(Self { is_open, ..group })
    }

    /// A group of files that are named one by one, maybe by `DIR/*`; or why there is none.
    pub(crate) fn of_files(paths: &[PathBuf]) -> Result<Self, String> {
        let here = env::current_dir().unwrap_or_default();
        let mut tables: Vec<_> = paths
            .iter()
            .map(|path| ListedTable {
                name: shown(path.strip_prefix(&here).unwrap_or(path)),
                path: path.clone(),
                place: None,
            })
            .collect();
        let first = tables[0].name.clone();
        if !paths.iter().any(|path| path.exists()) {
            return Err(format!("{first}: there is no such file or directory"));
        }
        tables.retain(|table| !is_other_file(&table.path));
        match tables[..] {
            [] => Err(format!("{first}: not a table: name the database's directory")),
            _ => Ok(Self { tables, ..Self::default() }),
        }
    }

    pub(crate) fn of_directory(directory: &Path) -> Result<Self, String> {
        let name = shown(directory);
        let files = Files::in_directory(directory).map_err(|error| format!("{name}: {error}"))?;
        let lost = match read_manifest(directory) {
            _ if files.is_rocksdb => {
                return Err(format!("{name}: a database of RocksDB, not of LevelDB"));
            }
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
                return Err(format!("{name}: {why}"));
            }
            Ok(Some(manifest)) => return Ok(Self::of_database(directory, manifest, files)),
            Ok(None) if files.has_manifest => Some("no CURRENT names its MANIFEST".into()),
            Ok(None) => None,
            Err(why) => Some(why.to_string()),
        };
        let lost = lost.map(|why| format!("{name}: not a database that LevelDB would open: {why}"));
        if files.tables.is_empty() {
            let none = format!("{name}: no table: none of its files ends in .ldb or .sst");
            let inside = printable(&files.inside.join(", "));
            let inside = if inside.is_empty() { inside } else { format!("; name {inside}") };
            return Err(lost.unwrap_or(none) + &inside);
        }
        let tables = files.tables.into_iter().map(|path| ListedTable::at(path, None)).collect();
        Ok(Self { name, tables, lost, ..Self::default() })
    }

    fn of_database(directory: &Path, manifest: Manifest, files: Files) -> Self {
        let mut others: BTreeSet<_> = files.tables.into_iter().collect();
        let tables = manifest.tables.into_iter().map(|((level, number), contents)| {
            // LevelDB tries these names, in this order, and no others.
            let names = ["ldb", "sst"].map(|end| directory.join(format!("{number:06}.{end}")));
            let path = names.iter().find(|&name| others.remove(name)).unwrap_or(&names[0]);
            ListedTable::at(path.clone(), Some(Place { level, contents }))
        });
        let tables: Vec<_> = tables.collect();
        let not_in_use = others.into_iter().map(|path| ListedTable::at(path, None).name);
        let logs = files.logs.iter().filter(|(number, _)| *number >= manifest.log_number);
        let log_len = logs.map(|(_, path)| len_of_log(path)).fold(0, u64::saturating_add);
        Self {
            database: Some(Database { comparator: manifest.comparator, log_len }),
            name: shown(directory),
            tables,
            not_in_use: not_in_use.collect(),
            ..Self::default()
        }
    }
}

impl ListedTable {
    /// A table in a directory, named without the directory.
    fn at(path: PathBuf, place: Option<Place>) -> Self {
        Self { name: shown(path.file_name().map_or(&path, Path::new)), path, place }
    }
}

/// The path on one line, whatever characters it contains.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}
