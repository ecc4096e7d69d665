//! The sizes of a table's filters, and what they tell.

use std::ops::RangeInclusive;

use leveldb_filter::{BloomFilterPolicy, FilterBlockReader};

use super::keys::SurveyedBlock;

pub(crate) type Reader<'a> = FilterBlockReader<BloomFilterPolicy, &'a [u8]>;

#[derive(Default)]
pub(crate) struct FilterTotals {
    pub(crate) filters: usize,
    pub(crate) empty: usize,
    pub(crate) bytes: usize,
    /// Of all filters, without the bytes that hold the numbers of probes.
    pub(crate) bits: usize,
}

impl FilterTotals {
    pub(crate) fn of(reader: &Reader<'_>, contents: &[u8], file_len: usize) -> Self {
        let mut totals = Self::default();
        let range_len = 1usize.checked_shl(base_lg(contents)).unwrap_or(usize::MAX);
        for offset in (0..file_len).step_by(range_len) {
            let Some(filter) = reader.filter(offset as u64) else { continue };
            totals.filters += 1;
            totals.empty += usize::from(filter.is_empty());
            // Filters that overlap may have more bits than a usize of 32 bits can say.
            totals.bytes = totals.bytes.saturating_add(filter.len());
            let num_bits = filter.len().saturating_sub(1).saturating_mul(8);
            totals.bits = totals.bits.saturating_add(num_bits);
        }
        totals
    }
}

/// The binary logarithm of the length of file that a filter is for; LevelDB always writes 11.
fn base_lg(contents: &[u8]) -> u32 {
    contents.last().copied().unwrap_or_default().into()
}

/// What the filters' sizes tell about the policy that made them.
pub(crate) struct FilterShape {
    pub(crate) num_probes: u8,
    /// Any of these makes the same filters.
    pub(crate) bits_per_key: RangeInclusive<usize>,
}

impl FilterShape {
    pub(crate) fn of(
        reader: &Reader<'_>,
        blocks: &[SurveyedBlock],
        contents: &[u8],
    ) -> Option<Self> {
        let range_of = |block: &SurveyedBlock| block.offset.checked_shr(base_lg(contents));
        let mut shape: Option<Self> = None;
        let mut num_bytes = 0;
        for sharing in blocks.chunk_by(|a, b| range_of(a) == range_of(b)) {
            let num_keys = sharing.iter().map(|block| block.num_keys).sum();
            let filter = reader.filter(sharing[0].offset)?;
            // Filters that overlap would take more memory to rebuild than the file has.
            num_bytes += filter.len();
            if num_bytes > contents.len() {
                return None;
            }
            let one = Self::of_filter(filter, num_keys)?;
            shape = Some(match shape {
                None => one,
                Some(all) => all.intersection(&one)?,
            });
        }
        shape.map(Self::narrowed)
    }

    fn of_filter(filter: &[u8], num_keys: usize) -> Option<Self> {
        let (&num_probes, bits) = filter.split_last()?;
        let most = (bits.len() * 8).checked_div(num_keys)?;
        let fewest = match bits.len() {
            0..8 => return None,
            8 => 0,
            len => (len - 1) * 8 / num_keys + 1,
        };
        let possible = (1..=30).contains(&num_probes) && fewest <= most;
        possible.then_some(Self { num_probes, bits_per_key: fewest..=most })
    }

    fn intersection(&self, other: &Self) -> Option<Self> {
        let fewest = *self.bits_per_key.start().max(other.bits_per_key.start());
        let most = *self.bits_per_key.end().min(other.bits_per_key.end());
        let possible = self.num_probes == other.num_probes && fewest <= most;
        possible.then_some(Self { num_probes: self.num_probes, bits_per_key: fewest..=most })
    }

    /// To where LevelDB takes this number of probes, unless the writer chose another.
    fn narrowed(self) -> Self {
        let usual =
            |bits: &usize| BloomFilterPolicy::new(*bits).shape(0).num_probes() == self.num_probes;
        let fewest = self.bits_per_key.clone().find(usual);
        let most = self.bits_per_key.clone().rfind(usual);
        match (fewest, most) {
            (Some(fewest), Some(most)) => Self { bits_per_key: fewest..=most, ..self },
            _ => self,
        }
    }

    pub(crate) fn policy(&self) -> BloomFilterPolicy {
        BloomFilterPolicy::new(*self.bits_per_key.start()).with_num_probes(self.num_probes)
    }
}
