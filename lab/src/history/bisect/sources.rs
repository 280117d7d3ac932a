//! The commits between GOOD and BAD, and their files in a clone. The user's own work tree is only read.

use crate::error::LabError;
use crate::history::commits::{commit, git, is_installed, repository, short};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A repository of Parvum's sources.
#[derive(Debug)]
pub struct Sources {
    root: PathBuf,
}

/// A commit of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its whole name.
    pub name: String,
    /// The first line of its message.
    pub subject: String,
}

impl Commit {
    /// For people.
    pub fn words(&self) -> String {
        format!("{} ({})", short(&self.name), self.subject)
    }
}

fn refused(why: String) -> LabError {
    LabError::Bisect(why)
}

impl Sources {
    /// The sources that this process runs in, or that its command was built in.
    pub fn find() -> Result<Sources, LabError> {
        if !is_installed() {
            return Err(refused("git is not installed; help: install the package git".to_owned()));
        }
        Sources::of(repository())
    }

    fn of(root: Option<PathBuf>) -> Result<Sources, LabError> {
        let help = "no Git repository of Parvum is here; help: run this command in a clone of Parvum";
        root.map(|root| Sources { root }).ok_or_else(|| refused(help.to_owned()))
    }

    /// The sources in a folder.
    #[cfg(test)]
    pub fn at(root: &Path) -> Sources {
        assert!(crate::history::commits::is_top(root));
        Sources { root: root.to_owned() }
    }

    /// The commits from GOOD, the first, to BAD.
    pub fn between(&self, good: &str, bad: &str) -> Result<Vec<Commit>, LabError> {
        let [first, last] = [good, bad].map(|name| {
            // A name is never an option of Git.
            let found = git(&self.root, &["rev-parse", "--verify", "-q", "--end-of-options", &commit(name)]);
            found.ok_or_else(|| refused(format!("no commit is called {name:?} in {}", self.root.display())))
        });
        let (first, last) = (first?, last?);
        if first == last {
            return Err(refused(format!("{good} and {bad} are the same commit, {}", short(&first))));
        }
        if git(&self.root, &["merge-base", "--is-ancestor", &first, &last]).is_none() {
            return Err(refused(format!(
                "{good} is not an ancestor of {bad}; help: name the older commit first, on the same branch"
            )));
        }
        let range = format!("{first}..{last}");
        let list = |more: &[&str]| -> Vec<Commit> {
            let mut words = vec!["log", "--reverse", "--topo-order", "--ancestry-path", "--format=%H%x09%s"];
            words.extend(more);
            words.push(&range);
            let lines = git(&self.root, &words).unwrap_or_default();
            let commits = lines.lines().filter_map(|line| line.split_once('\t'));
            commits.map(|(name, subject)| Commit { name: name.into(), subject: subject.into() }).collect()
        };
        // Commits of a branch that was merged count as one, unless GOOD lies on such a branch.
        let mut commits = list(&["--first-parent"]);
        let parent =
            |of: &Commit| git(&self.root, &["rev-parse", "-q", "--verify", &format!("{}^1", of.name)]);
        if commits.first().and_then(parent).as_ref() != Some(&first) {
            commits = list(&[]);
        }
        let subject = git(&self.root, &["log", "-1", "--format=%s", &first]).unwrap_or_default();
        commits.insert(0, Commit { name: first, subject });
        Ok(commits)
    }

    /// For each of these commits, whether it changes what is built: sources, or the versions of packages.
    pub fn touching_code(&self, commits: &[Commit]) -> Vec<bool> {
        let range = match commits {
            [first, .., last] => format!("{}..{}", first.name, last.name),
            _ => return vec![true; commits.len()],
        };
        // `-m` shows a merge as the changes that it brings to its branch.
        let words =
            ["log", "-m", "--first-parent", "--format=%H", &range, "--", "*.rs", "*.c", "*.h", "Cargo.lock"];
        let names = git(&self.root, &words).unwrap_or_default();
        let names: HashSet<&str> = names.lines().collect();
        commits.iter().map(|commit| names.contains(&*commit.name)).collect()
    }

    /// A clone without files yet. It borrows the objects of the repository and leaves nothing there, even if this process is killed.
    pub fn clone_into(&self, folder: &Path) -> Result<Tree, LabError> {
        let (from, to) = (self.root.to_string_lossy(), folder.to_string_lossy());
        let parent = folder.parent().unwrap_or(folder);
        git(parent, &["clone", "-q", "--shared", "--no-checkout", &from, &to])
            .ok_or_else(|| refused(format!("`git clone --shared {from} {to}` failed")))?;
        Ok(Tree { folder: folder.to_owned() })
    }
}

