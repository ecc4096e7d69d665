//! What filters would cost and save that a table does not have.

use std::ops::AddAssign;

use leveldb_filter::{BloomFilterPolicy, BloomHash};

use super::hashes::filter_block;
use super::keys::SurveyedBlock;
use super::lookups::false_positives;
use super::shape::{Reader, sharing_a_filter};
use super::share::{Share, ratio};
use crate::terminal::grouped;

/// A filter for each 2 KiB of the file, as in LevelDB's tables.
pub(crate) const LEVELDB_BASE_LG: u8 = 11;
/// A filter for each 512 KiB, of some thousands of keys: for so many, this format is at its best.
pub(crate) const TUNED_BASE_LG: u8 = 19;

const BITS_PER_KEY: [usize; 7] = [6, 8, 10, 12, 14, 16, 20];
/// LevelDB's recommendation.
const USUAL_ROW: usize = 2;

/// The candidates of one table, or of several together.
#[derive(Default)]
pub(crate) struct WhatIf {
    pub(crate) num_keys: usize,
    /// With [`TUNED_BASE_LG`].
    pub(crate) num_filters: usize,
    /// What such a filter block has behind its filters.
    pub(crate) num_bytes_of_offsets: usize,
    rows: [Row; BITS_PER_KEY.len()],
}

/// With so many bits per key.
#[derive(Clone, Copy, Default)]
struct Row {
    bits_per_key: usize,
    leveldb: Candidate,
    tuned: Candidate,
}

/// A filter block that could be.
#[derive(Clone, Copy, Default)]
pub(crate) struct Candidate {
    pub(crate) num_bytes: usize,
    /// Of the look-ups of absent keys, those that would read a data block.
    pub(crate) still_read: Share,
}

impl WhatIf {
    pub(crate) fn measure(
        blocks: &[SurveyedBlock],
        hashes: &[BloomHash],
        num_lookups: usize,
    ) -> Self {
        let candidate =
            |policy, base_lg| Candidate::measure(policy, base_lg, blocks, hashes, num_lookups);
        let rows = BITS_PER_KEY.map(|bits_per_key| {
            let policy = BloomFilterPolicy::new(bits_per_key);
            Row {
                bits_per_key,
                leveldb: candidate(policy, LEVELDB_BASE_LG),
                tuned: candidate(policy.tuned(), TUNED_BASE_LG),
            }
        });
        let num_filters = sharing_a_filter(blocks, TUNED_BASE_LG).count();
        // An offset for each filter and each range without keys, that of the array, and base_lg.
        let end = blocks.last().map_or(0, |block| block.offset);
        let num_ranges = usize::try_from(end >> TUNED_BASE_LG).unwrap_or(usize::MAX) + 1;
        let num_bytes_of_offsets = num_ranges * 4 + 5;
        Self { num_keys: hashes.len(), num_filters, num_bytes_of_offsets, rows }
    }

    /// LevelDB's filter block with 10 bits per key.
    pub(crate) fn usual_len(&self) -> usize {
        self.rows[USUAL_ROW].leveldb.num_bytes
    }
}

/// Those of several tables together: a table's share counts as much as it has keys.
impl AddAssign<&Self> for WhatIf {
    fn add_assign(&mut self, other: &Self) {
        self.num_keys += other.num_keys;
        self.num_filters += other.num_filters;
        self.num_bytes_of_offsets += other.num_bytes_of_offsets;
        for (sum, row) in self.rows.iter_mut().zip(&other.rows) {
            sum.bits_per_key = row.bits_per_key;
            sum.leveldb += row.leveldb;
            sum.tuned += row.tuned;
        }
    }
}

impl AddAssign for Candidate {
    fn add_assign(&mut self, other: Self) {
        self.num_bytes += other.num_bytes;
        self.still_read = self.still_read.and(other.still_read);
    }
}

impl Candidate {
    pub(crate) fn measure(
        policy: BloomFilterPolicy,
        base_lg: u8,
        blocks: &[SurveyedBlock],
        hashes: &[BloomHash],
        num_lookups: usize,
    ) -> Self {
        let contents = filter_block(policy, base_lg, blocks, hashes);
        let reader = Reader::new(policy, &contents);
        let still_read = false_positives(&reader, blocks, num_lookups);
        Self { num_bytes: contents.len(), still_read }
    }
}

pub(crate) fn lines(what_if: &WhatIf) -> Vec<String> {
    let mut lines = vec![
        String::new(),
        "What other filters would take, and how many absent keys would still read a data block"
            .into(),
        format!(
            "{:8}  {:-^33}  {:-^33}",
            "", " LevelDB's filter block ", " base_lg 19 and tuned() "
        ),
        format!("{:>8}  {h}  {h}", "bits/key", h = HEADER),
    ];
    lines.extend(what_if.rows.iter().map(|row| {
        let columns = [row.leveldb, row.tuned].map(|Candidate { num_bytes, still_read }| {
            let per_key = ratio(num_bytes, what_if.num_keys).unwrap_or_default();
            format!("  {:>13}  {per_key:>9.2}  {still_read:>7}", grouped(num_bytes))
        });
        format!("{:>8}{}", row.bits_per_key, columns.concat())
    }));
    lines.push(
        "LevelDB reads both: with_base_lg(policy.tuned(), 19) has a filter for each 512 KiB of a table"
            .into(),
    );
    lines
}

const HEADER: &str = "        bytes  bytes/key     read";
