//! This process as part of its machine: the engine, its task once it has joined, and whether MPI runs in it.
//!
//! Groups, contexts and communicators need no more of the process than this. In rare cases this file must call what imports it. It then
//! uses a table of functions ([`Upcalls`]), which [`life`](crate::process::life) gives when MPI begins.

use crate::errors::{Error, Mpi, class};
use parvum_api::{CoreApi, Notes, Status, call};
use parvum_partition::Partition;
use parvum_wire::control::{Failure, Reply, Request};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// The engine of this process, and what it is in the machine.
pub(crate) struct Machine {
    pub(crate) api: CoreApi,
    /// A process that was started alone joins when something needs that, and may never do so.
    joined: OnceLock<Joined>,
    /// The rank in `MPI_COMM_WORLD`.
    rank: usize,
}

/// A process that is part of a machine.
pub(super) struct Joined {
    /// All that were started with it.
    pub(super) partition: Partition,
    /// Its task.
    pub(super) me: i32,
}

/// Of the operations of all nodes at their segment.
const PARTITION_CONTEXT: u32 = 0x7d69_0004;
/// Of what parents tell the children that they have spawned.
pub(crate) const PARENT_CONTEXT: u32 = 0x7d69_0006;
/// Of what threads of one process tell each other.
pub(crate) const OWN_CONTEXT: u32 = 0x7d69_0008;

/// Functions of files that import this one.
pub(super) struct Upcalls {
    /// Posts the receives that are deferred.
    pub(super) post_deferred: fn(),
    /// The process has joined after MPI has begun in it.
    pub(super) has_joined: fn(),
    /// Ends the job, saying why.
    pub(super) fatal: fn(&Error) -> !,
}

static MACHINE: OnceLock<&'static Machine> = OnceLock::new();
static UPCALLS: OnceLock<Upcalls> = OnceLock::new();
/// Whether MPI runs: one of the numbers below.
pub(super) static STAGE: AtomicU8 = AtomicU8::new(NEW);

pub(super) const NEW: u8 = 0;
pub(super) const RUNNING: u8 = 1;
pub(super) const FINALIZED: u8 = 2;
/// Running, and there are receives that the next call posts, if it is none that can leave them so.
pub(super) const DEFERRING: u8 = 3;

/// What [`machine`] gives from now on; the first counts.
pub(super) fn set(machine: &'static Machine, upcalls: Upcalls) {
    let _ = UPCALLS.set(upcalls);
    let _ = MACHINE.set(machine);
}

/// The machine, once `MPI_Init` was called and until `MPI_Finalize` is.
pub(crate) fn machine() -> Mpi<&'static Machine> {
    // Acquire: pairs with the release in `life`, behind which the machine is there.
    match STAGE.load(Ordering::Acquire) {
        RUNNING => {}
        DEFERRING => post_deferred(),
        stage => return Err(out_of_order(stage)),
    }
    Ok(MACHINE.get().expect("made before"))
}

/// Posts the receives that are deferred.
#[cold]
pub(super) fn post_deferred() {
    (upcalls().post_deferred)();
}

fn upcalls() -> &'static Upcalls {
    UPCALLS.get().expect("made before")
}

#[cold]
pub(super) fn out_of_order(stage: u8) -> Error {
    let text = match stage {
        NEW => "called before MPI_Init; call MPI_Init first",
        _ => "called after MPI_Finalize; only MPI_Initialized, MPI_Finalized and their like may be",
    };
    Error::new(class::OTHER, text)
}

/// The task of this process, which joins the machine now if it has not.
pub(crate) fn me() -> i32 {
    MACHINE.get().expect("only what it has made asks").me()
}

impl Joined {
    pub(super) fn join(api: CoreApi) -> Mpi<Joined> {
        let partition = Partition::join(api, "MPI", PARTITION_CONTEXT)
            .map_err(|status| Error::new(class::OTHER, format!("{status:?}: {}", api.last_error())))?;
        let me = partition.task(partition.own() as i64);
        let me = me.ok_or_else(|| Error::new(class::INTERN, "the machine does not know this process"))?;
        Ok(Joined { partition, me })
    }
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

impl Machine {
    pub(super) fn new(api: CoreApi, joined: Option<Joined>, rank: usize) -> Machine {
        Machine { api, joined: joined.map_or_else(OnceLock::new, OnceLock::from), rank }
    }

    /// The rank of this process in `MPI_COMM_WORLD`.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

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
        let join = || Joined::join(self.api).unwrap_or_else(|error| (upcalls().fatal)(&error));
        let joined = self.joined.get_or_init(join);
        (upcalls().has_joined)();
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
            Status::Refused => Error::new(class::OTHER, self.api.last_error()),
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
