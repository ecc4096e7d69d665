//! Filter blocks of keys whose hashes are known: all filters that a table could have come from
//! four bytes for each of its keys.

use leveldb_filter::{
    BloomFilter, BloomFilterBuilder, BloomFilterPolicy, BloomHash, FilterBlockBuilder,
    FilterPolicy, InvalidFilter,
};

use super::keys::SurveyedBlock;

/// Makes the filters of a policy from keys that are the four bytes of a hash.
#[derive(Clone, Copy)]
struct OfHashes(BloomFilterPolicy);

impl FilterPolicy for OfHashes {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn create_filter(&self, keys: &[&[u8]], dst: &mut Vec<u8>) {
        let mut builder = BloomFilterBuilder::new();
        for key in keys {
            builder.add_hash(from_bytes(key));
        }
        builder.finish_into(self.0, dst);
    }

    fn key_may_match(&self, key: &[u8], filter: &[u8]) -> bool {
        may_match(filter)(from_bytes(key))
    }
}

fn from_bytes(key: &[u8]) -> BloomHash {
    BloomHash::from_u32(u32::from_le_bytes(key.try_into().expect("the four bytes of a hash")))
}

/// The answers that a filter of any bytes gets from LevelDB.
pub(crate) fn may_match(filter: &[u8]) -> impl Fn(BloomHash) -> bool {
    let filter = BloomFilter::new(filter);
    move |hash| match &filter {
        Ok(filter) => filter.hash_may_match(hash),
        Err(InvalidFilter::TooShort { .. }) => false,
        Err(_) => true,
    }
}

/// The filter block of a table whose keys have these hashes.
pub(crate) fn filter_block(
    policy: BloomFilterPolicy,
    base_lg: u8,
    blocks: &[SurveyedBlock],
    hashes: &[BloomHash],
) -> Vec<u8> {
    let mut builder = FilterBlockBuilder::with_base_lg(OfHashes(policy), base_lg);
    builder.start_block(0);
    for (block, hashes) in with_hashes(blocks, hashes) {
        for hash in hashes {
            builder.add_key(&hash.to_u32().to_le_bytes());
        }
        builder.start_block(block.end);
    }
    builder.finish()
}

/// The blocks, each with the hashes of its keys.
pub(crate) fn with_hashes<'a>(
    blocks: &'a [SurveyedBlock],
    mut hashes: &'a [BloomHash],
) -> impl Iterator<Item = (&'a SurveyedBlock, &'a [BloomHash])> {
    blocks.iter().map(move |block| {
        let (of_block, rest) = hashes.split_at(block.num_keys);
        hashes = rest;
        (block, of_block)
    })
}
