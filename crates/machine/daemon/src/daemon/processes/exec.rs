//! The step from the daemon to a new program, without a copy of the daemon in between.
//!
//! A fork copies the daemon's page tables and makes it fault on each page that it writes afterwards:
//! with many tasks to start that was most of the daemon's work. Here the child borrows the daemon's
//! memory, on a stack of its own, until it becomes the program; meanwhile the daemon stands still.

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{PidfdFlags, Rlimit, pidfd_open};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

/// What is to run, and as what.
pub(crate) struct Program<'a> {
    pub path: &'a OsStr,
    /// The program's own name for itself, and what follows it.
    pub words: Vec<&'a OsStr>,
    pub environment: BTreeMap<OsString, OsString>,
    pub cwd: &'a OsStr,
    pub nofile: Rlimit,
    /// What it has of whoever runs it.
    pub manner: Manner,
    /// Its standard input comes from the daemon.
    pub input: bool,
    /// Its standard output is a terminal.
    pub terminal: bool,
    /// Both outputs are one pipe.
    pub one_stream: bool,
}

/// What a process gets beside its program, where it is not as the daemon has it.
#[derive(Default)]
pub(crate) struct Manner {
    /// Limits, by the system's numbers: as they should be, and as they can be where that is refused.
    pub limits: Vec<(libc::__rlimit_resource_t, libc::rlimit, libc::rlimit)>,
    pub umask: Option<u32>,
    pub nice: Option<i32>,
    /// The processors that it may use; all when there are none here.
    pub cpus: Vec<u32>,
}

/// A process that runs.
pub(crate) struct Started {
    pub pid: u32,
    pub pidfd: OwnedFd,
    pub out: OwnedFd,
    /// None: both outputs come by the first.
    pub err: Option<OwnedFd>,
    /// What writes to its standard input.
    pub input: Option<OwnedFd>,
}

/// Signals that the daemon ignores or catches: programs get them as they are by default.
const OURS: [libc::c_int; 4] = [libc::SIGPIPE, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
/// The child's stack, beside what a long list of arguments may need on it.
const STACK: usize = 48 * 1024;

/// Starts it: its own process group, a pipe or nothing on standard input, pipes behind the outputs or a terminal behind
/// the first, SIGKILL when the daemon dies.
pub(crate) fn run(what: &Program<'_>) -> io::Result<Started> {
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(io::Error::from);
    let program = text(what.path)?;
    let cwd = text(what.cwd)?;
    let words = what.words.iter().map(|word| text(word)).collect::<io::Result<Vec<_>>>()?;
    let environment = what
        .environment
        .iter()
        .map(|(name, value)| text(OsStr::from_bytes(&[name.as_bytes(), b"=", value.as_bytes()].concat())));
    let environment = environment.collect::<io::Result<Vec<_>>>()?;
    let (child_in, input): (OwnedFd, _) = match what.input {
        true => {
            let (child_in, input) = pipe_with(PipeFlags::CLOEXEC)?;
            (child_in, Some(input))
        }
        false => (std::fs::File::open("/dev/null")?.into(), None),
    };
    let (out, child_out) = if what.terminal { terminal()? } else { pipe_with(PipeFlags::CLOEXEC)? };
    let (err, child_err) = match what.one_stream {
        true => (None, child_out.try_clone()?),
        false => {
            let (err, child_err) = pipe_with(PipeFlags::CLOEXEC)?;
            (Some(err), child_err)
        }
    };
    for pipe in std::iter::once(&out).chain(&err).chain(&input) {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let cpus = set_of(&what.manner.cpus);
    let (words, environment) = (terminated(&words), terminated(&environment));
    let mut order = Order {
        program: &program,
        words: &words,
        environment: &environment,
        cwd: &cwd,
        streams: [child_in.as_raw_fd(), child_out.as_raw_fd(), child_err.as_raw_fd()],
        nofile: libc::rlimit {
            rlim_cur: what.nofile.current.unwrap_or(libc::RLIM_INFINITY),
            rlim_max: what.nofile.maximum.unwrap_or(libc::RLIM_INFINITY),
        },
        limits: &what.manner.limits,
        umask: what.manner.umask,
        nice: what.manner.nice,
        cpus: cpus.as_ref(),
        daemon: rustix::process::getpid().as_raw_pid(),
        error: 0,
    };
    let pid = branch(&mut order)?;
    let child = rustix::process::Pid::from_raw(pid).expect("a process has a number");
    let reap = || {
        // The child has ended, or is about to: this waits for nothing else.
        let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
    };
    if order.error != 0 {
        reap();
        return Err(io::Error::from_raw_os_error(order.error));
    }
    match pidfd_open(child, PidfdFlags::NONBLOCK) {
        Ok(pidfd) => Ok(Started { pid: pid as u32, pidfd, out, err, input }),
        Err(error) => {
            // Without it the process could not be attended: it must not run.
            let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            reap();
            Err(error.into())
        }
    }
}

/// Both ends of a terminal: ours, and the program's, which hands on what is written there as it is.
fn terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{OptionalActions, OutputModes, tcgetattr, tcsetattr};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let theirs = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut modes = tcgetattr(&theirs)?;
    // Else each end of a line would become two characters.
    modes.output_modes.remove(OutputModes::OPOST);
    tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    Ok((ours, theirs))
}

/// Those processors as the system takes them; nothing when there are none.
fn set_of(cpus: &[u32]) -> Option<Vec<u64>> {
    let last = *cpus.iter().max()? as usize;
    let mut words = vec![0; last / 64 + 1];
    for cpu in cpus {
        words[*cpu as usize / 64] |= 1 << (cpu % 64);
    }
    Some(words)
}

/// The addresses of `texts`, and null behind them, as exec takes them.
fn terminated(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// This process's own hard limit; no limit for a resource that the system does not know. Tasks say which there are.
pub(crate) fn own_hard_limit(resource: u32) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call fills the structure, or fails.
    unsafe { libc::getrlimit(resource as libc::__rlimit_resource_t, &mut limit) };
    limit.rlim_max
}

/// All that the child needs, made before it is there: it may allocate nothing.
struct Order<'a> {
    program: &'a CStr,
    words: &'a [*const libc::c_char],
    environment: &'a [*const libc::c_char],
    cwd: &'a CStr,
    /// What becomes its standard streams.
    streams: [RawFd; 3],
    nofile: libc::rlimit,
    limits: &'a [(libc::__rlimit_resource_t, libc::rlimit, libc::rlimit)],
    umask: Option<u32>,
    nice: Option<i32>,
    cpus: Option<&'a Vec<u64>>,
    daemon: libc::pid_t,
    /// Why there is no program, when the child has ended; else 0.
    error: libc::c_int,
}

