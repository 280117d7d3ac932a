//! A peer that is installed on this computer, and the command that starts programs under it.

use super::{COUNT, Files, LAUNCHER, PREFIX, PROGRAM, Peer, cached, path};
use crate::host::cores;
use crate::program::parts::BETWEEN;
use crate::systems::peers::in_path;
use crate::systems::programs::peers_command;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder that the loader searches anyhow.
const OF_SYSTEM: &str = "/usr/lib";

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

impl Peer {
    /// The peer on this computer; `links` is a new folder for other names of its libraries. The error has the command that installs it.
    pub fn find(&self, links: &Path) -> Result<Installed, String> {
        let look = |said: &String| match said.contains('/') {
            true => Some(path(&cached(said))).filter(|file| file.is_file()),
            false => in_path(said),
        };
        let launcher = self.launcher.iter().find_map(look).ok_or_else(|| {
            // An installed Parvum has another command for this.
            let install = self.install.replace("./x peers", &peers_command());
            format!("{}: not installed; help: {install}", self.name)
        })?;
        let mut found = Installed {
            name: self.name.clone(),
            peer: self.clone(),
            launcher,
            libraries: Vec::new(),
            over: None,
        };
        found.find_libraries(links).map_err(|why| format!("{}: {why}", self.name))?;
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
                self.peer.name
            ));
        }
        self.over = Some((hosts.to_vec(), rsh.to_owned()));
        Ok(())
    }

    /// The colour on pages.
    pub fn class(&self) -> &'static str {
        self.peer.colour.class()
    }

    /// The words of `hosts`, for a number of processes.
    fn host_words(&self, processes: u32) -> Vec<OsString> {
        let Some((hosts, _)) = &self.over else { return Vec::new() };
        let each = processes.div_ceil(hosts.len() as u32);
        let list = hosts.iter().map(|host| format!("{host}:{each}")).collect::<Vec<_>>().join(",");
        let filled = |word: &String| {
            let word = self.filled(word).replace("{hosts}", &list).replace("{names}", &hosts.join(","));
            word.replace("{each}", &each.to_string()).into()
        };
        self.peer.hosts.iter().map(filled).collect()
    }

    fn filled(&self, word: &str) -> String {
        let launcher = self.launcher.to_string_lossy();
        let prefix = self.launcher.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
        let rsh = self.over.as_ref().map(|over| over.1.to_string_lossy()).unwrap_or_default();
        cached(word)
            .replace(LAUNCHER, &launcher)
            .replace(PREFIX, &prefix.to_string_lossy())
            .replace("{rsh}", &rsh)
    }

    /// The folder of its libraries, and the links with other names.
    fn find_libraries(&mut self, links: &Path) -> Result<(), String> {
        let folder = self.peer.libraries.as_ref().map(|folder| path(&self.filled(folder)));
        if let Some(folder) = &folder {
            if !folder.is_dir() {
                return Err(format!("`libraries` is {}, which is no folder", folder.display()));
            }
            if folder != Path::new(OF_SYSTEM) {
                self.libraries.push(folder.clone());
            }
        }
        if self.peer.aliases.is_empty() {
            return Ok(());
        }
        let failed = |why: std::io::Error| format!("cannot make {}: {why}", links.display());
        fs::create_dir_all(links).map_err(failed)?;
        for (alias, files) in &self.peer.aliases {
            if let Some(file) = self.first_of(files, folder.as_deref()) {
                std::os::unix::fs::symlink(file, links.join(alias)).map_err(failed)?;
            }
        }
        self.libraries.push(links.to_owned());
        Ok(())
    }

    /// The first file that exists: a path, or a name in the folder of the libraries.
    fn first_of(&self, files: &Files, folder: Option<&Path>) -> Option<PathBuf> {
        let look = |name: &String| {
            let file = path(&self.filled(name));
            match file.is_absolute() {
                true => matching(&file),
                false => Some(folder?.join(file)).filter(|file| file.exists()),
            }
        };
        files.names().iter().find_map(look)
    }

    /// The first number with a point that its command prints.
    fn version(&self) -> Option<String> {
        let words: Vec<String> = self.peer.version.iter().map(|word| self.filled(word)).collect();
        let (program, arguments) = words.split_first()?;
        let mut command = Command::new(program);
        let done = command.args(arguments).envs(self.environment(1)).output().ok()?;
        version_in(&String::from_utf8_lossy(&done.stdout))
    }

    /// Variables of its launcher and processes, for a number of processes.
    pub fn environment(&self, processes: u32) -> Vec<(String, OsString)> {
        self.variables(processes, cores::of_all_hosts())
    }

    /// The same. `shared`: if all hosts are one computer, its number of processors.
    pub(super) fn variables(&self, processes: u32, shared: Option<usize>) -> Vec<(String, OsString)> {
        let placed = match self.over {
            Some(_) => &self.peer.environment_over_hosts,
            None => &self.peer.environment_on_one_host,
        };
        let is_crowded = self.over.is_some() && shared.is_some_and(|shared| processes as usize > shared);
        let crowded = is_crowded.then_some(&self.peer.environment_crowded);
        let described = self.peer.environment.iter().chain(placed).chain(crowded.into_iter().flatten());
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

/// The file. If one folder of the path is `*`, any folder: first the folder that names this kind of processor.
pub(super) fn matching(file: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = file.iter().collect();
    let Some(at) = parts.iter().position(|part| *part == "*") else {
        return Some(file.to_owned()).filter(|file| file.exists());
    };
    let (above, below): (PathBuf, PathBuf) = (parts[..at].iter().collect(), parts[at + 1..].iter().collect());
    let folders = fs::read_dir(above).ok()?.flatten().map(|folder| folder.path().join(&below));
    let is_of_others = |file: &PathBuf| !file.to_string_lossy().contains(std::env::consts::ARCH);
    folders.filter(|file| file.exists()).min_by_key(|file| (is_of_others(file), file.clone()))
}

/// The first word that looks like a version.
pub(super) fn version_in(text: &str) -> Option<String> {
    // A release, such as 5.0.2, or one that comes before a release: 5.1.0rc2.
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.contains('.')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
    };
    text.split(|c: char| c.is_whitespace() || c == ',').find(is_version).map(str::to_owned)
}
