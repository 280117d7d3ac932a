//! Communicators: who may speak with whom, in a context that nobody else's messages enter.

use crate::comms::contexts::OwnContext;
use crate::comms::group::Group;
use crate::comms::revocation;
use crate::comms::topology::Topology;
use crate::errors::{Error, Mpi, class};
use crate::messages::attached::Buffer;
use crate::messages::pairs::Pairs;
use crate::objects::attributes::Attributes;
use crate::objects::errhandlers::Handler;
use crate::objects::hints;
use crate::objects::info::Info;
use crate::objects::numbers::{COMM_NULL, PROC_NULL};
use crate::process::machine::machine;
use parvum_collectives::plans::hosts::Hosts;
use parvum_collectives::plans::ways::Trials;
use parvum_collectives::table;
use parvum_partition::Sharing;
use parvum_wire::Tid;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A communicator.
pub(crate) struct Comm {
    /// Of its messages; those of its collective operations have the next one.
    context: u32,
    group: Arc<Group>,
    rank: usize,
    /// The other side, of an inter-communicator.
    remote: Option<Remote>,
    handle: AtomicI32,
    /// How many collective operations were begun: their tag.
    operations: AtomicU32,
    /// The same of those that go on beside the program: the two are never matched with each other.
    begun: AtomicU32,
    /// How many agreements of the survivors were begun.
    agreements: AtomicU32,
    /// The handle of the session that its group comes from, or 0.
    session: i32,
    /// This process has the context of the machine.
    owned_context: Option<OwnContext>,
    tolerant: AtomicBool,
    /// The beginning of its name, as onlookers are shown it.
    shown_name: [AtomicU64; 2],
    pub(crate) attributes: Attributes,
    pub(crate) topology: Option<Topology>,
    pub(crate) buffer: Buffer,
    /// Which members of its own side live together, where some do and not all; found when first asked for.
    hosts: OnceLock<Option<Hosts>>,
    /// Which way short data of all goes between those. Its blocking operations alone know: only those come in one order on all ranks.
    trials: Mutex<Trials>,
    /// Where its members show each other data, once they do.
    sharing: Sharing,
    /// Its partitioned requests.
    pairs: Pairs,
    rest: Mutex<Rest>,
}

/// What the program may change.
struct Rest {
    name: Vec<u8>,
    errhandler: Handler,
    /// The program has set it, for this communicator.
    is_chosen: bool,
    info: Arc<Info>,
    /// Ranks whose deaths the program has acknowledged.
    acknowledged: Vec<usize>,
}

/// The other side of an inter-communicator.
pub(crate) struct Remote {
    pub(crate) group: Arc<Group>,
    /// This side alone.
    pub(crate) local: Arc<Comm>,
    /// Whether this side's group comes first where both are put into one order.
    pub(crate) is_first: bool,
}

/// So many bits of a collective operation's tag say what it does.
const KIND_BITS: u32 = 5;

impl Comm {
    /// A communicator of a group that this process is a member of.
    ///
    /// # Panics
    /// When it is none.
    pub(crate) fn new(group: Arc<Group>, remote: Option<Remote>, context: u32) -> Comm {
        let rank = group.own().expect("only members have the communicator");
        Comm {
            session: group.session(),
            context,
            group,
            rank,
            remote,
            handle: AtomicI32::new(COMM_NULL),
            operations: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            agreements: AtomicU32::new(0),
            owned_context: None,
            tolerant: AtomicBool::new(false),
            shown_name: Default::default(),
            attributes: Attributes::default(),
            topology: None,
            buffer: Buffer::default(),
            hosts: OnceLock::new(),
            trials: Mutex::default(),
            sharing: Sharing::after(table::OPERATIONS_BEFORE_SEGMENT),
            pairs: Pairs::default(),
            rest: Mutex::new(Rest {
                name: Vec::new(),
                errhandler: Handler::FATAL,
                is_chosen: false,
                info: Arc::default(),
                acknowledged: Vec::new(),
            }),
        }
    }

