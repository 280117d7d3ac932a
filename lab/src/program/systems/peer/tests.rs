//! Descriptions of peers: what is refused, and the commands that they make.

use super::installed::{matching, version_in};
use super::*;
use std::ffi::OsString;
use std::path::Path;

const TEXT: &str = "name = 'Toy MPI'\nruns = ['mpich']\ninstall = 'make install'\nlauncher = ['toyrun', '/bin/sh']\nlaunch = ['{launcher}', '-n', '{n}', '{program}']\n";

#[test]
fn shipped_descriptions_are_whole() {
    for (file, text) in SHIPPED {
        parse(text).unwrap_or_else(|why| panic!("{file}: {why}"));
    }
}

#[test]
fn incomplete_descriptions_are_refused_with_the_missing_part() {
    let cases = [
        (TEXT.replace("'{n}', ", ""), "no {n}"),
        (TEXT.replace(", '{program}'", ""), "no {program}"),
        (TEXT.replace("['mpich']", "[]"), "`runs` is empty"),
        (TEXT.replace("['mpich']", "['lam']"), "unknown variant"),
        (TEXT.replace("'Toy MPI'", "' '"), "`name` is empty"),
        (TEXT.replace("['toyrun', '/bin/sh']", "[]"), "`launcher` is empty"),
        (TEXT.replace("install", "instal"), "unknown field"),
        (TEXT.replace("name =", "name"), "key"),
        (format!("{TEXT}colour = 'pink'\n"), "unknown variant"),
        (String::new(), "missing field"),
    ];
    for (text, expected) in cases {
        let why = parse(&text).expect_err("incomplete");
        assert!(why.contains(expected), "{text}: {why}");
    }
}

#[test]
fn words_start_the_program_with_its_arguments() {
    let found = parse(TEXT).expect("whole").find(Path::new("/nonexistent")).expect("sh is there");
    let (program, other) = (["./a b".into(), "-x".into()], ["./c".into()]);
    let words = |parts: &[(u32, &[OsString])]| -> Vec<String> {
        found.words(parts).iter().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let two = words(&[(1, &program), (3, &other)]);
    assert_eq!(two[1..], ["-n", "1", "./a b", "-x", ":", "-n", "3", "./c"]);
    let words = words(&[(4, &program)]);
    assert_eq!(words[1..], ["-n", "4", "./a b", "-x"]);
    assert!(words[0].ends_with("/sh"), "{words:?}");
}

#[test]
fn hosts_are_named_behind_the_launcher() {
    let text =
        format!("{TEXT}hosts = ['-hosts', '{{hosts}}', '-f', '{{names}}/{{each}}', '-rsh', '{{rsh}}']\n");
    let (hosts, rsh) = (["a".to_owned(), "b".to_owned()], Path::new("/rsh"));
    let mut found = parse(&text).expect("whole").find(Path::new("/nonexistent")).expect("sh is there");
    found.over(&hosts, rsh).expect("it can");
    let words = found.words(&[(3, &["./a".into()])]);
    let words: Vec<_> = words[1..].iter().map(|word| word.to_string_lossy()).collect();
    assert_eq!(words, ["-hosts", "a:2,b:2", "-f", "a,b/2", "-rsh", "/rsh", "-n", "3", "./a"]);
    let mut found = parse(TEXT).expect("whole").find(Path::new("/nonexistent")).expect("sh is there");
    let why = found.over(&hosts, rsh).expect_err("it cannot");
    assert!(why.starts_with("Toy MPI: its description has no `hosts`"), "{why}");
}

#[test]
fn missing_peer_names_its_remedy() {
    let text = TEXT.replace("'toyrun', '/bin/sh'", "'toyrun-that-nobody-has'");
    let why = parse(&text).map(|peer| peer.find(Path::new("/nonexistent")).map(|one| one.name));
    assert_eq!(why.expect("whole"), Err("Toy MPI: not installed; help: make install".to_owned()));
}

#[test]
fn version_is_found_in_a_sentence() {
    let text = "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 2026";
    assert_eq!(version_in(text), Some("2021.18.1".to_owned()));
    assert_eq!(version_in("Version: 4.3.0rc2, 3.1"), Some("4.3.0rc2".to_owned()));
    assert_eq!(version_in("no version"), None);
}

#[test]
fn variables_depend_on_the_hosts() {
    let text = format!(
        "{TEXT}hosts = ['{{hosts}}']\n[environment]\nALL = '{{prefix}}'\n[environment_on_one_host]\nONE = '1'\n\
         [environment_over_hosts]\nMANY = '{{rsh}}'\n[environment_crowded]\nCROWDED = '1'\n"
    );
    let mut found = parse(&text).expect("whole").find(Path::new("/nonexistent")).expect("sh is there");
    let names = |found: &Installed, processes, shared| -> Vec<String> {
        found.variables(processes, shared).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&found, 4, Some(2)), ["ALL", "ONE"]);
    found.over(&["a".into(), "b".into()], Path::new("/rsh")).expect("it can");
    assert_eq!(names(&found, 2, Some(2)), ["ALL", "MANY"]);
    assert_eq!(names(&found, 4, None), ["ALL", "MANY"]);
    assert_eq!(names(&found, 4, Some(2)), ["ALL", "MANY", "CROWDED"]);
    let rsh = found.variables(2, None).into_iter().find(|one| one.0 == "MANY").expect("it is there");
    assert_eq!(rsh.1, "/rsh");
}

#[test]
fn aliases_link_to_the_first_existing_file() {
    let root = std::env::temp_dir().join(format!("parvum-aliases-{}", std::process::id()));
    let own = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    for folder in ["lib/another-linux-gnu", &own, "lib/third"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
        fs::write(root.join(folder).join("libtoy.so.1"), "").expect("a file");
    }
    let text = format!(
        "{TEXT}[aliases]\n'libmpi.so.12' = ['{0}/none/libtoy.so.1', '{0}/lib/*/libtoy.so.1']\n'libno.so' = '{0}/none'\n",
        root.display()
    );
    let links = root.join("links");
    let found = parse(&text).expect("whole").find(&links).expect("sh is there");
    assert_eq!(found.libraries(), std::slice::from_ref(&links));
    assert_eq!(
        fs::read_link(links.join("libmpi.so.12")).expect("a link"),
        root.join(own).join("libtoy.so.1")
    );
    assert!(!links.join("libno.so").exists());
    assert_eq!(matching(&root.join("lib/*/none")), None);
    fs::remove_dir_all(root).expect("removed");
}
