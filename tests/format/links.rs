//! Links in documents, which a repository shows as they are: no dead file, no dead anchor, and no
//! link that only rustdoc understands.

use std::fs;
use std::path::{Path, PathBuf};

const DOCUMENTS: [&str; 5] =
    ["README.md", "src/recipes.md", "tests/README.md", "tests/accuracy.md", "benches/README.md"];

/// Recipes with stand-ins for other crates, on lines that begin with `# `.
const WITH_STAND_INS: [&str; 2] = ["rusty-leveldb", "sstable"];

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of code blocks, or the other lines, each with the last heading before it.
fn lines(text: &str, of_code: bool) -> Vec<(&str, &str)> {
    let (mut in_code, mut heading, mut found) = (false, "", Vec::new());
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if !in_code && line.starts_with('#') {
            heading = line.trim_start_matches('#').trim();
        }
        if in_code == of_code {
            found.push((heading, line));
        }
    }
    found
}

/// The anchor of a heading, by GitHub's rule.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(text: &str, wanted: &str) -> bool {
    lines(text, false).iter().any(|(heading, _)| anchor(heading) == wanted)
}

/// The links of a document that lead nowhere.
fn dead_links(document: &str, text: &str) -> Vec<String> {
    let is_dead = |link: &&str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let directory = Path::new(document).parent().expect("a file");
        let path = if file.is_empty() { PathBuf::from(document) } else { directory.join(file) };
        let is_external = link.starts_with("https://");
        let exists = || Path::new(env!("CARGO_MANIFEST_DIR")).join(&path).exists();
        let has_anchor = || match file {
            "" => has_anchor(text, anchor),
            _ => has_anchor(&read(&path), anchor),
        };
        !(is_external || exists() && (anchor.is_empty() || has_anchor()))
    };
    let text: String = lines(text, false).iter().flat_map(|(_, line)| [line, "\n"]).collect();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let inline: Vec<_> = links.map(|(link, _)| link).filter(is_dead).map(String::from).collect();
    // Without a target of its own, a link names an item, which rustdoc alone finds.
    let items = text.match_indices("`]").filter(|(i, _)| !text[i + 2..].starts_with('('));
    inline
        .into_iter()
        .chain(items.map(|(i, _)| text[..i + 2].lines().last().unwrap().into()))
        .collect()
}

#[test]
fn documents_have_no_dead_links() {
    for document in DOCUMENTS {
        assert_eq!(dead_links(document, &read(document)), [""; 0], "{document}");
    }
}

#[test]
fn dead_files_dead_anchors_and_links_of_rustdoc_are_found() {
    let text = "# A title\n[file](LICENSE) [none](NONE) [a](#a-title) [b](#b) [c](src/recipes.md#c)\n\
                [item](crate::hash) [`hash`] [web](https://example.org) [d](README.md#speed)\n\
                ```rust\n// [code](#code)\n```\n";
    let found = dead_links("README.md", text);
    let [.., items] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found[..4], ["NONE", "#b", "src/recipes.md#c", "crate::hash"]);
    assert!(found.len() == 5 && items.ends_with("[`hash`]"), "{found:?}");
}

#[test]
fn links_from_the_documentation_to_recipes_have_anchors() {
    let (mut directories, recipes) = (vec![PathBuf::from("src")], read("src/recipes.md"));
    while let Some(directory) = directories.pop() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for entry in fs::read_dir(root.join(&directory)).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = read(&path);
                for link in text.split("recipes#").skip(1) {
                    let (link, _) = link.split_once(')').expect("a link");
                    assert!(has_anchor(&recipes, link), "{}: {link}", path.display());
                }
            }
        }
    }
}

/// Readers of the repository see hidden lines, and copy them.
#[test]
fn code_to_copy_has_no_hidden_lines() {
    for document in DOCUMENTS {
        for (heading, line) in lines(&read(document), true) {
            let is_hidden = line == "#" || line.starts_with("# ");
            assert!(!is_hidden || WITH_STAND_INS.contains(&heading), "{document}: {line}");
        }
    }
}
