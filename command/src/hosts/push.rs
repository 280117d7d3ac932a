//! `parvum add --push`: takes this release along to a host that does not have it.
//!
//! The same command that starts the daemon runs a shell over there, which says what the host is and whether it has the
//! release; then tar, which fills a new folder; and a shell again, which gives the folder its name. The name has the
//! checksum of all that is in it, so what is there is always whole, and other releases are never touched.

use crate::shown::shown;
use parvum_wire::control::HostOptions;
use rustix::process::{Pid, Signal};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a step may take, and how long the copying: some 80 MB, over whatever network there is.
const PATIENCE: Duration = Duration::from_secs(60);
const COPYING: Duration = Duration::from_secs(600);
/// What tasks need over there, beside the command: the library of each interface, under the names that programs ask for.
const LIBRARIES: &[&str] = include!(concat!(env!("OUT_DIR"), "/libraries.rs"));

/// What the folder over there is called, and the list of its files with their checksums.
struct Release {
    name: String,
    manifest: String,
    /// Unguessable for others; hosts with one home know each other by it.
    token: String,
}

/// What a host says before anything is copied.
struct Seen {
    folder: String,
    /// The release is there, whole.
    is_there: bool,
}

/// Copies the command and the libraries to all hosts at once. The command's path on each, or why not.
///
/// Hosts may have one home folder. One of them gets the copy then, and the others use it.
pub fn push(hosts: &[String], by: Option<&str>) -> Vec<Result<String, String>> {
    let release = match Release::of_this() {
        Ok(release) => release,
        Err(why) => return hosts.iter().map(|host| Err(failed(name_of(host), "pack", &why))).collect(),
    };
    let seen = all(hosts, |at, host| release.look(host, by, at));
    // Each host lists the marks in its folder: hosts with one home list the same ones.
    let first = all(hosts, |at, host| match &seen[at] {
        Ok(Seen { is_there: false, folder }) => release.marks(host, by, folder).map(|marks| {
            let waits = |mark: &usize| matches!(seen.get(*mark), Some(Ok(Seen { is_there: false, .. })));
            marks.into_iter().filter(waits).min().unwrap_or(at)
        }),
        Ok(_) => Ok(at),
        Err(why) => Err(why.clone()),
    });
    let copied = all(hosts, |at, host| match (&seen[at], &first[at]) {
        (Ok(Seen { is_there: false, folder }), Ok(first)) if *first == at => release.copy(host, by, folder),
        (_, Err(why)) => Err(why.clone()),
        _ => Ok(()),
    });
    all(hosts, |at, host| {
        let seen = seen[at].as_ref().map_err(String::clone)?;
        let placed = copied[at].clone().and_then(|()| {
            let first = *first[at].as_ref().map_err(String::clone)?;
            if first == at || release.look(host, by, at)?.is_there {
                return Ok(());
            }
            release.copy(host, by, &seen.folder)
        });
        // The mark has done its work, whatever came of the copy.
        let mark = release.mark(&seen.folder, at);
        let _ = shell(host, by, "tidy up", format!("rm -f {mark}\n"));
        placed.map(|()| format!("{}/bin/parvum", seen.folder))
    })
}

/// Does something for each host, for all at the same time: each waits for another host.
fn all<T: Send>(
    hosts: &[String],
    what: impl Fn(usize, &str) -> Result<T, String> + Sync,
) -> Vec<Result<T, String>> {
    let what = &what;
    std::thread::scope(|scope| {
        let begun: Vec<_> =
            hosts.iter().enumerate().map(|(at, host)| scope.spawn(move || what(at, host))).collect();
        let ended = begun.into_iter().map(|thread| thread.join());
        ended.map(|end| end.unwrap_or_else(|_| Err("E-CANTSTART: no result".into()))).collect()
    })
}

impl Release {
    fn of_this() -> Result<Release, String> {
        let manifest = sums(&files()?)?;
        let whole = filter("sha256sum", manifest.as_bytes())?;
        let mut token = [0; 8];
        rustix::rand::getrandom(&mut token, rustix::rand::GetRandomFlags::empty())
            .map_err(|why| why.to_string())?;
        Ok(Release {
            name: format!("{}-{}", env!("CARGO_PKG_VERSION"), whole.get(..12).unwrap_or_default()),
            manifest,
            token: format!("{:016x}", u64::from_ne_bytes(token)),
        })
    }

    fn mark(&self, folder: &str, at: usize) -> String {
        format!("{folder}.seen.{}.{at}", self.token)
    }

