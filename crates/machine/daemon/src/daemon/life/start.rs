//! Becoming the daemon of a directory, and starting it from elsewhere.

use crate::daemon::hosts::guest::{self, Asked};
use crate::daemon::hosts::{joining, voice};
use crate::daemon::life::directory::{StartError, clean_up, lock, lock_in_time};
use crate::daemon::life::keeper::Keeper;
use crate::daemon::life::log::Log;
use crate::daemon::life::options::Options;
use crate::daemon::life::starter::{detach, notify_starter};
use crate::daemon::processes::child::{Surroundings, close_inherited};
use crate::daemon::shell::{Origin, Shell};
use crate::shown::shown;
use crate::state::{Config, Limits, USUAL_SPEED};
use parvum_socket::MachineDirectory;
use parvum_wire::control::{Blob, HostSettings, Request};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use tokio::net::UnixListener;

/// The line by which a daemon says that it serves.
const READY: &str = "ready\n";

/// Starts the daemon as a process of its own session and returns at once. The
/// daemon inherits standard output and says there how it went (`ready`, or an
/// error); whoever waits reads that to its end.
pub fn launch(place: &MachineDirectory) -> Result<(), StartError> {
    let system = |what, error| StartError::System { what, error };
    let program = std::env::current_exe().map_err(|e| system("find its own program", e))?;
    let mut command = Command::new(program);
    command.arg("daemon").arg("--dir").arg(place.dir());
    command.stdin(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|e| system("start its own program", e))?;
    Ok(())
}

/// How the daemon stands to whoever started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It detaches from its terminal and its starter, and says on standard output whether it serves.
    Detached,
    /// It stays, and says nothing.
    Attached,
    /// It stays, and says on standard output where its socket is once it serves, as PVM's does.
    Announced,
    /// It detaches, and joins a machine by what it hears on standard input: `parvum join`.
    Invited,
    /// It joins a machine with a token, says on standard output whether it has joined, and detaches.
    Guest,
    /// The same, and it stays in the foreground.
    StayingGuest,
}

impl Manner {
    fn joins(self) -> bool {
        matches!(self, Manner::Invited | Manner::Guest | Manner::StayingGuest)
    }

    fn is_guest(self) -> bool {
        matches!(self, Manner::Guest | Manner::StayingGuest)
    }

    fn detaches(self) -> bool {
        matches!(self, Manner::Detached | Manner::Invited | Manner::Guest)
    }
}

