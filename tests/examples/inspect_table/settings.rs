//! The programs that write filters, and their settings.

use std::ops::RangeInclusive;

use leveldb_filter::BloomFilterPolicy;

use super::filters::LEVELDB_BASE_LG;
use super::table::SurveyedBlock;

/// What this crate recommends to engines.
pub(crate) const TUNED_BASE_LG: u8 = 19;
const MIN_FILTER_LEN: usize = 2_048;
pub(crate) const MIN_KEYS: usize = 4_000;
/// More are for `LevelDB`'s filters of few keys.
pub(crate) const BITS_PER_KEY: RangeInclusive<usize> = 6..=16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    LevelDb,
    Goleveldb,
    ThisCrate,
    PluggedIn,
}

pub(crate) const WRITERS: [Writer; 4] =
    [Writer::LevelDb, Writer::Goleveldb, Writer::ThisCrate, Writer::PluggedIn];

const FAMILIES: [(Writer, usize, u8, usize); 13] = [
    (Writer::LevelDb, 0, LEVELDB_BASE_LG, 0),
    (Writer::LevelDb, 16 << 10, LEVELDB_BASE_LG, 0),
    (Writer::LevelDb, 32 << 10, LEVELDB_BASE_LG, 0),
    (Writer::Goleveldb, 0, LEVELDB_BASE_LG, 0),
    (Writer::Goleveldb, 0, 19, 0),
    (Writer::Goleveldb, 0, 21, 0),
    (Writer::ThisCrate, 0, TUNED_BASE_LG, MIN_FILTER_LEN),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 0),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 32),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 48),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 98),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 132),
    (Writer::PluggedIn, 0, LEVELDB_BASE_LG, 192),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) writer: Writer,
    pub(crate) bits_per_key: usize,
    /// Of data blocks, if larger than today's; else 0.
    pub(crate) block_size: usize,
    pub(crate) base_lg: u8,
    pub(crate) min_filter_len: usize,
}

impl Setting {
    /// All that are compared, those that differ only in bits per key together.
    pub(crate) fn all() -> Vec<Self> {
        let family = |&(writer, block_size, base_lg, min_filter_len)| {
            let more: &[usize] = if writer == Writer::LevelDb { &[18, 20, 24, 30] } else { &[] };
            BITS_PER_KEY.chain(more.iter().copied()).map(move |bits_per_key| Self {
                writer,
                bits_per_key,
                block_size,
                base_lg,
                min_filter_len,
            })
        };
        FAMILIES.iter().flat_map(family).collect()
    }

    pub(crate) fn policy(&self) -> BloomFilterPolicy {
        let policy = BloomFilterPolicy::new(self.bits_per_key);
        match self.writer {
            Writer::LevelDb | Writer::Goleveldb => policy,
            Writer::ThisCrate | Writer::PluggedIn => {
                policy.tuned().with_min_filter_len(self.min_filter_len)
            }
        }
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
        match (self.writer, self.block_size) {
            (Writer::LevelDb, 0) => "LevelDB in C++, plyvel, others".into(),
            (Writer::LevelDb, size) => format!("LevelDB in C++; reads of {} KiB", size >> 10),
            (Writer::Goleveldb, _) => "goleveldb".into(),
            (Writer::ThisCrate, _) => "an engine with this crate".into(),
            (Writer::PluggedIn, _) => "LevelDB with this crate's policy".into(),
        }
    }

    /// Whether only the numbers of bits differ.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        Self { bits_per_key: other.bits_per_key, ..*self } == *other
    }

    pub(crate) fn with_bits(&self) -> String {
        format!("{}, {} bits", self.name(), self.bits_per_key)
    }

    /// What to write into a program.
    pub(crate) fn lines(&self) -> Vec<String> {
        let Self { bits_per_key, block_size, base_lg, min_filter_len, .. } = self;
        let with_len = match min_filter_len {
            0 => String::new(),
            2_048 => ".with_min_filter_len(2_048)".into(),
            len => format!(".with_min_filter_len({len})"),
        };
        vec![match self.writer {
            Writer::LevelDb => {
                let filters =
                    format!("options.filter_policy = NewBloomFilterPolicy({bits_per_key});");
                match block_size {
                    0 => format!("C++: {filters}"),
                    size => format!("C++: {filters} options.block_size={size};"),
                }
            }
            Writer::Goleveldb => {
                let filter = format!("Filter: filter.NewBloomFilter({bits_per_key})");
                format!("Go: opt.Options{{{filter}, FilterBaseLg: {base_lg}}}")
            }
            Writer::ThisCrate => {
                return vec![
                    format!("Engine: with_base_lg(BloomFilterPolicy::new({bits_per_key}).tuned()"),
                    format!("  {with_len}, {base_lg}).with_min_keys(4_000)"),
                ];
            }
            Writer::PluggedIn => {
                format!("Policy: BloomFilterPolicy::new({bits_per_key}).tuned(){with_len}")
            }
        }]
    }
}
