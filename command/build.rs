//! Names the commit and its date for `parvum --version`, if the sources lie in a Git work tree. Lists the libraries that `parvum add
//! --push` takes along.

use std::path::Path;
use std::process::Command;

include!("../tools/shipped.rs");

/// What Git answers, without the end of the line.
fn git(words: &[&str]) -> Option<String> {
    let done = Command::new("git").args(words).output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8(done.stdout).ok()?.trim().to_owned()).filter(|said| !said.is_empty())
}

/// The names under which programs ask for libraries.
fn list_libraries(project: &Path) {
    watch_shipped(project);
    let lines = shipped(project).into_iter().map(|(_, [what, name, _])| (what, name));
    let asked = lines.filter(|(what, name)| (what == "library" || what == "link") && name.contains(".so."));
    let names: Vec<String> = asked.map(|(_, name)| name).collect();
    let out = std::env::var_os("OUT_DIR").expect("Cargo sets it");
    std::fs::write(Path::new(&out).join("libraries.rs"), format!("&{names:?}")).expect("writable");
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    list_libraries(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
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
