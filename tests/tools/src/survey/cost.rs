//! What filters cost: bytes of memory, and reads.

/// Fewer lookups say nothing, unless they are all that there are.
pub(crate) const FEWEST: usize = 300;
/// Reads must fall by one in this many, a twentieth, to be worth another file.
const LEAST_FALL: usize = 20;

/// Numbers of lookups: of missing keys, and of existing ones.
pub(crate) type Counts = [usize; 2];

/// How many lookups of keys that a table lacks read a block of it, behind a filter block or none.
pub(crate) type Reads<'a> = dyn Fn(Option<&[u8]>) -> Counts + 'a;

/// The cost of the filters of a table, or of several together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// In memory, with the offsets of the filters.
    pub(crate) num_bytes: usize,
    /// The lookups that read a data block needlessly.
    pub(crate) reads: Counts,
}

impl Cost {
    pub(crate) fn of(filter_block: Option<&[u8]>, reads: &Reads<'_>) -> Self {
        Self { num_bytes: filter_block.map_or(0, <[u8]>::len), reads: reads(filter_block) }
    }

    pub(crate) fn falls_to(&self, other: &Self) -> bool {
        let [before, after] = [self, other].map(|cost| cost.reads[0] + cost.reads[1]);
        before.saturating_sub(after) >= before.div_ceil(LEAST_FALL).max(1)
    }

    pub(crate) fn of_all(costs: impl Iterator<Item = Self>) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            num_bytes: sum.num_bytes.saturating_add(cost.num_bytes),
            reads: add(sum.reads, cost.reads),
        })
    }
}

pub(crate) fn add([a, b]: Counts, [c, d]: Counts) -> Counts {
    [a + c, b + d]
}
