//! Messages between two.

use crate::calls::arguments::{CountTarget, get, put, put_at};
use crate::comms::handles::{comm, comm_of};
use crate::errors::{Error, Mpi, class};
use crate::messages::bsend;
use crate::messages::buffers::Data;
use crate::messages::send::{self, Mode};
use crate::messages::status::Status;
use crate::objects::handles::Objects;
use crate::objects::numbers::{COMM_SELF, Kind, MESSAGE_NO_PROC, MESSAGE_NULL};
use crate::process::machine::machine_notes;
use crate::process::this::{is_running, running};
use crate::requests::deferred;
use crate::requests::handles::{keep, keep_shared};
use crate::requests::operations::{DONE, Operation, State};
use crate::requests::outcome::{Outcome, with_nobody};
use parvum_api::Message;
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

/// Tells how an operation ended: its status where it is wanted, and its error.
pub(in crate::calls) unsafe fn tell(outcome: Outcome, status: *mut Status) -> Mpi {
    if !status.is_null() {
        // SAFETY: the caller's promise. What a status says of errors is only changed where several are told.
        unsafe {
            let error = match outcome.status {
                Status::EMPTY => 0,
                _ => std::ptr::read_unaligned(&raw const (*status).error),
            };
            status.write_unaligned(Status { error, ..outcome.status });
        }
    }
    outcome.error.map_or(Ok(()), Err)
}

unsafe fn blocking(
    buffer: *const u8,
    count: i64,
    of: i32,
    dest: i32,
    tag: i32,
    handle: i32,
    mode: Mode,
) -> Mpi {
    // SAFETY: the caller's promise.
    if !is_running() && unsafe { passes_to_itself(buffer, count, of, dest, tag, handle, mode)? } {
        return Ok(());
    }
    let comm = comm(handle)?;
    send::send(&comm, &Data::new(buffer, count, of)?, dest, tag, mode)
}

/// Hands a message of this rank to itself to a deferred receive. False: the usual calls are needed.
#[inline(never)]
unsafe fn passes_to_itself(
    buffer: *const u8,
    count: i64,
    of: i32,
    dest: i32,
    tag: i32,
    handle: i32,
    mode: Mode,
) -> Mpi<bool> {
    if !matches!(mode, Mode::Standard | Mode::Ready) {
        return Ok(false);
    }
    let process = running()?;
    let comm = comm_of(process, handle)?;
    send::passes_to_deferred(process, &comm, &Data::new(buffer, count, of)?, dest, tag)
}

unsafe fn begun(
    (buffer, count, of): (*const u8, i64, i32),
    (dest, tag, handle): (i32, i32, i32),
    mode: Mode,
    request: *mut c_int,
) -> Mpi {
    if mode == Mode::Standard {
        let process = running()?;
        let comm = comm_of(process, handle)?;
        let data = Data::new(buffer, count, of)?;
        if !is_running() && send::passes_to_deferred(process, &comm, &data, dest, tag)? {
            // SAFETY: the caller's promise.
            return unsafe { put_at(request, DONE) };
        }
        let begun = send::start_standard(process, &comm, &data, dest, tag)?;
        // SAFETY: the caller's promise.
        return unsafe { put_at(request, begun.map_or(Ok(DONE), keep)?) };
    }
    let comm = comm(handle)?;
    let operation = send::isend(&comm, &Data::new(buffer, count, of)?, dest, tag, mode)?;
    // SAFETY: the caller's promise.
    unsafe { put_at(request, keep(operation)?) }
}

macro_rules! sends {
    ($($blocking:ident $begun:ident $mode:ident)*) => {$(
        pub unsafe fn $blocking(buffer: *const u8, count: i64, of: i32, dest: i32, tag: i32, comm: i32) -> Mpi {
            // SAFETY: the caller's promise.
            unsafe { blocking(buffer, count, of, dest, tag, comm, Mode::$mode) }
        }

        pub unsafe fn $begun(
            buffer: *const u8, count: i64, of: i32, dest: i32, tag: i32, comm: i32, request: *mut c_int,
        ) -> Mpi {
            // SAFETY: the caller's promise.
            unsafe { begun((buffer, count, of), (dest, tag, comm), Mode::$mode, request) }
        }
    )*};
}

sends! {
    send isend Standard
    rsend irsend Ready
    ssend issend Synchronous
    bsend ibsend Buffered
}