/// How a daemon gets the invitation of the machine that it joins.
enum Way<'a> {
    /// On standard input, or the daemon joins no machine.
    Standard,
    /// By the ticket of a hoster.
    Ticket(&'a str),
    /// With a token.
    Token(&'a Asked),
}

/// Is the daemon of `place` until the machine is stopped. Adds these hosts once it serves; the log
/// says how that went.
pub fn serve(
    place: MachineDirectory,
    manner: Manner,
    settings: HostSettings,
    hosts: Vec<String>,
) -> Result<(), StartError> {
    run(place, manner, settings, hosts, &Way::Standard)
}

/// Is the daemon of a host that joins a machine with a token.
pub fn serve_guest(place: MachineDirectory, asked: &Asked, stays: bool) -> Result<(), StartError> {
    let manner = if stays { Manner::StayingGuest } else { Manner::Guest };
    run(place, manner, HostSettings::default(), Vec::new(), &Way::Token(asked))
}

/// Is the daemon of a host that a hoster has started, with the ticket that it has passed on.
pub fn serve_hosted(place: MachineDirectory, ticket: &str) -> Result<(), StartError> {
    run(place, Manner::Invited, HostSettings::default(), Vec::new(), &Way::Ticket(ticket))
}

fn run(
    place: MachineDirectory,
    manner: Manner,
    settings: HostSettings,
    hosts: Vec<String>,
    way: &Way,
) -> Result<(), StartError> {
    if manner.detaches() {
        close_inherited();
        // Fails only for a leader of a process group, which is its own master
        // already.
        let _ = rustix::process::setsid();
        let _ = std::env::set_current_dir("/");
    }
    let options = Options::read().map_err(StartError::Option)?;
    place.prepare()?;
    let mut heard = match way {
        Way::Ticket(ticket) => Some(voice::answer(ticket, &arch()).map_err(StartError::NotJoined)?),
        Way::Standard | Way::Token(_) => None,
    };
    let lock = match lock(&place) {
        Err(running @ StartError::Running(_)) if manner == Manner::Invited => {
            match joining::look_at_other(&place, heard.take()) {
                joining::Other::Stranger => return Err(running),
                joining::Other::Declined => {
                    return Err(StartError::NotJoined("this host is in the machine already".into()));
                }
                joining::Other::Leaving(invitation) => {
                    heard = Some(*invitation);
                    lock_in_time(&place)?
                }
            }
        }
        // Nothing is left of one that could not begin.
        Err(error @ StartError::Make { .. }) => {
            place.remove_if_made();
            return Err(error);
        }
        other => other?,
    };
    // A use of the token counts only if this host can have a daemon.
    let mut gate = None;
    if let Way::Token(asked) = way {
        match guest::knock(asked) {
            Ok((invitation, at)) => (heard, gate) = (Some(invitation), Some(at)),
            Err(why) => {
                clean_up(&place);
                return Err(StartError::NotJoined(why));
            }
        }
    }
    // The lock is ours: whatever lies there belongs to nobody any more.
    let _ = std::fs::remove_file(place.socket());
    let _ = std::fs::remove_file(place.machine());
    let made = |what: &Path, error| StartError::Make { what: what.display().to_string(), error };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| StartError::System { what: "make its runtime", error })?;
    let local = tokio::task::LocalSet::new();
    let listener = runtime.block_on(async { UnixListener::bind(place.socket()) });
    let listener = listener.map_err(|error| {
        clean_up(&place);
        made(&place.socket(), error)
    })?;
    let closed = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(place.socket(), closed).map_err(|error| made(&place.socket(), error))?;
    let log = Log::open(&place.log());
    log.line(&format!("daemon {} begins, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    let (encrypt, insists) = (options.encrypt, options.insists_on_encryption());
    let around = Surroundings { dir: place.dir().to_path_buf(), nofile: raise_nofile(), options };
    let keeper = Keeper::start(&place).unwrap_or_else(|error| {
        log.line(&format!("no keeper: {error}"));
        Keeper::none()
    });
    let mut config = config(settings, encrypt);
    let mut invited = None;
    if manner.joins() {
        let speed = config.settings.speed.unwrap_or(USUAL_SPEED);
        match joining::accept(heard, config.arch.clone(), config.cpus, speed) {
            Ok(given) if insists && !given.encrypt => {
                let why = "E-ENCRYPT: this machine was begun with PARVUM_ENCRYPT=no, and this host's settings say \
                           PARVUM_ENCRYPT=yes; help: begin the machine without the former, or take the latter away";
                joining::decline(why);
                clean_up(&place);
                return Err(StartError::NotJoined(why.into()));
            }
            Ok(mut given) => {
                given.also_at.extend(gate);
                (config.number, config.life) = (given.number, given.life);
                (config.host, config.hosts) = (given.name.clone(), given.hosts.clone());
                config.encrypt = given.encrypt;
                take_over(&mut config.settings, &given.settings);
                invited = Some(given);
            }
            Err(why) => {
                joining::decline(&why);
                clean_up(&place);
                return Err(StartError::NotJoined(why));
            }
        }
    }
    let shell = Rc::new(Shell::new(place.clone(), log, keeper, around, config));
    if let Some(invited) = invited {
        let joined = runtime.block_on(local.run_until(joining::join(&shell, invited)));
        if let Err(why) = joined {
            joining::decline(&why);
            shell.keeper.dismiss();
            clean_up(&place);
            return Err(StartError::NotJoined(why));
        }
        shell.origin.set(if manner.is_guest() { Origin::Joined } else { Origin::Added });
    }
    match manner {
        Manner::Invited => detach(&place),
        Manner::Guest | Manner::StayingGuest => {}
        Manner::Detached => {
            notify_starter(READY);
            detach(&place);
        }
        Manner::Attached => {}
        Manner::Announced => notify_starter(&format!("{}\n", place.socket().display())),
    }
    let ended = runtime.block_on(local.run_until(async {
        if !hosts.is_empty() {
            shell.ask_for_itself(Request::AddHosts { hosts });
        }
        if manner.is_guest() {
            tokio::task::spawn_local(guest::announce(shell.clone(), manner == Manner::Guest));
        }
        shell.clone().run(listener).await
    }));
    if let Err(error) = &ended {
        shell.log.line(&format!("daemon ends: {error}"));
    }
    shell.keeper.dismiss();
    clean_up(&place);
    drop(lock);
    if ended.is_ok() && manner.is_guest() && shell.home().is_some() {
        let why = "E-HOSTLOST: this host has left before the machine took it in; help: join again";
        return Err(StartError::NotJoined(why.into()));
    }
    ended.map_err(|error| StartError::System { what: "serve", error })
}

/// Raises the soft limit on descriptors to the hard one: every task costs the
/// daemon about six. Returns the limit as it was, for the tasks.
fn raise_nofile() -> Rlimit {
    let before = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, maximum: before.maximum });
    before
}

