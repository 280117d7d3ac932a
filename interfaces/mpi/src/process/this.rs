//! This process: its engine, and the communicators that it begins with.

use crate::comms::comm::Comm;
use crate::comms::group::Group;
use crate::errors::{Error, Mpi, class};
use crate::messages::bsend;
use crate::objects::numbers::{COMM_SELF, COMM_WORLD, THREAD_MULTIPLE};
use parvum_api::{CoreApi, Notes, Status, call};
use parvum_partition::Partition;
use parvum_wire::control::{Failure, Reply, Request};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a process of an MPI program has.
pub(crate) struct Process {
    pub(crate) api: CoreApi,
    /// What it is in the machine. One that was started alone joins when something needs that, and may never do so.
    joined: OnceLock<Joined>,
    pub(crate) world: Arc<Comm>,
    pub(crate) own: Arc<Comm>,
}

/// A process that is part of a machine.
struct Joined {
    /// All that were started with it.
    partition: Partition,
    /// Its task.
    me: i32,
}

/// Contexts of the communicators that need not be agreed on: "mi" and then some, so that they meet nobody's. Each has two.
const WORLD_CONTEXT: u32 = 0x7d69_0000;
const SELF_CONTEXT: u32 = 0x7d69_0002;
/// Of the operations of all nodes at their board.
const PARTITION_CONTEXT: u32 = 0x7d69_0004;
/// Of what parents tell the children that they have spawned.
pub(crate) const PARENT_CONTEXT: u32 = 0x7d69_0006;
/// Of what threads of one process tell each other.
pub(crate) const OWN_CONTEXT: u32 = 0x7d69_0008;

static PROCESS: OnceLock<Process> = OnceLock::new();
static STAGE: AtomicU8 = AtomicU8::new(NEW);
static THREADS: AtomicI32 = AtomicI32::new(0);
static MAY_DEFER: AtomicBool = AtomicBool::new(false);
/// `MPI_Init` was called: a session alone begins without it.
static HAS_WORLD: AtomicBool = AtomicBool::new(false);
static FINALIZED_WORLD: AtomicBool = AtomicBool::new(false);

/// How many sessions are open. They live on when the world ends (MPI 4.1, 11.3).
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

const NEW: u8 = 0;
const RUNNING: u8 = 1;
const FINALIZED: u8 = 2;
/// Running, and there are receives that the next call posts, if it is none that can leave them so.
const DEFERRING: u8 = 3;

/// The process, once `MPI_Init` was called and until `MPI_Finalize` is.
#[inline]
pub(crate) fn process() -> Mpi<&'static Process> {
    // Acquire: pairs with the release in `init`, behind which the process is there.
    match STAGE.load(Ordering::Acquire) {
        RUNNING => Ok(PROCESS.get().expect("made before")),
        DEFERRING => Ok(undeferred()),
        stage => Err(out_of_order(stage)),
    }
}

/// The same for the few calls that leave deferred receives alone.
#[inline]
pub(crate) fn running() -> Mpi<&'static Process> {
    // Acquire: as in `process`.
    match STAGE.load(Ordering::Acquire) {
        RUNNING | DEFERRING => Ok(PROCESS.get().expect("made before")),
        stage => Err(out_of_order(stage)),
    }
}

/// Whether [`process`] would find it, and nothing to do first.
#[inline(always)]
pub(crate) fn is_running() -> bool {
    // Acquire: as in `process`.
    STAGE.load(Ordering::Acquire) == RUNNING
}

#[cold]
fn undeferred() -> &'static Process {
    let process = PROCESS.get().expect("made before");
    crate::requests::deferred::post_all(process);
    process
}

/// Whether receives may be left unposted: one thread at a time calls, and nobody waits by another interface meanwhile.
#[inline]
pub(crate) fn may_defer() -> bool {
    MAY_DEFER.load(Ordering::Relaxed)
}

