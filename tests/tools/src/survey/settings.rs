//! The programs that write filters, and their settings.

use std::ops::RangeInclusive;

use leveldb_filter::BloomFilterPolicy;

use super::filters::{LEVELDB_BASE_LG, SurveyedBlock};

/// What this crate's filters have: 512 KiB of data blocks, so many keys in the first one, and so
/// many bytes, or more.
pub(crate) const BASE_LG: u8 = 19;
pub(crate) const MIN_KEYS: usize = 4_000;
pub(crate) const MIN_FILTER_LEN: usize = 2_048;
/// More are for `LevelDB`'s filters of few keys.
pub(crate) const BITS_PER_KEY: RangeInclusive<usize> = 6..=16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    LevelDb,
    Goleveldb,
    ThisCrate,
    PluggedIn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) writer: Writer,
    pub(crate) bits_per_key: usize,
    /// Of data blocks, if larger than today's; else 0.
    pub(crate) block_size: u64,
    pub(crate) base_lg: u8,
    pub(crate) min_filter_len: usize,
}

impl Setting {
    /// All that are compared, by writer, those that differ only in bits per key together.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        let mut add = |writer, block_size, base_lg, min_filter_len, more: &[usize]| {
            let step = if writer == Writer::PluggedIn { 2 } else { 1 };
            let bits = BITS_PER_KEY.step_by(step).chain(more.iter().copied());
            let setting =
                |bits_per_key| Self { writer, bits_per_key, block_size, base_lg, min_filter_len };
            all.extend(bits.map(setting));
        };
        for block_size in [0, 16 << 10, 32 << 10] {
            add(Writer::LevelDb, block_size, LEVELDB_BASE_LG, 0, &[18, 20, 24, 30]);
        }
        for base_lg in [LEVELDB_BASE_LG, 19, 21] {
            add(Writer::Goleveldb, 0, base_lg, 0, &[]);
        }
        add(Writer::ThisCrate, 0, BASE_LG, MIN_FILTER_LEN, &[]);
        for min_filter_len in [0, 32, 48, 98, 132, 192] {
            add(Writer::PluggedIn, 0, LEVELDB_BASE_LG, min_filter_len, &[]);
        }
        all
    }

    pub(crate) fn policy(&self) -> BloomFilterPolicy {
        let policy = BloomFilterPolicy::new(self.bits_per_key);
        if matches!(self.writer, Writer::LevelDb | Writer::Goleveldb) {
            return policy;
        }
        policy.tuned().with_min_filter_len(self.min_filter_len)
    }

    /// The range of a filter in a table of these blocks: this crate lets the first one grow.
    pub(crate) fn base_lg_for(&self, blocks: &[SurveyedBlock]) -> u8 {
        let mut base_lg = self.base_lg;
        let mut num_keys = 0;
        for block in blocks {
            num_keys += block.num_keys;
            if self.writer != Writer::ThisCrate || num_keys >= MIN_KEYS && block.end >> base_lg > 0
            {
                break;
            }
            while block.end >> base_lg > 0 {
                base_lg += 1;
            }
        }
        base_lg
    }

    /// Whom a row of the report is for.
    pub(crate) fn name(&self) -> String {
        match self.writer {
            Writer::LevelDb if self.block_size > 0 => {
                format!("LevelDB in C++; reads of {} KiB", self.block_size >> 10)
            }
            Writer::LevelDb => "LevelDB in C++, plyvel, others".into(),
            Writer::Goleveldb => "goleveldb".into(),
            Writer::ThisCrate => "rewrite_filters; your own engine".into(),
            Writer::PluggedIn => "LevelDB with this crate's policy".into(),
        }
    }

    /// Whether only the numbers of bits differ, or the block size is today's.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let block_size = if self.block_size == 0 { other.block_size } else { self.block_size };
        Self { bits_per_key: other.bits_per_key, block_size, ..*self } == *other
    }

    /// What to write into a program, or to run, by whether filters fit where today's are.
    pub(crate) fn lines(&self, has_room: bool) -> Vec<String> {
        let Self { bits_per_key: bits, block_size, base_lg, min_filter_len, .. } = self;
        let add = if has_room { "" } else { "--add " };
        let line = match self.writer {
            Writer::LevelDb => {
                let size = format!(" options.block_size={block_size};");
                let size = if *block_size > 0 { &size } else { "" };
                format!("C++: options.filter_policy = NewBloomFilterPolicy({bits});{size}")
            }
            Writer::Goleveldb => {
                let filter = format!("Filter: filter.NewBloomFilter({bits})");
                format!("Go: opt.Options{{{filter}, FilterBaseLg: {base_lg}}}")
            }
            Writer::ThisCrate => format!(
                "cargo run --release --example rewrite_filters -- {add}--bits-per-key {bits} DIR\n\
                 Engine: with_long_ranges(InternalKeyPolicy::new(\n  \
                 BloomFilterPolicy::new({bits}).tuned()))"
            ),
            Writer::PluggedIn => {
                let len = format!(".with_min_filter_len({min_filter_len})");
                let len = if *min_filter_len > 0 { &len } else { "" };
                format!("Policy: BloomFilterPolicy::new({bits}).tuned(){len}")
            }
        };
        line.split('\n').map(Into::into).collect()
    }
}
