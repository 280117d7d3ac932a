//! What the README and the pages under docs/ say is true.

use parvum_tests::{TestMachine, stage};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

type Names = BTreeSet<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the project").to_path_buf()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).expect("the page is there")
}

fn cargo(args: &[&str]) -> Vec<u8> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let run =
        cargo.args(args).args(["--offline", "--locked"]).current_dir(root()).output().expect("cargo runs");
    assert!(run.status.success(), "cargo {args:?}: {}", String::from_utf8_lossy(&run.stderr));
    run.stdout
}

/// Of each crate of ours: the crates of ours it may use in programs, and those of others, tests and building included.
fn manifests() -> BTreeMap<String, (Names, Names)> {
    let text = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let all: serde_json::Value = serde_json::from_slice(&text).expect("cargo speaks JSON");
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    list(&all["packages"])
        .iter()
        .map(|package| {
            let (mut ours, mut others) = (Names::new(), Names::new());
            for dependency in list(&package["dependencies"]) {
                let name = word(&dependency["name"]);
                match name.strip_prefix("parvum-") {
                    // Tests may use what they like of ours.
                    Some(short) if dependency["kind"].is_null() => drop(ours.insert(short.to_owned())),
                    Some(_) => {}
                    None => drop(others.insert(name)),
                }
            }
            (word(&package["name"]), (ours, others))
        })
        .collect()
}

/// The rows of the tables of a page whose first cell is code: that cell's first word, and all cells.
fn rows(page: &str) -> Vec<(String, Vec<String>)> {
    let cells = |line: &str| -> Vec<String> { line.split('|').map(|cell| cell.trim().to_owned()).collect() };
    page.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| (line.split('`').nth(1).expect("code").to_owned(), cells(line)))
        .collect()
}

#[test]
fn crate_dependencies_match_architecture_page() {
    let page = page("project/architecture.md");
    let table = rows(&page).into_iter().filter(|(name, _)| name.starts_with("parvum"));
    let drawn: BTreeMap<String, Names> = table
        .map(|(name, cells)| {
            let used = cells[3].split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty());
            (name, used.collect())
        })
        .collect();
    let mut built: BTreeMap<String, Names> =
        manifests().into_iter().map(|(name, (ours, _))| (name, ours)).collect();
    // The tests may use what they like.
    built.remove("parvum-tests");
    assert_eq!(drawn, built, "left: docs/project/architecture.md, right: the manifests");
}

#[test]
fn engine_depends_on_no_system_runtime_or_clock() {
    let tree = cargo(&["tree", "--package", "parvum-engine", "--edges", "normal", "--prefix", "none"]);
    let tree = String::from_utf8(tree).expect("names");
    let names: Names = tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert!(names.contains("parvum-wire"), "{names:?}");
    for system in ["libc", "rustix", "tokio", "mio", "libloading", "nix", "crossbeam", "rand"] {
        assert!(!names.contains(system), "the engine brings in {system}: {names:?}");
    }
}

#[test]
fn dependencies_all_have_a_reason() {
    let reasons: Names = rows(&page("project/dependencies.md")).into_iter().map(|(name, _)| name).collect();
    let used: Names = manifests().into_values().flat_map(|(_, others)| others).collect();
    assert_eq!(reasons, used, "left: docs/project/dependencies.md, right: the manifests");
}

#[test]
fn error_codes_are_all_explained() {
    let mut files = Vec::new();
    for folder in ["crates", "transports", "interfaces", "command", "lab/src", "python/src"] {
        sources(&root().join(folder), &mut files);
    }
    files.extend(python_sources());
    let page = page("errors.md");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '-'));
        let is_code = |word: &&str| word.len() > 3 && word.starts_with("E-") && !word.ends_with('-');
        for code in words.filter(is_code) {
            assert!(
                page.contains(&format!("| `{code}` |")),
                "docs/errors.md lacks {code} of {}",
                file.display()
            );
        }
    }
}

/// The modules of the Python package.
fn python_sources() -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root().join("python/parvum")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "py") => found.push(path),
                false => {}
            }
        }
    }
    found
}

/// Words that say nothing to a reader of a message: each names something that only its writer sees.
const RIDDLES: [&str; 5] = [
    "makes no sense",
    "make no sense",
    "see the cause",
    "see the manual page of the call",
    "see the system's",
];

