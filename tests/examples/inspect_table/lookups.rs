//! Counts lookups that read a data block that does not have the key.

use leveldb_filter::{BloomFilterPolicy, BloomHash};

use super::filters::{Reader, num_matches};
use super::sample::{BETWEEN, Lookup, OWN, Sample, Tables};
use super::table::SurveyedBlock;
use crate::random;
use crate::table::Table;
use crate::terminal::float;

/// The third kind of lookups: absent keys with random hashes, which need no sample.
pub(crate) const RANDOM: usize = 2;
/// The fourth kind: the sample's own keys, if their hashes were random.
pub(crate) const OWN_AT_RANDOM: usize = 3;
/// Wasted reads of the lookups of each kind: `BETWEEN`, `OWN`, `RANDOM` and `OWN_AT_RANDOM`.
pub(crate) type Reads = [f64; 4];

/// One table's part of about `total` lookups of random hashes, and some more for each of its keys.
#[derive(Clone, Copy)]
pub(crate) struct Lookups {
    pub(crate) total: usize,
    pub(crate) num_tables: usize,
    /// The table's place in the group; different tables get different hashes.
    pub(crate) ordinal: usize,
    pub(crate) compares: bool,
}

/// The lookups in a table of keys that it does not have.
pub(crate) struct Asked<'a> {
    pub(crate) blocks: &'a [SurveyedBlock],
    pub(crate) at_random: Lookups,
    pub(crate) sampled: Vec<Lookup>,
}

impl<'a> Asked<'a> {
    /// The lookups of a sample of the whole database, or else of a sample of this table.
    pub(crate) fn of(
        sample: Option<&Sample<'_>>,
        (table, trailer_len): (&Table<'_>, usize),
        blocks: &'a [SurveyedBlock],
        at_random: Lookups,
    ) -> Self {
        let sampled = if let Some(sample) = sample {
            sample.lookups(at_random.ordinal, table)
        } else {
            let visit = Box::new(|_, visit: &mut dyn FnMut(&Table<'_>)| visit(table));
            let alone = Tables { number: 1, ranges: None, trailer_len, visit };
            Sample::draw(alone, at_random.total).lookups(0, table)
        };
        Self { blocks, at_random, sampled }
    }

    /// The share of lookups that match; of random hashes, of those that consult this table.
    pub(crate) fn reads(&self, contents: &[u8]) -> Reads {
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        let mut reads = [0.0; 4];
        for lookup in &self.sampled {
            if matches(&reader, lookup) {
                reads[lookup.kind] += lookup.share;
            }
        }
        reads[RANDOM] = self.random_rate(&reader);
        reads[OWN_AT_RANDOM] = self.consulted(OWN) * reads[RANDOM];
        reads
    }

    /// The variances of the sampled kinds' reads: as if each lookup matched or not for itself, or
    /// those of a block together, whichever varies more.
    pub(crate) fn variances(&self, contents: &[u8], reads: Reads) -> [f64; 2] {
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        [BETWEEN, OWN].map(|kind| {
            let rate = reads[kind] / self.consulted(kind).max(f64::MIN_POSITIVE);
            let lookups: Vec<_> =
                self.sampled.iter().filter(|lookup| lookup.kind == kind).collect();
            let match_of = |lookup: &Lookup| f64::from(u8::from(matches(&reader, lookup)));
            let more = |lookup: &&Lookup| lookup.share * (match_of(lookup) - rate);
            let blocks = lookups.chunk_by(|a, b| a.block_offset == b.block_offset);
            let of_blocks = blocks.map(|of| of.iter().map(more).sum::<f64>());
            let together: f64 = of_blocks.map(|more| more * more).sum();
            let alone: f64 = lookups.iter().map(|lookup| lookup.share * lookup.share).sum();
            together.max(alone * rate * (1.0 - rate))
        })
    }

    /// The share of lookups of a kind that consult this table.
    pub(crate) fn consulted(&self, kind: usize) -> f64 {
        let lookups = self.sampled.iter().filter(|lookup| lookup.kind == kind);
        lookups.map(|lookup| lookup.share).sum()
    }

    /// Each block gets lookups in proportion to its keys.
    fn random_rate(&self, reader: &Reader<'_>) -> f64 {
        let Lookups { total, num_tables, ordinal, .. } = self.at_random;
        let num_keys: usize = self.blocks.iter().map(|block| block.num_keys).sum();
        let total = total / num_tables + num_keys.saturating_mul(10).min(total / 100);
        let mut hashes = random_hashes(0xbc9f1d34 + ordinal as u64);
        let mut rate = 0.0;
        for block in self.blocks.iter().filter(|block| block.num_keys > 0) {
            let number = total as u128 * block.num_keys as u128 / num_keys as u128;
            let number = usize::try_from(number).expect("at most the total") + 1;
            let filter = reader.filter(block.offset);
            let mut matches = 0;
            for start in (0..number).step_by(4_096) {
                let hashes = hashes.by_ref().take((number - start).min(4_096));
                matches += num_matches(filter, &hashes.collect::<Vec<_>>());
            }
            rate += float(matches) / float(number) * float(block.num_keys) / float(num_keys);
        }
        rate
    }
}

pub(crate) fn random_hashes(seed: u64) -> impl Iterator<Item = BloomHash> {
    random::words(seed).map(|word| BloomHash::from_u32((word >> 32) as u32))
}

fn matches(reader: &Reader<'_>, lookup: &Lookup) -> bool {
    let filter = reader.filter(lookup.block_offset);
    filter.is_none_or(|filter| BloomFilterPolicy::default().hash_may_match(lookup.hash, filter))
}