    /// Asks a host what it is and whether it has the release, and leaves a mark there for hosts with the same home.
    fn look(&self, host: &str, by: Option<&str>, at: usize) -> Result<Seen, String> {
        let (name, mark) = (&self.name, self.mark("$d", at));
        let script = format!(
            "umask 022\nd=\"${{XDG_DATA_HOME:-$HOME/.local/share}}/parvum/{name}\"\nmkdir -p \"${{d%/*}}\"\n\
             : > \"{mark}\"\n\
             if {CHECK}; then there=yes; else there=no; fi\n\
             echo \"$(uname -s) $(uname -m)\"\necho \"$d\"\necho $there\n"
        );
        let said = shell(host, by, "make a folder", script)?;
        let mut lines = said.lines().rev();
        let mut line = || lines.next().unwrap_or_default();
        let (there, folder, kind) = (line(), line(), line());
        let own = rustix::system::uname();
        let own = format!("{} {}", own.sysname().to_string_lossy(), own.machine().to_string_lossy());
        let host = name_of(host);
        if folder.contains(char::REPLACEMENT_CHARACTER) {
            return Err(failed(host, "copy", &format!("{folder}: the folder's name there is not UTF-8")));
        }
        if kind != own {
            return Err(failed(
                host,
                "copy",
                &format!("it is {kind:?}, this host {own:?}; help: build Parvum there"),
            ));
        }
        if !folder.starts_with('/')
            || folder.contains(|c: char| c.is_whitespace() || "'\"$`\\;&|<>()*?".contains(c))
        {
            return Err(failed(host, "copy", &format!("its folder is {folder:?}; help: use --remote")));
        }
        Ok(Seen { folder: folder.to_owned(), is_there: there == "yes" })
    }

    /// The marks in a host's folder.
    fn marks(&self, host: &str, by: Option<&str>, folder: &str) -> Result<Vec<usize>, String> {
        let begin = format!("{folder}.seen.{}.", self.token);
        let said =
            shell(host, by, "look into its folder", format!("for f in {begin}*; do echo \"$f\"; done\n"))?;
        Ok(said.lines().filter_map(|line| line.strip_prefix(&begin)?.parse().ok()).collect())
    }

    /// Fills a folder of its own over there and gives it its name. A folder that has the name already stays if it is whole.
    fn copy(&self, host: &str, by: Option<&str>, folder: &str) -> Result<(), String> {
        let said = shell(host, by, "make a folder", format!("umask 022\nmktemp -d {folder}.new.XXXXXX\n"))?;
        let new = said.lines().last().unwrap_or_default().to_owned();
        if !new.starts_with(folder) {
            return Err(failed(name_of(host), "make a folder", &format!("it said {said:?}")));
        }
        let manifest = self.manifest.lines().fold(String::new(), |text, line| text + line + "\n");
        let place = format!(
            "d={folder}\nnew={new}\nchmod 755 $new\ncat > $new/{MANIFEST} <<'END'\n{manifest}END\n\
             if ! mv -T $new $d 2>/dev/null; then\n\
             if {CHECK}; then rm -rf $new; else mv -T $d $new.broken; mv -T $new $d; rm -rf $new.broken; fi\nfi\n{CHECK}\n"
        );
        let placed = fill(host, by, &new).and_then(|()| shell(host, by, "put it in place", place));
        placed.map(drop).inspect_err(|_| {
            // Half of it would only take room.
            let _ = shell(host, by, "tidy up", format!("rm -rf {new}\n"));
        })
    }
}

/// The list of checksums in the folder over there, and the test whether all files are as it says.
const MANIFEST: &str = "MANIFEST";
const CHECK: &str = "(cd \"$d\" 2>/dev/null && sha256sum -c --status MANIFEST 2>/dev/null)";

/// A host's name without the options that may follow it.
fn name_of(host: &str) -> &str {
    host.split_whitespace().next().unwrap_or_default()
}

/// What is copied: each file, and its name over there.
fn files() -> Result<Vec<(PathBuf, String)>, String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let beside = program.parent().ok_or("no folder")?.to_path_buf();
    let folders = [beside.join("../lib"), beside];
    let found = LIBRARIES.iter().filter_map(|name| {
        let file = folders.iter().map(|folder| folder.join(name)).find(|file| file.exists())?;
        Some((file, format!("lib/{name}")))
    });
    Ok(std::iter::once((program, "bin/parvum".to_owned())).chain(found).collect())
}

/// The checksums of the files, under their names over there.
fn sums(files: &[(PathBuf, String)]) -> Result<String, String> {
    let mut manifest = String::new();
    for (file, name) in files {
        let done = Command::new("sha256sum")
            .stdin(std::fs::File::open(file).map_err(|why| why.to_string())?)
            .output();
        let done = done.map_err(|why| format!("sha256sum: {why}"))?;
        let sum = String::from_utf8(done.stdout).ok().and_then(|text| Some(text.get(..64)?.to_owned()));
        manifest += &format!("{}  {name}\n", sum.ok_or_else(|| format!("sha256sum of {}", file.display()))?);
    }
    Ok(manifest)
}

