//! Peers as files: a user adds an MPI by describing it. `docs/how-to/programs/add-peer.md` has the fields.

use super::kind::Library;
use crate::program::parts::BETWEEN;
use crate::systems::peers::in_path;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Peers that Parvum describes itself.
const SHIPPED: [(&str, &str); 1] = [("intel-mpi.toml", include_str!("../../../peers/intel-mpi.toml"))];
const LAUNCHER: &str = "{launcher}";
const PREFIX: &str = "{prefix}";
const COUNT: &str = "{n}";
const PROGRAM: &str = "{program}";

/// A peer, as its file describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The name on pages; the version is added.
    pub name: String,
    /// The programs that it runs.
    pub runs: Vec<Library>,
    /// A command that installs it, for users who do not have it.
    pub install: String,
    /// Files, or names in PATH; the first that exists is used.
    launcher: Vec<String>,
    /// The words that start a program.
    launch: Vec<String>,
    /// The words behind the launcher if the program runs over hosts.
    #[serde(default)]
    hosts: Vec<String>,
    /// A command whose output has the version.
    #[serde(default)]
    version: Vec<String>,
    /// The folder of its libraries.
    libraries: Option<String>,
    /// Variables.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Other names for its libraries.
    #[serde(default)]
    aliases: BTreeMap<String, String>,
}

/// A peer that is installed here.
#[derive(Debug, Clone)]
pub struct Installed {
    /// With its version.
    pub name: String,
    peer: Peer,
    launcher: PathBuf,
    /// Folders of libraries, the first one first.
    libraries: Vec<PathBuf>,
    /// The names of hosts, and the program that runs a command there.
    over: Option<(Vec<String>, PathBuf)>,
}

/// Reads a description.
fn parse(text: &str) -> Result<Peer, String> {
    let peer: Peer = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let has = |words: &[String], what: &str| words.iter().any(|word| word.contains(what));
    match () {
        () if peer.name.trim().is_empty() => Err("`name` is empty".into()),
        () if peer.runs.is_empty() => Err("`runs` is empty: it names the kinds of programs".into()),
        () if peer.launcher.is_empty() => Err("`launcher` is empty: it names the files to look for".into()),
        () if !has(&peer.launch, PROGRAM) => Err(format!("`launch` has no {PROGRAM}")),
        () if !has(&peer.launch, COUNT) => Err(format!("`launch` has no {COUNT}, the number of processes")),
        () => Ok(peer),
    }
}

/// All descriptions: Parvum's own, those in the user's folder `parvum/peers`, and those that `--peer` names. A later one replaces an earlier
/// one of the same name.
pub fn all(named: &[PathBuf]) -> Result<Vec<Peer>, String> {
    let mut peers: Vec<Peer> = Vec::new();
    let mut add = |peer: Peer| {
        peers.retain(|other| other.name != peer.name);
        peers.push(peer);
    };
    for (file, text) in SHIPPED {
        add(parse(text).map_err(|why| format!("{file}: {why}"))?);
    }
    let mut files: Vec<PathBuf> = folder()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    files.extend_from_slice(named);
    for file in files {
        let text =
            fs::read_to_string(&file).map_err(|why| format!("cannot read {}: {why}", file.display()))?;
        add(parse(&text).map_err(|why| format!("{}: {why}", file.display()))?);
    }
    Ok(peers)
}

/// The user's folder of descriptions.
fn folder() -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").filter(|one| !one.is_empty()).map(PathBuf::from);
    config.or_else(|| Some(home()?.join(".config"))).map(|config| config.join("parvum/peers"))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// A path of a description; `~/` is the user's home.
fn path(said: &str) -> PathBuf {
    match (said.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => said.into(),
    }
}

impl Peer {
    /// The peer on this computer; `links` is a new folder for other names of its libraries. The error has the command that installs it.
    pub fn find(&self, links: &Path) -> Result<Installed, String> {
        let missing = || format!("{}: not installed; help: {}", self.name, self.install);
        let look = |said: &String| match said.contains('/') {
            true => Some(path(said)).filter(|file| file.is_file()),
            false => in_path(said),
        };
        let launcher = self.launcher.iter().find_map(look).ok_or_else(missing)?;
        let mut found = Installed {
            name: self.name.clone(),
            peer: self.clone(),
            launcher,
            libraries: Vec::new(),
            over: None,
        };
        if let Some(folder) = &self.libraries {
            let folder = path(&found.filled(folder));
            found.link(&folder, links).map_err(|why| format!("{}: {why}", self.name))?;
        }
        if let Some(version) = found.version() {
            found.name = format!("{} {version}", self.name);
        }
        Ok(found)
    }
}

