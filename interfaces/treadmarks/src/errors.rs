//! What ends a run: one sentence on standard error, and the process.

use parvum_consistency::Fault;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the run cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("E-TMK-EARLY: {0} was called before Tmk_startup; call that first, in every process")]
    Early(&'static str),
    #[error("E-TMK-TWICE: Tmk_startup was called twice; call it once in every process")]
    Twice,
    #[error("E-TMK-LOCK: there is no lock {0}; locks are numbered from 0 to TMK_NLOCKS - 1, which is {max}", max = crate::limits::LOCKS - 1)]
    NoSuchLock(u32),
    #[error("E-TMK-BARRIER: there is no barrier {0}; barriers are numbered from 0 to TMK_NBARRIERS - 1, which is {max}", max = crate::limits::BARRIERS - 1)]
    NoSuchBarrier(u32),
    #[error("E-TMK-HELD: lock {0} is taken already by this process; release it before it is taken again")]
    HeldAlready(u32),
    #[error("E-TMK-HELD: lock {0} is not held by this process; only who has taken a lock releases it, once")]
    NotHeld(u32),
    #[error("E-TMK-BARRIER: node {} waits at barrier {}, and node {} at barrier {}; all must come to the same one", .0.0, .0.1, .1.0, .1.1)]
    DifferentBarriers((usize, u32), (usize, u32)),
    #[error("E-TMK-POINTER: {0:#x} was not given by Tmk_malloc, or is free already; free what it gave, once")]
    NotAllocated(usize),
    #[error("E-TMK-POINTER: {0:#x} lies not in the shared heap, or not all of it; give what Tmk_malloc gave")]
    NotShared(usize),
    #[error(
        "E-TMK-PRIVATE: {0:#x} is no variable that all processes have; Tmk_distribute takes global or static variables, which the program or a library of it has"
    )]
    NotPrivate(usize),
    #[error("E-TMK-ARGUMENT: {0}")]
    BadArgument(&'static str),
    #[error(
        "E-TMK-ARGUMENT: node {0} gives Tmk_reduce another type, operator or count than others; give the same everywhere"
    )]
    DifferentReduces(usize),
    #[error("E-TMK-HOME: somebody has touched the memory already; call Tmk_home right after Tmk_malloc")]
    TouchedAlready,
    #[error(
        "E-TMK-VIEW: view {0} does not exist, or was made already; one process makes each by Tmk_alloc_view, once, numbered from 0 to TMK_NVIEWS - 1, which is {max}", max = crate::limits::VIEWS - 1
    )]
    NoSuchView(u32),
    #[error("E-TMK-VIEW: view {0} is held already by this process; release it before it is acquired again")]
    ViewHeldAlready(u32),
    #[error(
        "E-TMK-VIEW: memory of view {0} was touched, or the view released, by a process that has not acquired it so; acquire it before, and release it as it was acquired"
    )]
    ViewNotHeld(u32),
    #[error(
        "E-TMK-VIEW: view {0} was written to by a process that has acquired it to read; use Tmk_acquire_view"
    )]
    ViewReadOnly(u32),
    #[error("E-TMK-NODES: there are {0} processes, and {max} are allowed (TMK_NPROCS)", max = crate::limits::NODES)]
    TooManyNodes(usize),
    #[error("E-TMK-BINARY: node {0} runs another program than node 0; start the same file everywhere")]
    OtherBinary(usize),
    #[error(
        "E-TMK-OPTION: node {0} has other options than node 0 (TMK_PROTOCOL, TMK_HEAP, TMK_PAGE, TMK_RECORDS, TMK_PUSH, TMK_RACES, TMK_REPLICAS, TMK_GROUP); set them the same everywhere"
    )]
    OtherOptions(usize),
    #[error(
        "E-TMK-ROOM: node {node} has no room for a shared heap of {bytes} bytes at an address that is free everywhere; set TMK_HEAP to less, or raise its limit of memory (ulimit -v)"
    )]
    NoRoom { node: usize, bytes: u64 },
    #[error(
        "E-TMK-RACES: races are looked for on x86-64 alone, one instruction at a time; run the program there"
    )]
    NoStepping,
    #[error("E-OPTION: {0}")]
    BadOption(String),
    #[error(
        "E-TMK-DEAD: node {node} (task t{task:x}) has ended before its Tmk_exit; the run ends, see what it said"
    )]
    Dead { node: usize, task: i32 },
    #[error(
        "E-TMK-REPLICA: node {node} has ended, and node {keeper}, which kept its memory, has too, before the next barrier; TMK_REPLICAS=1 bears one such end between two barriers"
    )]
    Unkept { node: usize, keeper: usize },
    #[error("E-TMK-REPLICA: there is no {0} with TMK_REPLICAS=1; use one of the two")]
    NotWithReplicas(&'static str),
    #[error(
        "E-TMK-RACES: races are looked for in a memory of each task's own; leave out TMK_GROUP, or set it to 1"
    )]
    NotWithRaces,
    #[error(
        "E-TMK-PROTECT: the system refuses to protect a page ({0}); raise vm.max_map_count, or use larger pages (TMK_PAGE)"
    )]
    CannotProtect(String),
    #[error(
        "E-TMK-FAULTS: the kernel does not give this user the faults of shared memory by userfaultfd ({0}); leave TMK_FAULTS out, or set it to mprotect"
    )]
    NoUserfault(String),
    #[error("E-TMK-HUGE: there are no huge pages for shared memory: {0}; or leave out TMK_HUGE")]
    NoHuge(String),
    #[error(
        "E-TMK-HANDLER: a signal handler touched shared memory while this process waited in a call of TreadMarks; touch it before"
    )]
    InHandler,
    #[error(
        "E-TMK-CHILD: a process made by fork touched shared memory, which is given to those that called Tmk_startup; touch it in its parent"
    )]
    InChild,
    #[error("E-TMK-PROTOCOL: node {0} sent what this program cannot read; use libraries of one release")]
    Malformed(usize),
    #[error("E-TMK-MACHINE: {0}")]
    Machine(String),
    #[error(
        "E-TMK-LEFT: this process has left the machine (pvm_exit, or the like), by which it met the others; leave it after Tmk_exit"
    )]
    Left,
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        match fault {
            Fault::NoSuchLock(lock) => Trouble::NoSuchLock(lock),
            Fault::NoSuchBarrier(barrier) => Trouble::NoSuchBarrier(barrier),
            Fault::HeldAlready(lock) => Trouble::HeldAlready(lock),
            Fault::NotHeld(lock) => Trouble::NotHeld(lock),
            Fault::DifferentBarriers { nodes, at } => {
                Trouble::DifferentBarriers((nodes.0, at.0), (nodes.1, at.1))
            }
            Fault::NoSuchView(view) => Trouble::NoSuchView(view),
            Fault::ViewHeldAlready(view) => Trouble::ViewHeldAlready(view),
            Fault::ViewNotHeld(view) => Trouble::ViewNotHeld(view),
            Fault::ViewReadOnly(view) => Trouble::ViewReadOnly(view),
            Fault::TouchedAlready => Trouble::TouchedAlready,
            Fault::ViewsAreNotKept => Trouble::NotWithReplicas("view"),
            Fault::Unkept { node, keeper } => Trouble::Unkept { node, keeper },
            Fault::NoSuchPage(_) => Trouble::NotShared(0),
            Fault::Busy => Trouble::InHandler,
            Fault::Malformed(node) => Trouble::Malformed(node),
        }
    }
}

