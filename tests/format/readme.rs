//! What README says can be copied, and figures that the docs give.

use leveldb_filter::{
    BloomFilterPolicy, FilterBlockBuilder, FilterBlockReader, FilterKey, InternalKeyPolicy,
};

const README: &str = include_str!("../../README.md");

/// A block of code that begins with its `use` and its keys, as it is written, and as a function
/// that does the same with other keys.
macro_rules! copied {
    (use $($path:tt)::+; let $keys:ident: [&[u8]; 2] = $values:expr; $($code:tt)*) => {{
        fn run($keys: &[&[u8]]) {
            use $($path)::+;
            $($code)*
        }
        let code = stringify!(
            use $($path)::+;
            let $keys: [&[u8]; 2] = $values;
            $($code)*
        );
        (code, run as fn(&[&[u8]]))
    }};
}

/// The tokens of code: without comments and spaces.
fn tokens(code: &str) -> String {
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.flat_map(|line| line.chars().filter(|c| !c.is_whitespace())).collect()
}

/// README's blocks of Rust code.
fn blocks() -> Vec<String> {
    let blocks = README.split("```rust\n").skip(1);
    blocks.map(|block| tokens(block.split("```").next().unwrap_or(""))).collect()
}

/// 200 keys of 8 to 11 bytes, as an engine with plain keys may have them.
fn plain_keys() -> Vec<Vec<u8>> {
    (0..200).map(|n| format!("user:{n:03}{}", &"xyz"[..n % 4]).into()).collect()
}

/// The same with a trailer each: a sequence number and a type.
fn internal_keys() -> Vec<Vec<u8>> {
    let keys = plain_keys().into_iter().zip(1_u64..);
    keys.map(|(key, n)| [&key[..], &(n << 8 | 1).to_le_bytes()].concat()).collect()
}

/// Has each key looked up: a block of README that looks up one key takes the first.
fn with_each_key_first(keys: &[&[u8]], run: fn(&[&[u8]])) {
    let mut keys = keys.to_vec();
    for _ in 0..keys.len() {
        run(&keys);
        keys.rotate_left(1);
    }
}

#[test]
#[expect(clippy::needless_borrow, reason = "README's keys are an array")]
fn blocks_of_code_find_all_keys_of_an_engine_with_plain_and_with_internal_keys() {
    let (code, runs): (Vec<_>, Vec<_>) = [
        copied! {
            use leveldb_filter::{BloomFilterPolicy, FilterPolicy};
            let keys: [&[u8]; 2] = [b"apple", b"pear"];
            let (policy, mut filter) = (BloomFilterPolicy::new(10), Vec::new());
            policy.create_filter(&keys, &mut filter);
            assert!(keys.iter().all(|key| policy.key_may_match(key, &filter)));
            assert!(!policy.key_may_match(b"plum", &filter));
        },
        copied! {
            use leveldb_filter::*;
            let user_keys: [&[u8]; 2] = [b"apple", b"pear"];
            let policy = BloomFilterPolicy::new(10).tuned();
            let mut builder = FilterBlockBuilder::with_long_ranges(policy);
            builder.start_block(0);
            for key in user_keys {
                builder.add_key(key);
            }
            let block = builder.finish();
            let reader = FilterBlockReader::new(policy, block);
            let key = FilterKey::new(&policy, user_keys[0]);
            assert!(reader.may_match(0, &key));
        },
    ]
    .map(|(code, run)| (tokens(code), run))
    .into_iter()
    .unzip();
    assert_eq!(blocks(), code);
    let (plain, internal) = (plain_keys(), internal_keys());
    let plain: Vec<&[u8]> = plain.iter().map(Vec::as_slice).collect();
    let user_keys: Vec<&[u8]> = internal.iter().map(|key| &key[..key.len() - 8]).collect();
    for run in runs {
        with_each_key_first(&plain, run);
        with_each_key_first(&user_keys, run);
    }
}

#[test]
fn the_policy_for_trailers_finds_the_user_keys_of_all_internal_keys() {
    assert!(README.contains("`InternalKeyPolicy::new(policy)`"));
    let policy = BloomFilterPolicy::new(10).tuned();
    let mut builder = FilterBlockBuilder::with_long_ranges(InternalKeyPolicy::new(policy));
    let keys = internal_keys();
    for key in &keys {
        builder.add_key(key);
    }
    let reader = FilterBlockReader::new(policy, builder.finish());
    for key in &keys {
        assert!(reader.may_match(0, &FilterKey::new(&policy, &key[..key.len() - 8])));
    }
}

/// The cells of the recipes' table with this head, without the line below it.
fn rows_below(head: &str) -> Vec<Vec<&'static str>> {
    const RECIPES: &str = include_str!("../../src/recipes.md");
    let table = RECIPES.find(&format!("| {head} |")).expect("a table");
    let lines = RECIPES[table..].lines().map_while(|line| line.strip_prefix('|'));
    let cells = lines.map(|line| line.trim_end_matches('|').split('|').map(str::trim).collect());
    cells.filter(|cells: &Vec<_>| !cells[0].starts_with("---")).collect()
}

#[test]
fn bits_per_key_have_the_rates_that_the_docs_give() {
    let [bits, rates] = &rows_below("bits per key")[..] else { panic!("two rows") };
    for (bits, rate) in bits.iter().zip(rates).skip(1) {
        let policy = BloomFilterPolicy::new(bits.parse().expect("a number"));
        let percent = 100.0 * policy.shape(20_000).measure_false_positive_rate(20_000);
        let digits = rate.trim_end_matches('%').split('.').nth(1).map_or(0, str::len);
        assert_eq!(*rate, format!("{percent:.digits$}%"), "{bits} bits per key");
    }
}

#[test]
fn rates_take_the_bits_per_key_that_the_docs_give() {
    let rows = rows_below("keys of a filter");
    let [head, rows @ ..] = &rows[..] else { panic!("a table") };
    assert_eq!(rows.len(), 3);
    for row in rows {
        let num_keys = row[0].replace(',', "").parse().expect("a number");
        for (rate, bits) in head.iter().zip(row).skip(1) {
            let rate: f64 = rate.trim_end_matches('%').parse().expect("a number");
            let policy = BloomFilterPolicy::for_false_positive_rate(rate / 100.0, num_keys);
            let millibits = policy.map(|policy| policy.millibits_per_key().div_ceil(100));
            let found = millibits.map_or("none".into(), |m| format!("{}.{}", m / 10, m % 10));
            assert_eq!(*bits, found, "{rate}% of {num_keys} keys");
        }
    }
}