impl Installed {
    /// Runs the program over these hosts, which the program `rsh` reaches. The error says why that cannot be.
    pub fn over(&mut self, hosts: &[String], rsh: &Path) -> Result<(), String> {
        if self.peer.hosts.is_empty() {
            return Err(format!(
                "{}: its description has no `hosts`, the words that start a program over hosts; help: parvum docs add-peer",
                self.name
            ));
        }
        self.over = Some((hosts.to_vec(), rsh.to_owned()));
        Ok(())
    }

    /// The words of `hosts`, for a number of processes.
    fn host_words(&self, processes: u32) -> Vec<OsString> {
        let Some((hosts, rsh)) = &self.over else { return Vec::new() };
        let each = processes.div_ceil(hosts.len() as u32);
        let list = hosts.iter().map(|host| format!("{host}:{each}")).collect::<Vec<_>>().join(",");
        let filled = |word: &String| {
            let word = self.filled(word).replace("{hosts}", &list).replace("{names}", &hosts.join(","));
            word.replace("{each}", &each.to_string()).replace("{rsh}", &rsh.to_string_lossy()).into()
        };
        self.peer.hosts.iter().map(filled).collect()
    }

    fn filled(&self, word: &str) -> String {
        let launcher = self.launcher.to_string_lossy();
        let prefix = self.launcher.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        word.replace(LAUNCHER, &launcher).replace(PREFIX, &prefix.to_string_lossy())
    }

    /// Makes the other names of its libraries.
    fn link(&mut self, folder: &Path, links: &Path) -> Result<(), String> {
        if !folder.is_dir() {
            return Err(format!("`libraries` is {}, which is no folder", folder.display()));
        }
        self.libraries.push(folder.to_owned());
        if !self.peer.aliases.is_empty() {
            let failed = |why: std::io::Error| format!("cannot make {}: {why}", links.display());
            fs::create_dir_all(links).map_err(failed)?;
            for (alias, file) in &self.peer.aliases {
                if folder.join(file).exists() {
                    std::os::unix::fs::symlink(folder.join(file), links.join(alias)).map_err(failed)?;
                }
            }
            self.libraries.push(links.to_owned());
        }
        Ok(())
    }

    /// The first number with a point that its command prints.
    fn version(&self) -> Option<String> {
        let words: Vec<String> = self.peer.version.iter().map(|word| self.filled(word)).collect();
        let (program, arguments) = words.split_first()?;
        let mut command = Command::new(program);
        let done = command.args(arguments).envs(self.environment()).output().ok()?;
        version_in(&String::from_utf8_lossy(&done.stdout))
    }

    /// Variables of its processes.
    pub fn environment(&self) -> Vec<(String, OsString)> {
        let described = self.peer.environment.iter();
        described.map(|(name, value)| (name.clone(), self.filled(value).into())).collect()
    }

    /// The folders of its libraries.
    pub fn libraries(&self) -> &[PathBuf] {
        &self.libraries
    }

    /// The command that starts programs, each with a number of processes.
    pub fn words(&self, parts: &[(u32, &[OsString])]) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        for (at, (count, program)) in parts.iter().enumerate() {
            if at > 0 {
                words.push(BETWEEN.into());
            }
            for word in &self.peer.launch {
                match word.as_str() {
                    // The launcher is named once.
                    LAUNCHER if at > 0 => {}
                    LAUNCHER => {
                        words.push(self.filled(LAUNCHER).into());
                        words.extend(self.host_words(parts.iter().map(|part| part.0).sum()));
                    }
                    PROGRAM => words.extend(program.iter().cloned()),
                    word => words.push(self.filled(word).replace(COUNT, &count.to_string()).into()),
                }
            }
        }
        words
    }
}

/// The first word that looks like a version.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    text.split(|c: char| c.is_whitespace() || c == ',').find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(version_in("no version"), None);
    }
}
