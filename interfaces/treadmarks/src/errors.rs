//! The end of a run: one sentence on standard error, and the end of the process.

use parvum_consistency::Fault;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why the run cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("E-TMK-EARLY: {0} was called before Tmk_startup; help: call that first, in every process")]
    Early(&'static str),
    #[error("E-TMK-TWICE: Tmk_startup was called twice; help: call it once in every process")]
    Twice,
    #[error("E-TMK-LOCK: there is no lock {0}; help: use a number from 0 to TMK_NLOCKS - 1, which is {max}", max = crate::limits::LOCKS - 1)]
    NoSuchLock(u32),
    #[error("E-TMK-BARRIER: there is no barrier {0}; help: use a number from 0 to TMK_NBARRIERS - 1, which is {max}", max = crate::limits::BARRIERS - 1)]
    NoSuchBarrier(u32),
    #[error(
        "E-TMK-HELD: lock {0} is taken already by this process; help: release it before it is taken again"
    )]
    HeldAlready(u32),
    #[error(
        "E-TMK-HELD: lock {0} is not held by this process; help: release a lock once, in the process that has taken it"
    )]
    NotHeld(u32),
    #[error("E-TMK-BARRIER: node {} waits at barrier {}, and node {} at barrier {}; help: all must come to the same one", .0.0, .0.1, .1.0, .1.1)]
    DifferentBarriers((usize, u32), (usize, u32)),
    #[error(
        "E-TMK-POINTER: {0:#x} was not returned by Tmk_malloc, or is free already; help: free each block once"
    )]
    NotAllocated(usize),
    #[error(
        "E-TMK-POINTER: {0:#x} is not in the shared heap, or only partly; help: pass memory of Tmk_malloc"
    )]
    NotShared(usize),
    #[error(
        "E-TMK-PRIVATE: {0:#x} is no variable that all processes have; help: Tmk_distribute takes global or static variables, which the program or a library of it has"
    )]
    NotPrivate(usize),
    #[error("E-TMK-ARGUMENT: {0}")]
    BadArgument(&'static str),
    #[error(
        "E-TMK-ARGUMENT: node {0} gives Tmk_reduce another type, operator or count than others; help: give the same everywhere"
    )]
    DifferentReduces(usize),
    #[error(
        "E-TMK-HOME: somebody has touched the memory already; help: call Tmk_home right after Tmk_malloc"
    )]
    TouchedAlready,
    #[error(
        "E-TMK-VIEW: view {0} does not exist, or was made already; help: make each view once by Tmk_alloc_view, with a number from 0 to {max}", max = crate::limits::VIEWS - 1
    )]
    NoSuchView(u32),
    #[error(
        "E-TMK-VIEW: view {0} is held already by this process; help: release it before it is acquired again"
    )]
    ViewHeldAlready(u32),
    #[error(
        "E-TMK-VIEW: memory of view {0} was touched, or the view released, by a process that has not acquired it so; help: acquire it before, and release it as it was acquired"
    )]
    ViewNotHeld(u32),
    #[error(
        "E-TMK-VIEW: view {0} was written to by a process that has acquired it to read; help: use Tmk_acquire_view"
    )]
    ViewReadOnly(u32),
    #[error("E-TMK-NODES: there are {0} processes, and {max} are allowed (TMK_NPROCS); help: `parvum run -n {max}` or fewer", max = crate::limits::NODES)]
    TooManyNodes(usize),
    #[error("E-TMK-BINARY: node {0} runs another program than node 0; help: start the same file everywhere")]
    OtherBinary(usize),
    #[error(
        "E-TMK-OPTION: node {0} has other options than node 0 (TMK_PROTOCOL, TMK_HEAP, TMK_PAGE, TMK_RECORDS, TMK_PUSH, TMK_AHEAD, TMK_RACES, TMK_REPLICAS, TMK_GROUP); help: set them the same everywhere"
    )]
    OtherOptions(usize),
    #[error(
        "E-TMK-ROOM: node {node} has no room for a shared heap of {bytes} bytes at an address that is free everywhere; help: set TMK_HEAP to less; help: `ulimit -v unlimited` there"
    )]
    NoRoom { node: usize, bytes: u64 },
    #[error("E-TMK-RACES: --races needs x86-64; help: run the program on such a host")]
    NoStepping,
    #[error("E-OPTION: {0}")]
    BadOption(String),
    #[error(
        "E-TMK-DEAD: node {node} (task t{task:x}) has ended before its Tmk_exit; note: the run ends; help: read what that node has printed"
    )]
    Dead { node: usize, task: i32 },
    #[error(
        "E-TMK-REPLICA: node {node} has ended, and node {keeper}, which kept its memory, has too, before the next barrier; note: TMK_REPLICAS=1 bears one such end between two barriers"
    )]
    Unkept { node: usize, keeper: usize },
    #[error("E-TMK-REPLICA: there is no {0} with TMK_REPLICAS=1; help: use one of the two")]
    NotWithReplicas(&'static str),
    #[error(
        "E-TMK-RACES: --races needs a private memory in each task; help: leave out TMK_GROUP, or set it to 1"
    )]
    NotWithRaces,
    #[error(
        "E-TMK-PROTECT: the system refuses to protect a page ({0}); help: raise vm.max_map_count, or use larger pages (TMK_PAGE)"
    )]
    CannotProtect(String),
    #[error(
        "E-TMK-FAULTS: the kernel does not let this user use userfaultfd ({0}); help: leave TMK_FAULTS out, or set it to mprotect"
    )]
    NoUserfault(String),
    #[error("E-TMK-HUGE: there are no huge pages for shared memory: {0}; help: leave out TMK_HUGE")]
    NoHuge(String),
    #[error(
        "E-TMK-HANDLER: a signal handler touched shared memory while this process waited in a call of TreadMarks; help: touch it before"
    )]
    InHandler,
    #[error(
        "E-TMK-CHILD: a process made by fork touched shared memory, which is given to those that called Tmk_startup; help: touch it in its parent"
    )]
    InChild,
    #[error(
        "E-TMK-PROTOCOL: node {0} sent what this program cannot read; help: use libraries of one release"
    )]
    Malformed(usize),
    #[error("E-TMK-MACHINE: {0}")]
    Machine(String),
    #[error(
        "E-TMK-LEFT: this process has left the machine (pvm_exit, or the like), by which it met the others; help: leave it after Tmk_exit"
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

