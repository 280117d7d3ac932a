//! Where everything lies in the control block.
//!
//! ```text
//!    0  header    magic, version, size
//!   64  door      state, rings, control, cpus             written by others: own line
//!  128  identity  pid, tid, started, interface, program
//!  192  waiting   call, peer, tag, context, since
//!  256  counters  64 x u64
//!  768  barrier   the group whose barrier the task is in, how many it awaits
//!  840  attended  whether the task takes messages in while it computes
//!  848  routes    8 x 16 bytes: the names of routes, by number
//!  976  operation what the task does among the members of a communicator (MPI)
//! 1024  unmatched 64 x 4 x u64: messages that no receive has taken
//! 3072  inbox     128 x u64: which peers have brought something, when the task has opened it
//! 4096  pairs     976 x 32 x u64: the ledger of each peer and route
//! 253952 words    8192 bytes: what the interfaces of the task call what it waits in
//! ```
//!
//! Peers map the first page only. The file has no memory behind what was never written.

use crate::door::Door;
use crate::inbox::Inbox;
use crate::routes::RouteNames;
use crate::words::WordCells;
use parvum_wire::Counter;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64};

/// The first eight bytes of every control block: "ParvumPg".
pub const MAGIC: u64 = u64::from_le_bytes(*b"ParvumPg");
/// The layout described here; a control block of another version is refused.
pub const VERSION: u32 = 8;
/// Size of the control block itself.
pub const PAGE_BYTES: usize = 4096;
/// Size of the file: the control block, the ledgers of pairs, and the words of interfaces.
pub const FILE_BYTES: usize = PAGE_BYTES + size_of::<Behind>();
/// Number of counters.
pub const COUNTERS: usize = 64;
/// How many pairs of a peer and a route have a ledger of their own; the last one is for all others.
pub const PAIRS: usize = 976;
/// The ledger of a pair: counters by the same numbers, then [`PAIR_PEER`] and what follows it.
pub type PairCells = [AtomicU64; 32];
/// In a pair's ledger: the peer's id, and above it the route and why it is this one. Zero: not in use.
pub const PAIR_PEER: usize = 24;
/// Which messages of those that arrived are waiting for a receive: so many are shown.
pub const UNMATCHED: usize = 64;
/// One of them: sender and tag, context and whether it is there, length, order of arrival.
pub type UnmatchedCells = [AtomicU64; 4];
/// What the counters count, by number; an empty name is one not in use.
pub const COUNTER_NAMES: [&str; Counter::PLACES] = Counter::NAMES;
/// Behind what is counted in the control block, where onlookers sum up: messages sent over each route, by its number.
pub const SENT_OVER: usize = 32;
/// What an interface of shared memory shows, behind those: [`MEMORY_COUNTS`] counts, then how, and the locks that the task holds.
pub const MEMORY: usize = SENT_OVER + 8;
/// So many counts; the interface names them in its words.
pub const MEMORY_COUNTS: usize = 18;
/// How memory is shared: a number of the interface's ways from 1 on, 0 none, in the lowest byte; in the two above it the barrier that
/// the task is at, from 1 on, 0 none; in the high half the first task of its run, by which the tasks of one run are known.
pub const MEMORY_WAY: usize = MEMORY + MEMORY_COUNTS;
/// Locks that the task holds, two in each cell, from 1 on; 0 none. Of more than [`HELD_LOCKS`] the first ones only.
pub const HELD: usize = MEMORY_WAY + 1;
/// So many of them.
pub const HELD_LOCKS: usize = 2 * (COUNTERS - HELD);
/// Room for the interface's name, in UTF-8, padded with zeros.
pub const NAME_BYTES: usize = 16;
/// Room for a group's name, in UTF-8, padded with zeros; a longer one is cut.
pub const GROUP_BYTES: usize = 64;
/// Room for the program's name, in UTF-8, padded with zeros.
pub const PROGRAM_BYTES: usize = 32;

/// In [`Waiting::peer`]: the task waits for the members of a group, in a barrier or where they show each other data; [`Layout`]'s
/// `barrier` says which group.
pub const A_GROUP: i32 = -2;

/// The whole control block.
#[repr(C, align(4096))]
pub struct Layout {
    pub(crate) header: Header,
    /// How to wake the task.
    pub door: Door,
    /// Which task this is.
    pub identity: Identity,
    /// What the task waits for.
    pub waiting: Waiting,
    /// Counts, named by the engine.
    pub counters: [AtomicU64; COUNTERS],
    /// Which barrier the task waits in, when it waits in one.
    pub(crate) barrier: Barrier,
    /// 1: a thread of the task's takes in what comes, when it is called, while the program computes.
    pub(crate) attended: AtomicU64,
    /// The names of routes, by number.
    pub(crate) routes: RouteNames,
    /// What the task does among the members of a communicator.
    pub(crate) operation: Operation,
    /// Messages that no receive has taken.
    pub unmatched: [UnmatchedCells; UNMATCHED],
    /// Which peers have brought something, when the task has opened it.
    pub(crate) inbox: Inbox,
}

/// What lies behind the control block.
#[repr(C)]
pub(crate) struct Behind {
    pub pairs: [PairCells; PAIRS],
    pub words: WordCells,
}

#[repr(C, align(64))]
pub(crate) struct Header {
    /// Written last (release) by the maker, read first (acquire) by openers.
    pub magic: AtomicU64,
    pub version: AtomicU32,
    pub size: AtomicU32,
    /// 1: the program has yet to say that it ends, and has failed when it ends without that. In what was padding.
    pub owes_end: AtomicU32,
}

