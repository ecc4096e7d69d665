//! The filters that LevelDB makes, and those that it made up to 1.17.

use leveldb_filter::{BloomFilterPolicy, BloomHash, FilterBlockBuilder, HashedBy, hash};

/// `BloomFilterPolicy::new(bits_per_key)` in LevelDB's own ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Leveldb {
    pub(crate) bits_per_key: u32,
    pub(crate) base_lg: u8,
}

impl Leveldb {
    pub(crate) const DEFAULT: Self = Self { bits_per_key: 10, base_lg: 11 };

    pub(crate) fn policy(self) -> BloomFilterPolicy {
        BloomFilterPolicy::new(self.bits_per_key)
    }

    pub(crate) fn builder(self) -> FilterBlockBuilder {
        FilterBlockBuilder::with_base_lg(self.policy(), self.base_lg)
    }

    /// The same with the hash of LevelDB up to 1.17 on x86.
    pub(crate) fn signed_builder(self) -> FilterBlockBuilder<HashedBy> {
        let hash: fn(&_, &[u8]) -> _ = |_, key| Some(BloomHash::from_u32(signed_hash(key)));
        let policy = HashedBy::new(BloomFilterPolicy::GOLEVELDB_NAME, self.policy(), hash);
        FilterBlockBuilder::with_base_lg(policy, self.base_lg)
    }
}

/// The hash with the bytes after the last whole word taken as signed numbers, as x86's `char` is.
fn signed_hash(key: &[u8]) -> u32 {
    const SEED: u32 = 0xbc9f1d34;
    const M: u32 = 0xc6a4a793;
    let (words, tail) = key.split_at(key.len() - key.len() % 4);
    // The hash of the words begins with their own length, and is to begin with the key's.
    let start = |bytes: &[u8]| M.wrapping_mul(u32::try_from(bytes.len()).expect("in a block"));
    let h = hash(words, SEED ^ start(words) ^ start(key));
    if tail.is_empty() {
        return h;
    }
    let signed = |byte: &u8| i32::from(i8::from_ne_bytes([*byte]));
    let tail = tail.iter().rev().fold(0, |sum, byte| (sum << 8) + signed(byte));
    let h = h.wrapping_add_signed(tail).wrapping_mul(M);
    h ^ h >> 24
}
