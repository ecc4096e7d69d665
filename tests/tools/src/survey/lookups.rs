//! Counts lookups that read a data block that does not have the key.

use leveldb_filter::{BloomFilterPolicy, BloomHash, HashPolicy};

use super::filters::Reader;

/// Something of the lookups of keys that do not exist, and of those that do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kinds<T> {
    pub(crate) missing: T,
    pub(crate) existing: T,
}

impl<T> Kinds<T> {
    pub(crate) fn each_ref(&self) -> Kinds<&T> {
        Kinds { missing: &self.missing, existing: &self.existing }
    }

    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Kinds<U> {
        Kinds { missing: of(self.missing), existing: of(self.existing) }
    }

    pub(crate) fn zip<U>(self, other: Kinds<U>) -> Kinds<(T, U)> {
        Kinds { missing: (self.missing, other.missing), existing: (self.existing, other.existing) }
    }
}

/// A lookup in a table that does not have the key.
pub(crate) struct Lookup {
    /// Its share of all lookups of its kind.
    pub(crate) share: f64,
    pub(crate) block_offset: u64,
    pub(crate) hash: BloomHash,
}

/// The lookups of a sample that ask a table that does not have their key, in the order of keys.
pub(crate) type Asked = Kinds<Vec<Lookup>>;

/// What a lookup does in the mean.
pub(crate) type Reads = Kinds<f64>;

/// Reads fall if they fall by a twentieth, and by more standard errors than chance explains.
const FALL: f64 = 0.95;
pub(crate) const NUM_ERRORS: f64 = 3.0;

/// What filters cost: those of a table, or of several together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// In memory, with the offsets of the filters.
    pub(crate) num_bytes: usize,
    /// The data blocks that a lookup reads needlessly.
    pub(crate) reads: Reads,
    /// Their variances: which of the sampled lookups match is chance.
    pub(crate) variances: Reads,
}

impl Cost {
    /// Of an empty filter block, or a malformed one, which every lookup passes, too.
    pub(crate) fn of(filter_block: &[u8], asked: &Asked) -> Self {
        let policy = BloomFilterPolicy::default();
        let reader = Reader::new(policy, filter_block);
        let matches = |lookup: &Lookup| {
            let filter = reader.filter(lookup.block_offset);
            filter.is_none_or(|filter| policy.hash_may_match(lookup.hash, filter))
        };
        let measured = asked.each_ref().map(|lookups| reads_and_variance(lookups, matches));
        Self {
            num_bytes: filter_block.len(),
            reads: measured.map(|(reads, _)| reads),
            variances: measured.map(|(_, variance)| variance),
        }
    }

    /// The reads of both kinds.
    pub(crate) fn sum(&self) -> f64 {
        self.reads.missing + self.reads.existing
    }

    pub(crate) fn falls_to(&self, other: &Self) -> bool {
        let [a, b] = [self, other].map(|of| of.variances.missing + of.variances.existing);
        let fall = self.sum() - other.sum();
        other.sum() <= FALL * self.sum() && fall > NUM_ERRORS * (a + b).sqrt()
    }

    pub(crate) fn of_all<'a>(costs: impl Iterator<Item = &'a Self>) -> Self {
        let add = |(a, b): (f64, f64)| a + b;
        costs.fold(Self::default(), |sum, cost| Self {
            num_bytes: sum.num_bytes.saturating_add(cost.num_bytes),
            reads: sum.reads.zip(cost.reads).map(add),
            variances: sum.variances.zip(cost.variances).map(add),
        })
    }
}

/// The variance is that of lookups which match each by chance for itself, or of those in a block
/// together, whichever is more: neighbours may match alike.
fn reads_and_variance(lookups: &[Lookup], matches: impl Fn(&Lookup) -> bool) -> (f64, f64) {
    let reads = |lookup: &Lookup| if matches(lookup) { lookup.share } else { 0.0 };
    let sum: f64 = lookups.iter().map(reads).sum();
    let rate = sum / share(lookups).max(f64::MIN_POSITIVE);
    let by_block = lookups.chunk_by(|a, b| a.block_offset == b.block_offset);
    let more = |of_block: &[Lookup]| {
        of_block.iter().map(|lookup| reads(lookup) - rate * lookup.share).sum::<f64>()
    };
    let of_blocks: f64 = by_block.map(more).map(|more| more * more).sum();
    let squares: f64 = lookups.iter().map(|lookup| lookup.share * lookup.share).sum();
    (sum, of_blocks.max(squares * rate * (1.0 - rate)))
}

/// The share of lookups that ask the table.
pub(crate) fn share(lookups: &[Lookup]) -> f64 {
    lookups.iter().map(|lookup| lookup.share).sum()
}