/// Which task this is.
#[repr(C, align(64))]
pub struct Identity {
    /// Process id; 0 until known.
    pub pid: AtomicU32,
    /// Task id; 0 until known.
    pub tid: AtomicI32,
    /// When the task began, in nanoseconds of CLOCK_MONOTONIC.
    pub started: AtomicU64,
    /// The interface the program speaks ("pvm", ...).
    pub interface: [AtomicU8; NAME_BYTES],
    /// The program's name.
    pub program: [AtomicU8; PROGRAM_BYTES],
}

/// What the task waits for; `call` is zero while it computes.
///
/// The task writes the fields one by one, `call` last (release) when it begins
/// to wait and first when it stops; a reader that looks in between sees a mixed
/// picture for that instant, which is good enough for a person.
#[repr(C, align(64))]
pub struct Waiting {
    /// Which kind of wait (`parvum_wire::calls::KINDS`), 0 none; in the high half the number of the interface's word for the call.
    pub call: AtomicU32,
    /// From whom: a tid, or -1 for anyone.
    pub peer: AtomicI32,
    /// Which tag, or -1 for any.
    pub tag: AtomicI32,
    /// Which context.
    pub context: AtomicI32,
    /// Since when, in nanoseconds of CLOCK_MONOTONIC.
    pub since: AtomicU64,
    /// Until when at most, in the same; 0 without end.
    pub until: AtomicU64,
}

/// What a function of MPI does among the members of a communicator. It is the wait's when function and context are: then it was
/// written before that wait began.
#[repr(C)]
pub(crate) struct Operation {
    /// Which function, by the number that the high half of [`Waiting::call`] has; 0 none.
    pub function: AtomicU32,
    /// The context of its messages.
    pub context: AtomicU32,
    /// The task's rank, and how many members there are.
    pub rank: AtomicU32,
    pub size: AtomicU32,
    /// The root, or -1.
    pub root: AtomicI32,
    /// Which operation of the communicator's it is; -1 none.
    pub turn: AtomicI32,
    /// Bytes of data; all ones: no such number.
    pub bytes: AtomicU64,
    /// The communicator's name, in UTF-8, padded with zeros; a longer one is cut.
    pub name: [AtomicU64; 2],
}

/// A barrier; kept when it is over, for `call` says whether the task waits.
#[repr(C)]
pub(crate) struct Barrier {
    /// The group's name.
    pub group: [AtomicU8; GROUP_BYTES],
    /// How many are awaited; -1 for all members.
    pub count: AtomicI32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn control_block_layout_is_fixed() {
        assert_eq!(size_of::<Layout>(), PAGE_BYTES);
        assert_eq!(offset_of!(Layout, header), 0);
        assert_eq!(offset_of!(Header, magic), 0);
        assert_eq!(offset_of!(Header, version), 8);
        assert_eq!(offset_of!(Header, size), 12);
        assert_eq!(offset_of!(Header, owes_end), 16);
        assert_eq!(offset_of!(Layout, door), 64);
        assert_eq!(offset_of!(Door, state), 0);
        assert_eq!(offset_of!(Door, rings), 4);
        assert_eq!(offset_of!(Door, control), 8);
        assert_eq!(offset_of!(Door, waker_cpu), 12);
        assert_eq!(offset_of!(Door, own_cpu), 16);
        assert_eq!(offset_of!(Door, scheduled_in), 20);
        assert_eq!(offset_of!(Door, inbox), 24);
        assert_eq!(offset_of!(Door, fences), 28);
        assert_eq!(size_of::<Door>(), 64);
        assert_eq!(offset_of!(Layout, identity), 128);
        assert_eq!(offset_of!(Identity, pid), 0);
        assert_eq!(offset_of!(Identity, tid), 4);
        assert_eq!(offset_of!(Identity, started), 8);
        assert_eq!(offset_of!(Identity, interface), 16);
        assert_eq!(offset_of!(Identity, program), 32);
        assert_eq!(size_of::<Identity>(), 64);
        assert_eq!(offset_of!(Layout, waiting), 192);
        assert_eq!(offset_of!(Waiting, call), 0);
        assert_eq!(offset_of!(Waiting, peer), 4);
        assert_eq!(offset_of!(Waiting, tag), 8);
        assert_eq!(offset_of!(Waiting, context), 12);
        assert_eq!(offset_of!(Waiting, since), 16);
        assert_eq!(offset_of!(Waiting, until), 24);
        assert_eq!(offset_of!(Layout, counters), 256);
        // Numbers of routes, and room for at least a few locks.
        assert_eq!((MEMORY, MEMORY_WAY, HELD_LOCKS), (SENT_OVER + crate::routes::ROUTES, 58, 10));
        assert_eq!(offset_of!(Layout, barrier), 768);
        assert_eq!(offset_of!(Barrier, count), 64);
        assert_eq!(offset_of!(Layout, attended), 840);
        assert_eq!(offset_of!(Layout, routes), 848);
        assert_eq!(offset_of!(Layout, operation), 976);
        assert_eq!(offset_of!(Operation, bytes), 24);
        assert_eq!(offset_of!(Layout, unmatched), 1024);
        assert_eq!(offset_of!(Layout, inbox), 3072);
        assert_eq!(size_of::<Inbox>(), 1024);
        assert_eq!(offset_of!(Behind, words), 253_952 - PAGE_BYTES);
        assert_eq!(FILE_BYTES, 256 << 10);
    }
}