pub unsafe fn recv(
    buffer: *mut u8,
    count: i64,
    of: i32,
    source: i32,
    tag: i32,
    handle: i32,
    status: *mut Status,
) -> Mpi {
    let comm = comm(handle)?;
    let outcome = send::receive(&comm, &Data::new(buffer, count, of)?, source, tag)?;
    // SAFETY: the caller's promise.
    unsafe { tell(outcome, status) }
}

pub unsafe fn irecv(
    buffer: *mut u8,
    count: i64,
    of: i32,
    source: i32,
    tag: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    let comm = comm_of(running()?, handle)?;
    let data = Data::new(buffer, count, of)?;
    let begun = match send::pattern(&comm, source, tag)? {
        Some(pattern) => deferred::defer(comm, &pattern, &data, source),
        None => Err(comm),
    };
    let begun = match begun {
        Ok(deferred) => deferred,
        Err(comm) => keep(send::irecv(&comm, &data, source, tag)?)?,
    };
    put(request, begun)
}

pub unsafe fn sendrecv(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    dest: i32,
    send_tag: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    source: i32,
    receive_tag: i32,
    handle: i32,
    status: *mut Status,
) -> Mpi {
    let comm = comm(handle)?;
    let (give, get) = (Data::new(give, give_count, give_type)?, Data::new(get, get_count, get_type)?);
    let outcome = send::exchange(&comm, (&give, dest, send_tag), (&get, source, receive_tag))?;
    // SAFETY: the caller's promise.
    unsafe { tell(outcome, status) }
}

pub unsafe fn sendrecv_replace(
    buffer: *mut u8,
    count: i64,
    of: i32,
    dest: i32,
    send_tag: i32,
    source: i32,
    receive_tag: i32,
    handle: i32,
    status: *mut Status,
) -> Mpi {
    let comm = comm(handle)?;
    let data = Data::new(buffer, count, of)?;
    let mut copy = data.packed();
    let give = Data::memory(copy.as_mut_ptr(), copy.len());
    let outcome = send::exchange(&comm, (&give, dest, send_tag), (&data, source, receive_tag))?;
    // SAFETY: the caller's promise.
    unsafe { tell(outcome, status) }
}

/// A send and a receive as one operation; the receive is the last, whose status counts.
fn both(handle: i32, going: Arc<Operation>, coming: Arc<Operation>) -> Operation {
    Operation::new(State::All(vec![going, coming]), handle, machine_notes())
}

pub unsafe fn isendrecv(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    dest: i32,
    send_tag: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    source: i32,
    receive_tag: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    let comm = comm(handle)?;
    let (give, get) = (Data::new(give, give_count, give_type)?, Data::new(get, get_count, get_type)?);
    send::check_send(&comm, dest, send_tag)?;
    let coming = send::irecv(&comm, &get, source, receive_tag)?;
    let going = send::isend(&comm, &give, dest, send_tag, Mode::Standard);
    let going = going.map_err(|error| send::without_receive(&coming, error))?;
    put(request, keep(both(handle, going, coming))?)
}

pub unsafe fn isendrecv_replace(
    buffer: *mut u8,
    count: i64,
    of: i32,
    dest: i32,
    send_tag: i32,
    source: i32,
    receive_tag: i32,
    handle: i32,
    request: Out<'_, c_int>,
) -> Mpi {
    let comm = comm(handle)?;
    let data = Data::new(buffer, count, of)?;
    send::check_send(&comm, dest, send_tag)?;
    // A message that is here already takes the buffer at once.
    let copy = data.packed();
    let coming = send::irecv(&comm, &data, source, receive_tag)?;
    let going = send::isend_copy(&comm, copy, dest, send_tag);
    let going = going.map_err(|error| send::without_receive(&coming, error))?;
    put(request, keep(both(handle, going, coming))?)
}

pub unsafe fn probe(source: i32, tag: i32, handle: i32, status: *mut Status) -> Mpi {
    let found = send::probe(&*comm(handle)?, source, tag, true)?;
    // SAFETY: the caller's promise.
    unsafe { tell(Outcome::of(found.unwrap_or(Status::EMPTY)), status) }
}

pub unsafe fn iprobe(source: i32, tag: i32, handle: i32, flag: Out<'_, c_int>, status: *mut Status) -> Mpi {
    let found = send::probe(&*comm(handle)?, source, tag, false)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        found.map_or(Ok(()), |found| tell(Outcome::of(found), status))
    }
}

/// Messages that were taken out of matching. Their handles are requests', of a table of its own.
static MESSAGES: Objects<Found> = Objects::new(Kind::Request);

