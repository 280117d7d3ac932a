//! Peers as files: a user adds an MPI by describing it. `docs/how-to/programs/add-peer.md` has the fields.

mod installed;
#[cfg(test)]
mod tests;

pub use installed::Installed;

use super::kind::Library;
use crate::systems::peers::{cache_base, home};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Peers that Parvum describes itself, in the order of pages.
const SHIPPED: [(&str, &str); 4] = [
    ("mpich.toml", include_str!("../../../../peers/mpich.toml")),
    ("mpich-debian.toml", include_str!("../../../../peers/mpich-debian.toml")),
    ("open-mpi.toml", include_str!("../../../../peers/open-mpi.toml")),
    ("intel-mpi.toml", include_str!("../../../../peers/intel-mpi.toml")),
];

/// Words that a description may use. The launcher, and the folder above the folder of the launcher.
const LAUNCHER: &str = "{launcher}";
const PREFIX: &str = "{prefix}";
/// The number of processes, and the program with its arguments.
const COUNT: &str = "{n}";
const PROGRAM: &str = "{program}";
/// The user's folder for files that can be made again.
const CACHE: &str = "{cache}";

/// A peer, as its file describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The name on pages; the version is added.
    pub name: String,
    /// The programs that it runs.
    pub runs: Vec<Library>,
    /// A command that installs it, for users who do not have it.
    install: String,
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
    /// Further variables if the program runs on this host alone.
    #[serde(default)]
    environment_on_one_host: BTreeMap<String, String>,
    /// Further variables if the program runs over hosts.
    #[serde(default)]
    environment_over_hosts: BTreeMap<String, String>,
    /// Further variables if the hosts are one computer, which has fewer processors than the program has processes.
    #[serde(default)]
    environment_crowded: BTreeMap<String, String>,
    /// Other names for its libraries.
    #[serde(default)]
    aliases: BTreeMap<String, Files>,
    /// The colour on pages.
    #[serde(default)]
    colour: Colour,
}

/// A file, or several of which the first that exists counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Files {
    One(String),
    Several(Vec<String>),
}

impl Files {
    fn names(&self) -> &[String] {
        match self {
            Files::One(name) => std::slice::from_ref(name),
            Files::Several(names) => names,
        }
    }
}

/// The colours of systems on pages.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Mpich,
    Mpich4,
    OpenMpi,
    OpenMpi4,
    #[default]
    Other,
}

impl Colour {
    fn class(self) -> &'static str {
        match self {
            Colour::Mpich => "s-mpich",
            Colour::Mpich4 => "s-mpich4",
            Colour::OpenMpi => "s-openmpi",
            Colour::OpenMpi4 => "s-openmpi4",
            Colour::Other => "s-ucx",
        }
    }
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

/// All descriptions: of Parvum, of the user's folder `parvum/peers`, and of `--peer`. A later description replaces an
/// earlier description of the same name.
pub fn all(named: &[PathBuf]) -> Result<Vec<Peer>, String> {
    let mut peers: Vec<Peer> = Vec::new();
    let mut add = |peer: Peer| match peers.iter_mut().find(|other| other.name == peer.name) {
        Some(place) => *place = peer,
        None => peers.push(peer),
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

/// A word with the user's cache folder in it.
fn cached(word: &str) -> String {
    word.replace(CACHE, &cache_base().unwrap_or_default().to_string_lossy())
}

/// A path of a description; `~/` is the user's home.
fn path(said: &str) -> PathBuf {
    match (said.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => said.into(),
    }
}
