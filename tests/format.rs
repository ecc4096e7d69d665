//! The format: for all inputs the bytes and the answers of LevelDB, from the files that it wrote and
//! from the plain-loop oracle.

mod common;

mod format {
    mod api;
    mod asking;
    mod blocks;
    mod building;
    mod changing;
    mod golden;
    mod hashing;
    mod making;
    mod measuring;
    mod threads;
}
