//! Commits: which one a run measures, and what a repository knows of it.

use crate::run::options::CompareOptions;
use crate::systems::peers::{Kit, Own};
use crate::systems::programs::find_sources;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Follows the name of a commit whose files were edited.
const DIRTY: &str = "-dirty";

/// The answer of Git to these words, without the end of the line; none if Git fails.
pub(super) fn git(root: &Path, words: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(words).stdin(Stdio::null()).stderr(Stdio::null());
    // A hook that starts this process names its own repository.
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE").env("TZ", "UTC");
    let done = command.output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}

/// Whether this machine has Git.
pub(super) fn is_installed() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

/// The folder of Parvum's sources, if it is the top of a Git work tree.
pub fn repository() -> Option<PathBuf> {
    let apps = find_sources()?;
    let root = apps.parent()?.canonicalize().ok()?;
    is_top(&root).then_some(root)
}

/// Whether a folder is the top of a work tree: sources that were unpacked within another repository have no commits of their own.
pub(super) fn is_top(root: &Path) -> bool {
    let top = git(root, &["rev-parse", "--show-toplevel"]).map(PathBuf::from);
    top.and_then(|top| top.canonicalize().ok()) == root.canonicalize().ok()
}

/// The commit that a run with these options measures.
pub(crate) fn of_run(options: &CompareOptions, kits: &[Kit]) -> Option<String> {
    let ours = kits.iter().find(|kit| kit.family.is_ours());
    let own = Own { command: ours.map(|kit| kit.starter.clone()), libraries: None };
    // A run without Parvum has a commit only if the user names one.
    let version = ours.map_or("", |kit| &kit.version);
    measured(&own, version, options.apps.as_deref(), options.commit.as_deref())
}

/// The commit that a run measures. The user may name the commit. Otherwise the version of the command has its name, or the sources have it if
/// the command was built in them.
pub fn measured(own: &Own, version: &str, apps: Option<&Path>, named: Option<&str>) -> Option<String> {
    let sources = apps.and_then(Path::parent).and_then(|root| root.canonicalize().ok());
    let root = sources.filter(|root| is_top(root)).or_else(repository);
    let whole = |name: &str| {
        let found =
            root.as_deref().and_then(|root| git(root, &["rev-parse", "--verify", "-q", &commit(name)]));
        found.unwrap_or_else(|| name.to_owned())
    };
    if let Some(name) = named {
        return Some(whole(name));
    }
    let is_built_here = |root: &Path| own.command.as_deref().is_some_and(|command| command.starts_with(root));
    let head = root.as_deref().filter(|root| is_built_here(root)).and_then(head);
    match of_version(version) {
        Some(short) => Some(head.filter(|head| head.starts_with(short)).unwrap_or_else(|| whole(short))),
        None => head,
    }
}

/// The name under which Git finds a commit and nothing else.
pub(super) fn commit(name: &str) -> String {
    format!("{name}^{{commit}}")
}

/// The commit of a work tree, marked if its files were edited.
fn head(root: &Path) -> Option<String> {
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let edited = git(root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if edited.is_empty() { commit } else { commit + DIRTY })
}

/// The commit in `parvum 0.2.0 (aa2eb9b0, 2026-11-28)`.
pub(super) fn of_version(version: &str) -> Option<&str> {
    let (_, words) = version.split_once('(')?;
    let (name, _) = words.split_once(',')?;
    let is_hash = name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then_some(name)
}

/// A commit's name as people write it.
pub fn short(name: &str) -> String {
    let (hash, dirty) = name.strip_suffix(DIRTY).map_or((name, ""), |hash| (hash, DIRTY));
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    format!("{}{dirty}", if is_hash { &hash[..9] } else { hash })
}

/// A commit of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its place in the history, from the first commit on.
    pub place: usize,
    /// When it was made, as dates of runs are written.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// The commits of a repository.
#[derive(Debug, Default)]
pub struct Commits(HashMap<String, Known>);

impl Commits {
    /// All commits that a name of the repository leads to.
    pub fn of(root: &Path) -> Commits {
        let words = [
            "log",
            "--all",
            // A detached head has no name among all.
            "HEAD",
            "--topo-order",
            "--reverse",
            "--date=format-local:%Y-%m-%d %H:%M:%S",
            "--format=%H%x09%cd%x09%s",
        ];
        let lines = git(root, &words).unwrap_or_default();
        let known = lines.lines().enumerate().filter_map(|(place, line)| {
            let mut words = line.splitn(3, '\t').map(str::to_owned);
            let (hash, date, subject) = (words.next()?, words.next()?, words.next()?);
            Some((hash, Known { place, date, subject }))
        });
        Commits(known.collect())
    }

