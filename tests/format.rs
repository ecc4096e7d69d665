//! The format: LevelDB's bytes and answers for every input, compared with files that it wrote and
//! with the plain-loop oracle; and the shapes that are chosen, the same on every platform.

mod common;

mod format {
    mod api;
    mod block_builder;
    mod block_calls;
    mod block_lookups;
    mod block_reader;
    mod choices;
    mod creating;
    mod estimates;
    mod filter_keys;
    mod golden;
    mod hash_policies;
    mod hashing;
    mod links;
    mod long_ranges;
    mod lookups;
    mod min_keys;
    mod mutating;
    mod random_engine;
    mod recipes;
    mod threads;
}
