//! The recipe for LevelDB's C interface, compiled and run with LevelDB's library.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::common::temp::TempPath;

const RECIPES: &str = include_str!("../../src/recipes.md");

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (out, errors) = (output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(out).unwrap()
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
fn the_recipe_for_leveldbs_c_interface_loses_no_key_and_its_filters_are_used() {
    let (_, recipe) = RECIPES.split_once("# LevelDB's C interface\n").unwrap();
    let (_, recipe) = recipe.split_once("```no_run\n").unwrap();
    let (recipe, _) = recipe.split_once("```\n").unwrap();

    let dir = TempPath::new();
    fs::create_dir(&dir.0).unwrap();
    let [code, library, program, database] =
        ["recipe.rs", "libleveldb_filter.rlib", "program", "db"].map(|name| dir.0.join(name));
    fs::write(&code, recipe).unwrap();
    let crate_args = ["--crate-type=rlib", "--crate-name=leveldb_filter", "src/lib.rs", "-o"];
    run(rustc().args(crate_args).arg(&library));
    run(rustc()
        .env("RECIPE", &code)
        .args(["tests/leveldb/c_program.rs", "--extern"])
        .arg(option("leveldb_filter=", &library))
        .arg("-o")
        .arg(&program));

    let said = run(Command::new(&program).arg(&database));
    println!("{said}");
    let counts = said.lines().map(|line| line.rsplit_once(' ').unwrap());
    let count: HashMap<_, u32> = counts.map(|(what, n)| (what, n.parse().unwrap())).collect();
    assert_eq!((count["lost"], count["lost by LevelDB's policy"]), (0, 0));
    assert_eq!((count["absent found"], count["policies left"]), (0, 0));
    assert!(count["created"] > 0 && count["checked for present"] >= 20_000);
    assert_eq!(count["matched of present"], count["checked for present"]);
    // LevelDB's filters match 99.8%.
    assert!(count["checked for absent"] >= 19_000);
    assert!(count["matched of absent"] < count["checked for absent"] / 100);
}