/// What a program says of some text.
fn filter(program: &str, text: &[u8]) -> Result<String, String> {
    let mut command = Command::new(program);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let child = child.as_mut().map_err(|why| format!("{program}: {why}"))?;
    let mut input = child.stdin.take().ok_or("no pipe")?;
    input.write_all(text).map_err(|why| format!("{program}: {why}"))?;
    drop(input);
    let mut said = String::new();
    child.stdout.take().ok_or("no pipe")?.read_to_string(&mut said).map_err(|why| why.to_string())?;
    child.wait().map_err(|why| why.to_string())?;
    Ok(said)
}

/// Copies what is needed into a folder over there.
fn fill(host: &str, by: Option<&str>, folder: &str) -> Result<(), String> {
    let mut pack = pack().map_err(|why| failed(host, "pack", &why))?;
    let mut packed = pack.stdout.take().ok_or_else(|| failed(host, "pack", "no pipe"))?;
    let unpack = ["tar", "-x", "-f", "-", "-C", folder];
    let copied =
        over_there(host, by, &unpack, ("copy", COPYING), move |input| io::copy(&mut packed, input).map(drop));
    // Whoever reads has ended, so this does.
    let packed = pack.wait();
    copied?;
    let was_cut = |status: &ExitStatus| status.signal() == Some(Signal::PIPE.as_raw());
    match packed {
        // The tar over there, which found all it wanted, may end before it has read the zeros behind the archive.
        Ok(status) if status.success() || was_cut(&status) => Ok(()),
        other => Err(failed(host, "pack", &format!("tar ended with {other:?}"))),
    }
}

/// Runs a script over there, to the first command that fails.
fn shell(host: &str, by: Option<&str>, step: &str, script: String) -> Result<String, String> {
    over_there(host, by, &["sh"], (step, PATIENCE), move |input| {
        input.write_all(format!("set -e\n{script}").as_bytes())
    })
}

/// Packs the command and those libraries that there are.
fn pack() -> Result<Child, String> {
    let mut tar = Command::new("tar");
    tar.args(["-c", "-h", "-f", "-", "--transform=s,^parvum$,bin/parvum,", "--transform=s,^lib,lib/lib,"]);
    for (file, _) in files()? {
        // The command may be called by another name here.
        let (folder, name) = (file.parent().ok_or("no folder")?, file.file_name().ok_or("no name")?);
        tar.arg("-C").arg(folder.canonicalize().map_err(|why| why.to_string())?).arg(name);
    }
    tar.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|why| format!("tar: {why}"))
}

/// Runs a command over there; what it said.
fn over_there(
    host: &str,
    by: Option<&str>,
    words: &[&str],
    (step, patience): (&str, Duration),
    feed: impl FnOnce(&mut ChildStdin) -> io::Result<()> + Send + 'static,
) -> Result<String, String> {
    // Options of a hostfile may follow the name; some of them say how the host is reached.
    let (name, options) = HostOptions::of_line(host, &|name| std::env::var_os(name)).map_err(bad)?;
    options.unfit(false).map_err(|why| bad(format!("{name}: {why}")))?;
    let (address, login) = (options.address.as_deref().unwrap_or(&name), options.login.as_deref());
    let way = parvum_machine::way_to(address, login, options.by.as_deref().or(by));
    let line = format!("{} {}", way.map_err(|why| bad(format!("{name}: {why}")))?, words.join(" "));
    let why = |why: &str| failed(&name, step, &format!("`{line}`: {why}"));
    let mut split = line.split_whitespace();
    let mut command = Command::new(split.next().unwrap_or("ssh"));
    command.args(split).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| why(&error.to_string()))?;
    let (pid, input) = (Pid::from_child(&child), child.stdin.take());
    let (end, ended) = mpsc::channel();
    // Feeding, reading and waiting have one deadline. Not joined: what the command has started may hold its
    // pipes after it is killed.
    std::thread::spawn(move || {
        let _ = input.map(|mut input| feed(&mut input));
        let _ = end.send(child.wait_with_output());
    });
    let done = ended.recv_timeout(patience).map_err(|_| {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        why(&format!("no answer within {patience:?}"))
    })?;
    let done = done.map_err(|error| why(&error.to_string()))?;
    // A pipe that broke is no failure where the other end ended well: that had read what it needs.
    if !done.status.success() {
        let errors = shown(&done.stderr);
        return Err(why(&format!("{}; note: the command said: {}", done.status, errors.trim())));
    }
    Ok(shown(&done.stdout).into_owned())
}

fn bad(why: String) -> String {
    format!("E-BADPARAM: {why}")
}

fn failed(host: &str, step: &str, why: &str) -> String {
    format!("E-CANTSTART: {host}: could not {step}: {why}")
}
