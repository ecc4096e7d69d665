//! What a directory holds: a database with its levels, or only tables.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::files::{TableFile, open_regular_file, printable, shown, tables_in};
use super::verdict::counted;
use crate::table::manifest::{Manifest, manifest_name};

/// Longer than the name of any MANIFEST.
const MAX_CURRENT_LEN: u64 = 1_000;
const MAX_COMPARATOR_LEN: usize = 100;

/// Tables that belong together.
pub(crate) struct Group {
    /// What they are.
    pub(crate) title: Vec<String>,
    pub(crate) tables: Vec<ListedTable>,
    /// Whether the tables have levels.
    pub(crate) is_database: bool,
    /// Whether something of a database could not be read.
    pub(crate) is_lost: bool,
}

pub(crate) struct ListedTable {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    At(u32),
    /// No MANIFEST tells.
    Unknown,
    /// The MANIFEST does not name the table.
    NotInUse,
}

impl Group {
    /// Files that are named one by one.
    pub(crate) fn of_files(paths: &[PathBuf]) -> Self {
        let tables = paths.iter().map(|path| {
            let (name, path) = (shown(path), path.clone());
            ListedTable { name, path, level: Level::Unknown }
        });
        Self { title: Vec::new(), tables: tables.collect(), is_database: false, is_lost: false }
    }

    pub(crate) fn of_directory(directory: &Path) -> Self {
        let name = shown(directory);
        let files = match tables_in(directory) {
            Ok(files) => files,
            Err(error) => return Self::without_tables(format!("{name}: {error}")),
        };
        match read_manifest(directory) {
            Ok(Some((manifest_name, manifest))) => {
                Self::of_database(directory, &manifest_name, &manifest, files)
            }
            Ok(None) if files.is_empty() => Self::without_tables(format!(
                "{name}: no table in this directory: none of its files ends in .ldb or .sst"
            )),
            Ok(None) => {
                let why = "no CURRENT here tells which tables a database has: all are counted";
                Self::of_tables(vec![name, why.into()], files, false)
            }
            Err(error) => {
                let why = format!(
                    "{error}: all tables are counted, also those that the database may no longer \
                     have"
                );
                Self::of_tables(vec![name, why], files, true)
            }
        }
    }

    fn of_database(
        directory: &Path,
        manifest_name: &str,
        manifest: &Manifest,
        files: Vec<TableFile>,
    ) -> Self {
        let numbers: BTreeSet<u64> = manifest.tables.iter().map(|&(_, number)| number).collect();
        let mut in_use = BTreeMap::new();
        let mut beside = Vec::new();
        for file in files {
            match file.number.filter(|number| numbers.contains(number)) {
                // The name that LevelDB looks for first comes first.
                Some(number) if !in_use.contains_key(&number) => {
                    in_use.insert(number, file);
                }
                _ => beside.push(ListedTable::of_file(file, Level::NotInUse)),
            }
        }
        let in_use = manifest.tables.iter().map(|&(level, number)| {
            let usual = || TableFile::at(directory.join(format!("{number:06}.ldb")));
            let file = in_use.get(&number).cloned().unwrap_or_else(usual);
            ListedTable::of_file(file, Level::At(level))
        });
        Self {
            title: title(directory, manifest_name, manifest),
            tables: in_use.chain(beside).collect(),
            is_database: true,
            is_lost: false,
        }
    }

    fn of_tables(title: Vec<String>, files: Vec<TableFile>, is_lost: bool) -> Self {
        let tables = files.into_iter().map(|file| ListedTable::of_file(file, Level::Unknown));
        Self { title, tables: tables.collect(), is_database: false, is_lost }
    }

    fn without_tables(why: String) -> Self {
        Self { title: vec![why], tables: Vec::new(), is_database: false, is_lost: true }
    }
}

impl ListedTable {
    fn of_file(file: TableFile, level: Level) -> Self {
        Self { name: file.name(), path: file.path, level }
    }
}

/// The MANIFEST that CURRENT names; `None` where there is no CURRENT, as beside tables that were
/// taken out of a database.
fn read_manifest(directory: &Path) -> Result<Option<(String, Manifest)>, Box<dyn Error>> {
    let path = directory.join("CURRENT");
    if !path.try_exists().map_err(|error| format!("CURRENT: {error}"))? {
        return Ok(None);
    }
    let mut current = Vec::new();
    open_regular_file(&path)
        .and_then(|file| Ok(file.take(MAX_CURRENT_LEN).read_to_end(&mut current)?))
        .map_err(|error| format!("CURRENT: {error}"))?;
    let name = manifest_name(&current).ok_or("CURRENT names no MANIFEST")?;
    let manifest = open_regular_file(&directory.join(name))
        .and_then(|file| Ok(Manifest::read(file)?))
        .map_err(|error| format!("{name}: {error}"))?;
    Ok(Some((name.into(), manifest)))
}

fn title(directory: &Path, manifest_name: &str, manifest: &Manifest) -> Vec<String> {
    let num_tables = counted(manifest.tables.len(), "table");
    let comparator = manifest.comparator.as_deref().unwrap_or("without a name");
    let comparator: String = comparator.chars().take(MAX_COMPARATOR_LEN).collect();
    vec![
        format!("{}, {num_tables} in use by {manifest_name}", shown(directory)),
        format!("comparator {}", printable(&comparator)),
    ]
}
