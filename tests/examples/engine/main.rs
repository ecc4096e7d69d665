//! A small storage engine to copy from: a memtable, and tables that are never merged. Keys and
//! values have fixed lengths only to keep the files simple. `main` shows what filters save, and what
//! a damaged one does.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{array, env, fs, thread};

use leveldb_filter::{
    AtomicBloomFilter, BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey, hash,
};

/// Reads filters of any number of bits per key.
const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10).tuned();
const MEMTABLE_KEYS: usize = 20_000; // With more keys, the memtable's filter is less accurate.
const ENTRY_LEN: usize = 8 + 8 + 96;
const BLOCK_LEN: usize = 36 * ENTRY_LEN; // about 4 KiB
const SEED: u32 = u32::MAX; // of checksums. With 0, a zeroed file would be an empty table.
static NUM_READS: AtomicUsize = AtomicUsize::new(0); // of data blocks

type Key = [u8; 8];
type Value = [u8; 96];
type Entry = Option<Value>; // `None` for a deletion

/// Entries, and a filter of their keys. A flush replaces both together, so a real engine keeps them
/// in one `Arc`.
struct Memtable {
    filter: AtomicBloomFilter,
    entries: RwLock<BTreeMap<Key, Entry>>,
}

impl Memtable {
    fn new() -> Self {
        let filter = AtomicBloomFilter::new(POLICY, POLICY.shape(MEMTABLE_KEYS));
        Self { filter, entries: RwLock::default() }
    }

    fn get(&self, key: Key, filter_key: &FilterKey) -> Option<Entry> {
        let entry = || self.entries.read().unwrap().get(&key).copied();
        if self.filter.may_match(filter_key) { entry() } else { None }
    }
}

/// There is no log, so a crash loses the memtable.
struct Engine {
    dir: PathBuf,
    memtable: Memtable,
    tables: Vec<Table>, // the newest last
}

impl Engine {
    fn put(&self, key: Key, entry: Entry) {
        // The key of every entry, deletions included, and before readers can see the entry.
        self.memtable.filter.insert_key(&key);
        self.memtable.entries.write().unwrap().insert(key, entry);
    }

    fn get(&self, key: Key) -> Option<Value> {
        let filter_key = FilterKey::new(&POLICY, &key); // hashed once for all tables
        let get_in_table = |table: &Table| {
            let offset = table.block_offset(key)?;
            table.filters.may_match(offset, &filter_key).then(|| table.read(offset, key))?
        };
        let get_in_tables = || self.tables.iter().rev().find_map(get_in_table);
        self.memtable.get(key, &filter_key).or_else(get_in_tables).flatten()
    }

    /// Looks up many keys, in ascending order.
    fn multi_get(&self, keys: &[Key]) -> Vec<Option<Value>> {
        let filter_keys: Vec<_> = keys.iter().map(|key| FilterKey::new(&POLICY, key)).collect();
        let get = |(&key, filter_key)| self.memtable.get(key, filter_key);
        let mut entries: Vec<_> = keys.iter().zip(&filter_keys).map(get).collect();
        for table in self.tables.iter().rev() {
            // Without keys that are found already, and keys after the table's last key.
            let missing = (0..keys.len()).filter(|&i| entries[i].is_none());
            let with_offset = |i| Some((i, table.block_offset(keys[i])?));
            let (wanted, offsets): (Vec<_>, Vec<_>) = missing.filter_map(with_offset).unzip();
            let of_table: Vec<_> = wanted.iter().map(|&i| filter_keys[i]).collect();
            let mut matches = vec![false; wanted.len()];
            table.filters.may_match_many(&offsets, &of_table, &mut matches);
            for (n, i) in wanted.into_iter().enumerate().filter(|(n, _)| matches[*n]) {
                entries[i] = table.read(offsets[n], keys[i]);
            }
        }
        entries.into_iter().map(Option::flatten).collect()
    }

    /// Moves the memtable to a new table. After an error, all entries are still in the memtable.
    fn flush(&mut self, filters: &mut FilterBlockBuilder) -> io::Result<()> {
        filters.clear(); // In an engine that writes block by block, an error may have left keys.
        let (sequence, mut data) = (self.tables.len() as u64, Vec::new());
        for (user_key, entry) in self.memtable.entries.get_mut().unwrap() {
            if data.len() % BLOCK_LEN == 0 {
                filters.start_block(data.len() as u64);
            }
            let trailer = sequence << 8 | u64::from(entry.is_some());
            let internal_key = [*user_key, trailer.to_le_bytes()].concat();
            filters.add_internal_key(&internal_key);
            data.extend(internal_key);
            data.extend(entry.unwrap_or([0; 96]));
        }
        let path = self.dir.join(sequence.to_string());
        let (mut file, mut checksum) = (File::create(&path)?, SEED);
        for part in [data, filters.finish()] {
            checksum = hash(&part, checksum); // LevelDB has a CRC-32C in each block.
            let len = (part.len() as u64).to_le_bytes();
            file.write_all(&[&len[..], &checksum.to_le_bytes(), &part].concat())?;
        }
        file.sync_all()?;
        self.tables.push(Table::open(&path)?);
        self.memtable = Memtable::new(); // Only now, when lookups find the entries in the table.
        Ok(())
    }
}

