//! Names the commit and its date for `parvum --version`, if the sources lie in a Git work tree.

use std::path::Path;
use std::process::Command;

/// What Git answers, without the end of the line.
fn git(words: &[&str]) -> Option<String> {
    let done = Command::new("git").args(words).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(done.stdout).ok()?.trim().to_owned()).filter(|said| !said.is_empty())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let release = std::env::var("CARGO_PKG_VERSION").expect("Cargo sets it");
    // Builds for development are made anew after each commit if they name it.
    let names_commit = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = names_commit.then(|| git(&["log", "-1", "--format=%h, %cs"])).flatten();
    if commit.is_some() {
        let branch = git(&["symbolic-ref", "-q", "HEAD"]);
        for name in ["HEAD".to_owned()].into_iter().chain(branch) {
            let file = git(&["rev-parse", "--git-path", &name]);
            file.filter(|file| Path::new(file).exists())
                .into_iter()
                .for_each(|file| println!("cargo:rerun-if-changed={file}"));
        }
    }
    let version = commit.map_or(release.clone(), |commit| format!("{release} ({commit})"));
    println!("cargo:rustc-env=COMMAND_VERSION={version}");
}
