//! What onlookers are told: in which function of MPI the program is, and what it does there.
//!
//! A function that may wait is kept in mind when the program calls it, in one word of the thread. What the members of a communicator do
//! together, and a send that its receiver may hold up, is shown in the task's page before it begins; a wait there is then known by its
//! function and its context. Short messages say their function only in the notes of their wait, and cost nothing.

use crate::comms::comm::Comm;
use crate::objects::numbers::THREAD_MULTIPLE;
use crate::process::functions;
use crate::process::this::Process;
use parvum_api::{CoreApi, MpiCall, call};
use parvum_wire::calls;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a thread keeps. In one piece: to find a thread's memory costs as much as to use it.
struct ThreadState {
    /// The function that it has called.
    function: Cell<u32>,
    /// See [`reader`].
    reader: Cell<u32>,
}

thread_local! {
    static KEPT: ThreadState = const { ThreadState { function: Cell::new(0), reader: Cell::new(0) } };
}

/// The number of a function; 0 for one that never waits.
pub const fn number(name: &str) -> u32 {
    functions::number(name)
}

/// The program has called this function.
#[inline]
pub fn enter(function: u32) {
    if function != 0 && KEPT.with(|kept| kept.function.replace(function)) == 0 {
        first_of_thread();
    }
}

/// Which place this thread has as a reader of the windows, as [`crate::windows::near`] counts them.
#[inline(always)]
pub(crate) fn reader() -> u32 {
    KEPT.with(|kept| kept.reader.get())
}

pub(crate) fn set_reader(reader: u32) {
    KEPT.with(|kept| kept.reader.set(reader));
}

fn function() -> u32 {
    KEPT.with(|kept| kept.function.get())
}

/// How many threads have called functions that wait.
static THREADS: AtomicU32 = AtomicU32::new(0);
/// What is added to a call: in the high half the number of the word before MPI's own, and the mark if threads are several.
static BASE: AtomicU32 = AtomicU32::new(0);

/// Tells the engine the names of the functions. Before the process joins the machine.
pub(crate) fn publish(api: CoreApi) {
    // Without room for them the numbers name no words of others.
    let before = api.describe(&functions::words()).unwrap_or(1 << 14);
    // Relaxed: for a person's eyes.
    BASE.fetch_or(calls::within(0, before), Ordering::Relaxed);
}

#[cold]
fn first_of_thread() {
    // Relaxed: for a person's eyes. A thread that has ended counts on.
    if THREADS.fetch_add(1, Ordering::Relaxed) > 0 {
        BASE.fetch_or(calls::THREADS, Ordering::Relaxed);
    }
}

/// Short messages do not keep their function in mind; where the program may have several threads they are counted all the same.
#[inline]
pub(crate) fn within(kind: u32, function: u32) -> u32 {
    if crate::process::this::threads() == THREAD_MULTIPLE {
        enter(function);
    }
    with_word(kind, function)
}

/// A kind of wait, in the function that this thread is in.
#[inline]
pub(crate) fn now(kind: u32) -> u32 {
    with_word(kind, function())
}

#[inline]
fn with_word(kind: u32, function: u32) -> u32 {
    let base = BASE.load(Ordering::Relaxed);
    match function {
        0 => kind | base & calls::THREADS,
        _ => calls::within(kind, function) + base,
    }
}

/// No number of bytes that all must agree on.
pub(crate) const NO_BYTES: u64 = u64::MAX;

/// The kind of a collective operation is part of the tags of its messages: those of different calls never meet. Twelve calls have the
/// numbers up to 12; this is what members tell each other to make something.
pub(crate) const MAKING: u32 = 13;

/// Shows what this process does next with the others of a communicator. `turn` is its place among what they do. Returns
/// the word of a wait in it, as [`now`].
#[inline]
pub(crate) fn publish_turn(process: &Process, comm: &Comm, turn: i32, root: i32, bytes: u64) -> u32 {
    let word = now(call::WAIT);
    tell(process, comm, word, (comm.collective_context(), turn, root), bytes);
    word
}

/// Shows a send that may have to wait for its receiver.
#[inline]
pub(crate) fn publish_send(process: &Process, comm: &Comm, bytes: usize) {
    tell(process, comm, now(0), (comm.context(), -1, -1), bytes as u64);
}

/// The send is over: what was shown of it is not the next one's.
#[inline]
pub(crate) fn forget_send(process: &Process) {
    process.api.tell(&NOTHING);
}

const NOTHING: MpiCall =
    MpiCall { function: 0, context: 0, rank: 0, size: 0, root: -1, turn: -1, bytes: NO_BYTES, name: [0; 2] };

#[inline]
fn tell(process: &Process, comm: &Comm, word: u32, (context, turn, root): (u32, i32, i32), bytes: u64) {
    process.api.tell(&MpiCall {
        function: calls::apart(word).1,
        context,
        rank: comm.rank() as u32,
        size: comm.size() as u32,
        root,
        turn,
        bytes,
        name: comm.shown_name(),
    });
}
