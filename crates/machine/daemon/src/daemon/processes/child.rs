//! Starting processes: which program, with what around it.

use crate::daemon::life::options::Options;
use crate::daemon::processes::exec::{Program, Started, run};
use crate::daemon::processes::manner::manner;
use crate::shown::shown;
use parvum_wire::control::{Blob, ErrorKind, Failure, SpawnRequest, Ticket};
use rustix::fs::{Access, access};
use rustix::process::Rlimit;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind as Io};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// PVM's spawn flag PvmTaskDebug.
const DEBUG: i32 = 4;

/// What every child gets.
pub(crate) struct Surroundings {
    pub dir: PathBuf,
    /// The limit on descriptors as it was before the daemon raised its own.
    pub nofile: Rlimit,
    /// What the environment said when the daemon began.
    pub options: Options,
}

/// Starts one program of `plan` as the task of that ticket.
///
/// A task to be debugged is started by the debugger, which gets the program's path in front of its arguments.
pub(crate) fn start(
    ticket: Ticket,
    plan: &SpawnRequest,
    around: &Surroundings,
    debugger: Option<Blob>,
) -> Result<Started, Failure> {
    let cwd = plan.cwd.as_ref().map(|cwd| PathBuf::from(text(cwd))).or_else(home).unwrap_or("/".into());
    let program = find(plan, &cwd)?;
    let debugger = match plan.flag & DEBUG != 0 {
        false => None,
        true => Some(self::debugger(debugger).0.ok_or_else(|| {
            let detail = "no debugger: set PVM_DEBUGGER for the daemon, or bx= in its hostfile";
            Failure::new(ErrorKind::ProgramNotFound, detail)
        })?),
    };
    let mut words = match &debugger {
        Some(debugger) => vec![debugger.as_os_str(), program.as_os_str()],
        None => vec![text(&plan.program)],
    };
    words.extend(plan.args.iter().map(text));
    let what = Program {
        path: debugger.as_ref().unwrap_or(&program).as_os_str(),
        words,
        environment: environment(&ticket, plan, around),
        cwd: cwd.as_os_str(),
        nofile: around.nofile,
        manner: manner(ticket.tid, plan)?,
        input: plan.details.each.first().is_some_and(|each| each.input),
        terminal: plan.details.terminal,
        one_stream: plan.details.one_stream && !plan.details.terminal,
    };
    run(&what).map_err(|error| refusal(&error, &program, &cwd))
}

/// The variable that has Slurm's name of this host.
const SLURM_HOST: &str = "SLURMD_NODENAME";

/// The program's variables: those of its spawner or else the daemon's, what the spawner adds, and ours.
fn environment(ticket: &Ticket, plan: &SpawnRequest, around: &Surroundings) -> BTreeMap<OsString, OsString> {
    let mut variables: BTreeMap<_, _> = match &plan.env {
        Some(env) => env.iter().filter_map(split).collect(),
        // The token with which this daemon has joined is not for tasks.
        None => std::env::vars_os().filter(|(name, _)| name != "PARVUM_JOIN").collect(),
    };
    variables.extend(plan.env_add.iter().filter_map(split));
    // The spawner may be on another of Slurm's hosts.
    match std::env::var_os(SLURM_HOST) {
        Some(name) => variables.insert(SLURM_HOST.into(), name),
        None => variables.remove(OsStr::new(SLURM_HOST)),
    };
    variables.insert("PARVUM_TID".into(), ticket.tid.0.to_string().into());
    variables.insert("PARVUM_TICKET".into(), ticket.text().into());
    variables.insert("PARVUM_DIR".into(), around.dir.clone().into());
    variables
}

/// What somebody else needs to start that program: its path, and the variables that make it the task of that ticket.
pub(crate) fn prepare(
    ticket: Ticket,
    plan: &SpawnRequest,
    around: &Surroundings,
) -> Result<(Vec<u8>, Vec<Vec<u8>>), Failure> {
    let cwd = plan.cwd.as_ref().map(|cwd| PathBuf::from(text(cwd))).or_else(home).unwrap_or("/".into());
    let path = find(plan, &cwd)?.into_os_string().into_vec();
    let given = plan.env.iter().flatten().chain(&plan.env_add).map(|variable| variable.0.clone());
    let ours = [
        format!("PARVUM_TID={}", ticket.tid.0).into_bytes(),
        format!("PARVUM_TICKET={}", ticket.text()).into_bytes(),
        [b"PARVUM_DIR=", around.dir.as_os_str().as_bytes()].concat(),
    ];
    Ok((path, given.chain(ours).collect()))
}

/// Closes every descriptor from 3 on. For the daemon's start: it must not hold
/// what its starter happened to have open.
pub(crate) fn close_inherited() {
    // SAFETY: called first thing in a process of our own, before it opened
    // anything: no owner of such a descriptor exists in it.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
}

