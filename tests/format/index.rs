//! Which block offset to pass to a filter block: the offset of the block with the first entry at or
//! after the target, which an index of last keys finds.

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterPolicy, HashPolicy, HashedBy,
    InternalKeyPolicy,
};

use crate::common::drawn;

const POLICY: BloomFilterPolicy = BloomFilterPolicy::new(10).tuned();
const ID_LEN: usize = 10;

/// How many of 20,000 ids are lost with an index of each block's first key, and of its last. Each
/// id has one to four keys, all greater than the id with `lowest` behind it.
fn num_lost(
    mut builder: FilterBlockBuilder<&dyn FilterPolicy>,
    lowest: &[u8],
    key: impl Fn(&[u8], usize) -> Vec<u8>,
) -> [usize; 2] {
    let mut below = drawn(2); // With this seed, ids begin where long ranges do.
    let ids: Vec<_> = (0..20_000).map(|id| format!("{id:010}").into_bytes()).collect();
    let of_id = |id| (1..=1 + below(4)).map(|nth| key(id, nth)).collect::<Vec<_>>();
    let keys: Vec<_> = ids.iter().map(Vec::as_slice).flat_map(of_id).collect();
    assert!(keys.is_sorted());

    let blocks: Vec<_> = keys.chunks(20).collect();
    let offset = |block: usize| block as u64 * 2_500;
    for (block, keys) in blocks.iter().enumerate() {
        builder.start_block(offset(block));
        keys.iter().for_each(|key| builder.add_key(key));
    }
    let policy = *builder.policy();
    let reader = FilterBlockReader::new(policy, builder.finish());
    let mut lost = [0; 2];
    for target in ids.iter().map(|id| [id, lowest].concat()) {
        let by_first = blocks.partition_point(|keys| keys[0] <= target).saturating_sub(1);
        let by_last = blocks.partition_point(|keys| keys[keys.len() - 1] < target);
        for (lost, block) in lost.iter_mut().zip([by_first, by_last]) {
            *lost += usize::from(!reader.key_may_match(offset(block), &target));
        }
    }
    lost
}

#[test]
fn an_index_of_last_keys_loses_no_prefix_and_no_version_and_an_index_of_first_keys_does() {
    let of_ids = HashedBy::new("example.Ids", POLICY, |policy: &BloomFilterPolicy, key: &[u8]| {
        policy.key_hash(&key[..ID_LEN])
    });
    let of_versions = InternalKeyPolicy::new(POLICY);
    for policy in [&of_ids as &dyn FilterPolicy, &of_versions] {
        for builder in [FilterBlockBuilder::new, FilterBlockBuilder::with_long_ranges] {
            // A number of 8 bytes, as a trailer has.
            let key = |id: &[u8], nth: usize| [id, &(nth as u64).to_be_bytes()].concat();
            let [by_first, by_last] = num_lost(builder(policy), &[0; 8], key);
            assert!(by_first > 0 && by_last == 0, "{}: {by_first}, {by_last}", policy.name());
        }
    }
}
