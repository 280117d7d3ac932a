//! The account that the engine's library keeps of this process's task: what `parvum.h` gives to any program.

use crate::open::loaded;
use std::sync::OnceLock;

/// `struct parvum_totals`: the task as a whole.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    size: u32,
    /// The task.
    pub tid: i32,
    /// Nanoseconds since it enrolled.
    pub age: u64,
    /// Nanoseconds in waits.
    pub waiting: u64,
    /// Nanoseconds in calls besides.
    pub communicating: u64,
    /// Nanoseconds outside of calls.
    pub computing: u64,
    /// The counts, in the order of `parvum.h`, from `sleeps` on.
    pub counts: [u64; 22],
}

/// `struct parvum_pair`: a peer and a route.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    size: u32,
    /// The peer's task; 0: many.
    pub peer: i32,
    /// The number of the route; negative for many.
    pub route: i32,
    why: [u8; 4],
    /// The counts, in the order of `parvum.h`, from `sent` on.
    pub counts: [u64; 16],
    waited: u64,
    why_routes: [u8; 8],
}

type AskTotals = unsafe extern "C" fn(*mut Totals) -> i32;
type AskPairs = unsafe extern "C" fn(*mut Pair, i32) -> i32;

/// The two functions of the library, when the process has it.
fn functions() -> Option<(AskTotals, AskPairs)> {
    static FUNCTIONS: OnceLock<(AskTotals, AskPairs)> = OnceLock::new();
    if let Some(&both) = FUNCTIONS.get() {
        return Some(both);
    }
    let library = loaded()?;
    // SAFETY: `parvum.h` declares them so in every release; structures grow at their ends and say how large they are.
    let both = unsafe {
        (
            *library.get::<AskTotals>(b"parvum_totals\0").ok()?,
            *library.get::<AskPairs>(b"parvum_ledger\0").ok()?,
        )
    };
    // The engine is never unloaded.
    std::mem::forget(library);
    Some(*FUNCTIONS.get_or_init(|| both))
}

/// The totals of the task so far; `None`: this process has no task.
pub fn totals() -> Option<Totals> {
    let mut out = Totals { size: size_of::<Totals>() as u32, ..Totals::default() };
    // SAFETY: a structure of the size that it says.
    let done = unsafe { functions()?.0(&mut out) };
    (done == 0).then_some(out)
}

/// The same for each of its peers and routes; empty if the process is not a task.
pub fn pairs() -> Vec<Pair> {
    let Some((_, ask)) = functions() else { return Vec::new() };
    let empty = Pair { size: size_of::<Pair>() as u32, ..Pair::default() };
    let mut all = Vec::new();
    loop {
        // SAFETY: room for as many structures as it says, of the size that the first one says.
        let there = unsafe { ask(all.as_mut_ptr(), all.len() as i32) };
        let there = usize::try_from(there).unwrap_or(0);
        // More pairs may exist by now.
        let fits = there <= all.len();
        all.resize(there, empty);
        if fits {
            return all;
        }
    }
}
