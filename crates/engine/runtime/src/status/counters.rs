//! `parvum.h`: what the program may ask about its own task, read from the control block as tools read it. The
//! functions therefore wait for no lock, and a thread may call them while another thread waits inside.

use crate::connecting::departing;
use crate::endpoint::Program;
use crate::inside::briefly;
use crate::status::account::{Account, account, last};
use parvum_api::{MpiCall, Notes};
use parvum_control::{Operation, PairCounters, ROUTES, Times, WaitingFor, monotonic_ns, totals};
use parvum_engine::Counter;
use std::ffi::c_char;
use std::ptr::{copy_nonoverlapping, null, write_bytes};
use std::sync::atomic::Ordering;

const NO_TASK: i32 = -1;
const BAD_ARGUMENT: i32 = -5;
/// The route of what stands for several peers.
const SEVERAL: i32 = -1;
/// Structures larger than this are mistakes.
const LARGEST: usize = 4096;

/// The table's `tell`.
pub(crate) unsafe extern "C" fn tell(told: *const MpiCall) {
    let Some(account) = account() else { return };
    // SAFETY: valid for the call, by the table's contract.
    let MpiCall { function, context, rank, size, root, turn, bytes, name } = unsafe { *told };
    account.control_block.set_operation(&Operation {
        function,
        context,
        rank,
        size,
        root,
        turn,
        bytes,
        name,
    });
}

/// The table's `show_wait`. The recording and the time belong to the thread inside. While another thread is inside,
/// this call omits them.
pub(crate) unsafe extern "C" fn show_wait(notes: *const Notes) {
    let Some(account) = account() else { return };
    // SAFETY: null, or valid for the call, by the table's contract.
    let Some(notes) = (unsafe { notes.as_ref() }) else {
        let since = account.control_block.waiting_for().map_or(u64::MAX, |wait| wait.since);
        account.control_block.wait_over();
        let waited = monotonic_ns().saturating_sub(since);
        briefly::<Program, _>(|runtime| {
            runtime.engine.ledger().add(Counter::Asleep, waited);
            runtime.note_end_of_wait(&NO_MESSAGE);
        });
        return;
    };
    let &Notes { call, peer, tag, context, .. } = notes;
    account.control_block.wait_for(WaitingFor { call, peer, tag, context, since: monotonic_ns(), until: 0 });
    briefly::<Program, _>(|runtime| runtime.note_wait(notes));
}

/// The notes of a wait that no message ends.
const NO_MESSAGE: Notes = Notes { limit: -1, call: 0, peer: -1, tag: -1, context: -1 };

/// The table's `oblige`. A task that has left may also complete its pending work, because a program may do this at its
/// very end.
pub(crate) extern "C" fn oblige(obliged: i32) {
    if let Some(last) = last() {
        last.control_block.set_owes_end(obliged != 0);
    }
    if obliged == 0 {
        departing::depart_if_put_off();
    }
}

/// `struct parvum_pair`.
#[repr(C)]
struct Pair {
    size: u32,
    peer: i32,
    route: i32,
    /// The reasons for the first four routes, for old programs that know only four.
    why: [u8; 4],
    counts: [u64; PAIR_COUNTS.len()],
    waited_ns: u64,
    why_routes: [u8; ROUTES],
}

/// `struct parvum_totals`.
#[repr(C)]
struct Totals {
    size: u32,
    tid: i32,
    age_ns: u64,
    waiting_ns: u64,
    communicating_ns: u64,
    computing_ns: u64,
    counts: [u64; TOTAL_COUNTS.len()],
}

/// The source of a count in the header: one counter, or the sum of two.
type Count = (Counter, Option<Counter>);
const ARRIVED: Count = (Counter::Expected, Some(Counter::Unexpected));

/// In the order of the header.
const PAIR_COUNTS: [Count; 16] = [
    (Counter::Sent, None),
    (Counter::SentBytes, None),
    ARRIVED,
    (Counter::ArrivedBytes, None),
    (Counter::Expected, None),
    (Counter::Unexpected, None),
    (Counter::CopiedIn, None),
    (Counter::CopiedOut, None),
    (Counter::Pulled, None),
    (Counter::PulledBytes, None),
    (Counter::BufferedHere, None),
    (Counter::BufferedAtSender, None),
    (Counter::CreditStalls, None),
    (Counter::Discarded, None),
    (Counter::Lost, None),
    (Counter::Refused, None),
];

/// In the order of the header.
const TOTAL_COUNTS: [Count; 22] = [
    (Counter::Sleeps, None),
    (Counter::Sent, None),
    (Counter::SentBytes, None),
    (Counter::Received, None),
    (Counter::ReceivedBytes, None),
    ARRIVED,
    (Counter::ArrivedBytes, None),
    (Counter::Expected, None),
    (Counter::Unexpected, None),
    (Counter::CopiedIn, None),
    (Counter::CopiedOut, None),
    (Counter::Pulled, None),
    (Counter::PulledBytes, None),
    (Counter::BufferedHere, None),
    (Counter::BufferedAtSender, None),
    (Counter::CreditStalls, None),
    (Counter::Discarded, None),
    (Counter::Lost, None),
    (Counter::Refused, None),
    (Counter::WaitingMessages, None),
    (Counter::WaitingBytes, None),
    (Counter::WaitingSends, None),
];