/// Makes the child, and returns when it has become the program or has ended.
fn branch(order: &mut Order<'_>) -> io::Result<libc::pid_t> {
    // What is no script's interpreter the shell tries, with a copy of the arguments on the stack.
    let room = STACK + 2 * std::mem::size_of_val(order.words);
    let mut stack = Vec::<u128>::with_capacity(room.div_ceil(size_of::<u128>()));
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the signal sets are plain memory that the calls fill, the mask is this thread's own.
    // The child runs `become_program` on `stack`, to whose end `top` points, aligned for any type.
    // CLONE_VFORK keeps this thread, the only one that touches `order` and `stack`, from going on
    // before the child has left this memory; no handler of ours runs in the child, for it gets the
    // signals, all held back here, only after it has put their default actions in place.
    unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        let (mut all, mut before) =
            (std::mem::zeroed::<libc::sigset_t>(), std::mem::zeroed::<libc::sigset_t>());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let pid = libc::clone(become_program, top.cast(), flags, std::ptr::from_mut(order).cast());
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        if pid < 0 { Err(error) } else { Ok(pid) }
    }
}

/// What the child does.
extern "C" fn become_program(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `branch` gives its own `Order`, and stands still while this runs. The calls here are
    // system calls behind thin wrappers, as between fork and exec; none allocates or takes a lock.
    // What the pointers name ends with a null, or is a terminated text; the call of `_exit` runs
    // nothing of the daemon's.
    unsafe {
        let order = &mut *order.cast::<Order<'_>>();
        order.error = refused(order).unwrap_or_else(|| {
            libc::execvpe(order.program.as_ptr(), order.words.as_ptr(), order.environment.as_ptr());
            *libc::__errno_location()
        });
        libc::_exit(127)
    }
}

/// Prepares the child; gives the number of the error when something is refused.
///
/// # Safety
/// Only for the child: it changes the whole process.
unsafe fn refused(order: &Order<'_>) -> Option<libc::c_int> {
    let failed = |result: libc::c_int| result < 0;
    // SAFETY: system calls on plain values, and on structures that live as long as `order`; the
    // handler and the mask are zeroed memory, which is the default action and no signal at all.
    unsafe {
        for (target, stream) in order.streams.iter().enumerate() {
            if failed(libc::dup2(*stream, target as RawFd)) {
                return Some(*libc::__errno_location());
            }
        }
        if failed(libc::chdir(order.cwd.as_ptr()))
            || failed(libc::setpgid(0, 0))
            || failed(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))
            || failed(libc::setrlimit(libc::RLIMIT_NOFILE, &order.nofile))
        {
            return Some(*libc::__errno_location());
        }
        for (resource, wanted, possible) in order.limits {
            // Who runs the job may have a higher limit than the daemon can give.
            if failed(libc::setrlimit(*resource, wanted)) {
                libc::setrlimit(*resource, possible);
            }
        }
        if let Some(umask) = order.umask {
            libc::umask(umask as libc::mode_t);
        }
        if let Some(nice) = order.nice {
            // Only root may go before others; then it stays as the daemon is.
            libc::setpriority(libc::PRIO_PROCESS, 0, nice);
        }
        if let Some(cpus) = order.cpus {
            // What the words say is the kernel's form of a set of any size. Where none of those processors may be
            // used the daemon's are.
            libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(cpus.as_slice()), cpus.as_ptr());
        }
        // The daemon may have been killed before the call above.
        if libc::getppid() != order.daemon {
            return Some(libc::EPIPE);
        }
        let default = std::mem::zeroed::<libc::sigaction>();
        for signal in OURS {
            libc::sigaction(signal, &default, std::ptr::null_mut());
        }
        let none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
    None
}
