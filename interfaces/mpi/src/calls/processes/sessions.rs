//! Sessions: beginnings that do not share `MPI_COMM_WORLD`. All of a process's have its one engine.

use crate::calls::arguments::{CountTarget, get, give_text, plain_text, put, put_at};
use crate::comms::group::Group;
use crate::errors::{Error, Mpi, class};
use crate::messages::attached::Buffer;
use crate::messages::bsend;
use crate::objects::errhandlers::{Handler, HandlerSlot};
use crate::objects::info::{Info, hints, keep};
use crate::objects::numbers::{COMM_SELF, Kind, SESSION_NULL};
use crate::process::life::{leave_session, session_begins, session_ends};
use crate::process::sessions::{SESSIONS, Session, session};
use crate::process::this::process;
use parvum_api::pointers::{Out, Text};
use std::ffi::{c_char, c_int};
use std::sync::Arc;

/// Sets of processes that every session knows.
const SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

pub fn session_init(info: i32, errhandler: i32, place: Out<'_, c_int>) -> Mpi {
    // First: a session without a handle would keep MPI running.
    put(place, SESSION_NULL)?;
    hints(info)?;
    let errhandler = HandlerSlot::new(Handler::of(errhandler, Kind::Session)?);
    session_begins()?;
    let session = Session { errhandler, buffer: Buffer::default() };
    let handle = SESSIONS.insert(Arc::new(session)).ok_or_else(|| {
        session_ends();
        Error::new(class::OTHER, "there are too many sessions")
    })?;
    put(place, handle)
}

pub unsafe fn session_finalize(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let handle = get(place)?;
        bsend::flush(&session(handle)?.buffer)?;
        if SESSIONS.remove(handle).is_some() {
            leave_session(handle);
            session_ends();
        }
        put_at(place, SESSION_NULL)
    }
}

pub fn session_get_num_psets(handle: i32, _info: i32, count: Out<'_, c_int>) -> Mpi {
    session(handle)?;
    put(count, SETS.len() as c_int)
}

pub unsafe fn session_get_nth_pset(
    handle: i32,
    _info: i32,
    nth: i32,
    length: *mut c_int,
    name: *mut c_char,
) -> Mpi {
    session(handle)?;
    let none = || Error::new(class::ARG, format!("there is no set of processes number {nth}"));
    let set = usize::try_from(nth).ok().and_then(|nth| SETS.get(nth)).ok_or_else(none)?;
    // SAFETY: the caller's promise.
    unsafe {
        let room = get(length)?;
        if room > 0 {
            give_text(name, room as usize, set)?;
        }
        put_at(length, set.len() as c_int + 1)
    }
}

/// The tasks of a set.
fn tasks_of(name: &str) -> Mpi<Vec<i32>> {
    let process = process()?;
    // Case is no matter in the part before the name.
    match name.to_ascii_lowercase().as_str() {
        "mpi://world" => Ok(process.world.group().tasks().to_vec()),
        "mpi://self" => Ok(vec![process.me()]),
        _ => Err(Error::new(
            class::ARG,
            format!("there is no set of processes \"{name}\"; there are {SETS:?}"),
        )),
    }
}

pub fn session_get_pset_info(handle: i32, name: Text<'_>, place: Out<'_, c_int>) -> Mpi {
    session(handle)?;
    let size = tasks_of(&plain_text(name)?)?.len();
    let info = Info::default();
    info.set("mpi_size", size.to_string())?;
    put(place, keep(info)?)
}

pub fn group_from_session_pset(handle: i32, name: Text<'_>, place: Out<'_, c_int>) -> Mpi {
    session(handle)?;
    let tasks = tasks_of(&plain_text(name)?)?;
    let group = Group::new(tasks, process()?.me()).of_session(handle);
    put(place, crate::comms::group::keep(group)?)
}

pub fn session_get_info(handle: i32, place: Out<'_, c_int>) -> Mpi {
    session(handle)?;
    let info = Info::default();
    info.set("thread_level", "MPI_THREAD_MULTIPLE")?;
    put(place, keep(info)?)
}

pub fn session_set_errhandler(handle: i32, errhandler: i32) -> Mpi {
    session(handle)?.errhandler.set(Handler::of(errhandler, Kind::Session)?);
    Ok(())
}

pub fn session_get_errhandler(handle: i32, place: Out<'_, c_int>) -> Mpi {
    put(place, session(handle)?.errhandler.get().give())
}

pub fn session_call_errhandler(handle: i32, code: i32) -> Mpi {
    session(handle)?.errhandler.get().call(handle, code)
}

pub unsafe fn session_attach_buffer(handle: i32, buffer: *mut u8, size: i64) -> Mpi {
    session(handle)?.buffer.attach(buffer.addr(), size)
}

pub unsafe fn session_detach_buffer(handle: i32, place: *mut u8, size: CountTarget) -> Mpi {
    let (address, length) = bsend::detach(&session(handle)?.buffer)?;
    // SAFETY: the caller's promise.
    unsafe {
        put_at(place.cast(), address)?;
        size.put(length)
    }
}

pub fn session_flush_buffer(handle: i32) -> Mpi {
    bsend::flush(&session(handle)?.buffer)
}

pub fn session_iflush_buffer(handle: i32, request: Out<'_, c_int>) -> Mpi {
    let waiting = bsend::waiting(&session(handle)?.buffer, COMM_SELF);
    crate::calls::messages::point_to_point::put_all(waiting, COMM_SELF, request)
}