    /// The same, if this process has its context of the machine.
    pub(crate) fn owning(mut self, context: Option<OwnContext>) -> Comm {
        self.owned_context = context;
        self
    }

    /// The same with the error handler and the session of another.
    pub(crate) fn like(mut self, other: &Comm) -> Comm {
        match other.chosen_errhandler() {
            Some(chosen) => self.choose_errhandler(chosen),
            None => self.set_errhandler(other.errhandler()),
        }
        if self.session == 0 {
            self.session = other.session;
        }
        self
    }

    /// The handle of its session, or 0.
    pub(crate) fn session(&self) -> i32 {
        self.session
    }

    /// The same with a topology.
    pub(crate) fn with_topology(mut self, topology: Option<Topology>) -> Comm {
        self.topology = topology;
        self
    }

    /// The same with attributes.
    pub(crate) fn with_attributes(mut self, attributes: Attributes) -> Comm {
        self.attributes = attributes;
        self
    }

    #[inline]
    pub(crate) fn context(&self) -> u32 {
        self.context
    }

    /// Of the messages of its collective operations.
    #[inline]
    pub(crate) fn collective_context(&self) -> u32 {
        self.context + 1
    }

    #[inline]
    pub(crate) fn group(&self) -> &Arc<Group> {
        &self.group
    }

    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.group.size()
    }

    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// Those whom messages go to and come from.
    #[inline]
    pub(crate) fn peers(&self) -> &Arc<Group> {
        match &self.remote {
            None => &self.group,
            Some(remote) => &remote.group,
        }
    }

    /// The task of a rank that messages go to; `None` for `MPI_PROC_NULL`.
    #[inline]
    pub(crate) fn peer(&self, rank: i32) -> Mpi<Option<i32>> {
        match self.peers().tasks().get(rank as usize) {
            Some(&task) => Ok(Some(task)),
            None if rank == PROC_NULL => Ok(None),
            None => Err(self.no_rank(rank, class::RANK)),
        }
    }

    /// A root among this side's members.
    pub(crate) fn root(&self, rank: i32) -> Mpi<usize> {
        let root = usize::try_from(rank).ok().filter(|&root| root < self.size());
        root.ok_or_else(|| self.no_rank(rank, class::ROOT))
    }

    #[cold]
    fn no_rank(&self, rank: i32, class: i32) -> Error {
        let size = self.peers().size();
        Error::new(class, format!("rank {rank} of a communicator of {size}; ranks go from 0 to {}", size - 1))
    }

    /// The place of the next collective operation among those of the communicator. All members begin them in the same order.
    #[inline]
    pub(crate) fn next_turn(&self) -> i32 {
        // Relaxed, and no exchange: the program orders the operations of a communicator itself. An exchange would wait
        // until the line of the last message has come from its receiver.
        let turn = self.operations.load(Ordering::Relaxed);
        self.operations.store(turn.wrapping_add(1), Ordering::Relaxed);
        (turn & 0xff_ffff) as i32
    }

    /// The same of one that goes on beside the program.
    pub(crate) fn next_begun(&self) -> i32 {
        (self.begun.fetch_add(1, Ordering::Relaxed) & 0xff_ffff | 0x100_0000) as i32
    }

    /// The tag of an operation's messages: those of another kind in the same place are not for it.
    #[inline]
    pub(crate) fn tag_of(turn: i32, kind: u32) -> i32 {
        turn << KIND_BITS | kind as i32
    }

    /// The number of the next agreement of the survivors. All members begin them in the same order.
    pub(crate) fn next_agreement(&self) -> u32 {
        self.agreements.fetch_add(1, Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn handle(&self) -> i32 {
        self.handle.load(Ordering::Relaxed)
    }

    pub(crate) fn set_handle(&self, handle: i32) {
        self.handle.store(handle, Ordering::Relaxed);
    }

    /// Which members of its own side live together, where not all do.
    pub(crate) fn hosts(&self) -> Option<&Hosts> {
        // Two have no others; one alone is perhaps in no machine yet.
        let find = || Hosts::new(self.group.tasks().iter().map(|&task| Tid(task).host()));
        self.hosts.get_or_init(|| if self.size() > 2 { find() } else { None }).as_ref()
    }

    /// How its members find the way of short data between hosts.
    pub(crate) fn trials(&self) -> MutexGuard<'_, Trials> {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The segment of its members, and how they come to it.
    pub(crate) fn sharing(&self) -> &Sharing {
        &self.sharing
    }

    /// Which of its partitioned requests belong together.
    pub(crate) fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// The name of the group that they join for it.
    pub(crate) fn group_name(&self) -> String {
        format!("communicator {:x} of t{:x}", self.context, self.group.tasks()[0])
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn name(&self) -> Vec<u8> {
        self.rest().name.clone()
    }

    pub(crate) fn set_name(&self, name: &[u8]) {
        name.clone_into(&mut self.rest().name);
        let mut shown = [0; 16];
        let length = name.len().min(shown.len());
        shown[..length].copy_from_slice(&name[..length]);
        for (cell, word) in self.shown_name.iter().zip(shown.chunks_exact(8)) {
            // Relaxed: for a person's eyes.
            cell.store(u64::from_ne_bytes(word.try_into().expect("eight bytes")), Ordering::Relaxed);
        }
    }

    /// The beginning of its name, padded with zeros.
    #[inline]
    pub(crate) fn shown_name(&self) -> [u64; 2] {
        [self.shown_name[0].load(Ordering::Relaxed), self.shown_name[1].load(Ordering::Relaxed)]
    }

    pub(crate) fn errhandler(&self) -> Handler {
        self.rest().errhandler.clone()
    }

    /// The error handler, if the program has set it.
    pub(crate) fn chosen_errhandler(&self) -> Option<Handler> {
        let rest = self.rest();
        rest.is_chosen.then(|| rest.errhandler.clone())
    }

    /// The program sets the error handler.
    pub(crate) fn choose_errhandler(&self, errhandler: Handler) {
        self.set_errhandler(errhandler);
        self.rest().is_chosen = true;
    }

    pub(crate) fn set_errhandler(&self, errhandler: Handler) {
        let tolerant = errhandler.is_tolerant();
        self.tolerant.store(tolerant, Ordering::Relaxed);
        if tolerant {
            revocation::listen();
        }
        self.rest().errhandler = errhandler;
    }

    /// The hints, with the defaults of those that nobody gave.
    pub(crate) fn info(&self) -> Mpi<Info> {
        hints::COMM.shown(&self.rest().info)
    }

    pub(crate) fn set_info(&self, given: &Info) -> Mpi {
        let mut rest = self.rest();
        rest.info = Arc::new(hints::COMM.merged(&rest.info, given)?);
        Ok(())
    }

    pub(crate) fn acknowledged(&self) -> Vec<usize> {
        self.rest().acknowledged.clone()
    }

    pub(crate) fn acknowledge(&self, ranks: Vec<usize>) {
        self.rest().acknowledged = ranks;
    }

    /// Whether a member has revoked it: nothing more is sent or received then.
    #[inline]
    pub(crate) fn is_revoked(&self) -> bool {
        revocation::is_revoked(self.context)
    }

    /// Whether its program goes on when a process dies: then waits listen for more than their message.
    #[inline]
    pub(crate) fn is_tolerant(&self) -> bool {
        // Relaxed: a hint that a wait takes the longer way.
        self.tolerant.load(Ordering::Relaxed)
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        if self.sharing.has_group()
            && let Ok(machine) = machine()
        {
            self.sharing.end(machine.api);
        }
        revocation::forget(self.context);
    }
}
