//! Other launchers: MPICH's Hydra, Slurm's srun, and launchers with PMIx such as prte and Open MPI's mpirun. Such a launcher has
//! started this process as one of several. Only the launcher knows all processes. Through the launcher the processes tell each
//! other which tasks of the machine they are.
//!
//! | launcher | how |
//! |---|---|
//! | Hydra, `srun --mpi=pmi2` | PMI-1 over an inherited socket: `pmi` |
//! | prte, Open MPI's mpirun, `srun --mpi=pmix` | libpmix, loaded at run time: `pmix` |
//! | `srun --mpi=none`; PMIx without libpmix | the mailbox of the machine: `step` |
//!
//! A process that a launcher has started with others meets the others, or MPI_Init fails with an error. It never becomes a world of
//! one in silence.

mod ancestors;
mod pmi;
mod pmix;
mod pmix_library;
mod step;

use crate::errors::{Error, Mpi, class};
use parvum_api::CoreApi;
use parvum_wire::Tid;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Chooses what this process asks: `auto`, or `none` for a world of one under any launcher.
const CHOICE: &str = "PARVUM_LAUNCHER";

/// Whether a launcher has set this variable for a process. Processes that this process starts must not take it for their own.
pub(crate) fn is_variable(name: &[u8]) -> bool {
    let own = pmi::VARIABLES.iter().chain(&step::VARIABLES).any(|own| name == own.as_bytes());
    own || name.starts_with(b"PMIX_") || name.starts_with(b"OMPI_COMM_WORLD_")
}

/// A launcher, from the beginning of MPI to its end.
enum Launcher {
    Pmi(pmi::Inherited),
    Pmix(Box<pmix::Pmix>),
    Step(step::Step),
}

static LAUNCHER: Mutex<Option<Launcher>> = Mutex::new(None);

/// Whether another launcher has started this process with others.
pub(crate) fn is_there() -> Mpi<bool> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if launcher.is_none() {
        *launcher = find()?;
    }
    Ok(launcher.is_some())
}

fn find() -> Mpi<Option<Launcher>> {
    match std::env::var(CHOICE).as_deref() {
        Err(_) | Ok("" | "auto") => {}
        Ok("none") => return Ok(None),
        Ok(other) => {
            let text = format!("E-OPTION: {CHOICE}={other} is not valid; help: use auto or none");
            return Err(Error::new(class::OTHER, text));
        }
    }
    // The descriptor of PMI-1 may be another file in a task of Parvum that has inherited its number.
    let is_task = std::env::var_os("PARVUM_TID").is_some();
    match if is_task { pmi::Found::Nothing } else { pmi::inherited() } {
        pmi::Found::Several(pmi) => return Ok(Some(Launcher::Pmi(pmi))),
        pmi::Found::Alone => return Ok(None),
        pmi::Found::Nothing => {}
    }
    // Parvum has started this process, or a program of Parvum has. It has inherited the variables of another launcher.
    let has_launcher = step::is_slurm() || std::env::var_os("PMIX_NAMESPACE").is_some();
    if !has_launcher || is_task || ancestors::has_engine() {
        return Ok(None);
    }
    if let Some(pmix) = pmix::Pmix::begin()? {
        return Ok(match pmix {
            pmix::Begun::Several(pmix) => Some(Launcher::Pmix(pmix)),
            pmix::Begun::Alone => None,
            pmix::Begun::NoLibrary(step) => Some(Launcher::Step(step)),
        });
    }
    Ok(step::Step::of_slurm()?.map(Launcher::Step))
}

/// The tasks of all processes in the order of their ranks; this process is `task`. All processes call it.
pub(crate) fn meet(api: CoreApi, task: i32) -> Mpi<Vec<i32>> {
    let mut launcher = LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner);
    match launcher.as_mut() {
        Some(Launcher::Pmi(pmi)) => pmi.meet(task, &host_name()),
        Some(Launcher::Pmix(pmix)) => pmix.meet(task, &host_name()),
        Some(Launcher::Step(step)) => step.meet(api, task),
        None => Err(Error::new(class::INTERN, "there is no launcher")),
    }
}

