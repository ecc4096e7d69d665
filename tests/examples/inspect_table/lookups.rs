//! Look-ups of keys in a table's filters: of its own, and of absent ones.

use leveldb_filter::BloomHash;

use super::hashes::{may_match, with_hashes};
use super::keys::{Keys, SurveyedBlock};
use super::shape::Reader;
use super::share::Share;
use crate::random;

const SEED: u64 = 0xbc9f1d34;

/// How many keys the filters of their blocks find.
pub(crate) fn num_found(reader: &Reader<'_>, blocks: &[SurveyedBlock], keys: &Keys) -> usize {
    let found = with_hashes(blocks, &keys.hashes).map(|(block, hashes)| {
        let Some(filter) = reader.filter(block.offset) else { return hashes.len() };
        let may_match = may_match(filter);
        hashes.iter().filter(|&&hash| may_match(hash)).count()
    });
    found.sum()
}

/// Of keys that the table lacks, those that its filters match.
///
/// An absent key is looked up in the block where it would be, and there are as many such keys as
/// the block has keys. What they are does not matter, only that their hashes are random.
pub(crate) fn false_positives(
    reader: &Reader<'_>,
    blocks: &[SurveyedBlock],
    num_lookups: usize,
) -> Share {
    let num_keys: usize = blocks.iter().map(|block| block.num_keys).sum();
    let mut hashes = random::words(SEED).map(random_hash);
    let mut share = Share::default();
    for block in blocks.iter().filter(|block| block.num_keys > 0) {
        let num_lookups = portion(num_lookups, block.num_keys, num_keys);
        let num_matches = match reader.filter(block.offset) {
            None => num_lookups,
            Some(filter) => {
                let may_match = may_match(filter);
                hashes.by_ref().take(num_lookups).filter(|&hash| may_match(hash)).count()
            }
        };
        share = share.and(Share::new(num_matches, num_lookups).of_whole(block.num_keys));
    }
    share
}

/// The part of `number` that is to all of it as `part` to `whole`, rounded up.
fn portion(number: usize, part: usize, whole: usize) -> usize {
    let portion = (number as u128 * part as u128).div_ceil(whole as u128);
    usize::try_from(portion).expect("at most the number").max(1)
}

fn random_hash(word: u64) -> BloomHash {
    BloomHash::from_u32((word >> 32) as u32)
}
