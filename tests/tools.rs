//! Tests of the examples `inspect_table` and `rewrite_filters`, which the package carries without
//! their golden files.

mod common;

mod tools {
    mod inspect_table;
    mod rewrite_filters;
}
