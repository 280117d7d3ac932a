//! `parvum add --push`: takes this release along to a host that does not have it.
//!
//! The same command that starts the daemon runs a shell over there, which says what the host is and makes a
//! folder, then tar, which fills it, and a shell again, which puts it in the place of an older one. So what is there is
//! always whole.

use rustix::process::{Pid, Signal};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a step may take, and how long the copying: some 80 MB, over whatever network there is.
const PATIENCE: Duration = Duration::from_secs(60);
const COPYING: Duration = Duration::from_secs(600);
/// What tasks need over there, beside the command: the library of each interface, under the names that programs ask for.
const LIBRARIES: [&str; 12] = [
    "libparvum.so.0",
    "libpvm3.so.3",
    "libgpvm3.so.3",
    "libfpvm3.so.3",
    "libnx.so.1",
    "libcmmd.so.1",
    "libcontainers.so.0",
    "libTmk.so.1",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_abi.so.1",
    "libmpifort.so.12",
];

/// Copies the command and the libraries to a host. The command's path there, or why not.
pub fn push(host: &str, by: Option<&str>) -> Result<String, String> {
    let script = format!(
        "umask 022\nd=\"${{XDG_DATA_HOME:-$HOME/.local/share}}/parvum/{}\"\nrm -rf \"$d.new\"\n\
         mkdir -p \"$d.new\"\necho \"$(uname -s) $(uname -m)\"\necho \"$d\"\n",
        env!("CARGO_PKG_VERSION")
    );
    let said = shell(host, by, "make a folder", script)?;
    let mut lines = said.lines().rev();
    let (folder, kind) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let own = rustix::system::uname();
    let own = format!("{} {}", own.sysname().to_string_lossy(), own.machine().to_string_lossy());
    if kind != own {
        return Err(failed(host, "copy", &format!("it is {kind:?}, this host {own:?}; build Parvum there")));
    }
    if !folder.starts_with('/') || folder.contains(char::is_whitespace) {
        return Err(failed(host, "copy", &format!("its folder is {folder:?}; use --remote")));
    }
    if let Err(why) = fill(host, by, &format!("{folder}.new")) {
        // Half of it would only take room.
        let _ = shell(host, by, "tidy up", format!("rm -rf {folder}.new\n"));
        return Err(why);
    }
    shell(host, by, "put it in place", format!("rm -rf {folder}\nmv {folder}.new {folder}\n"))?;
    Ok(format!("{folder}/bin/parvum"))
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
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let beside = program.parent().ok_or("no folder")?;
    let folders = [beside.join("../lib"), beside.to_path_buf()];
    let mut tar = Command::new("tar");
    tar.args(["-c", "-h", "-f", "-", "--transform=s,^parvum$,bin/parvum,", "--transform=s,^lib,lib/lib,"]);
    tar.arg("-C").arg(beside).arg("parvum");
    for name in LIBRARIES {
        let has = |folder: &&PathBuf| folder.join(name).exists();
        if let Some(folder) = folders.iter().find(has).and_then(|folder| folder.canonicalize().ok()) {
            tar.arg("-C").arg(folder).arg(Path::new(name));
        }
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
    let line = format!("{} {}", parvum_machine::way_to(host, None, by)?, words.join(" "));
    let why = |why: &str| failed(host, step, &format!("`{line}`: {why}"));
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
        let errors = String::from_utf8_lossy(&done.stderr);
        return Err(why(&format!("{}; it said: {}", done.status, errors.trim())));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn failed(host: &str, step: &str, why: &str) -> String {
    format!("E-CANTSTART: {host}: could not {step}: {why}")
}
