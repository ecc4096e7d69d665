//! Links and code in documents, which a repository shows as they are.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: &str = "src/recipes";

fn rooted(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn pages() -> Vec<String> {
    let entries = fs::read_dir(rooted(PAGES)).expect("pages").map(|entry| entry.unwrap());
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

fn documents() -> Vec<String> {
    let others = ["README.md", "tests/README.md", "tests/accuracy.md", "benches/README.md"];
    let pages = pages().into_iter().map(|page| format!("{PAGES}/{page}"));
    others.map(String::from).into_iter().chain(pages).collect()
}

/// The lines of code blocks, or the other lines.
fn lines(document: impl AsRef<Path>, of_code: bool) -> Vec<String> {
    let text = fs::read_to_string(rooted(document)).expect("a document");
    let (mut in_code, mut found) = (false, Vec::new());
    for line in text.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else {
            found.extend((in_code == of_code).then(|| line.into()));
        }
    }
    found
}

/// Whether a heading has this anchor, by GitHub's rule.
fn has_anchor(document: impl AsRef<Path>, anchor: &str) -> bool {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let of = |heading: &str| heading.to_lowercase().replace(|c| !kept(&c), "").replace(' ', "-");
    let lines = lines(document, false);
    let headings = lines.iter().filter_map(|line| line.strip_prefix('#'));
    headings.map(|heading| of(heading.trim_start_matches('#').trim())).any(|of| of == anchor)
}

/// Whether a link leads nowhere. Links to items do, because only rustdoc understands them.
fn is_dead(document: &str, link: &str) -> bool {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let directory = Path::new(document).parent().expect("a file");
    let path = if file.is_empty() { document.into() } else { directory.join(file) };
    let lives = || rooted(&path).exists() && (anchor.is_empty() || has_anchor(&path, anchor));
    !(link.starts_with("https://") || lives())
}

/// Returns the links of `[text](link)`, `[text][name]` and `[name]`, where a line says what a name
/// stands for: `[name]: link`.
fn links(document: &str) -> Vec<String> {
    let (definitions, text): (Vec<_>, Vec<_>) = lines(document, false)
        .into_iter()
        .partition(|line| line.starts_with('[') && line.contains("]: "));
    let definition = |line: &String| {
        let (name, link) = line[1..].split_once("]: ")?;
        Some((name.to_string(), link.to_string()))
    };
    let named: HashMap<_, _> = definitions.iter().filter_map(definition).collect();
    let text: String = text.join("\n").split('`').step_by(2).collect(); // without `code`
    let mut links = Vec::new();
    for (end, _) in text.match_indices(']') {
        let rest = &text[end + 1..];
        if let Some(rest) = rest.strip_prefix('(') {
            links.push(rest.split(')').next().unwrap().into());
        } else if !rest.starts_with('[') {
            let name = text[..end].rsplit('[').next().unwrap();
            let link = named.get(name);
            links.push(link.unwrap_or_else(|| panic!("{document}: what is [{name}]?")).clone());
        }
    }
    links
}

#[test]
fn documents_have_no_dead_links() {
    for document in documents() {
        for link in links(&document) {
            assert!(!is_dead(&document, &link), "{document}: {link}");
        }
    }
    let dead = ["NONE", "#none", "tests/README.md#none", "crate::hash"];
    assert!(dead.iter().all(|link| is_dead("README.md", link)));
    let page = "src/recipes/one_filter_per_table.md";
    assert!(links(page).contains(&"entries_of_a_table.md".into()), "a link by name");
}

#[test]
fn every_page_has_a_title_and_a_module() {
    let modules = fs::read_to_string(rooted("src/recipes.rs")).unwrap();
    for page in pages() {
        let lines = lines(format!("{PAGES}/{page}"), false);
        assert!(lines[0].starts_with("# ") && lines[1].is_empty(), "{page}: {}", lines[0]);
        let name = page.strip_suffix(".md").expect("a Markdown file");
        let module = format!("include_str!(\"recipes/{page}\")");
        let is_module = modules.contains(&module) && modules.contains(&format!("mod {name} "));
        assert!(is_module, "src/recipes.rs lacks {page}");
    }
}

/// Readers of the repository see hidden lines, and copy them.
#[test]
fn code_to_copy_has_no_hidden_lines() {
    for document in documents() {
        for line in lines(&document, true) {
            assert!(line != "#" && !line.starts_with("# "), "{document}: {line}");
        }
    }
}
