//! Which bits a key has, how they are set, and how they are asked for.
//!
//! Who comes here, and where the work is done:
//!
//! | caller | filter | function |
//! |---|---|---|
//! | policy, one key | 0 to 2 probes | `one::few_may_match`, in line: divides |
//! | | up to 8 MiB | one group of 3 to 8 probes, two of 9 to 13, many of 14 up, each out of line |
//! | | above | `one::uncached_may_match`, out of line |
//! | `BloomFilter`, one key | up to 8 MiB, 6 probes | `one::all_set`, in line with the user's loop |
//! | | up to 8 MiB, others | `one::may_match_out_of_line`, which jumps to a group |
//! | | above | `one::uncached_may_match`, out of line |
//! | `AtomicBloomFilter`, one key | 6, 8 or other probes | `one::all_set_in`, in line |
//! | `BloomFilter`, many keys | first two probes | `Batch`, then `many::and_bits` |
//! | | the rest, if many keys are left | the same |
//! | | the rest, if few are | `one::may_match_out_of_line` |
//! | policy, many hashes | | 8 and more: as `BloomFilter`, many keys; fewer: as policy, one key |
//! | policy and builder, all keys | up to 8 MiB | `Batch`, then `create::set_all` |
//! | | above | `Batch`, then `create::Regions` |
//! | `insert` | all | `Probes::bits_of` |
//!
//! Attributes and loops that are there for the compiler name the benchmark that shows their worth:
//! `cargo bench --bench bloom -- NAME`. `.ci/codegen` notices if the hottest of them lose it.

mod batch;
pub(super) mod create;
pub(super) mod many;
pub(super) mod one;
pub(super) mod probes;