    /// The commit with this name: a whole name or its beginning, with or without the mark of edited files.
    pub fn find(&self, name: &str) -> Option<&Known> {
        let hash = name.strip_suffix(DIRTY).unwrap_or(name);
        if let Some(known) = self.0.get(hash) {
            return Some(known);
        }
        let mut alike = self.0.iter().filter(|(whole, _)| hash.len() >= 7 && whole.starts_with(hash));
        alike.next().filter(|_| alike.next().is_none()).map(|(_, known)| known)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::run::comparison::Scratch;
    use parvum_tests::{Lack, skip};

    /// A repository with a commit for each of these subjects; the file `level` has the number of its commit. Without Git, the
    /// test is skipped.
    pub(in crate::history) fn repository(subjects: &[&str]) -> Option<(Scratch, Vec<String>)> {
        if !is_installed() {
            skip(Lack::Tools, "no git is installed");
            return None;
        }
        let scratch = Scratch::create().expect("a folder");
        let root = scratch.path().canonicalize().expect("it is there");
        let git = |words: &[&str]| super::git(&root, words).unwrap_or_else(|| panic!("git {words:?}"));
        git(&["init", "-q", "-b", "main"]);
        git(&["config", "user.name", "Test"]);
        git(&["config", "user.email", "test@example.org"]);
        git(&["config", "commit.gpgsign", "false"]);
        let commits = subjects.iter().enumerate().map(|(number, subject)| {
            std::fs::write(root.join("level"), number.to_string()).expect("written");
            git(&["add", "level"]);
            git(&["commit", "-q", "-m", subject]);
            git(&["rev-parse", "HEAD"])
        });
        let commits = commits.collect();
        Some((scratch, commits))
    }

    #[test]
    fn repository_knows_place_date_and_subject_of_its_commits() {
        let Some((scratch, names)) = repository(&["Begin", "Go on\twith a tab"]) else { return };
        let commits = Commits::of(scratch.path());
        let [first, second] = [&names[0], &names[1]].map(|name| commits.find(name).expect("known"));
        assert_eq!((first.place, second.place), (0, 1));
        assert_eq!(second.subject, "Go on\twith a tab");
        assert_eq!((first.date.len(), &first.date[4..5]), (19, "-"));
        assert_eq!(commits.find(&format!("{}{DIRTY}", &names[0][..8])), Some(first));
        assert_eq!([commits.find("0000000000"), commits.find("")], [None, None]);
        assert!(Commits::of(Path::new("/nowhere")).0.is_empty());
    }

    #[test]
    fn run_records_commit_of_sources_that_its_command_was_built_in() {
        let Some((scratch, names)) = repository(&["Begin", "Go on"]) else { return };
        let root = scratch.path().canonicalize().expect("it is there");
        let apps = root.join("apps");
        let built = Own { command: Some(root.join("build/bin/parvum")), libraries: None };
        let elsewhere = Own { command: Some("/usr/bin/parvum".into()), libraries: None };
        let of = |own: &Own, version: &str, named| measured(own, version, Some(&apps), named);
        assert_eq!(of(&built, "parvum 0.2.0", None).as_ref(), Some(&names[1]));
        assert_eq!(of(&elsewhere, "parvum 0.2.0", None), None);
        // The version says more than the place.
        let version = format!("parvum 0.2.0 ({}, 2026-11-28)", &names[0][..9]);
        assert_eq!(of(&elsewhere, &version, None).as_ref(), Some(&names[0]));
        assert_eq!(of(&built, &version, None).as_ref(), Some(&names[0]));
        assert_eq!(of(&Own::default(), "", None), None);
        // The user knows best.
        assert_eq!(of(&built, &version, Some("main")).as_ref(), Some(&names[1]));
        assert_eq!(of(&built, &version, Some("release of May")).as_deref(), Some("release of May"));
        std::fs::write(root.join("level"), "edited").expect("written");
        assert_eq!(of(&built, "parvum 0.2.0", None), Some(format!("{}-dirty", names[1])));
        assert_eq!(short(&format!("{}-dirty", names[1])), format!("{}-dirty", &names[1][..9]));
        // A folder within a repository is another program's.
        std::fs::create_dir_all(root.join("unpacked/apps")).expect("made");
        assert!(!is_top(&root.join("unpacked")) && is_top(&root));
    }

    #[test]
    fn version_without_commit_names_none() {
        for version in ["parvum 0.2.0", "3.4.6 (Debian)", "5.0 (PyPI, x)", "x (abc"] {
            assert_eq!(of_version(version), None, "{version}");
        }
    }
}