/// A file of two parts: data blocks, whose entries are internal keys and values, and the filter
/// block. A part begins with its length and its checksum, so damaged filters cannot hide where the
/// data ends. An engine that writes block by block fills in length and checksum last. The filters'
/// checksum continues the data's checksum, so another table's filters do not fit. No checksum tells
/// that the builder missed a key, or that the whole file is another table's.
struct Table {
    data: Vec<u8>,   // A real engine would read and verify a block when it needs it.
    index: Vec<Key>, // the last user key of each data block
    filters: FilterBlockReader,
}

impl Table {
    /// Fails if the data or its length is damaged, because keys could be missing. If only filters
    /// are damaged or missing, the table has no filters.
    fn open(path: &Path) -> io::Result<Self> {
        let file = fs::read(path)?;
        let part = Self::part(&file, SEED).filter(|(data, ..)| data.len() % ENTRY_LEN == 0);
        let (data, checksum, rest) = part.ok_or(io::ErrorKind::InvalidData)?;
        // Damaged filters could reject present keys. An empty filter block rejects no key.
        let (filters, ..) = Self::part(rest, checksum).unwrap_or_default();
        let last_key = |block: &[u8]| array::from_fn(|i| block[block.len() - ENTRY_LEN + i]);
        let index = data.chunks(BLOCK_LEN).map(last_key).collect();
        let filters = FilterBlockReader::new(POLICY, filters.to_vec());
        Ok(Self { data: data.to_vec(), index, filters })
    }

    /// Returns a file's first part, its checksum and the rest. `None` if the part is damaged.
    fn part(file: &[u8], seed: u32) -> Option<(&[u8], u32, &[u8])> {
        let (len, rest) = file.split_first_chunk()?;
        let (stored, rest) = rest.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(u64::from_le_bytes(*len).try_into().ok()?)?;
        let checksum = hash(part, seed);
        (checksum.to_le_bytes() == *stored).then_some((part, checksum, rest))
    }

    /// The offset of the data block that has the first entry at or after `key`. `None` if all keys
    /// are before it.
    fn block_offset(&self, key: Key) -> Option<u64> {
        let block = self.index.partition_point(|last| *last < key);
        (block < self.index.len()).then_some((block * BLOCK_LEN) as u64)
    }

    fn read(&self, block_offset: u64, key: Key) -> Option<Entry> {
        NUM_READS.fetch_add(1, Ordering::Relaxed);
        let block_offset = usize::try_from(block_offset).ok()?;
        let block = self.data[block_offset..].chunks(BLOCK_LEN).next()?;
        let entry = block.chunks(ENTRY_LEN).find(|entry| entry.starts_with(&key))?;
        Some((entry[8] != 0).then(|| array::from_fn(|i| entry[16 + i])))
    }
}

fn main() -> ExitCode {
    let dir = env::temp_dir().join(format!("leveldb-filter-engine-{}", process::id()));
    let outcome = run(&dir);
    let _ = fs::remove_dir_all(&dir);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let dir = dir.display();
            let _ = writeln!(io::stderr(), "{error}: files go to {dir}, unless you set TMPDIR");
            ExitCode::FAILURE
        }
    }
}