/// Whether the next call finds receives that are deferred. Nothing once the process has finalized.
pub(crate) fn defers(some: bool) {
    let (before, after) = if some { (RUNNING, DEFERRING) } else { (DEFERRING, RUNNING) };
    // Release: the process is there, whichever of the two a call sees. A failure has nothing to say: it is so already.
    let _ = STAGE.compare_exchange(before, after, Ordering::Release, Ordering::Relaxed);
}

#[cold]
fn out_of_order(stage: u8) -> Error {
    let text = match stage {
        NEW => "called before MPI_Init; call MPI_Init first",
        _ => "called after MPI_Finalize; only MPI_Initialized, MPI_Finalized and their like may be",
    };
    Error::new(class::OTHER, text)
}

/// Whether `MPI_Init` was called.
pub(crate) fn is_initialized() -> bool {
    HAS_WORLD.load(Ordering::Acquire)
}

/// Whether MPI has begun in this process, by `MPI_Init` or by a session: what the environment says has been read.
pub(crate) fn has_begun() -> bool {
    // Acquire: as in `process`.
    STAGE.load(Ordering::Acquire) != NEW
}

/// Whether `MPI_Finalize` was called.
pub(crate) fn is_finalized() -> bool {
    FINALIZED_WORLD.load(Ordering::Acquire)
}

/// The level of threads that the program was given.
pub(crate) fn threads() -> i32 {
    THREADS.load(Ordering::Relaxed)
}

