//! Containers and representatives: sending and receiving.

use super::state::{State, borrowed};
use super::{Handle, Kind, bytes, done, failed, handle, length, limit, put, room, text};
use crate::errors::Error;
use crate::{Bounds, ContainerRepresentative, MessageContainer, OneWay, Received, Reference, Sender};
use std::ffi::{c_char, c_int, c_long, c_void};
use std::time::Duration;

/// A container and its own name, if it has one.
pub(super) struct Container {
    pub(super) it: MessageContainer,
    pub(super) name: Option<String>,
}

impl Kind for Container {
    const MARK: u64 = 0x6368_636f_6e74_6169;
}
impl Kind for ContainerRepresentative {
    const MARK: u64 = 0x6368_7265_7072_6573;
}
impl Kind for Reference {
    const MARK: u64 = 0x6368_7265_6665_7265;
}

/// `ch_sender` of `containers.h`.
#[repr(C)]
pub struct CSender {
    task: c_int,
    call: u32,
    place: u64,
    length: c_long,
}

impl CSender {
    fn of(received: Received) -> CSender {
        let Sender { task, call, place } = received.from;
        CSender { task, call, place, length: received.length as c_long }
    }

    pub(super) fn sender(&self) -> Sender {
        Sender { task: self.task, call: self.call, place: self.place }
    }
}

/// Makes a container. The name may be null; `ch_bind` with a null name binds this one.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_container_create(
    name: *const c_char,
    most_bytes: usize,
    most_messages: c_int,
) -> *mut Handle<Container> {
    let make = || {
        // SAFETY: the caller's promise.
        let name = if name.is_null() { None } else { Some(unsafe { text(name)? }.to_owned()) };
        let messages = u32::try_from(most_messages).map_err(|_| Error::BadArgument)?;
        let it = MessageContainer::new(Bounds { messages, bytes: most_bytes as u64 })?;
        Ok(Container { it, name })
    };
    handle(make())
}

/// Makes a container for what is sent under a tag of context 0.
#[unsafe(no_mangle)]
pub extern "C" fn ch_container_for_tag(tag: c_int) -> *mut Handle<Container> {
    handle(MessageContainer::of_tag(tag).map(|it| Container { it, name: None }))
}

/// The container's number: the tag of messages to it.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_container_number(container: *const Handle<Container>) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { Handle::of(container) } {
        Ok(container) => container.it.number(),
        Err(why) => failed(&why),
    }
}

/// Ends a container.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_container_destroy(container: *mut Handle<Container>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(container) })
}

/// How a receive ends: the length, or an error, and the sender where the program wants it.
///
/// # Safety
/// `from` must be null or valid for a write.
#[inline]
unsafe fn received(result: Result<Received, Error>, from: *mut CSender) -> c_long {
    match result {
        Ok(received) => {
            // SAFETY: the caller's promise.
            unsafe { put(from, CSender::of(received)) };
            received.length as c_long
        }
        Err(why) => {
            if let Error::NoRoom { length } = why {
                // SAFETY: the caller's promise.
                unsafe { put(from, CSender::of(Received { length, from: Sender::default() })) };
            }
            failed(&why).into()
        }
    }
}

/// Receives within a limit, if there is one.
///
/// # Safety
/// `out` must be writable for `space` bytes; `from` null or valid.
#[inline(always)]
unsafe fn receive_for(
    container: *const Handle<Container>,
    (out, space): (*mut c_void, usize),
    from: *mut CSender,
    limit: Option<Duration>,
) -> c_long {
    // SAFETY: the caller's promises.
    unsafe {
        let receive = || {
            let (Container { it, .. }, room) = (Handle::of(container)?, room(out, space)?);
            match limit {
                None => it.receive(room),
                Some(limit) => it.receive_within(room, limit),
            }
        };
        received(receive(), from)
    }
}

/// Receives, and waits for a message.
///
/// # Safety
/// `out` must be writable for `space` bytes; `from` null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_receive(
    container: *const Handle<Container>,
    out: *mut c_void,
    space: usize,
    from: *mut CSender,
) -> c_long {
    // SAFETY: the caller's promises.
    unsafe { receive_for(container, (out, space), from, None) }
}

/// Receives a message if one is there.
///
/// # Safety
/// As for `ch_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_try_receive(
    container: *const Handle<Container>,
    out: *mut c_void,
    space: usize,
    from: *mut CSender,
) -> c_long {
    // SAFETY: the caller's promises.
    unsafe { receive_for(container, (out, space), from, Some(Duration::ZERO)) }
}