fn run(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let (written, absent): (Vec<_>, Vec<_>) =
        (0..200_000_u64).map(u64::to_be_bytes).partition(|key| hasher.hash_one(key) % 2 == 0);
    let leveldb = FilterBlockBuilder::new(BloomFilterPolicy::new(10));
    let these = FilterBlockBuilder::with_long_ranges(POLICY);
    let leveldb = Measured::of(dir, leveldb, &written, &absent)?;
    let these = Measured::of(dir, these, &written, &absent)?;
    // Not println!, which panics if its reader closes the pipe early.
    writeln!(
        io::stdout(),
        "A random half of the numbers below 200,000 are the keys of 5 tables, first with\n\
         LevelDB's filters, then with tuned ones in long ranges, at 10 bits per key.\n\n\
         1,000 absent keys: {} reads with LevelDB's filters, {} with these,\n\
         and {} without filters. A read is one of a data block.\n\
         All filters take {} bytes, {} with these.\n\n\
         Then 4,096 bytes of one table's filters are zeroed, as a crash may leave them.\n\
         If nobody verifies their checksum, lookups miss {} keys with LevelDB's filters,\n\
         {} with these: a filter that is zeroed in part rejects keys of its own, but\n\
         one that is zeroed to its end rejects none.\n\
         This engine verifies it, and reads that table without filters: it misses no key,\n\
         and 1,000 absent keys take {} reads with LevelDB's filters, {} with these.",
        grouped(leveldb.reads),
        grouped(these.reads),
        grouped(these.reads_unfiltered),
        grouped(leveldb.num_bytes),
        grouped(these.num_bytes),
        grouped(leveldb.num_lost),
        grouped(these.num_lost),
        grouped(leveldb.reads_damaged),
        grouped(these.reads_damaged),
    )
}

/// Bytes of filters, lost keys, and reads of data blocks for 1,000 absent keys.
struct Measured {
    num_bytes: usize,
    reads: usize,
    reads_damaged: usize,
    num_lost: usize, // from damaged filters whose checksum nobody verifies
    reads_unfiltered: usize,
}

impl Measured {
    fn of(
        dir: &Path,
        builder: FilterBlockBuilder,
        written: &[Key],
        absent: &[Key],
    ) -> io::Result<Self> {
        let mut engine = Engine { dir: dir.into(), memtable: Memtable::new(), tables: Vec::new() };
        fill(&mut engine, written, builder)?;
        let num_bytes = engine.tables.iter().map(|table| table.filters.contents().len()).sum();
        let reads = num_reads(&engine, written, absent);

        let path = dir.join("0");
        let mut file = fs::read(&path)?;
        let start = file.len() - engine.tables[0].filters.contents().len();
        file[start..][..4_096].fill(0);
        engine.tables[0].filters = FilterBlockReader::new(POLICY, file[start..].to_vec());
        let num_lost = num_wrong(&engine, written, value);
        fs::write(&path, file)?;
        engine.tables[0] = Table::open(&path)?;
        let reads_damaged = num_reads(&engine, written, absent);

        for table in &mut engine.tables {
            table.filters = FilterBlockReader::new(POLICY, Vec::new());
        }
        let reads_unfiltered = num_reads(&engine, written, absent);
        Ok(Self { num_bytes, reads, reads_damaged, num_lost, reads_unfiltered })
    }
}

/// Fills each memtable by two threads, and deletes some keys of the table before it. In the end,
/// the first 5 of every 60 keys are deleted, and the last memtable is not flushed.
fn fill(engine: &mut Engine, keys: &[Key], mut builder: FilterBlockBuilder) -> io::Result<()> {
    for round in 0..6 {
        if round > 0 {
            engine.flush(&mut builder)?;
            keys.iter().skip(round - 1).step_by(60).for_each(|&key| engine.put(key, None));
        }
        let put = |&key: &Key| engine.put(key, Some([key[7]; 96]));
        thread::scope(|threads| {
            threads.spawn(|| keys.iter().skip(round).step_by(12).for_each(put));
            keys.iter().skip(round + 6).step_by(12).for_each(put);
        });
    }
    Ok(())
}

/// The last value of a key that was written, by its place among them.
fn value(i: usize, key: Key) -> Option<Value> {
    (i % 60 >= 5).then_some([key[7]; 96])
}

/// Asserts that all lookups are right.
fn num_reads(engine: &Engine, written: &[Key], absent: &[Key]) -> usize {
    assert_eq!(num_wrong(engine, written, value), 0, "the engine lost keys: please report it");
    NUM_READS.store(0, Ordering::Relaxed);
    assert_eq!(num_wrong(engine, absent, |_, _| None), 0, "the engine made up keys");
    NUM_READS.load(Ordering::Relaxed) * 500 / absent.len() // Each key is looked up twice.
}

/// How many keys have another value than expected, by themselves or among many.
fn num_wrong(engine: &Engine, keys: &[Key], value: fn(usize, Key) -> Option<Value>) -> usize {
    let among_many = keys.chunks(1_000).flat_map(|keys| engine.multi_get(keys));
    let found = keys.iter().zip(among_many).enumerate();
    found.filter(|&(i, (&key, found))| [engine.get(key), found] != [value(i, key); 2]).count()
}

/// The number with a comma before every three digits.
fn grouped(n: usize) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", grouped(n / 1_000), n % 1_000) }
}
