//! Slurm starts the daemons: `srun` runs one daemon on each host of the allocation. The daemons and their tasks are in the job's
//! control groups, get the job's signals, and end with the job.

use super::Allocation;
use crate::hosts::expect::until_there;
use crate::processes::in_path;
use parvum_task::{MachineDirectory, Options, Session, SessionError};
use parvum_wire::control::{Reply, Request, Role};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The daemons must be there within this time. A program that starts the machine does not wait longer.
const PATIENCE: Duration = Duration::from_secs(8);
/// The time between two looks at the socket of a daemon that srun starts. srun tells nothing when its processes begin.
const PAUSE: Duration = Duration::from_millis(20);
/// A token for the hosts of the allocation is valid for this time, in seconds.
const VALID: u64 = 600;
/// Runs a step, and then stops the machine. Slurm signals the process group of `srun` at the end, and the shell outlives that.
const WITH_STEP: &str = "trap : HUP INT TERM; setsid --wait \"$@\"; exec \"$0\" down --quiet";
/// Variables by which a job describes its own steps. The step of the daemons is another one.
const OF_OTHER_STEPS: [&str; 21] = [
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_SOCKET",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
    "SLURM_CPUS_PER_GPU",
    "SLURM_GPUS_PER_TASK",
    "SLURM_TRES_PER_TASK",
    "SLURM_CPU_BIND",
    "SLURM_DISTRIBUTION",
    "SLURM_HINT",
    "SLURM_EXCLUSIVE",
    "SLURM_EXACT",
    "SLURM_WAIT",
    "SLURM_HOSTFILE",
    "SLURM_CONTAINER",
    "SRUN_CONTAINER",
    "SLURM_EXPORT_ENV",
    "SRUN_EXPORT_ENV",
    "SLURM_THREADS_PER_CORE",
];

/// Starts the machine of an allocation. Returns when all hosts are in it, or after a few seconds: hosts that come later still join.
pub fn launch(place: &MachineDirectory, allocation: &Allocation) -> Result<(), String> {
    place.prepare().map_err(|error| error.to_string())?;
    // Programs that start at the same time start one machine.
    let folder =
        File::open(place.dir()).map_err(|error| format!("E-DIR: {}: {error}", place.dir().display()))?;
    flock(&folder, FlockOperation::LockExclusive).map_err(|error| format!("E-DIR: {error}"))?;
    if open(place).is_ok() {
        return Ok(());
    }
    if in_path(Path::new("srun")).is_none() {
        // In a container, for example. This host alone is a machine.
        return parvum_machine::launch(place).map_err(|error| error.to_string());
    }
    let until = Instant::now() + PATIENCE;
    if let (Some(own), Some(head)) = (&allocation.own, allocation.nodes.first())
        && *own != head.name
    {
        return ask(place, allocation, &head.name, until);
    }
    let mut session = first(place, allocation, until)?;
    let others = allocation.others();
    if others.is_empty() {
        return Ok(());
    }
    let joined = join(place, allocation, &others, &mut session).and_then(|mut step| {
        let mut failed_early = false;
        let hosts = until_there(&mut session, others.len() + 1, Some(until), |_| {
            failed_early = has_ended(&mut step);
            !failed_early
        });
        hosts.map_err(|error| error.to_string())?;
        if failed_early { Err(failed(place, allocation)) } else { Ok(()) }
    });
    if joined.is_err() {
        // The next program would take a machine of one host for the whole machine. The first error is the one to show.
        let _ = crate::hosts::power::stop(&mut session);
    }
    joined
}

