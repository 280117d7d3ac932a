//! When processes die: what a communicator knows of it.

use crate::callbacks::calling::calling;
use crate::calls::arguments::{put, put_at, put_null};
use crate::comms::comm::Comm;
use crate::comms::contexts::OwnContext;
use crate::comms::failure;
use crate::comms::handles::{comm, keep};
use crate::comms::ulfm::{self, Agreeing, Decision, Question, Then};
use crate::errors::Mpi;
use crate::process::machine::machine_notes;
use crate::process::this::process;
use crate::requests::operations::{Operation, State};
use crate::requests::progress;
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::Arc;

pub fn comm_revoke(handle: i32) -> Mpi {
    failure::revoke(process()?, &*comm(handle)?)
}

fn agreeing(comm: &Arc<Comm>, question: Question, then: Then) -> Operation {
    let agreeing = Box::new(Agreeing::new(comm, question, then));
    Operation::new(State::Stepping(agreeing), comm.handle(), machine_notes())
}

/// Where a result goes when it is known.
struct To<T>(*mut T);

// SAFETY: the program promises the place to the operation until that is over.
unsafe impl<T> Send for To<T> {}

unsafe fn start_agreement(handle: i32, flag: *mut c_int) -> Mpi<Operation> {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise.
    let (flags, place) = (unsafe { crate::calls::arguments::get(flag)? }, To(flag));
    let then = move |decision: Decision, _: Option<OwnContext>| {
        let place = place;
        // SAFETY: see `To`.
        unsafe { put_at(place.0, decision.flags)? };
        ulfm::news(&decision)
    };
    Ok(agreeing(&comm, Question::Flags(flags), Box::new(then)))
}

unsafe fn start_shrinking(handle: i32, place: *mut c_int) -> Mpi<Operation> {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise.
    unsafe { put_null(place)? };
    let (place, old) = (To(place), comm.clone());
    let then = move |decision: Decision, own: Option<OwnContext>| {
        let place = place;
        let made = ulfm::shrunk(process()?, &old, &decision, own)?;
        // SAFETY: see `To`.
        unsafe { (calling().put_comm)(place.0, keep(made)?) };
        Ok(())
    };
    Ok(agreeing(&comm, Question::Survivors, Box::new(then)))
}

fn finish(operation: Operation) -> Mpi {
    let outcome = progress::wait(process()?, &Arc::new(operation))?;
    outcome.error.map_or(Ok(()), Err)
}

pub unsafe fn comm_agree(handle: i32, flag: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    finish(unsafe { start_agreement(handle, flag)? })
}

pub unsafe fn comm_iagree(handle: i32, flag: *mut c_int, request: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(request, crate::requests::handles::keep(start_agreement(handle, flag)?)?) }
}

pub unsafe fn comm_shrink(handle: i32, place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    finish(unsafe { start_shrinking(handle, place)? })
}

pub unsafe fn comm_ishrink(handle: i32, place: *mut c_int, request: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { put(request, crate::requests::handles::keep(start_shrinking(handle, place)?)?) }
}

pub fn comm_is_revoked(handle: i32, flag: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    put(flag, c_int::from(comm.is_revoked()))
}

pub fn comm_failure_ack(handle: i32) -> Mpi {
    let comm = comm(handle)?;
    comm.acknowledge(failure::dead(process()?, comm.peers().tasks())?);
    Ok(())
}

fn put_group(handle: i32, ranks: Vec<usize>, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let tasks = ranks.iter().map(|&rank| comm.peers().tasks()[rank]).collect();
    let group = crate::comms::group::Group::new(tasks, process()?.me());
    put(place, crate::comms::group::keep(group)?)
}

pub fn comm_failure_get_acked(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let ranks = comm(handle)?.acknowledged();
    put_group(handle, ranks, place)
}

pub fn comm_get_failed(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let ranks = failure::dead(process()?, comm(handle)?.peers().tasks())?;
    put_group(handle, ranks, place)
}

pub fn comm_ack_failed(handle: i32, count: i32, acknowledged: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let mut ranks = failure::dead(process()?, comm.peers().tasks())?;
    ranks.truncate(count.max(0) as usize);
    let length = ranks.len();
    comm.acknowledge(ranks);
    put(acknowledged, length as c_int)
}