fn counts<const N: usize>(wanted: [Count; N], counters: &[u64]) -> [u64; N] {
    let at = |counter: Counter| counters.get(counter as usize).copied().unwrap_or(0);
    wanted.map(|(one, other)| at(one) + other.map_or(0, at))
}

impl Pair {
    fn of(pair: &PairCounters) -> Pair {
        Pair {
            size: size_of::<Pair>() as u32,
            peer: pair.peer,
            route: if pair.peer == 0 { SEVERAL } else { pair.route.into() },
            why: *pair.reasons.first_chunk().expect("there are more"),
            counts: counts(PAIR_COUNTS, &pair.counters),
            waited_ns: pair.waited,
            why_routes: pair.reasons,
        }
    }
}

impl Totals {
    fn of(account: &Account) -> Totals {
        let Account { control_block, book, .. } = account;
        let now = monotonic_ns();
        // Relaxed: written once, before this task had its id.
        let (tid, started) =
            (control_block.identity().tid.load(Ordering::Relaxed), &control_block.identity().started);
        let in_wait = control_block.waiting_for().map_or(0, |wait| now.saturating_sub(wait.since));
        let counters = totals(control_block.layout(), &book.read());
        let times = Times::of(&counters, now.saturating_sub(started.load(Ordering::Relaxed)), in_wait);
        Totals {
            size: size_of::<Totals>() as u32,
            tid,
            age_ns: times.age,
            waiting_ns: times.waiting,
            communicating_ns: times.communicating,
            computing_ns: times.computing(),
            counts: counts(TOTAL_COUNTS, &counters),
        }
    }
}

/// The size that the caller gives its structures, if that can be.
///
/// # Safety
/// `out` is null or points to a structure that begins with a `u32`.
unsafe fn size_at<T>(out: *mut T) -> Option<usize> {
    // At least the size and what names the row; whole numbers only.
    const SMALLEST: usize = 16;
    if out.is_null() || !out.is_aligned() {
        return None;
    }
    // SAFETY: by the caller's promise; aligned, by the check.
    let size = unsafe { out.cast::<u32>().read() } as usize;
    ((SMALLEST..=LARGEST).contains(&size) && size.is_multiple_of(8)).then_some(size)
}

/// Writes as much of `row` as goes into the caller's structure, and zeros behind it.
///
/// # Safety
/// `out` is memory of the caller's of `size` bytes, aligned for `T`, which begins with its size.
unsafe fn give<T>(out: *mut u8, size: usize, row: &T) {
    let filled = size.min(size_of::<T>());
    // SAFETY: by the caller's promise; a row is plain numbers without gaps.
    unsafe {
        copy_nonoverlapping((&raw const *row).cast(), out, filled);
        write_bytes(out.add(filled), 0, size - filled);
        out.cast::<u32>().write(filled as u32);
    }
}

/// `parvum_ledger(3)`.
///
/// # Safety
/// `out` has room for so many structures of the size that the first one says.
#[unsafe(no_mangle)]
unsafe extern "C" fn parvum_ledger(out: *mut Pair, room: i32) -> i32 {
    let Ok(room) = usize::try_from(room) else { return BAD_ARGUMENT };
    // SAFETY: as above; with no room nothing is read.
    let size = if room == 0 { Some(0) } else { unsafe { size_at(out) } };
    let Some(size) = size else { return BAD_ARGUMENT };
    let Some(account) = account() else { return NO_TASK };
    let pairs = account.book.read();
    for (at, pair) in pairs.iter().take(room).enumerate() {
        // SAFETY: as above, and `at` is below `room`; sizes are multiples of the alignment.
        unsafe { give(out.cast::<u8>().add(at * size), size, &Pair::of(pair)) };
    }
    pairs.len() as i32
}

/// `parvum_totals(3)`.
///
/// # Safety
/// `out` is null, or a structure of the size that it says.
#[unsafe(no_mangle)]
unsafe extern "C" fn parvum_totals(out: *mut Totals) -> i32 {
    // SAFETY: as above.
    let Some(size) = (unsafe { size_at(out) }) else { return BAD_ARGUMENT };
    let Some(account) = account() else { return NO_TASK };
    // SAFETY: as above.
    unsafe { give(out.cast(), size, &Totals::of(account)) };
    0
}

/// `parvum_route_name(3)`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn parvum_route_name(route: i32) -> *const c_char {
    let name = || account()?.routes.get(usize::try_from(route).ok()?).filter(|name| !name.is_empty());
    name().map_or(null(), |name| name.as_ptr())
}
