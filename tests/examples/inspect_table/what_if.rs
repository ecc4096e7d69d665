//! What filters would cost and save that a table does not have.

use std::ops::AddAssign;

use leveldb_filter::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash, FilterBlockBuilder,
    FilterBlockReader, bloom_hash,
};

use super::absent::Lookup;
use super::keys::KeyKind;
use super::share::{Share, ratio};
use crate::table::{Table, TableError};
use crate::terminal::grouped;

const BITS_PER_KEY: [usize; 7] = [6, 8, 10, 12, 14, 16, 20];

/// The candidates of one table, or of several together.
#[derive(Default)]
pub(crate) struct WhatIf {
    num_keys: usize,
    rows: [Row; BITS_PER_KEY.len()],
}

/// With so many bits per key.
#[derive(Clone, Copy, Default)]
struct Row {
    bits_per_key: usize,
    /// A filter for each 2 KiB, as in LevelDB's tables.
    filter_block: Candidate,
    /// One filter for all keys, as LevelDB would make it.
    one_filter: Candidate,
    /// The one with the fewest false positives that is no longer.
    one_filter_tuned: Candidate,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    num_bytes: usize,
    /// Of the look-ups of absent keys, those that would read a data block.
    still_read: Share,
}

impl WhatIf {
    pub(crate) fn measure(
        table: &Table<'_>,
        kind: KeyKind,
        lookups: &[Lookup],
    ) -> Result<Self, TableError> {
        let policies = BITS_PER_KEY.map(BloomFilterPolicy::new);
        let mut builders = policies.map(FilterBlockBuilder::new);
        let mut hashes = Vec::new();
        for builder in &mut builders {
            builder.start_block(0);
        }
        for block in table.data_blocks() {
            table.visit_keys(block, |key| {
                let user_key = kind.user_key(key);
                for builder in &mut builders {
                    builder.add_key(user_key);
                }
                hashes.push(bloom_hash(user_key));
            })?;
            for builder in &mut builders {
                builder.start_block(block.end);
            }
        }

        let mut rows = [Row::default(); BITS_PER_KEY.len()];
        for ((row, policy), builder) in rows.iter_mut().zip(policies).zip(builders) {
            let one_filter = |policy| Candidate::of_filter(&one_filter(policy, &hashes), lookups);
            *row = Row {
                bits_per_key: policy.millibits_per_key() / 1000,
                filter_block: Candidate::of_filter_block(&builder.finish(), lookups),
                one_filter: one_filter(policy),
                one_filter_tuned: one_filter(policy.tuned()),
            };
        }
        Ok(Self { num_keys: hashes.len(), rows })
    }
}

/// Those of several tables together: a table's share counts as much as it has keys.
impl AddAssign<&Self> for WhatIf {
    fn add_assign(&mut self, other: &Self) {
        self.num_keys += other.num_keys;
        for (sum, row) in self.rows.iter_mut().zip(&other.rows) {
            sum.bits_per_key = row.bits_per_key;
            for (sum, candidate) in sum.candidates_mut().into_iter().zip(row.candidates()) {
                sum.num_bytes += candidate.num_bytes;
                sum.still_read += candidate.still_read.of_whole(other.num_keys);
            }
        }
    }
}

impl Row {
    fn candidates(&self) -> [Candidate; 3] {
        [self.filter_block, self.one_filter, self.one_filter_tuned]
    }

    fn candidates_mut(&mut self) -> [&mut Candidate; 3] {
        [&mut self.filter_block, &mut self.one_filter, &mut self.one_filter_tuned]
    }
}

impl Candidate {
    fn of_filter_block(contents: &[u8], lookups: &[Lookup]) -> Self {
        let reader = FilterBlockReader::new(BloomFilterPolicy::default(), contents);
        Self::measure(contents.len(), lookups, |lookup| {
            reader.filter(lookup.block_offset).is_none_or(|filter| {
                // A filter of no keys is empty.
                BloomFilter::new(filter).is_ok_and(|filter| filter.hash_may_match(lookup.hash))
            })
        })
    }

    fn of_filter(filter: &[u8], lookups: &[Lookup]) -> Self {
        let num_bytes = filter.len();
        let filter = BloomFilter::new(filter).expect("a filter with a number of probes");
        Self::measure(num_bytes, lookups, |lookup| filter.hash_may_match(lookup.hash))
    }

    fn measure(num_bytes: usize, lookups: &[Lookup], may_match: impl Fn(&Lookup) -> bool) -> Self {
        let num_reads = lookups.iter().filter(|lookup| may_match(lookup)).count();
        Self { num_bytes, still_read: Share::new(num_reads, lookups.len()) }
    }
}

fn one_filter(policy: BloomFilterPolicy, hashes: &[BloomHash]) -> Vec<u8> {
    let mut builder = BloomFilterBuilder::new();
    for &hash in hashes {
        builder.add_hash(hash);
    }
    let mut filter = Vec::new();
    builder.finish_into(policy, &mut filter);
    filter
}

pub(crate) fn lines(what_if: &WhatIf) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        "What filters would give: bytes, bytes per key, absent keys whose data block is still read"
            .into(),
        format!(
            "{:8}  {:-^28}  {:-^28}  {:-^28}",
            "",
            " LevelDB's filter block ",
            " one filter, LevelDB's ",
            " one, best probes and length "
        ),
        format!(
            "{:>8}  {h}  {h}  {h}",
            "bits/key",
            h = format_args!("{:>13}  {:>4}  {:>7}", "bytes", "/key", "read")
        ),
    ];
    lines.extend(what_if.rows.iter().map(|row| {
        let columns = row.candidates().map(|Candidate { num_bytes, still_read }| {
            let per_key = ratio(num_bytes, what_if.num_keys);
            format!("  {:>13}  {per_key:>4.2}  {still_read:>7}", grouped(num_bytes))
        });
        format!("{:>8}{}", row.bits_per_key, columns.concat())
    }));
    lines
}
