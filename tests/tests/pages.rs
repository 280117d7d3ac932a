//! The pages for developers name files that exist, and stay short.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest page of the architecture: longer ones are split.
const LINES: usize = 150;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the project").to_path_buf()
}

/// The pages of a folder.
fn pages_of(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(folder)).expect("a folder").flatten();
    files.map(|file| file.path()).filter(|file| file.extension().is_some_and(|end| end == "md")).collect()
}

/// The pages below a folder, at any depth.
fn pages_below(folder: &str) -> Vec<PathBuf> {
    let (mut folders, mut pages) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).expect("a folder").flatten().map(|file| file.path()) {
            match file.is_dir() {
                true => folders.push(file),
                false if file.extension().is_some_and(|end| end == "md") => pages.push(file),
                false => {}
            }
        }
    }
    pages
}

/// The map of the architecture and the pages that it leads to.
fn architecture() -> Vec<PathBuf> {
    let mut pages = pages_of("docs/project/design");
    assert!(pages.len() >= 10, "{pages:?}");
    pages.push(root().join("docs/project/architecture.md"));
    pages
}

fn text(page: &Path) -> String {
    fs::read_to_string(page).expect("a page")
}

/// The paths that a page names: code with a slash, of the letters that our paths have. Blocks of code are pictures and output.
fn paths(text: &str) -> Vec<&str> {
    let is_of_a_path = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    let outside = text.split("```").step_by(2);
    let code = outside.flat_map(|text| text.split('`').skip(1).step_by(2)).flat_map(str::split_whitespace);
    code.filter(|word| word.contains('/') && !word.starts_with("./") && word.chars().all(is_of_a_path))
        .collect()
}

#[test]
fn paths_lists_code_that_looks_like_a_path() {
    let text = "Read `crates/a.rs` and `sh tools/b.sh`; not `./x test`, `a::b`, crates/c or `{a,b}/d`.\n```text\nI/O\n```\n";
    assert_eq!(paths(text), ["crates/a.rs", "tools/b.sh"]);
}

#[test]
fn architecture_pages_name_existing_files() {
    let mut pages = architecture();
    pages.push(root().join("CONTRIBUTING.md"));
    let mut missing = Vec::new();
    for page in pages {
        let text = text(&page);
        let named = paths(&text);
        assert!(!named.is_empty(), "{} names no file", page.display());
        for path in named.iter().filter(|path| !root().join(path).exists()) {
            missing.push(format!("{}: {path}", page.display()));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn page_links_lead_to_files() {
    let mut pages = pages_below("docs");
    assert!(pages.len() > 50, "{pages:?}");
    pages.extend(pages_of("."));
    let mut broken = Vec::new();
    for page in pages {
        let text = text(&page);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split(['#', ' ']).next().expect("a part");
            if !page.with_file_name(file).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn architecture_pages_are_short() {
    let long: Vec<_> = architecture().into_iter().filter(|page| text(page).lines().count() > LINES).collect();
    assert!(long.is_empty(), "longer than {LINES} lines: {long:?}");
}

#[test]
fn architecture_map_links_every_page() {
    let map = text(&root().join("docs/project/architecture.md"));
    for page in pages_of("docs/project/design") {
        let name = page.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(map.contains(&format!("](design/{name})")), "docs/project/architecture.md lacks {name}");
    }
}