/// What was said of this host by who has invited it goes over what its own variables say.
fn take_over(own: &mut HostSettings, said: &HostSettings) {
    own.speed = said.speed.or(own.speed);
    own.cwd = said.cwd.clone().or(own.cwd.take());
    own.debugger = said.debugger.clone().or(own.debugger.take());
    if !said.search.is_empty() {
        own.search.clone_from(&said.search);
    }
}

/// What a hostfile does not say, PVM's variables may.
fn with_variables(mut settings: HostSettings) -> HostSettings {
    use std::os::unix::ffi::OsStringExt;
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if settings.search.is_empty()
        && let Some(path) = set("PVM_PATH")
    {
        let dirs = std::env::split_paths(&path).filter(|dir| !dir.as_os_str().is_empty());
        settings.search = dirs.map(|dir| Blob(dir.into_os_string().into_vec())).collect();
    }
    settings.cwd = settings.cwd.or_else(|| set("PVM_WD").map(|dir| Blob(dir.into_vec())));
    settings
}

fn config(settings: HostSettings, encrypt: bool) -> Config {
    let name = rustix::system::uname();
    let entropy = Box::new(|| {
        let mut token = [0; 16];
        let mut got = 0;
        while got < token.len() {
            // Fails only before the kernel has its first entropy; then it waits.
            got += rustix::rand::getrandom(&mut token[got..], rustix::rand::GetRandomFlags::empty())
                .unwrap_or(0);
        }
        token
    });
    Config {
        number: 1,
        life: 1,
        addresses: Vec::new(),
        hosts: Vec::new(),
        // A host's name is text.
        host: shown(name.nodename().to_bytes()).into_owned(),
        arch: arch(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        clock: Box::new(|| {
            let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
            (now.tv_sec, now.tv_nsec as u32)
        }),
        encrypt,
        settings: with_variables(settings),
        entropy,
        limits: Limits::default(),
    }
}

/// The architecture in PVM's words.
fn arch() -> String {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "LINUX64".into(),
        ("linux", "x86") => "LINUX".into(),
        ("linux", arch) => format!("LINUX{}", arch.to_uppercase()),
        (os, arch) => format!("{}{}", os.to_uppercase(), arch.to_uppercase()),
    }
}