/// Where the program is. A name with a slash is a path, seen from the working
/// directory; others are looked for in the given directories and then in PATH.
fn find(plan: &SpawnRequest, cwd: &Path) -> Result<PathBuf, Failure> {
    let name = text(&plan.program);
    if plan.program.0.contains(&b'/') {
        let path = cwd.join(name);
        return match examine(&path) {
            Found::Program => Ok(path),
            Found::Not(why) => Err(not_executable(&path, &why)),
            Found::Unsearchable => Err(not_executable(&path, "may not be looked at")),
            Found::Missing => {
                let seen = match Path::new(name).is_absolute() {
                    true => String::new(),
                    false => format!(
                        ": {} seen from {}, where the task was to begin",
                        name.display(),
                        cwd.display()
                    ),
                };
                let detail = format!("cannot find {}{seen}", path.display());
                Err(Failure::new(ErrorKind::ProgramNotFound, detail))
            }
        };
    }
    let from_plan = |vars: &[Blob]| {
        vars.iter().rev().filter_map(split).find(|(k, _)| *k == "PATH").map(|(_, v)| v.to_os_string())
    };
    let path = match &plan.env {
        Some(env) => from_plan(&plan.env_add).or_else(|| from_plan(env)),
        None => from_plan(&plan.env_add).or_else(|| std::env::var_os("PATH")),
    };
    let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let given: Vec<PathBuf> = plan.search.iter().map(|dir| PathBuf::from(text(dir))).collect();
    let (mut nearly, mut closed) = (None, Vec::new());
    for dir in given.iter().cloned().chain(std::env::split_paths(&path)) {
        let candidate = cwd.join(&dir).join(name);
        match examine(&candidate) {
            Found::Program => return Ok(candidate),
            Found::Not(why) => nearly = nearly.or(Some((candidate, why))),
            Found::Unsearchable => closed.push(dir),
            Found::Missing => {}
        }
    }
    match nearly {
        Some((path, why)) => Err(not_executable(&path, &why)),
        None => {
            let mut detail = format!("cannot find \"{}\" on this host; searched ", plan.program.lossy());
            // The first ones are the user's own; a list of dozens helps nobody.
            const SHOWN: usize = 6;
            given.iter().take(SHOWN).for_each(|dir| detail += &format!("{}, ", dir.display()));
            if let Some(more @ 1..) = given.len().checked_sub(SHOWN) {
                detail += &format!("{more} more of the program's PATH, ");
            }
            let folders = std::env::split_paths(&path).count();
            detail += &format!("the daemon's PATH ({folders} folders)");
            for dir in closed {
                detail += &format!("; note: {} may not be searched", dir.display());
            }
            detail += "; help: copy the program into one of them, or give its whole path";
            Err(Failure::new(ErrorKind::ProgramNotFound, detail))
        }
    }
}

enum Found {
    Program,
    Not(String),
    /// Its folder may not be searched: it may be there or not.
    Unsearchable,
    Missing,
}

fn examine(path: &Path) -> Found {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Found::Not("is a directory".into()),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Found::Not("has no x permission".into()),
        Ok(_) => Found::Program,
        Err(error) if error.kind() == Io::PermissionDenied => Found::Unsearchable,
        Err(_) => Found::Missing,
    }
}

fn not_executable(path: &Path, why: &str) -> Failure {
    Failure::new(ErrorKind::NotExecutable, format!("{} {why}", path.display()))
}

fn refusal(error: &io::Error, program: &Path, cwd: &Path) -> Failure {
    let detail = format!("{}: {error}", program.display());
    let errno = error.raw_os_error().unwrap_or(0);
    match errno {
        libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE => {
            Failure::new(ErrorKind::OutOfResources, detail)
        }
        libc::EACCES if cwd.is_dir() => Failure::new(ErrorKind::NotExecutable, detail),
        // The kernel says the same of a missing directory and a missing interpreter.
        libc::ENOENT | libc::ENOTDIR | libc::EACCES if !cwd.is_dir() => {
            Failure::new(ErrorKind::ExecFailed, format!("working directory {}: {error}", cwd.display()))
        }
        libc::ENOENT => {
            let named = interpreter(program).map_or_else(String::new, |name| format!(" {name}"));
            let detail = format!(
                "cannot execute {}: its interpreter{named} is not there; help: install it, or correct the program's first line",
                program.display()
            );
            Failure::new(ErrorKind::ExecFailed, detail)
        }
        _ => Failure::new(ErrorKind::ExecFailed, format!("cannot execute {detail}")),
    }
}

/// What a script's first line names.
fn interpreter(program: &Path) -> Option<String> {
    use std::io::Read;
    let mut begin = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut begin).ok()?;
    let line = begin.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = shown(line);
    text.split_whitespace().next().map(str::to_owned)
}

/// What starts a task to be debugged, and who says so: the hostfile, the environment, or PVM's folder.
pub(crate) fn debugger(configured: Option<Blob>) -> (Option<PathBuf>, &'static str) {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = configured {
        return (Some(PathBuf::from(text(&path))), "hostfile");
    }
    if let Some(path) = set("PVM_DEBUGGER") {
        return (Some(path), "PVM_DEBUGGER");
    }
    let usual = set("PVM_ROOT").map(|root| root.join("lib/debugger"));
    (usual.filter(|path| matches!(examine(path), Found::Program)), "PVM_ROOT")
}

/// The user's home, where programs begin unless told otherwise; none when it cannot be entered.
fn home() -> Option<PathBuf> {
    let may_enter = |dir: &PathBuf| dir.is_dir() && access(dir, Access::EXEC_OK).is_ok();
    std::env::var_os("HOME").map(PathBuf::from).filter(may_enter)
}

fn text(blob: &Blob) -> &OsStr {
    OsStr::from_bytes(&blob.0)
}

/// `NAME=value`, cut in two; nothing when it is not of that form.
fn split(var: &Blob) -> Option<(OsString, OsString)> {
    let at = var.0.iter().position(|b| *b == b'=').filter(|at| *at > 0)?;
    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    Some((os(&var.0[..at]), os(&var.0[at + 1..])))
}