/// Receives, and waits at most this number of milliseconds.
///
/// # Safety
/// As for `ch_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_receive_within(
    container: *const Handle<Container>,
    out: *mut c_void,
    space: usize,
    from: *mut CSender,
    milliseconds: c_long,
) -> c_long {
    // SAFETY: the caller's promises.
    unsafe { receive_for(container, (out, space), from, limit(milliseconds)) }
}

/// Receives without copying; null when nothing came in time.
///
/// # Safety
/// As for `ch_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_receive_reference(
    container: *const Handle<Container>,
    milliseconds: c_long,
    from: *mut CSender,
) -> *mut Handle<Reference> {
    // SAFETY: the caller's promise.
    let receive = || unsafe { Handle::of(container)? }.it.receive_reference(limit(milliseconds));
    handle(receive().inspect(|reference| {
        let received = Received { length: reference.length(), from: reference.from() };
        // SAFETY: the caller's promise.
        unsafe { put(from, CSender::of(received)) };
    }))
}

/// Bytes of a message that was received by reference.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reference_length(reference: *const Handle<Reference>) -> c_long {
    // SAFETY: the caller's promise.
    length(unsafe { Handle::of(reference) }.map(Reference::length))
}

/// 1 if the data is still in the sender's memory, else 0.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reference_is_with_sender(reference: *const Handle<Reference>) -> c_int {
    // SAFETY: the caller's promise.
    super::count(unsafe { Handle::of(reference) }.map(|reference| usize::from(reference.is_with_sender())))
}

/// Copies a part of a message that was received by reference.
///
/// # Safety
/// `out` must be writable for `space` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reference_read(
    reference: *const Handle<Reference>,
    from: usize,
    out: *mut c_void,
    space: usize,
) -> c_int {
    // SAFETY: the caller's promises.
    let read = || unsafe { Handle::of(reference)?.read(from, room(out, space)?) };
    done(read())
}

/// Gives a message back that was received by reference: its sender goes on.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_reference_release(reference: *mut Handle<Reference>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(reference) })
}

/// A handle on what a task receives under a tag of context 0.
#[unsafe(no_mangle)]
pub extern "C" fn ch_representative_for_tag(task: c_int, tag: c_int) -> *mut Handle<ContainerRepresentative> {
    handle(ContainerRepresentative::of_tag(task, tag))
}

/// Releases a representative.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_release(to: *mut Handle<ContainerRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(to) })
}

/// A query to a representative.
///
/// # Safety
/// A handle of this library, or null.
unsafe fn about(
    to: *const Handle<ContainerRepresentative>,
    what: impl Fn(&ContainerRepresentative) -> c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    match unsafe { Handle::of(to) } {
        Ok(to) => what(to),
        Err(why) => failed(&why),
    }
}

/// The task of a representative's container.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_task(to: *const Handle<ContainerRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { about(to, ContainerRepresentative::task) }
}

/// The number of a representative's container.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_number(to: *const Handle<ContainerRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { about(to, ContainerRepresentative::number) }
}

/// 1 if a representative's container is of this task, else 0.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_is_local(to: *const Handle<ContainerRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { about(to, |to| to.is_local().into()) }
}

/// Sends. The state may be null: reliably then.
///
/// # Safety
/// `data` must be readable for `size` bytes; `state` a handle of this library or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_send(
    to: *const Handle<ContainerRepresentative>,
    data: *const c_void,
    size: usize,
    state: *mut Handle<State>,
) -> c_int {
    // SAFETY: the caller's promises.
    let send = || unsafe {
        let (to, data) = (Handle::of(to)?, bytes(data, size)?);
        if state.is_null() {
            return to.send(data);
        }
        borrowed(state, |state| to.send_in(data, state))
    };
    done(send())
}

/// Sends by reference: waits until the receiver has read the memory.
///
/// # Safety
/// `data` must be readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_send_reference(
    to: *const Handle<ContainerRepresentative>,
    data: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promises.
    let send = || unsafe { Handle::of(to)?.send_reference(bytes(data, size)?) };
    done(send())
}

/// Sends a message that may be lost. The state, which counts those dropped here, may be null.
///
/// # Safety
/// As for `ch_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_oneway(
    to: *const Handle<ContainerRepresentative>,
    data: *const c_void,
    size: usize,
    state: *mut Handle<State>,
) -> c_int {
    // SAFETY: the caller's promises.
    let send = || unsafe {
        let (to, data) = (Handle::of(to)?, bytes(data, size)?);
        borrowed(state, |state| OneWay::send(to, data, state))
    };
    done(send())
}