struct Found {
    message: Message,
    handle: i32,
}

// SAFETY: the name of a message belongs to the process, not to a thread.
unsafe impl Sync for Found {}

unsafe fn put_message(
    found: (Status, Option<Message>),
    of: i32,
    place: *mut c_int,
    status: *mut Status,
) -> Mpi {
    let (told, message) = found;
    let handle = match message {
        None => MESSAGE_NO_PROC,
        Some(message) => {
            let none = || Error::new(class::OTHER, "there are too many messages taken out of matching");
            MESSAGES.insert(Arc::new(Found { message, handle: of })).ok_or_else(none)?
        }
    };
    // SAFETY: the caller's promise.
    unsafe {
        put_at(place, handle)?;
        tell(Outcome::of(told), status)
    }
}

/// Refuses to take a message out of matching that could have no handle.
fn room_for_a_message() -> Mpi {
    let none = || Error::new(class::OTHER, "there are too many messages taken out of matching");
    MESSAGES.has_room().then_some(()).ok_or_else(none)
}

pub unsafe fn mprobe(source: i32, tag: i32, handle: i32, message: *mut c_int, status: *mut Status) -> Mpi {
    room_for_a_message()?;
    let found = send::extract(&*comm(handle)?, source, tag, true)?;
    // SAFETY: the caller's promise.
    unsafe { put_message(found.unwrap_or((Status::EMPTY, None)), handle, message, status) }
}

pub unsafe fn improbe(
    source: i32,
    tag: i32,
    handle: i32,
    flag: Out<'_, c_int>,
    message: *mut c_int,
    status: *mut Status,
) -> Mpi {
    room_for_a_message()?;
    let found = send::extract(&*comm(handle)?, source, tag, false)?;
    // SAFETY: the caller's promise.
    unsafe {
        put(flag, c_int::from(found.is_some()))?;
        match found {
            Some(found) => put_message(found, handle, message, status),
            None => put_at(message, MESSAGE_NULL),
        }
    }
}

/// Receives the message that a handle names; its handle is gone.
unsafe fn take(message: *mut c_int, data: &Data) -> Mpi<(Outcome, i32)> {
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(message)?;
        if handle == MESSAGE_NO_PROC {
            put_at(message, MESSAGE_NULL)?;
            return Ok((with_nobody(true), crate::objects::numbers::COMM_SELF));
        }
        let none = || Error::new(class::REQUEST, "the handle names no message; it may have been received");
        let found = MESSAGES.remove(handle).ok_or_else(none)?;
        put_at(message, MESSAGE_NULL)?;
        Ok((send::receive_extracted(&found.message, data)?, found.handle))
    }
}

pub unsafe fn mrecv(buffer: *mut u8, count: i64, of: i32, message: *mut c_int, status: *mut Status) -> Mpi {
    let data = Data::new(buffer, count, of)?;
    // SAFETY: the caller's promise.
    unsafe {
        let (outcome, _) = take(message, &data)?;
        tell(outcome, status)
    }
}

pub unsafe fn imrecv(
    buffer: *mut u8,
    count: i64,
    of: i32,
    message: *mut c_int,
    request: Out<'_, c_int>,
) -> Mpi {
    let data = Data::new(buffer, count, of)?;
    // SAFETY: the caller's promise. The message is here, or on its way from a sender that has begun it.
    unsafe {
        let (outcome, handle) = take(message, &data)?;
        put(request, keep(Operation::over(outcome, handle))?)
    }
}

pub unsafe fn buffer_attach(buffer: *mut u8, size: i64) -> Mpi {
    bsend::of_process().attach(buffer.addr(), size)
}

pub unsafe fn buffer_detach(place: *mut u8, size: CountTarget) -> Mpi {
    let (address, length) = bsend::detach(bsend::of_process())?;
    // SAFETY: the caller's promise.
    unsafe {
        put_at(place.cast(), address)?;
        size.put(length)
    }
}

pub fn buffer_flush() -> Mpi {
    bsend::flush(bsend::of_process())
}

pub fn buffer_iflush(request: Out<'_, c_int>) -> Mpi {
    put_all(bsend::waiting(bsend::of_process(), COMM_SELF), COMM_SELF, request)
}

/// A request that is over when all of them are.
pub(in crate::calls) fn put_all(all: Vec<Arc<Operation>>, on: i32, request: Out<'_, c_int>) -> Mpi {
    let operation = Operation::new(State::All(all), on, machine_notes());
    put(request, keep_shared(Arc::new(operation))?)
}
