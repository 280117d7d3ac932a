//! The frame of a call: it takes the state, runs handlers that are due, and keeps the error of a failure.

use crate::completing::run_handlers;
use crate::errors::{Cmmd, Fault, remember};
use crate::state::{Guard, enter, not_matching};
use parvum_sync::BiasedLock;

/// The threads of a node do collective operations one after the other: messages of two of them would be mixed up. A thread
/// that begins one waits for another's without the state. It is taken before the state.
static TOGETHER: BiasedLock<()> = BiasedLock::new(());

/// Runs one call: its value, or what it gives when it fails.
#[inline]
pub(crate) fn call<T>(otherwise: T, work: impl FnOnce(&mut Guard) -> Cmmd<T>) -> T {
    guarded(otherwise, |mut state| {
        let result = work(&mut state);
        (state, result)
    })
}

/// The same, for what all nodes do together; handlers run when it is over, and may do such things themselves.
pub(crate) fn together<T>(otherwise: T, work: impl FnOnce(&mut Guard) -> Cmmd<T>) -> T {
    // A matching function has the state, so it must not wait for threads that may want the state.
    let alone = not_matching().and_then(|()| TOGETHER.take_unless_own().ok_or(Fault::Busy));
    match alone {
        Ok(alone) => guarded(otherwise, |mut state| {
            let result = work(&mut state);
            drop(alone);
            (state, result)
        }),
        Err(why) => {
            remember(why);
            otherwise
        }
    }
}

/// The same, for a call that lets go of the state while handlers run.
#[inline]
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce(Guard) -> (Guard, Cmmd<T>)) -> T {
    let done = enter().and_then(|state| {
        let (state, result) = work(state);
        if state.operations.has_handlers() && state.interrupts {
            drop(run_handlers(state));
        }
        result
    });
    done.unwrap_or_else(|why| {
        remember(why);
        otherwise
    })
}
