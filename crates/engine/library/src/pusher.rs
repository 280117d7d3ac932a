//! Hands over, while the program computes, what a send had to leave behind.
//!
//! A PVM send does not wait for its receiver. When the ring is full, or data must be
//! streamed to a receiver that is not inside the library, the engine keeps a copy,
//! and somebody must push it on. This thread exists only while there is such data;
//! it never runs the program's signal handlers, and holds the lock only to push.

use crate::endpoint::Place;
use crate::inside::Inside;
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

/// Starts the thread unless it runs. Called with the lock held.
pub(crate) fn start(place: &'static Place) {
    // Relaxed: written under the lock only.
    if place.is_pushed.swap(true, Ordering::Relaxed) {
        return;
    }
    let builder = std::thread::Builder::new().name("parvum push".into()).stack_size(STACK);
    let thread = || builder.spawn(move || run(place));
    if parvum_waist::without_signals(thread).is_err() {
        // The next call of the program pushes.
        place.stops_pushing();
    }
}

fn run(place: &'static Place) {
    let mut pause = PAUSES.0;
    loop {
        // The program's own calls push as well; this thread is for one that computes, and must not be in its way.
        std::thread::sleep(pause);
        pause = match look(place) {
            Look::Moved => PAUSES.0,
            Look::Waiting => (2 * pause).min(PAUSES.1),
            Look::Done => return,
        };
    }
}

/// One look: hands over what there is room for.
fn look(place: &'static Place) -> Look {
    // Whoever has the turn is inside the library, and pushes; this thread sleeps meanwhile, however long.
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