/// Prints the reason, and ends the process and the run. From any thread, and from the handler of faults.
pub(crate) fn end(why: &Trouble) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    // Relaxed: any one of the threads prints it, and the others wait for the end.
    while ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    let who = NODE.get().map_or_else(|| "libTmk".to_owned(), |node| format!("libTmk: node {node}"));
    let said = parvum_errors::shown(&who, &why.to_string()) + "\n";
    // In one piece, because the virtual machine may end this process at any time. If standard error is gone, there is
    // no other place for the message.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each kind.
    fn all() -> Vec<Trouble> {
        vec![
            Trouble::Early("Tmk_malloc"),
            Trouble::Twice,
            Trouble::NoSuchLock(9999),
            Trouble::NoSuchBarrier(9999),
            Trouble::HeldAlready(1),
            Trouble::NotHeld(1),
            Trouble::DifferentBarriers((1, 3), (2, 4)),
            Trouble::NotAllocated(0x10),
            Trouble::NotShared(0x10),
            Trouble::NotPrivate(0x10),
            Trouble::BadArgument("the size is negative; help: give how many bytes"),
            Trouble::DifferentReduces(1),
            Trouble::TouchedAlready,
            Trouble::NoSuchView(9),
            Trouble::ViewHeldAlready(9),
            Trouble::ViewNotHeld(9),
            Trouble::ViewReadOnly(9),
            Trouble::TooManyNodes(999),
            Trouble::OtherBinary(1),
            Trouble::OtherOptions(1),
            Trouble::NoRoom { node: 1, bytes: 1 << 40 },
            Trouble::NoStepping,
            Trouble::BadOption("TMK_HEAP=x is not valid; help: use a size".into()),
            Trouble::Dead { node: 1, task: 0x40001 },
            Trouble::Unkept { node: 1, keeper: 2 },
            Trouble::NotWithReplicas("view"),
            Trouble::NotWithRaces,
            Trouble::CannotProtect("Cannot allocate memory".into()),
            Trouble::NoUserfault("Operation not permitted".into()),
            Trouble::NoHuge("shmem_enabled says never; help: as root, set it to advise".into()),
            Trouble::InHandler,
            Trouble::InChild,
            Trouble::Malformed(1),
            Trouble::Machine("no machine is up; help: `parvum up`".into()),
            Trouble::Left,
        ]
    }

    #[test]
    fn texts_have_the_form_of_all_errors_and_name_a_help() {
        for trouble in all() {
            let text = trouble.to_string();
            let message = parvum_errors::Message::read(&text);
            assert!(message.code.starts_with("E-TMK-") || message.code == "E-OPTION", "{text}");
            // An error without a remedy has a note.
            assert!(!message.help.is_empty() || !message.notes.is_empty(), "{text}");
            assert_eq!(message.to_string(), text);
        }
    }
}
