//! Hands over, while the program computes, what a send had to leave behind.
//!
//! A PVM send does not wait for its receiver. If the ring is full, or a receiver of streamed data is not inside the
//! library, the engine keeps a copy, and a thread must send it later. This thread exists only while there is such data;
//! it never runs the program's signal handlers, and holds the lock only to push. While the program sends or receives,
//! its own calls push. This thread does not even ask for the lock then, because each of these calls would have to wake
//! it without need.

use crate::endpoint::EndpointCell;
use crate::inside::Inside;
use parvum_engine::{Counter, Counters};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The first and the longest pause between two looks.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));
/// It calls little: no program's worth of stack.
const STACK: usize = 128 << 10;

/// What one look found.
enum Look {
    /// Something moved.
    Moved,
    /// Nothing moved, but there is more to push.
    Waiting,
    /// There is nothing left to push, or the task has left.
    Done,
}

/// Starts the thread unless it runs. Called with the lock held; the counters belong to the place's engine.
pub(crate) fn start(place: &'static EndpointCell, ledger: Counters) {
    // Relaxed: written under the lock only.
    if place.is_pushed.swap(true, Ordering::Relaxed) {
        return;
    }
    let builder = std::thread::Builder::new().name("parvum push".into()).stack_size(STACK);
    let thread = || builder.spawn(move || run(place, ledger));
    if parvum_sync::without_signals(thread).is_err() {
        // The next call of the program pushes.
        place.stops_pushing();
    }
}

fn run(place: &'static EndpointCell, ledger: Counters) {
    let mut pause = PAUSES.0;
    let mut calls = calls_of(ledger);
    loop {
        std::thread::sleep(pause);
        let before = std::mem::replace(&mut calls, calls_of(ledger));
        let look = if calls == before { look(place) } else { Look::Waiting };
        pause = match look {
            Look::Moved => PAUSES.0,
            Look::Waiting => (2 * pause).min(PAUSES.1),
            Look::Done => return,
        };
    }
}

/// How often the program has sent or received.
fn calls_of(ledger: Counters) -> u64 {
    ledger.read(Counter::Sent).wrapping_add(ledger.read(Counter::Received))
}

/// One look: hands over what there is room for.
fn look(place: &'static EndpointCell) -> Look {
    // The thread with the process lock is inside the library, and pushes. This thread sleeps during that time.
    if let Some(mut inside) = Inside::new(place, place.runtime.take()) {
        let moved = inside.progress();
        let is_behind = inside.engine.is_behind_at_all() && !inside.identity.session.is_lost();
        if is_behind {
            inside.leave();
            return if moved { Look::Moved } else { Look::Waiting };
        }
        place.stops_pushing();
        inside.leave();
        return Look::Done;
    }
    place.stops_pushing();
    Look::Done
}