/// A session begins: MPI runs until the session ends, with or without a world.
pub(crate) fn session_begins() -> Mpi {
    ensure_running()?;
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// A session ends.
pub(crate) fn session_ends() {
    if SESSIONS.fetch_sub(1, Ordering::Relaxed) == 1 && is_finalized() {
        STAGE.store(FINALIZED, Ordering::Release);
    }
}

/// Joins the machine. Waits until all processes of the run are started.
pub(crate) fn init(threads: i32) -> Mpi {
    if HAS_WORLD.load(Ordering::Acquire) {
        return Err(Error::new(class::OTHER, "MPI_Init was called twice"));
    }
    ensure_running()?;
    THREADS.store(threads, Ordering::Relaxed);
    let alone = threads != THREAD_MULTIPLE && !crate::process::rivals::has_other_interface();
    MAY_DEFER.store(alone, Ordering::Relaxed);
    HAS_WORLD.store(true, Ordering::Release);
    crate::process::ending::begin();
    process()?.api.oblige(true);
    Ok(())
}

/// The same, for a session.
pub(crate) fn ensure_running() -> Mpi {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    match STAGE.load(Ordering::Acquire) {
        RUNNING | DEFERRING => return Ok(()),
        FINALIZED => {
            // The process is still part of its machine. Release: as at the first time.
            STAGE.store(RUNNING, Ordering::Release);
            return Ok(());
        }
        _ => {}
    }
    join()?;
    STAGE.store(RUNNING, Ordering::Release);
    crate::process::spawned::meet_parents(process()?)
}

fn join() -> Mpi {
    if PROCESS.get().is_some() {
        return Ok(());
    }
    crate::process::rivals::refuse()?;
    let api = CoreApi::open().map_err(|error| Error::new(class::OTHER, error.to_string()))?;
    let joined = OnceLock::new();
    let (all, alone) = match is_alone() {
        true => (Group::alone(), Group::alone()),
        false => {
            let it = Joined::join(api)?;
            let Joined { partition, me } = joined.get_or_init(|| it);
            let tasks: Vec<i32> = match crate::process::launcher::is_there() {
                true => crate::process::launcher::meet(*me)?,
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
    let _ = PROCESS.set(Process { api, joined, world, own });
    Ok(())
}

/// Whether nobody has started this process as one of several: then it is a world of one.
fn is_alone() -> bool {
    // What the daemon gives to each task that it starts.
    std::env::var_os("PARVUM_TID").is_none() && !crate::process::launcher::is_there()
}

/// The task of this process, which joins the machine now if it has not.
pub(crate) fn me() -> i32 {
    PROCESS.get().expect("only what it has made asks").me()
}

impl Joined {
    fn join(api: CoreApi) -> Mpi<Joined> {
        let partition = Partition::join(api, "MPI", PARTITION_CONTEXT)
            .map_err(|status| Error::new(class::OTHER, format!("{status:?}: {}", api.last_error())))?;
        let me = partition.task(partition.own() as i64);
        let me = me.ok_or_else(|| Error::new(class::INTERN, "the machine does not know this process"))?;
        Ok(Joined { partition, me })
    }
}

/// Ends MPI in this process: what is under way goes on to its end.
pub(crate) fn finalize() -> Mpi {
    let process = process()?;
    process.own.attributes.delete_all(COMM_SELF)?;
    bsend::flush(bsend::of_process())?;
    crate::requests::progress::finish_all()?;
    process.world.attributes.delete_all(COMM_WORLD)?;
    crate::windows::serving::end();
    FINALIZED_WORLD.store(true, Ordering::Release);
    process.api.oblige(false);
    if SESSIONS.load(Ordering::Relaxed) == 0 {
        STAGE.store(FINALIZED, Ordering::Release);
    }
    crate::process::launcher::finish();
    Ok(())
}

/// What onlookers are told of a wait.
#[inline]
pub(crate) fn notes(call: u32, peer: i32, tag: i32, context: u32) -> Notes {
    Notes { limit: -1, call, peer, tag, context: context as i32 }
}

/// The same of a wait for the daemon.
pub(crate) fn machine_notes() -> Notes {
    Notes { limit: -1, call: call::MACHINE, peer: -1, tag: -1, context: -1 }
}

/// Look, and do not wait.
pub(crate) const LOOK: Notes = Notes { limit: 0, call: 0, peer: -1, tag: -1, context: -1 };

impl Process {
    /// Whether it is part of a machine by now.
    pub(crate) fn is_joined(&self) -> bool {
        self.joined.get().is_some()
    }

    /// The task of this process.
    #[inline]
    pub(crate) fn me(&self) -> i32 {
        self.joined().me
    }

    /// All that were started with it.
    pub(crate) fn partition(&self) -> &Partition {
        &self.joined().partition
    }

    #[inline]
    fn joined(&self) -> &Joined {
        self.joined.get().unwrap_or_else(|| self.join_late())
    }

    /// Without a machine the program cannot go on with what it has begun.
    #[cold]
    fn join_late(&self) -> &Joined {
        let joined = self.joined.get_or_init(|| {
            Joined::join(self.api).unwrap_or_else(|error| crate::process::abort::fatal(&error))
        });
        crate::comms::revocation::listen_if_wanted();
        joined
    }

    /// Asks the daemon, and waits for its answer.
    pub(crate) fn ask(&self, request: &Request) -> Result<Result<Reply, Failure>, Status> {
        self.joined();
        self.api.ask(request, &machine_notes())
    }

    /// What the engine's answer means to an MPI program.
    #[cold]
    pub(crate) fn failed(&self, status: Status, peer: Option<usize>) -> Error {
        let who = || peer.map_or("the process".to_owned(), |rank| format!("rank {rank}"));
        match status {
            Status::Gone | Status::Unknown => gone(&who()),
            Status::NoMachine => {
                Error::new(class::OTHER, format!("the machine is lost: {}", self.api.last_error()))
            }
            Status::NoMemory => Error::new(class::NO_MEM, "the system refused memory"),
            Status::Cut => Error::new(class::TRUNCATE, "the message is longer than the receive buffer"),
            status => Error::new(class::INTERN, format!("the engine answered {status:?}")),
        }
    }
}

/// Who is no more. The engine does not know whether it was killed or went in peace: a rank that needs what another never sent before
/// its `MPI_Finalize` finds the same.
#[cold]
pub(crate) fn gone(who: &str) -> Error {
    Error::new(class::PROC_FAILED, format!("{who} is gone: it has died, or has called MPI_Finalize already"))
}