#[test]
fn messages_avoid_vague_references_and_blame() {
    let mut files = python_sources();
    for folder in ["crates", "transports", "interfaces", "command", "lab/src", "python/src"] {
        sources(&root().join(folder), &mut files);
    }
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_start();
            // Comments are for other readers; attributes hold messages.
            let is_comment = line.starts_with("//") || (line.starts_with('#') && !line.starts_with("#["));
            let is_code = line.contains('"') || line.ends_with('\\');
            let points_up = line.contains("see ") && line.contains(" above");
            if !is_comment && is_code && (points_up || RIDDLES.iter().any(|words| line.contains(words))) {
                found.push(format!("{}:{}: {line}", file.display(), at + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn first_example_runs() {
    let stage = stage::stage();
    let program = stage.programs.join("first-greetings");
    let source = root().join("examples/greetings.c");
    let mut cc = stage::compiler("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-I"]).arg(&stage.include).arg(source).arg("-o").arg(&program);
    cc.arg("-L").arg(&stage.lib).args(["-lpvm3", "-lgpvm3"]);
    let done = cc.output().expect("a C compiler (cc) is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let machine = TestMachine::new();
    let mut run = machine.command(&["run", "-n", "4"]);
    let ended = run.arg(&program).arg("4").env("LD_LIBRARY_PATH", &stage.lib).output().expect("parvum runs");
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let said = String::from_utf8(ended.stdout).expect("text");
    let mut greeters: Vec<_> =
        said.lines().filter_map(|line| line.split(": hello from task").next()).collect();
    greeters.sort_unstable();
    assert_eq!(greeters, ["1", "2", "3"]);
}

/// Names of our environment variables in a text.
fn variables(text: &str) -> Names {
    let words = text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
    let ours = |word: &&str| {
        let begins = |name: &str| word.len() > name.len() && word.starts_with(name);
        ["PARVUM_", "PVM_", "TMK_"].into_iter().any(begins)
    };
    words.filter(ours).map(str::to_owned).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn options_are_all_on_their_page() {
    let mut files = Vec::new();
    // The lab only sets variables, for the systems it compares.
    for folder in ["crates", "transports", "interfaces", "command"] {
        sources(&root().join(folder), &mut files);
    }
    let script = std::fs::read_to_string(root().join("apps/build.sh")).expect("the script");
    let mut read = variables(&script);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source");
        // What is asked of the environment is a string of its own; prose in messages is not.
        let quoted = text.split('"').filter(|word| variables(word).contains(*word));
        read.extend(quoted.map(str::to_owned));
    }
    let written: Names =
        rows(&page("reference/options.md")).iter().flat_map(|(_, cells)| variables(&cells[1])).collect();
    assert_eq!(written, read, "left: docs/reference/options.md, right: the sources");
}

/// Every function of `pvm3.h` has its place on the page of functions.
#[test]
fn pvm_functions_are_all_on_their_page() {
    let header = std::fs::read_to_string(root().join("interfaces/pvm/include/pvm3.h")).expect("pvm3.h");
    let page = page("reference/pvm/functions.md");
    let words = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let missing: Vec<_> = words
        .filter(|word| word.starts_with("pvm_") && *word != "pvm_errno")
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "docs/reference/pvm/functions.md lacks {missing:?}");
}

/// What an option sheet lists: words that begin with a hyphen, but not those in the midst of others.
fn options(sheet: &str) -> Names {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let begins = |word: &&str| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_alphabetic());
    sheet.split(word).filter(|word| word.starts_with('-')).filter(begins).map(str::to_owned).collect()
}

/// `parvum run` beside the launchers of both MPIs: what they list has its row in docs/reference/mpi/mpiexec.md. Open MPI 5 has no sheet
/// to ask for; its 4.1, from Debian, has.
#[test]
fn launcher_options_are_all_on_from_mpi_page() {
    let page = page("reference/mpi/mpiexec.md");
    let start = |heading: &str| page.find(heading).unwrap_or_else(|| panic!("{heading} is a heading"));
    let (mpich, openmpi) = (start("## MPICH's mpiexec"), start("## Open MPI's mpirun"));
    let peers = PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let peers = std::env::var_os("XDG_CACHE_HOME").map_or(peers, PathBuf::from).join("parvum/peers");
    let sheets = [
        // Hydra's lines begin with the option, then say what it does.
        (peers.join("mpich/bin/mpiexec"), vec!["--help"], &page[mpich..openmpi], 36),
        ("mpiexec.mpich".into(), vec!["--help"], &page[mpich..openmpi], 36),
        (
            "mpirun.openmpi".into(),
            vec!["--allow-run-as-root", "--help", "full"],
            &page[openmpi..],
            usize::MAX,
        ),
    ];
    for (launcher, args, table, width) in sheets {
        let Ok(said) = Command::new(&launcher).args(args).output() else {
            parvum_tests::skip(
                parvum_tests::Lack::Peers,
                format!("{} is not there (./x peers)", launcher.display()),
            );
            continue;
        };
        let sheet = [said.stdout, said.stderr].concat();
        let sheet: String = String::from_utf8_lossy(&sheet)
            .lines()
            .filter(|line| line.trim_start().starts_with('-'))
            .map(|line| line.chars().take(width).chain(['\n']).collect::<String>())
            .collect();
        let (listed, written) = (options(&sheet), options(table));
        assert!(listed.len() > 30, "{} lists its options: {sheet}", launcher.display());
        // One spelled with one hyphen and with two is one.
        let short = |names: &Names| {
            names.iter().map(|name| name.trim_start_matches('-').to_owned()).collect::<Names>()
        };
        let missing: Vec<_> = short(&listed).difference(&short(&written)).cloned().collect();
        assert!(
            missing.is_empty(),
            "docs/reference/mpi/mpiexec.md lacks {missing:?} of {}",
            launcher.display()
        );
    }
}

/// The texts of the sources in these folders, with their paths in the project.
fn texts(folders: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    folders.iter().for_each(|folder| sources(&root().join(folder), &mut files));
    let text = |file: PathBuf| {
        let name = file.strip_prefix(root()).expect("in the project").to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).expect("a source"))
    };
    files.into_iter().map(text).collect()
}