/// Files of one commit at a time.
#[derive(Debug)]
pub struct Tree {
    /// Its folder.
    pub folder: PathBuf,
}

impl Tree {
    /// Puts the files of a commit there.
    pub fn checkout(&self, commit: &Commit) -> Result<(), LabError> {
        let done = git(&self.folder, &["checkout", "-q", "--force", "--detach", &commit.name]);
        done.map(drop).ok_or_else(|| refused(format!("`git checkout {}` failed", commit.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::commits::tests::repository;

    #[test]
    fn commits_between_two_are_listed_with_both_ends() {
        let Some((root, names)) = repository(&["a", "b", "c", "d"]) else { return };
        let commits = Sources::at(root.path()).between("main~2", "main").expect("commits");
        let found: Vec<(&str, &str)> =
            commits.iter().map(|one| (one.name.as_str(), one.subject.as_str())).collect();
        assert_eq!(found, [(&*names[1], "b"), (&*names[2], "c"), (&*names[3], "d")]);
    }

    #[test]
    fn merged_branch_is_one_commit_unless_good_lies_on_it() {
        let Some((root, names)) = repository(&["a", "b"]) else { return };
        let run = |words: &[&str]| git(root.path(), words).unwrap_or_else(|| panic!("git {words:?}"));
        run(&["checkout", "-q", "-b", "side", &names[0]]);
        run(&["commit", "-q", "--allow-empty", "-m", "side 1"]);
        run(&["commit", "-q", "--allow-empty", "-m", "side 2"]);
        run(&["checkout", "-q", "main"]);
        run(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
        let sources = Sources::at(root.path());
        let subjects = |good: &str| -> Vec<String> {
            let commits = sources.between(good, "main").expect("commits");
            commits.into_iter().map(|commit| commit.subject).collect()
        };
        assert_eq!(subjects(&names[0]), ["a", "b", "merge"]);
        assert_eq!(subjects("side~1"), ["side 1", "side 2", "merge"]);
    }

    #[test]
    fn commits_that_touch_code_are_told_from_others() {
        let Some((root, names)) = repository(&["a", "text"]) else { return };
        let run = |words: &[&str]| git(root.path(), words).unwrap_or_else(|| panic!("git {words:?}"));
        std::fs::create_dir(root.path().join("src")).expect("made");
        std::fs::write(root.path().join("src/main.rs"), "fn main() {}").expect("written");
        run(&["add", "."]);
        run(&["commit", "-q", "-m", "code"]);
        let sources = Sources::at(root.path());
        let commits = sources.between(&names[0], "main").expect("commits");
        assert_eq!(sources.touching_code(&commits), [false, false, true]);
    }

    #[test]
    fn commits_that_cannot_be_searched_are_refused() {
        let Some((root, names)) = repository(&["a", "b"]) else { return };
        let sources = Sources::at(root.path());
        let why = |good: &str, bad: &str| sources.between(good, bad).expect_err("refused").to_string();
        assert!(why("main", &names[0]).contains("main is not an ancestor of"));
        assert!(why("nowhere", "main").contains("no commit is called \"nowhere\""));
        assert!(why(&names[0], "--all").contains("no commit is called \"--all\""));
        assert!(why("HEAD", "main").contains("are the same commit"));
        let why = Sources::of(None).expect_err("refused").to_string();
        assert!(
            why.contains("no Git repository of Parvum is here; help: run this command in a clone"),
            "{why}"
        );
    }

    #[test]
    fn clone_has_files_of_each_commit_and_work_tree_stays() {
        let Some((root, _)) = repository(&["a", "b", "c"]) else { return };
        std::fs::write(root.path().join("level"), "edited").expect("written");
        let before = git(root.path(), &["for-each-ref"]);
        let sources = Sources::at(root.path());
        let scratch = crate::run::comparison::Scratch::create().expect("a folder");
        let tree = sources.clone_into(&scratch.path().join("tree")).expect("a clone");
        for (number, commit) in sources.between("main~2", "main").expect("commits").iter().enumerate() {
            tree.checkout(commit).expect("its files");
            let level = std::fs::read_to_string(tree.folder.join("level")).expect("a file");
            assert_eq!(level, number.to_string());
        }
        assert_eq!(std::fs::read_to_string(root.path().join("level")).expect("a file"), "edited");
        assert_eq!(git(root.path(), &["for-each-ref"]), before);
        assert_eq!(git(root.path(), &["worktree", "list"]).expect("a list").lines().count(), 1);
        let lost = Commit { name: "0".repeat(40), subject: String::new() };
        assert!(tree.checkout(&lost).expect_err("refused").to_string().contains("git checkout"));
    }
}
