//! The page on LevelDB's C interface, compiled and run with LevelDB's library.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::common::temp::TempPath;

const PAGE: &str = include_str!("../../src/recipes/c_interface.md");

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

fn rustc() -> Command {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition=2024", "-O"]);
    command
}

fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn the_page_on_leveldbs_c_interface_loses_no_key_and_its_filters_are_used() {
    let (_, code) = PAGE.split_once("```rust,no_run\n").unwrap();
    let (code, _) = code.split_once("```\n").unwrap();

    let dir = TempPath::new();
    fs::create_dir(&dir.0).unwrap();
    let [page, library, program, database] =
        ["page.rs", "libleveldb_filter.rlib", "program", "db"].map(|name| dir.0.join(name));
    fs::write(&page, code).unwrap();
    let crate_args = ["--crate-type=rlib", "--crate-name=leveldb_filter", "src/lib.rs", "-o"];
    run(rustc().args(crate_args).arg(&library));
    run(rustc()
        .env("PAGE", &page)
        .args(["tests/leveldb/c_program.rs", "--extern"])
        .arg(option("leveldb_filter=", &library))
        .arg("-o")
        .arg(&program));

    run(Command::new(&program).arg(&database));
}