/// Has the first host of the allocation start the machine: programs may start on several hosts at the same time.
fn ask(place: &MachineDirectory, allocation: &Allocation, head: &str, until: Instant) -> Result<(), String> {
    let mut command = srun(place, allocation, &[head])?;
    command.args(["up", "--quiet"]);
    let mut step = start(command)?;
    // The daemon of this host comes with the machine, perhaps before that step has ended.
    while open(place).is_err() {
        let has_failed = step.try_wait().is_ok_and(|ended| ended.is_some_and(|status| !status.success()));
        if has_failed || Instant::now() > until {
            give_up(Some(step));
            return Err(failed(place, allocation));
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// Starts the daemon of this host.
fn first(place: &MachineDirectory, allocation: &Allocation, until: Instant) -> Result<Session, String> {
    let mut step = match &allocation.own {
        Some(own) => {
            let mut command = srun(place, allocation, &[own.as_str()])?;
            command.args(["daemon", "--foreground", "--name", own, "--dir"]).arg(place.dir());
            Some(start(command)?)
        }
        // The shell of `salloc` is on another host.
        None => {
            parvum_machine::launch(place).map_err(|error| error.to_string())?;
            None
        }
    };
    loop {
        match open(place) {
            Ok(session) => return Ok(session),
            Err(SessionError::NoDaemon(_) | SessionError::Lost) if Instant::now() < until => {}
            Err(error) => {
                give_up(step);
                return Err(error.to_string());
            }
        }
        if step.as_mut().is_some_and(has_ended) {
            return Err(failed(place, allocation));
        }
        sleep(PAUSE);
    }
}

/// Starts the daemons of the other hosts.
fn join(
    place: &MachineDirectory,
    allocation: &Allocation,
    others: &[&str],
    session: &mut Session,
) -> Result<Child, String> {
    let request = Request::Invite { seconds: VALID, uses: others.len() as u32 };
    let answer = session.request(request).map_err(|error| error.to_string())?;
    let Reply::Invited { token, addresses } = answer else { return Err("E-PROTOCOL: odd answer".into()) };
    let mut command = srun(place, allocation, others)?;
    // Slurm passes the environment on. Other users cannot read it. Some addresses may lead nowhere from the other hosts.
    let machine = format!("parvum://{}#{token}", addresses.join(","));
    command.args(["join", "--stay"]).env("PARVUM_JOIN", machine);
    start(command)
}

/// `srun` with this command, as one step with one process on each host.
fn srun(place: &MachineDirectory, allocation: &Allocation, hosts: &[&str]) -> Result<Command, String> {
    let system = |error: std::io::Error| format!("E-DIR: {}: {error}", place.log().display());
    let log = OpenOptions::new().create(true).append(true).open(place.log()).map_err(system)?;
    let program =
        std::env::current_exe().map_err(|error| format!("E-SYSTEM: this program's path: {error}"))?;
    let number = hosts.len().to_string();
    let mut command = match &allocation.own {
        Some(_) => Command::new("srun"),
        // The daemon of a login host is in no step of the job: the end of the step ends the machine.
        None => {
            let mut shell = Command::new("sh");
            shell.args(["-c", WITH_STEP]).arg(&program).arg("srun");
            shell
        }
    };
    command.args([
        "--jobid",
        &allocation.job,
        "--nodes",
        &number,
        "--ntasks",
        &number,
        "--ntasks-per-node",
        "1",
    ]);
    command.args(["--nodelist", &hosts.join(","), "--overlap", "--mpi", "none", "--cpu-bind", "none"]);
    command.args(["--kill-on-bad-exit=0", "--no-kill", "--wait=0", "--export=ALL"]);
    command.args(["--input", "none", "--job-name", "parvum", "--quiet"]);
    // The step runs this command again: its own words follow.
    command.arg(program);
    for name in OF_OTHER_STEPS {
        command.env_remove(name);
    }
    let other = log.try_clone().map_err(system)?;
    command.stdin(Stdio::null()).stdout(log).stderr(other).process_group(0);
    Ok(command)
}

fn start(mut command: Command) -> Result<Child, String> {
    command.spawn().map_err(|error| {
        format!("E-SLURM: srun cannot be run: {error}; help: put srun into PATH, or set PARVUM_SLURM=no")
    })
}

/// Ends a step that was of no use.
fn give_up(step: Option<Child>) {
    if let Some(mut step) = step {
        let _ = step.kill();
        let _ = step.wait();
    }
}

fn has_ended(step: &mut Child) -> bool {
    !matches!(step.try_wait(), Ok(None))
}

fn open(place: &MachineDirectory) -> Result<Session, SessionError> {
    Session::open(&Options { start: false, place: place.clone(), ..Options::new(Role::Tool, "parvum") })
}

fn failed(place: &MachineDirectory, allocation: &Allocation) -> String {
    format!(
        "E-SLURM: srun could not start the daemons of job {}; help: {} has what srun said; PARVUM_SLURM=no leaves Slurm alone",
        allocation.job,
        place.log().display()
    )
}
