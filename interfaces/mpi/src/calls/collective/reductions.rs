//! Reductions and scans, and the operations that they combine with.

use crate::calls::arguments::{Numbers, put, put_at};
use crate::calls::collective::global::{CallForm, given, go, is_idle, is_root, overlapping, refuse_in_place};
use crate::collective::{Call, Op, is_in_place, plain};
use crate::comms::comm::Comm;
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::{Data, checked_count, overlap, too_long};
use crate::objects::datatypes::datatype;
use crate::objects::numbers::OP_NULL;
use crate::objects::user_ops::{OPS, OpProxy, UserOp, keep_op};
use parvum_api::pointers::Out;
use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

pub unsafe fn reduce(
    give: *const u8,
    get: *mut u8,
    count: i64,
    of: i32,
    op: i32,
    root: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::reduce(&comm, (give, get), (count, of), (op, root))
    {
        return done;
    }
    let is_root = is_root(&comm, root)?;
    let op = if is_idle(&comm, root) { Op::none() } else { Op::new(op, of)? };
    let (own, result) = match comm.remote() {
        Some(_) if is_idle(&comm, root) => (None, Data::NONE),
        Some(_) if is_root => (None, Data::new(get, count, of)?),
        Some(_) => (Some(Data::new(give, count, of)?), Data::NONE),
        None if is_root => (given(&comm, give, count, of)?, Data::new(get, count, of)?),
        None if is_in_place(give) => {
            return Err(Error::new(class::BUFFER, "MPI_IN_PLACE is for the root alone"));
        }
        None => (Some(Data::new(give, count, of)?), Data::NONE),
    };
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Reduce { give: own, get: result, op, root }, way) }
}

pub unsafe fn allreduce(
    give: *const u8,
    get: *mut u8,
    count: i64,
    of: i32,
    op: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::allreduce(&comm, (give, get), (count, of), op)
    {
        return done;
    }
    let op = Op::new(op, of)?;
    let (own, result) = (given(&comm, give, count, of)?, Data::new(get, count, of)?);
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Allreduce { give: own, get: result, op }, way) }
}

unsafe fn reduce_parts(
    (give, get): (*const u8, *mut u8),
    counts: &[i64],
    (of, op): (i32, i32),
    comm: &Arc<Comm>,
    way: CallForm,
) -> Mpi {
    let size = datatype(of)?.layout.size() as usize;
    let op = Op::new(op, of)?;
    let length = |&count: &i64| checked_count(count)?.checked_mul(size).ok_or_else(too_long);
    let lengths = counts.iter().map(length).collect::<Mpi<Vec<_>>>()?;
    let whole = counts.iter().try_fold(0i64, |all, &count| all.checked_add(count)).ok_or_else(too_long)?;
    let own = Data::new(get, counts[comm.rank()], of)?;
    let given = match is_in_place(give) {
        true => refuse_in_place(comm).and_then(|()| Data::new(get, whole, of))?,
        false => match Data::new(give, whole, of)? {
            given if overlap(&given, &own) => return Err(overlapping()),
            given => given,
        },
    };
    let call = Call::ReduceScatter { give: given, get: own, lengths, op };
    // SAFETY: the caller's promise.
    unsafe { go(comm, call, way) }
}

pub unsafe fn reduce_scatter(
    give: *const u8,
    get: *mut u8,
    counts: Numbers,
    of: i32,
    op: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise.
    unsafe { reduce_parts((give, get), &counts.all(comm.size())?, (of, op), &comm, way) }
}

pub unsafe fn reduce_scatter_block(
    give: *const u8,
    get: *mut u8,
    count: i64,
    of: i32,
    op: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::reduce_scatter_block(&comm, (give, get), (count, of), op)
    {
        return done;
    }
    // SAFETY: the caller's promise.
    unsafe { reduce_parts((give, get), &vec![count; comm.size()], (of, op), &comm, way) }
}

unsafe fn scanned(
    (give, get): (*const u8, *mut u8),
    (count, of, op): (i64, i32, i32),
    handle: i32,
    exclusive: bool,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let (CallForm::Blocking, false) = (way, exclusive)
        && let Some(done) = plain::scan(&comm, (give, get), (count, of), op)
    {
        return done;
    }
    let op = Op::new(op, of)?;
    let (own, result) = (given(&comm, give, count, of)?, Data::new(get, count, of)?);
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Scan { give: own, get: result, op, exclusive }, way) }
}

pub unsafe fn scan(
    give: *const u8,
    get: *mut u8,
    count: i64,
    of: i32,
    op: i32,
    comm: i32,
    way: CallForm,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { scanned((give, get), (count, of, op), comm, false, way) }
}

pub unsafe fn exscan(
    give: *const u8,
    get: *mut u8,
    count: i64,
    of: i32,
    op: i32,
    comm: i32,
    way: CallForm,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { scanned((give, get), (count, of, op), comm, true, way) }
}

pub unsafe fn reduce_local(give: *const u8, get: *mut u8, count: i64, of: i32, op: i32) -> Mpi {
    if is_in_place(give) || is_in_place(get) {
        return Err(Error::new(class::BUFFER, "MPI_Reduce_local has no MPI_IN_PLACE: give it two buffers"));
    }
    let op = Op::new(op, of)?;
    let (one, other) = (Data::new(give, count, of)?, Data::new(get, count, of)?);
    if overlap(&one, &other) {
        return Err(overlapping());
    }
    let mut first = one.packed();
    op.combine.apply(&mut first, &other.packed());
    other.unpack(&first);
    Ok(())
}

pub unsafe fn op_create(function: usize, commutes: i32, place: Out<'_, c_int>) -> Mpi {
    create_op(function, commutes, place, false)
}

pub unsafe fn op_create_c(function: usize, commutes: i32, place: Out<'_, c_int>) -> Mpi {
    create_op(function, commutes, place, true)
}

fn create_op(function: usize, commutes: i32, place: Out<'_, c_int>, is_large: bool) -> Mpi {
    if function == 0 {
        return Err(Error::new(class::ARG, "the operation's function is a null pointer"));
    }
    let op = UserOp { function, commutes: commutes != 0, is_large, proxy: OnceLock::new() };
    put(place, keep_op(op)?)
}

/// From now on the operation is called by another language's library.
pub fn op_set_proxy(handle: i32, proxy: OpProxy) -> Mpi {
    // Set once, right after it was made.
    let _ = crate::objects::ops::user_op(handle)?.proxy.set(proxy);
    Ok(())
}

pub unsafe fn op_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe {
        let handle = crate::calls::arguments::get(place)?;
        if crate::objects::ops::is_built_in(handle) {
            return Err(Error::new(class::OP, "a predefined operation cannot be freed"));
        }
        crate::objects::ops::user_op(handle)?;
        OPS.remove(handle);
        put_at(place, OP_NULL)
    }
}

pub fn op_commutative(op: i32, flag: Out<'_, c_int>) -> Mpi {
    put(flag, c_int::from(crate::objects::ops::commutes(op)?))
}
