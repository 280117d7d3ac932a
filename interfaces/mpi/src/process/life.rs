//! How MPI begins in this process, and how it ends.

use super::machine::{self, DEFERRING, FINALIZED, Joined, Machine, RUNNING, STAGE, Upcalls};
use super::this::{FINALIZED_WORLD, HAS_WORLD, MAY_DEFER, PROCESS, Process, THREADS};
use super::this::{is_finalized, process, running};
use super::{abort, ending, launcher, rivals, spawned};
use crate::comms::comm::Comm;
use crate::comms::group::Group;
use crate::comms::handles::COMMS;
use crate::comms::revocation;
use crate::errors::{Error, Mpi, class};
use crate::messages::bsend;
use crate::objects::numbers::{COMM_SELF, COMM_WORLD, THREAD_MULTIPLE};
use crate::requests::{deferred, progress};
use crate::windows::service;
use parvum_api::CoreApi;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Contexts of the communicators that need not be agreed on: "mi" and then some, so that they meet nobody's. Each has two.
const WORLD_CONTEXT: u32 = 0x7d69_0000;
const SELF_CONTEXT: u32 = 0x7d69_0002;

/// How many sessions are open. They live on when the world ends (MPI 4.1, 11.3).
///
/// Relaxed everywhere: whoever decides by the number holds `one_at_a_time`, and so does each session after it was counted.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// What `machine` calls in rare cases.
const UPCALLS: Upcalls =
    Upcalls { post_deferred, has_joined: revocation::listen_if_wanted, fatal: abort::fatal };

fn post_deferred() {
    if let Ok(process) = running() {
        deferred::post_all(process);
    }
}

/// A session begins: MPI runs until the session ends, with or without a world.
pub(crate) fn session_begins() -> Mpi {
    // Counted first: a world or a session that ends meanwhile leaves MPI running.
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    ensure_running().inspect_err(|_| session_ends())
}

/// A session does nothing more in its communicators.
pub(crate) fn leave_session(session: i32) {
    if let Ok(process) = running() {
        let all = COMMS.all();
        all.iter().filter(|comm| comm.session() == session).for_each(|comm| leave_segment(process, comm));
    }
}

/// A session ends.
pub(crate) fn session_ends() {
    let _turn = one_at_a_time();
    if SESSIONS.fetch_sub(1, Ordering::Relaxed) == 1 && is_finalized() {
        // Release: as in `ensure_running`.
        STAGE.store(FINALIZED, Ordering::Release);
    }
}

/// Whoever begins or ends MPI decides by itself whether MPI runs afterwards.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Joins the machine. Waits until all processes of the run are started.
pub(crate) fn init(threads: i32) -> Mpi {
    // Acquire: partner of the release below.
    if HAS_WORLD.load(Ordering::Acquire) {
        return Err(Error::new(class::OTHER, "MPI_Init was called twice"));
    }
    ensure_running()?;
    // Relaxed: the release of `HAS_WORLD` hands it over.
    THREADS.store(threads, Ordering::Relaxed);
    let alone = threads != THREAD_MULTIPLE && !rivals::has_other_interface();
    // Relaxed: a thread of a session that still sees `false` posts its receives at once, which is always right.
    MAY_DEFER.store(alone, Ordering::Relaxed);
    // Release: partner of the acquires in `is_initialized` and above. Whoever sees a world sees its level of threads.
    HAS_WORLD.store(true, Ordering::Release);
    ending::begin();
    process()?.api.oblige(true);
    Ok(())
}

/// The same, for a session.
pub(crate) fn ensure_running() -> Mpi {
    let _turn = one_at_a_time();
    // Acquire: as in `process`.
    match STAGE.load(Ordering::Acquire) {
        RUNNING | DEFERRING => return Ok(()),
        FINALIZED => {
            // The process is still part of its machine. Release: as below.
            STAGE.store(RUNNING, Ordering::Release);
            return Ok(());
        }
        _ => {}
    }
    join()?;
    // Release: partner of the acquires in `process` and its like, which find what `join` has made.
    STAGE.store(RUNNING, Ordering::Release);
    spawned::meet_parents(process()?)
}

fn join() -> Mpi {
    if PROCESS.get().is_some() {
        return Ok(());
    }
    rivals::refuse()?;
    let api = CoreApi::open().map_err(|error| Error::new(class::OTHER, error.to_string()))?;
    crate::process::introspect::publish(api);
    let joined = if is_alone()? { None } else { Some(Joined::join(api)?) };
    let (all, alone) = match &joined {
        None => (Group::alone(), Group::alone()),
        Some(Joined { partition, me }) => {
            let tasks: Vec<i32> = match launcher::is_there()? {
                true => launcher::meet(api, *me)?,
                false => (0..partition.size() as i64).filter_map(|node| partition.task(node)).collect(),
            };
            (Group::new(tasks, *me), Group::new(vec![*me], *me))
        }
    };
    let world = Comm::new(Arc::new(all), None, WORLD_CONTEXT);
    let own = Comm::new(Arc::new(alone), None, SELF_CONTEXT);
    for (comm, handle, name) in
        [(&world, COMM_WORLD, &b"MPI_COMM_WORLD"[..]), (&own, COMM_SELF, b"MPI_COMM_SELF")]
    {
        comm.set_handle(handle);
        comm.set_name(name);
    }
    let (world, own) = (Arc::new(world), Arc::new(own));
    let machine = Machine::new(api, joined, world.rank());
    let process = PROCESS.get_or_init(|| Process { machine, world, own });
    machine::set(&process.machine, UPCALLS);
    Ok(())
}

/// Whether nobody has started this process as one of several: then it is a world of one.
fn is_alone() -> Mpi<bool> {
    // What the daemon gives to each task that it starts.
    Ok(std::env::var_os("PARVUM_TID").is_none() && !launcher::is_there()?)
}

/// The process does nothing more in a communicator. It leaves the group of the communicator's segment, because
/// other ranks may still be in the last operation. A process that ends in the group counts as dead.
fn leave_segment(process: &Process, comm: &Comm) {
    if comm.sharing().has_group() {
        comm.sharing().leave(process.api);
    }
}

/// The process also leaves communicators that the program has not freed, if it has no open session.
fn leave_unfreed(process: &Process) {
    let _turn = one_at_a_time();
    if SESSIONS.load(Ordering::Relaxed) == 0 {
        COMMS.all().iter().for_each(|comm| leave_segment(process, comm));
    }
}

/// Ends MPI in this process: what is under way goes on to its end.
pub(crate) fn finalize() -> Mpi {
    let process = process()?;
    process.own.attributes.delete_all(COMM_SELF)?;
    bsend::flush(bsend::of_process())?;
    progress::finish_all()?;
    process.world.attributes.delete_all(COMM_WORLD)?;
    service::end();
    // Release: partner of the acquire in `is_finalized`. Whoever sees that the world is over finds all of its end done.
    FINALIZED_WORLD.store(true, Ordering::Release);
    leave_segment(process, &process.world);
    leave_unfreed(process);
    // After this call the process may have departed.
    process.api.oblige(false);
    {
        let _turn = one_at_a_time();
        if SESSIONS.load(Ordering::Relaxed) == 0 {
            // Release: as in `ensure_running`.
            STAGE.store(FINALIZED, Ordering::Release);
        }
    }
    launcher::finish();
    Ok(())
}
