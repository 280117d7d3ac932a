//! The first process of a host, and of the switch.
//!
//! It does what init does, takes in orphans; and it has a *door*, a unix socket by which other hosts
//! start commands here, as with rsh but without a network: the caller's streams come along as
//! descriptors. It ends, and the kernel ends everything below it, when its standard input does.

use super::room;
use crate::kill_hard;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use rustix::process::{WaitOptions, wait};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A holder, seen from the test.
pub(super) struct Holder {
    child: Child,
    pid: u32,
}

impl Holder {
    /// Starts a holder by a command that makes the namespaces.
    pub fn start(mut command: Command, log: &Path, options: &[(&str, &Path)]) -> Result<Holder, String> {
        let program = room::profile().join("hosts");
        command.arg(&program).arg("hold");
        for (name, value) in options {
            command.arg(name).arg(value);
        }
        // unshare(1) complains when what it started is killed, which is how it ends.
        let errors = File::create(log).map_err(|why| format!("{}: {why}", log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(|why| format!("{:?}: {why}", command.get_program()))?;
        let mut line = String::new();
        let _ = BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line);
        match line.trim().parse() {
            Ok(pid) => Ok(Holder { child, pid }),
            Err(_) => {
                let _ = child.kill();
                let said = std::fs::read_to_string(log).unwrap_or_default();
                Err(format!("{} does not hold: {:?}: {said}", program.display(), child.wait()))
            }
        }
    }

    /// Its process, as the test sees it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it and all below it; returns when they are gone.
    pub fn end(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            kill_hard(self.pid);
            // What started it ends when it does.
            let _ = self.child.wait();
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.end();
    }
}

/// Commands that run for others: who wants to know how they end.
type Callers = Arc<Mutex<HashMap<i32, UnixStream>>>;

/// Is a holder: `hosts hold [--door SOCKET] [--remove FOLDER]`.
pub fn hold(door: Option<PathBuf>, remove: Option<PathBuf>) {
    // As whoever mounted /proc counts: a namespace of processes begins at 1.
    let pid = std::fs::read_link("/proc/self").expect("/proc");
    println!("{}", pid.display());
    let callers = Callers::default();
    let reaper = callers.clone();
    std::thread::spawn(move || reap(&reaper));
    let listener = door.map(|door| {
        let _ = std::fs::remove_file(&door);
        UnixListener::bind(door).expect("the folder is there")
    });
    let input = std::io::stdin();
    loop {
        let mut fds = vec![PollFd::new(&input, PollFlags::IN)];
        fds.extend(listener.iter().map(|listener| PollFd::new(listener, PollFlags::IN)));
        if poll(&mut fds, None).is_err() {
            continue;
        }
        let (over, called) = (!fds[0].revents().is_empty(), fds.get(1).map(|fd| !fd.revents().is_empty()));
        if over && input.lock().read(&mut [0; 64]).unwrap_or(0) == 0 {
            break;
        }
        if called == Some(true)
            && let Some((caller, _)) = listener.as_ref().and_then(|listener| listener.accept().ok())
            && let Err(why) = run_for(caller, &callers)
        {
            eprintln!("a command was not run: {why}");
        }
    }
    if let Some(folder) = remove {
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Takes in whatever ended, and tells who asked for it.
fn reap(callers: &Callers) {
    loop {
        let Ok(Some((pid, status))) = wait(WaitOptions::empty()) else {
            // No children now.
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let code = status.exit_status().or_else(|| Some(128 + status.terminating_signal()?));
        if let Some(mut caller) = callers.lock().expect("plain code").remove(&pid.as_raw_nonzero().get()) {
            let _ = caller.write_all(&code.unwrap_or(255).to_le_bytes());
        }
    }
}

/// The longest command.
const LONGEST: usize = 64 * 1024;

/// Starts what the caller says, with the caller's streams.
fn run_for(mut caller: UnixStream, callers: &Callers) -> std::io::Result<()> {
    let mut text = vec![0; LONGEST];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut room);
    let got = recvmsg(&caller, &mut [IoSliceMut::new(&mut text)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut streams: Vec<OwnedFd> = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = part {
            streams.extend(fds);
        }
    }
    let Ok([input, output, errors]) = <[OwnedFd; 3]>::try_from(streams) else {
        return caller.write_all(&255_i32.to_le_bytes());
    };
    let text = String::from_utf8_lossy(&text[..got.bytes]).into_owned();
    let mut words = text.split('\0');
    let (script, settings) = (words.next().unwrap_or_default().to_owned(), words);
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).current_dir("/").process_group(0);
    command.env_clear().envs(settings.filter_map(|setting| setting.split_once('=')));
    command.stdin(input).stdout(output).stderr(errors);
    // Held until the caller is in the table: the command may end at once.
    let mut table = callers.lock().expect("plain code");
    let pid = command.spawn()?.id() as i32;
    table.insert(pid, caller);
    Ok(())
}

/// Is a caller, `hosts rsh ROOT HOST COMMAND...`, and ends as the command over there does.
pub fn call(root: &Path, host: &str, words: &[String]) -> i32 {
    match try_call(root, host, words) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("rsh: {host}: {why}");
            255
        }
    }
}

fn try_call(root: &Path, host: &str, words: &[String]) -> std::io::Result<i32> {
    let folder = root.join(host);
    if !folder.is_dir() {
        return Err(std::io::Error::other("no such host"));
    }
    let mut door = UnixStream::connect(folder.join("door"))?;
    // What a host's environment is, it says itself.
    let settings = std::fs::read_to_string(folder.join("environment"))?;
    let text = [words.join(" ")].into_iter().chain(settings.lines().map(str::to_owned));
    let text = text.collect::<Vec<_>>().join("\0");
    let (input, output, errors) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    let streams = [input.as_fd(), output.as_fd(), errors.as_fd()];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut room);
    ancillary.push(SendAncillaryMessage::ScmRights(&streams));
    sendmsg(&door, &[IoSlice::new(text.as_bytes())], &mut ancillary, SendFlags::empty())?;
    let mut code = [0; 4];
    door.read_exact(&mut code)?;
    Ok(i32::from_le_bytes(code))
}