unsafe extern "C" {
    static mut stdout: *mut libc::FILE;
    fn ftrylockfile(file: *mut libc::FILE) -> libc::c_int;
}

/// The number of this process's node, once the run has begun.
static NODE: OnceLock<usize> = OnceLock::new();

/// Puts the node's number into messages from now on.
pub(crate) fn name_node(own: usize) {
    NODE.get_or_init(|| own);
}

/// Says why, and ends the process and with it the run. From any thread, and from the handler of faults.
pub(crate) fn end(why: &Trouble) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    // Relaxed: one of the threads says it, whichever, and the others wait for the end.
    while ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let said = match NODE.get() {
        Some(node) => format!("libTmk: node {node}: {why}\n"),
        None => format!("libTmk: {why}\n"),
    };
    // In one piece: the machine may end this process meanwhile. Who cannot be told is not.
    let _ = std::io::stderr().write_all(said.as_bytes());
    flush();
    // SAFETY: it does not return.
    unsafe { libc::_exit(1) }
}

/// Puts out what the program has printed, unless another thread of it is printing, perhaps for ever.
fn flush() {
    // SAFETY: the C library's own file; it is locked by this thread while it is put out, and nobody prints any more after.
    unsafe {
        if ftrylockfile(stdout) == 0 {
            libc::fflush(stdout);
        }
    }
}
