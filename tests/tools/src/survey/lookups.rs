//! Counts lookups that read a data block that does not have the key, by filters at hand or others.

use leveldb_filter::{BloomFilterBuilder, BloomFilterPolicy, BloomHash, HashPolicy as _};

use super::drawn::Tables;
use super::filters::{
    RESTART_INTERVAL, Reader, SurveyedBlock, len_of_restarts, num_matches, sharing_a_filter,
};
use super::sample::{BETWEEN, Lookup, OWN, Sample};
use super::settings::Setting;
use crate::random;
use crate::table::Table;
use crate::text::{float, ratio};

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
            let this_table = Tables { number: 1, ranges: None, trailer_len, visit };
            Sample::draw(this_table, at_random.total).lookups(0, table)
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

    /// The variances of the sampled kinds' reads: as if each lookup matched by chance for itself,
    /// or those of a block together, whichever varies more.
    pub(crate) fn variances(&self, contents: &[u8], reads: Reads) -> [f64; 2] {
        let reader = Reader::new(BloomFilterPolicy::default(), contents);
        [BETWEEN, OWN].map(|kind| {
            let rate = reads[kind] / self.consulted(kind).max(f64::MIN_POSITIVE);
            let lookups: Vec<_> =
                self.sampled.iter().filter(|lookup| lookup.kind == kind).collect();
            let match_of = |lookup: &Lookup| f64::from(u8::from(matches(&reader, lookup)));
            let more = |lookup: &&Lookup| lookup.share * (match_of(lookup) - rate);
            let blocks = lookups.chunk_by(|a, b| a.block_offset == b.block_offset);
            let of_blocks = blocks.map(|lookups| lookups.iter().map(more).sum::<f64>());
            let of_all_blocks: f64 = of_blocks.map(|more| more * more).sum();
            let of_lookups: f64 = lookups.iter().map(|lookup| lookup.share * lookup.share).sum();
            of_all_blocks.max(of_lookups * rate)
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

/// The filter block that a table could have, or the sum over several tables.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) num_bytes: usize,
    pub(crate) reads: Reads,
}

/// One table's filter blocks by each of [`Setting::all`].
pub(crate) fn other_filters(asked: &Asked<'_>, hashes: &[BloomHash]) -> Vec<Candidate> {
    let mut lookups: Vec<_> = asked.sampled.iter().collect();
    // Where keys descend, so do the lookups' blocks.
    lookups.sort_by_key(|lookup| lookup.block_offset);
    let lookups = placed(&lookups, asked.blocks);
    let num_random = (asked.at_random.total / 50).min(10 * lookups.len());
    let mut candidates = Vec::new();
    for of_size in Setting::all().chunk_by(|a, b| a.block_size == b.block_size) {
        let blocks = cut(asked.blocks, of_size[0].block_size);
        let measure = |one| Candidate::measure(one, &blocks, hashes, &lookups, num_random);
        candidates.extend(of_size.iter().map(measure));
    }
    candidates
}

/// The lookups, each with a place in its block: in their order, with equal spaces.
fn placed<'a>(lookups: &[&'a Lookup], blocks: &[SurveyedBlock]) -> Vec<(u64, &'a Lookup)> {
    let of_blocks = lookups.chunk_by(|a, b| a.block_offset == b.block_offset);
    let placed = |of_block: &[&'a Lookup]| {
        let offset = of_block[0].block_offset;
        let end = blocks[blocks.partition_point(|block| block.offset < offset)].end;
        let place = |i: usize| offset + (end - offset) * i as u64 / of_block.len() as u64;
        of_block.iter().enumerate().map(|(i, lookup)| (place(i), *lookup)).collect::<Vec<_>>()
    };
    of_blocks.flat_map(placed).collect()
}

/// The blocks as `LevelDB` would cut them for this size, if a block's entries have equal lengths.
pub(crate) fn cut(blocks: &[SurveyedBlock], block_size: u64) -> Vec<SurveyedBlock> {
    if block_size == 0 {
        return blocks.to_vec();
    }
    let mut cut: Vec<SurveyedBlock> = Vec::new();
    let mut is_full = true;
    for block in blocks {
        for i in 0..block.num_keys as u64 {
            let up_to = |len: u64, i: u64| len * i / block.num_keys as u64;
            if is_full {
                let offset = cut.last().map_or(block.offset, |last| last.end);
                cut.push(SurveyedBlock { offset, ..SurveyedBlock::default() });
            }
            let last = cut.last_mut().expect("one was pushed");
            let [len, shared] =
                [block.len, block.shared].map(|len| up_to(len, i + 1) - up_to(len, i));
            let is_restart = last.num_keys % RESTART_INTERVAL == 0;
            last.len += len.saturating_sub(if is_restart { 0 } else { shared });
            last.end = block.offset + up_to(block.end - block.offset, i + 1);
            last.num_keys += 1;
            is_full = last.len + len_of_restarts(last.num_keys) >= block_size;
        }
    }
    cut
}

impl Candidate {
    /// Makes only the filters that are asked.
    fn measure(
        setting: &Setting,
        blocks: &[SurveyedBlock],
        mut hashes: &[BloomHash],
        mut lookups: &[(u64, &Lookup)],
        num_random: usize,
    ) -> Self {
        let (policy, base_lg) = (setting.policy(), setting.base_lg_for(blocks));
        // An offset for each range, the array's offset, and base_lg.
        let (mut num_bytes, mut num_ranges) = (5, 0);
        let (mut reads, mut num_asked, mut num_matching) = (Reads::default(), 0, 0);
        let num_lookups = lookups.len();
        let (mut builder, mut filter) = (BloomFilterBuilder::new(), Vec::new());
        let mut at_random = random_hashes(num_random as u64);
        for sharing in sharing_a_filter(blocks, base_lg) {
            let num_keys = sharing.iter().map(|block| block.num_keys).sum();
            let (keys, other_keys) = hashes.split_at(num_keys);
            let SurveyedBlock { offset, end, .. } = sharing[sharing.len() - 1];
            let num_asking = lookups.partition_point(|(place, _)| *place < end);
            let (asking, others) = lookups.split_at(num_asking);
            (hashes, lookups) = (other_keys, others);
            if num_keys == 0 {
                continue;
            }
            num_ranges = (end >> base_lg).max((offset >> base_lg) + 1);
            num_bytes += policy.shape(num_keys).filter_len();
            if asking.is_empty() {
                continue;
            }
            for &hash in keys {
                builder.add_hash(hash);
            }
            filter.clear();
            builder.finish_into(policy, &mut filter);
            for (_, lookup) in asking {
                if policy.hash_may_match(lookup.hash, &filter) {
                    reads[lookup.kind] += lookup.share;
                }
            }
            let [part, whole] = [num_asking, num_lookups].map(|number| number as u64);
            let num_random = (num_random as u64 * part).div_ceil(whole);
            let num_random = usize::try_from(num_random).expect("at most all");
            let asked: Vec<_> = at_random.by_ref().take(num_random).collect();
            num_asked += num_random;
            num_matching += num_matches(Some(&filter), &asked);
        }
        reads[RANDOM] = ratio(num_matching, num_asked).unwrap_or_default();
        num_bytes += usize::try_from(num_ranges).unwrap_or(usize::MAX / 8) * 4;
        Self { num_bytes, reads }
    }
}
