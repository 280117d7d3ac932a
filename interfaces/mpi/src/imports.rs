//! Which files of this crate import each other. A test keeps the circles small: a file can be read without most of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A circle may have so many files.
const MOST: usize = 5;

/// The texts of modules, by their paths from the root of the crate. The root has the empty path.
type Modules = BTreeMap<String, String>;

/// Reads all modules of a folder.
fn read(folder: &Path, path: &str, modules: &mut Modules) {
    for entry in std::fs::read_dir(folder).expect("the sources are here").flatten() {
        let file = entry.path();
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        let within = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        if file.is_dir() {
            read(&file, &within, modules);
        } else {
            let module = if matches!(name, "mod" | "lib") { path } else { &within };
            modules.insert(module.to_owned(), std::fs::read_to_string(&file).expect("text"));
        }
    }
}

/// The text without comments, tests, and visibilities: `pub(in crate::calls)` imports nothing.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.map(|line| line.replace("pub(in crate::", "pub(")).collect::<Vec<_>>().join("\n")
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The paths at the beginning of a text: several if it has braces.
fn paths(text: &str) -> Vec<String> {
    let end = text.find(|character| !is_word(character) && character != ':').unwrap_or(text.len());
    let (head, rest) = text.split_at(end);
    if !rest.starts_with('{') {
        return vec![head.to_owned()];
    }
    let (mut depth, mut begin, mut all) = (0, 1, Vec::new());
    for (at, character) in rest.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        let ends = depth == 0 && character == '}';
        if ends || depth == 1 && character == ',' {
            all.extend(paths(&format!("{head}{}", rest[begin..at].trim())));
            begin = at + 1;
        }
        if ends {
            break;
        }
    }
    all
}

/// The modules that a module names, from the root, `super` or itself.
fn imports(module: &str, text: &str, modules: &Modules) -> BTreeSet<String> {
    let (code, mut found) = (code(text), BTreeSet::new());
    let within = |path: &str| if module.is_empty() { path.to_owned() } else { format!("{module}::{path}") };
    for (at, _) in code.match_indices("::") {
        let begin = code[..at].rfind(|character| !is_word(character)).map_or(0, |before| before + 1);
        if begin == at || code[..begin].ends_with("::") {
            continue;
        }
        for path in paths(&code[begin..]) {
            let mut parent = module;
            let mut rest = path.as_str();
            while let Some(inner) = rest.strip_prefix("super::") {
                parent = parent.rsplit_once("::").map_or("", |(parent, _)| parent);
                rest = inner;
            }
            let whole = match path.strip_prefix("crate::") {
                Some(rest) => rest.to_owned(),
                None if rest.len() == path.len() => within(rest),
                None if parent.is_empty() => rest.to_owned(),
                None => format!("{parent}::{rest}"),
            };
            let mut named = whole.as_str();
            while !named.is_empty() && !modules.contains_key(named) {
                named = named.rsplit_once("::").map_or("", |(outer, _)| outer);
            }
            if !named.is_empty() && named != module {
                found.insert(named.to_owned());
            }
        }
    }
    found
}

/// All that a module needs, by way of others too.
fn needs<'g>(module: &'g str, graph: &'g BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'g str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![module]);
    while let Some(next) = open.pop() {
        for import in graph.get(next).into_iter().flatten() {
            if found.insert(import.as_str()) {
                open.push(import);
            }
        }
    }
    found
}

/// The circles of modules that need each other.
fn circles(modules: &Modules) -> BTreeSet<Vec<&str>> {
    let graph: BTreeMap<_, _> =
        modules.iter().map(|(module, text)| (module.clone(), imports(module, text, modules))).collect();
    let circle = |module: &String| -> Vec<&str> {
        let (module, _) = modules.get_key_value(module).expect("one of them");
        let all = needs(module, &graph);
        let members = modules.keys().filter(|other| all.contains(other.as_str()));
        members.filter(|other| needs(other, &graph).contains(module.as_str())).map(String::as_str).collect()
    };
    modules.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn import_cycles_of_modules_stay_small() {
    let mut modules = Modules::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut modules);
    assert!(modules.len() > 50, "{} modules were found", modules.len());
    let large: Vec<_> = circles(&modules).into_iter().filter(|circle| circle.len() > MOST).collect();
    assert!(large.is_empty(), "circles of more than {MOST} files: {large:#?}");
}

#[test]
fn import_cycle_is_found_for_every_use_syntax() {
    let texts = [
        ("", "mod a; mod low; pub use a::b;"),
        ("a", "mod b; use b::{Thing, self};"),
        ("a::b", "use super::c::Other; use crate::low;"),
        ("a::c", "fn f() { crate::{low::g, a::h}() } // crate::a::b"),
        ("low", "fn g() {}\n#[cfg(test)]\nmod tests { use crate::a; }"),
    ];
    let modules: Modules = texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    assert_eq!(circles(&modules), BTreeSet::from([vec!["a", "a::b", "a::c"]]));
}
