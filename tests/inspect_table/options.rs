//! What the command line may say.

use std::ffi::OsString;

use crate::inspect_table::options::{Options, Task};

fn parse(args: &[&str]) -> Result<Task, String> {
    Task::parse(args.iter().map(OsString::from))
}

fn inspect(what_if: bool, paths: &[&str]) -> Task {
    Task::Inspect(Options { what_if, paths: paths.iter().map(Into::into).collect() })
}

#[test]
fn options_and_paths_come_in_any_order() {
    assert_eq!(parse(&[]), Ok(inspect(false, &[])));
    assert_eq!(parse(&["--what-if"]), Ok(inspect(true, &[])));
    assert_eq!(parse(&["a.ldb", "--what-if", "db"]), Ok(inspect(true, &["a.ldb", "db"])));
}

#[test]
fn help_is_given_whatever_else_is_asked() {
    for args in [&["-h"][..], &["--help"], &["-h", "a.ldb"], &["a.ldb", "--what-if", "--help"]] {
        assert_eq!(parse(args), Ok(Task::Help));
    }
}

#[test]
fn what_follows_two_dashes_is_a_path() {
    assert_eq!(parse(&["--"]), Ok(inspect(false, &[])));
    assert_eq!(parse(&["--", "a.ldb"]), Ok(inspect(false, &["a.ldb"])));
    assert_eq!(parse(&["--what-if", "--", "-h", "--"]), Ok(inspect(true, &["-h", "--"])));
}

#[test]
fn a_wrong_argument_is_named() {
    for option in ["--wat-if", "-x", "-"] {
        let error = parse(&["a.ldb", option]).unwrap_err();
        assert!(error.ends_with(&format!("unknown option {option}")), "{error}");
    }
    for args in [&[""][..], &["a.ldb", ""], &["--", ""]] {
        assert!(parse(args).unwrap_err().contains("empty argument"));
    }
}