/// A transport is registered in the list of the runtime and named nowhere else: so one more costs few files.
#[test]
fn transports_are_named_only_in_their_list() {
    let crates = std::fs::read_dir(root().join("transports")).expect("transports").flatten();
    let crates = crates.map(|folder| format!("parvum_{}", folder.file_name().to_string_lossy()));
    // What transports with sockets share is the contract, not a transport.
    let crates: Vec<String> = crates.filter(|name| name != "parvum_stream").collect();
    assert!(crates.len() > 3, "{crates:?}");
    let list = "crates/engine/runtime/src/connecting/transports";
    let (listed, others): (Vec<_>, Vec<_>) = texts(&["crates", "interfaces", "python", "command"])
        .into_iter()
        .filter(|(name, _)| !name.contains("/tests/"))
        // `parvum doctor` tries the copy that the transport makes.
        .filter(|(name, _)| name != "command/src/doctor/system.rs")
        .partition(|(name, _)| name.starts_with(list));
    let names = |text: &str| crates.iter().filter(|name| text.contains(*name)).count();
    let named: Vec<&String> =
        others.iter().filter(|(_, text)| names(text) > 0).map(|(name, _)| name).collect();
    assert_eq!(named, [""; 0], "these name a transport");
    let all = listed.iter().map(|(_, text)| text.as_str()).collect::<String>();
    assert_eq!(names(&all), crates.len(), "every transport is in the list");
}

/// Interfaces say themselves what their waits are called: so one more needs no edit below, nor in another interface.
#[test]
fn interface_words_are_only_in_their_interface() {
    let all = texts(&["crates/ground", "crates/engine", "crates/machine", "interfaces", "python"]);
    let folder = |name: &str| name.split('/').take(2).collect::<Vec<_>>().join("/");
    let lists = all.iter().filter(|(name, _)| name.starts_with("interfaces") && name.ends_with("/words.rs"));
    let words = lists.flat_map(|(name, text)| {
        text.split('"').filter_map(move |line| {
            let (head, word) = line.split_once(' ')?;
            let is_call = ["call", "memory"].contains(&head.split(':').next()?);
            is_call.then(|| (folder(name), format!("\"{word}\"")))
        })
    });
    let words: Vec<(String, String)> = words.collect();
    assert!(words.len() > 20, "{words:?}");
    for (name, text) in &all {
        let found = words.iter().find(|(owner, word)| folder(name) != *owner && text.contains(word));
        assert_eq!(found, None, "{name} has a word of another's");
    }
}
