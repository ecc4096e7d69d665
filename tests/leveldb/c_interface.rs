//! `c_policy.rs`, compiled and run with LevelDB's library.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::common::temp::TempPath;

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
}

#[test]
#[ignore = "needs g++ and LevelDB's library"]
fn a_policy_for_leveldbs_c_interface_loses_no_key_and_its_filters_are_used() {
    let dir = TempPath::new();
    fs::create_dir(&dir.0).unwrap();
    let [program, database] = ["program", "db"].map(|name| dir.0.join(name));
    let compile = |source: &str, args: &[&str], to: &Path| {
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut rustc = Command::new(rustc);
        rustc.args(["--edition=2024", "-O", source]).args(args).arg("-L").arg(&dir.0);
        run(rustc.arg("-o").arg(to));
    };
    let library = ["--crate-type=rlib", "--crate-name=leveldb_filter"];
    compile("src/lib.rs", &library, &dir.0.join("libleveldb_filter.rlib"));
    compile("tests/leveldb/c_program.rs", &["--extern=leveldb_filter"], &program);
    run(Command::new(&program).arg(&database));
}
