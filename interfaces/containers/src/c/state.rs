//! Client states and their timers.

use super::{Handle, Kind, count, done, handle};
use crate::errors::Error;
use crate::state::{ClientState, Decision, Protocol};
use std::cell::RefCell;
use std::ffi::{c_int, c_long, c_void};
use std::time::Duration;

/// A client state, and what the program keeps with it.
pub struct State {
    state: RefCell<ClientState>,
    data: RefCell<*mut c_void>,
}

impl Kind for State {
    const MARK: u64 = 0x6368_7374_6174_6500;
}

/// The program's handler of a timer.
type OnExpiry = unsafe extern "C" fn(*mut Handle<State>) -> c_int;

/// The address of a state, for its own handler.
struct StateHandle(*mut Handle<State>);
// SAFETY: the pointer is only given back to the program, by the thread that is in a call with it.
unsafe impl Send for StateHandle {}

impl StateHandle {
    fn get(&self) -> *mut Handle<State> {
        self.0
    }
}

/// Runs a call with the program's state, or with a temporary state if the program gave null. During the call the state
/// is out of its place. It is in its place only while the handler runs, because the handler may use it.
///
/// # Safety
/// Null, or a handle of this library that only this thread uses.
pub(super) unsafe fn borrowed<R>(
    handle: *mut Handle<State>,
    work: impl FnOnce(&mut ClientState) -> Result<R, Error>,
) -> Result<R, Error> {
    if handle.is_null() {
        return work(&mut ClientState::default());
    }
    // SAFETY: the caller's promise.
    let place = unsafe { Handle::of(handle)? };
    let mut state = place.state.take();
    let result = work(&mut state);
    place.state.replace(state);
    result
}

/// Makes a client state: protocol 0 is reliable, 1 datagrams.
#[unsafe(no_mangle)]
pub extern "C" fn ch_state_create(protocol: c_int) -> *mut Handle<State> {
    let protocol = match protocol {
        0 => Ok(Protocol::Reliable),
        1 => Ok(Protocol::Datagram),
        _ => Err(Error::BadArgument),
    };
    handle(protocol.map(|protocol| State {
        state: RefCell::new(ClientState::new(protocol)),
        data: RefCell::new(std::ptr::null_mut()),
    }))
}

/// Releases a client state.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_destroy(state: *mut Handle<State>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(state) })
}

/// Sets the timer; 0 takes it away. Without a handler the call gives up.
///
/// # Safety
/// `state` must be a handle of this library or null; the handler a function that returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_set_timer(
    state: *mut Handle<State>,
    milliseconds: c_long,
    on_expiry: Option<OnExpiry>,
) -> c_int {
    let set = || {
        // SAFETY: the caller's promise.
        let it = unsafe { Handle::of(state)? };
        let time = u64::try_from(milliseconds).map_err(|_| Error::BadArgument)?;
        let place = StateHandle(state);
        let handler = on_expiry.map(|ask| {
            let handler = move |now: &mut ClientState| {
                let state = place.get();
                // SAFETY: the state lives as long as the call that its handler is asked in.
                let Ok(it) = (unsafe { Handle::of(state) }) else { return Decision::GiveUp };
                it.state.swap(&RefCell::new(std::mem::take(now)));
                // SAFETY: the program's own function, with the program's own handle.
                let decision = unsafe { ask(state) };
                *now = it.state.take();
                match decision {
                    1 => Decision::Again,
                    2 => Decision::WaitOn,
                    _ => Decision::GiveUp,
                }
            };
            Box::new(handler) as Box<dyn FnMut(&mut ClientState) -> Decision + Send>
        });
        it.state.borrow_mut().set_timer(Duration::from_millis(time), handler);
        Ok(())
    };
    done(set())
}

/// Keeps a pointer of the program's with the state.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_set_data(state: *mut Handle<State>, data: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::of(state) }.map(|state| {
        state.data.replace(data);
    }))
}

/// The pointer that the program keeps with the state.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_data(state: *const Handle<State>) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { Handle::of(state) }.map_or(std::ptr::null_mut(), |state| *state.data.borrow())
}

/// How often the timer has expired in the call under way, or in the last one.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_expiries(state: *const Handle<State>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(state) }.map(|state| state.state.borrow().expiries_in_a_row() as usize))
}

/// The number of messages, or fragments of messages, that were sent again.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_repeats(state: *const Handle<State>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(state) }.map(|state| state.state.borrow().repeats() as usize))
}

/// How many datagrams were dropped because the container was full.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_state_dropped(state: *const Handle<State>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(state) }.map(|state| state.state.borrow().dropped() as usize))
}
