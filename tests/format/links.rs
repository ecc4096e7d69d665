//! Links in documents, which a repository shows as they are.

use std::fs;
use std::path::{Path, PathBuf};

/// Whether a heading has this anchor, by GitHub's rule.
fn has_anchor(document: &Path, anchor: &str) -> bool {
    let text = fs::read_to_string(document).expect("a document");
    let is_dropped = |c: char| !(c.is_alphanumeric() || " -_".contains(c));
    let of = |heading: &str| heading.to_lowercase().replace(is_dropped, "").replace(' ', "-");
    let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
    headings.any(|heading| of(heading.trim_start_matches('#').trim()) == anchor)
}

/// Whether a link leads nowhere. Links to items do, because only rustdoc understands them.
fn is_dead(document: &Path, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = if file.is_empty() { document.into() } else { document.with_file_name(file) };
    let lives = || path.exists() && (anchor.is_empty() || has_anchor(&path, anchor));
    !(link.starts_with("https://") || lives())
}

/// The links of `[text](link)` and `[name]: link`. Such a line says what a `[name]` stands for.
fn links(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("a document");
    let text: String = text.split('`').step_by(2).collect(); // without code
    let mut links = Vec::new();
    for (end, _) in text.match_indices(']') {
        let (before, rest) = (&text[..end], &text[end + 1..]);
        let name = before.rsplit('[').next().unwrap();
        if let Some(rest) = rest.strip_prefix('(') {
            links.push(rest.split(')').next().unwrap().into());
        } else if let Some(rest) = rest.strip_prefix(": ") {
            links.push(rest.lines().next().unwrap().into());
        } else if !rest.starts_with('[') {
            assert!(text.contains(&format!("\n[{name}]: ")), "{}: [{name}]", document.display());
        }
    }
    links
}

#[test]
fn documents_have_no_dead_links() {
    let pages = fs::read_dir("src/recipes").expect("pages").map(|page| page.unwrap().path());
    let others = [
        "README.md",
        "tests/README.md",
        "tests/accuracy.md",
        "tests/examples/inspect/README.md",
        "benches/README.md",
    ];
    for document in pages.chain(others.map(PathBuf::from)) {
        for link in links(&document) {
            assert!(!is_dead(&document, &link), "{}: {link}", document.display());
        }
    }
}