/// Tells the launcher that this process ends in peace.
pub(crate) fn finish() {
    match LAUNCHER.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(Launcher::Pmi(mut pmi)) => pmi.finish(),
        Some(Launcher::Pmix(pmix)) => pmix.finish(),
        Some(Launcher::Step(_)) | None => {}
    }
}

/// Has the launcher end all processes.
pub(crate) fn abort(code: i32) {
    // Nobody waits here for the thread that may hold it: the end comes anyway.
    if let Ok(mut launcher) = LAUNCHER.try_lock() {
        match launcher.as_mut() {
            Some(Launcher::Pmi(pmi)) => pmi.abort(code),
            Some(Launcher::Pmix(pmix)) => pmix.abort(code),
            // Slurm ends the step if one task ends with a code other than 0, and if `srun -K` is used.
            Some(Launcher::Step(_)) | None => {}
        }
    }
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // A host may be two nodes of Slurm, with a daemon each. Some launchers pass this variable on to other hosts: it is not enough.
    let node = std::env::var("SLURMD_NODENAME").unwrap_or_default();
    // No blank: a line of PMI-1 ends at a blank.
    format!("{}/{node}", name.trim()).split_whitespace().collect()
}

/// A task, and the name of its host: `40001@alpha`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    task: i32,
    host: String,
}

impl Place {
    fn read(text: &str) -> Option<Place> {
        let (task, host) = text.split_once('@')?;
        Some(Place { task: i32::from_str_radix(task, 16).ok()?, host: host.to_owned() })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}@{}", self.task, self.host)
    }
}

/// The tasks, if all are in one machine: then each task has another number, and a host has one number and one name.
fn refuse_several_machines(all: Vec<Place>) -> Mpi<Vec<i32>> {
    let tasks: HashSet<i32> = all.iter().map(|place| place.task).collect();
    let pairs: HashSet<(u32, &str)> =
        all.iter().map(|place| (Tid(place.task).host(), &*place.host)).collect();
    let hosts: HashSet<u32> = pairs.iter().map(|(host, _)| *host).collect();
    let names: HashSet<&str> = pairs.iter().map(|(_, name)| *name).collect();
    if tasks.len() != all.len() || hosts.len() != pairs.len() || names.len() != pairs.len() {
        return Err(several_machines());
    }
    Ok(all.into_iter().map(|place| place.task).collect())
}

fn several_machines() -> Error {
    let text = "E-LAUNCHER: the processes that the launcher has started are in several machines of Parvum; help: make their \
                hosts one machine first, by `parvum up` in a Slurm allocation or by `parvum add HOST`, or start the program \
                with Parvum's mpiexec";
    Error::new(class::OTHER, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_read_as_it_is_written() {
        let place = Place { task: 0x40002, host: "al@pha".into() };
        assert_eq!(place.to_string(), "40002@al@pha");
        assert_eq!(Place::read("40002@al@pha"), Some(place));
        for wrong in ["40002", "@alpha x", "xyz@alpha", ""] {
            assert_eq!(Place::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn tasks_of_several_machines_are_refused() {
        let place = |text: &str| Place::read(text).expect("a place");
        let good = ["40001@alpha", "40002@alpha", "80001@beta"].map(place);
        assert_eq!(refuse_several_machines(good.to_vec()).expect("one machine"), [0x40001, 0x40002, 0x80001]);
        for first in ["40002@alpha", "40001@beta", "80001@alpha"] {
            let all = vec![place(first), place("40002@alpha")];
            let why = refuse_several_machines(all).expect_err(first).text.clone();
            assert!(why.starts_with("E-LAUNCHER") && why.contains("parvum up"), "{why}");
        }
    }

    #[test]
    fn variables_of_launchers_are_known() {
        for name in ["PMI_FD", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"] {
            assert!(is_variable(name.as_bytes()), "{name}");
        }
        for name in ["PATH", "PMI", "OMPI_MCA_btl", "SLURM_JOB_ID"] {
            assert!(!is_variable(name.as_bytes()), "{name}");
        }
    }
}
