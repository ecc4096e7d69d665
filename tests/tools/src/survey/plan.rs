//! The filters that `rewrite` gives a table: what `inspect` compares with today's.

use std::error::Error;
use std::io;
use std::path::Path;
use std::slice;

use leveldb_filter::{BloomFilterPolicy, FilterBlockBuilder};

use super::cost::{Cost, Reads};
use crate::database::ListedTable;
use crate::table::replace::{Version, put_filters, version};
use crate::table::writer::Layout;
use crate::table::{DataBlock, Table, user_key};

/// `LevelDB`'s recommendation.
const USUAL_BITS: usize = 10;

pub(crate) struct Plan {
    policy: BloomFilterPolicy,
    /// Whether it is a single filter, no longer than its keys need.
    is_single: bool,
    /// Of the table's file.
    version: Version,
    pub(crate) cost: Cost,
}

impl Plan {
    /// Of long ranges if they have room; else of a single filter, if that has; else why the table
    /// stays as it is.
    pub(crate) fn of(
        listed: &ListedTable,
        table: &Table<'_>,
        bits_per_key: usize,
        reads: &Reads<'_>,
    ) -> Result<Self, &'static str> {
        let version = version(&listed.path).map_err(|_| "that is a symbolic link")?;
        let layout = Layout::of(table).ok_or("laid out in another way than LevelDB does it")?;
        let policy = BloomFilterPolicy::new(bits_per_key.max(USUAL_BITS)).tuned();
        for is_single in [false, true] {
            let plan = Self { policy, is_single, version, cost: Cost::default() };
            let made = plan.make(table).map_err(|_| "that cannot be read")?;
            if layout.with_filters(&made).is_some() {
                return Ok(Self { cost: Cost::of(Some(&made), reads), ..plan });
            }
        }
        Err("without room for better filters")
    }

    fn make(&self, table: &Table<'_>) -> io::Result<Vec<u8>> {
        let mut builder = if self.is_single {
            FilterBlockBuilder::with_base_lg(self.policy, 63)
        } else {
            FilterBlockBuilder::with_long_ranges(self.policy)
        };
        for block in table.data_blocks() {
            builder.start_block(block.offset());
            table.visit(slice::from_ref(block), |_, key| builder.add_key(user_key(key)))?;
        }
        builder.start_block(table.data_blocks().last().map_or(0, DataBlock::end));
        Ok(builder.finish())
    }

    pub(crate) fn carry_out(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        put_filters((path, self.version), |table| self.make(table))
    }
}
