//! Links and code in documents, which a repository shows as they are.

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 5] =
    ["README.md", "src/recipes.md", "tests/README.md", "tests/accuracy.md", "benches/README.md"];

fn rooted(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The lines of code blocks, or the other lines, each with the last heading before it.
fn lines(document: impl AsRef<Path>, of_code: bool) -> Vec<(String, String)> {
    let text = fs::read_to_string(rooted(document)).expect("a document");
    let (mut in_code, mut heading, mut found) = (false, "", Vec::new());
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else {
            if !in_code && line.starts_with('#') {
                heading = line.trim_start_matches('#').trim();
            }
            found.extend((in_code == of_code).then(|| (heading.into(), line.into())));
        }
    }
    found
}

/// Whether a heading has this anchor, by GitHub's rule.
fn has_anchor(document: impl AsRef<Path>, anchor: &str) -> bool {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let of = |heading: &str| heading.to_lowercase().replace(|c| !kept(&c), "").replace(' ', "-");
    lines(document, false).iter().any(|(heading, _)| of(heading) == anchor)
}

/// Whether a link leads nowhere. Links to items do, because only rustdoc understands them.
fn is_dead(document: &str, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let directory = Path::new(document).parent().expect("a file");
    let path = if file.is_empty() { document.into() } else { directory.join(file) };
    let lives = || rooted(&path).exists() && (anchor.is_empty() || has_anchor(&path, anchor));
    !(link.starts_with("https://") || lives())
}

#[test]
fn documents_have_no_dead_links() {
    for document in DOCUMENTS {
        for (_, line) in lines(document, false) {
            assert!(!line.replace("`](", "").contains("`]"), "an item without a target: {line}");
            for link in line.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
                assert!(!is_dead(document, link), "{document}: {link}");
            }
        }
    }
    let dead = ["NONE", "#none", "src/recipes.md#none", "crate::hash"];
    assert!(dead.iter().all(|link| is_dead("README.md", link)));
}

#[test]
fn the_documentation_links_to_recipes_that_exist() {
    fn files(directory: PathBuf) -> Vec<PathBuf> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect()
    }
    for file in files(rooted("src")) {
        let text = fs::read_to_string(&file).unwrap();
        for anchor in text.split("recipes#").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            assert!(has_anchor("src/recipes.md", anchor), "{}: {anchor}", file.display());
        }
    }
}

/// Readers of the repository see hidden lines, and copy them. Two recipes hide stand-ins for crates.
#[test]
fn code_to_copy_has_no_hidden_lines() {
    for (heading, line) in DOCUMENTS.iter().flat_map(|document| lines(document, true)) {
        let may_hide = heading == "rusty-leveldb" || heading == "sstable";
        assert!(may_hide || line != "#" && !line.starts_with("# "), "{heading}: {line}");
    }
}
