//! Collective operations: each blocking, begun, or prepared to be begun again and again.

use crate::calls::arguments::{Numbers, array, put_at};
use crate::collective::{self, Blocks, Call, Layout, is_in_place, plain};
use crate::comms::comm::Comm;
use crate::comms::handles::comm;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::{Data, overlap};
use crate::objects::numbers::{PROC_NULL, ROOT};
use crate::requests::handles::{keep_persistent, keep_shared};
use std::ffi::c_int;
use std::sync::Arc;

/// How a collective operation is called for.
#[derive(Clone, Copy)]
pub enum CallForm {
    /// The call waits for its end.
    Blocking,
    /// It goes on beside the program; the request's place.
    Begun(*mut c_int),
    /// It is begun with `MPI_Start`; the request's place.
    Prepared(*mut c_int),
}

/// How many types an operation with all of a communicator gets, for each direction.
pub fn rank_types(handle: i32) -> (usize, usize) {
    let ranks =
        comm(handle).map_or(0, |comm| comm.remote().map_or(comm.size(), |remote| remote.group.size()));
    (ranks, ranks)
}

pub(in crate::calls) unsafe fn go(comm: &Arc<Comm>, call: Call, way: CallForm) -> Mpi {
    refuse_overlap(&call)?;
    match way {
        CallForm::Blocking => collective::run(comm, call),
        CallForm::Begun(request) => {
            let operation = collective::begin(comm, call)?;
            // SAFETY: the caller's promise.
            unsafe { put_at(request, keep_shared(operation)?) }
        }
        CallForm::Prepared(request) => {
            let persistent = collective::prepare(comm, call)?;
            // SAFETY: the caller's promise.
            unsafe { put_at(request, keep_persistent(persistent)?) }
        }
    }
}

/// Whether this process has the part of the root.
pub(in crate::calls) fn is_root(comm: &Comm, root: i32) -> Mpi<bool> {
    match comm.remote() {
        None => comm.root(root).map(|root| root == comm.rank()),
        Some(_) => Ok(root == ROOT),
    }
}

/// Whether this process has no part: a mate of the root's in an inter-communicator.
pub(in crate::calls) fn is_idle(comm: &Comm, root: i32) -> bool {
    comm.remote().is_some() && root == PROC_NULL
}

pub(in crate::calls) fn refuse_in_place(comm: &Comm) -> Mpi {
    match comm.remote() {
        None => Ok(()),
        Some(_) => Err(Error::new(class::BUFFER, "MPI_IN_PLACE is not for inter-communicators")),
    }
}

/// What a member gives, unless it lies where it shall go.
pub(in crate::calls) fn given(comm: &Comm, address: *const u8, count: i64, of: i32) -> Mpi<Option<Data>> {
    match is_in_place(address) {
        true => refuse_in_place(comm).map(|()| None),
        false => Data::new(address, count, of).map(Some),
    }
}

/// The same in an operation with a root: between two groups the root and its mates have none.
fn of_member(comm: &Comm, root: i32, (address, count, of): (*const u8, i64, i32)) -> Mpi<Option<Data>> {
    match comm.remote().is_some() && (root == ROOT || root == PROC_NULL) {
        true => Ok(None),
        false => given(comm, address, count, of),
    }
}

/// Where buffers have a part in common there is no result that could be told. What has holes may lie in those of the other.
#[inline]
fn refuse_overlap(call: &Call) -> Mpi {
    let among = |one: &Data, blocks: &Blocks| {
        !blocks.are_apart_from(one) && blocks.iter().any(|block| overlap(one, &block))
    };
    let pairs = |give: &Blocks, get: &Blocks| {
        let are_apart = matches!(get, Blocks::Row { whole, .. } if give.are_apart_from(whole));
        !are_apart && give.iter().zip(get.iter()).any(|(give, get)| overlap(&give, &get))
    };
    let is_wrong = match call {
        Call::Allreduce { give: Some(give), get, .. }
        | Call::Reduce { give: Some(give), get, .. }
        | Call::Scan { give: Some(give), get, .. } => overlap(give, get),
        Call::Gather { give: Some(one), get: blocks, .. }
        | Call::Allgather { give: Some(one), get: blocks }
        | Call::Scatter { give: blocks, get: Some(one), .. } => among(one, blocks),
        Call::Alltoall { give: Some(give), get, .. } => pairs(give, get),
        Call::Neighbours { give, same: true, get } => give.iter().next().is_some_and(|one| among(&one, get)),
        Call::Neighbours { give, get, .. } => pairs(give, get),
        _ => false,
    };
    if is_wrong { Err(overlapping()) } else { Ok(()) }
}

#[cold]
pub(in crate::calls) fn overlapping() -> Error {
    Error::new(class::BUFFER, "the two buffers overlap; give it other memory, or say MPI_IN_PLACE")
}

pub unsafe fn barrier(handle: i32, way: CallForm) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way {
        return collective::barrier(&comm);
    }
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Barrier, way) }
}

pub unsafe fn bcast(buffer: *mut u8, count: i64, of: i32, root: i32, handle: i32, way: CallForm) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::broadcast(&comm, (buffer, count, of), root)
    {
        return done;
    }
    if is_in_place(buffer) {
        return Err(Error::new(class::BUFFER, "MPI_IN_PLACE is not for MPI_Bcast"));
    }
    let data = if is_idle(&comm, root) { Data::NONE } else { Data::new(buffer, count, of)? };
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Bcast { data, root }, way) }
}

pub unsafe fn gather(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    root: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) =
            plain::gather(&comm, (give, give_count, give_type), (get, get_count, get_type), root)
    {
        return done;
    }
    let is_root = is_root(&comm, root)?;
    let own = of_member(&comm, root, (give, give_count, give_type))?;
    let blocks = match is_root {
        true => {
            Blocks::new(get, comm.peers().size(), Layout::Regular { count: get_count, datatype: get_type })?
        }
        false => Blocks::none(),
    };
    let regular = comm.remote().is_none();
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Gather { give: own, get: blocks, root, regular }, way) }
}

pub unsafe fn gatherv(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_type: i32,
    root: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let is_root = is_root(&comm, root)?;
    let own = of_member(&comm, root, (give, give_count, give_type))?;
    // SAFETY: the caller's promise.
    unsafe {
        let blocks = match is_root {
            true => counted(get, comm.peers().size(), counts, displacements, get_type)?,
            false => Blocks::none(),
        };
        go(&comm, Call::Gather { give: own, get: blocks, root, regular: false }, way)
    }
}

/// Blocks of so many elements each, at displacements.
pub(in crate::calls) unsafe fn counted(
    address: *const u8,
    ranks: usize,
    counts: Numbers,
    displacements: Numbers,
    of: i32,
) -> Mpi<Blocks> {
    // SAFETY: the caller's promise.
    let (counts, displacements) = unsafe { (counts.all(ranks)?, displacements.all(ranks)?) };
    let layout = Layout::Counted {
        counts: &|rank| counts[rank],
        displacements: &|rank| displacements[rank],
        datatype: of,
    };
    Blocks::new(address, ranks, layout)
}

/// The same with types of their own, at displacements in bytes.
pub(in crate::calls) unsafe fn typed(
    address: *const u8,
    ranks: usize,
    counts: Numbers,
    displacements: Numbers,
    types: *const c_int,
) -> Mpi<Blocks> {
    // SAFETY: the caller's promise.
    let (counts, displacements, datatypes) =
        unsafe { (counts.all(ranks)?, displacements.all(ranks)?, array(types, ranks)?) };
    let layout =
        Layout::Typed { counts: &|rank| counts[rank], displacements: &|rank| displacements[rank], datatypes };
    Blocks::new(address, ranks, layout)
}

pub unsafe fn scatter(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    root: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) =
            plain::scatter(&comm, (give, give_count, give_type), (get, get_count, get_type), root)
    {
        return done;
    }
    let is_root = is_root(&comm, root)?;
    let own = of_member(&comm, root, (get, get_count, get_type))?;
    let blocks = match is_root {
        true => Blocks::new(
            give,
            comm.peers().size(),
            Layout::Regular { count: give_count, datatype: give_type },
        )?,
        false => Blocks::none(),
    };
    let regular = comm.remote().is_none();
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Scatter { give: blocks, get: own, root, regular }, way) }
}

pub unsafe fn scatterv(
    give: *const u8,
    counts: Numbers,
    displacements: Numbers,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    root: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let is_root = is_root(&comm, root)?;
    let own = of_member(&comm, root, (get, get_count, get_type))?;
    // SAFETY: the caller's promise.
    unsafe {
        let blocks = match is_root {
            true => counted(give, comm.peers().size(), counts, displacements, give_type)?,
            false => Blocks::none(),
        };
        go(&comm, Call::Scatter { give: blocks, get: own, root, regular: false }, way)
    }
}

pub unsafe fn allgather(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::allgather(&comm, (give, give_count, give_type), (get, get_count, get_type))
    {
        return done;
    }
    let own = given(&comm, give, give_count, give_type)?;
    let layout = Layout::Regular { count: get_count, datatype: get_type };
    let blocks = Blocks::new(get, comm.peers().size(), layout)?;
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Allgather { give: own, get: blocks }, way) }
}

pub unsafe fn allgatherv(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let own = given(&comm, give, give_count, give_type)?;
    // SAFETY: the caller's promise.
    unsafe {
        let blocks = counted(get, comm.peers().size(), counts, displacements, get_type)?;
        go(&comm, Call::Allgather { give: own, get: blocks }, way)
    }
}

pub unsafe fn alltoall(
    give: *const u8,
    give_count: i64,
    give_type: i32,
    get: *mut u8,
    get_count: i64,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    if let CallForm::Blocking = way
        && let Some(done) = plain::alltoall(&comm, (give, give_count, give_type), (get, get_count, get_type))
    {
        return done;
    }
    let ranks = comm.peers().size();
    let own = match is_in_place(give) {
        true => refuse_in_place(&comm).map(|()| None)?,
        false => {
            let layout = Layout::Regular { count: give_count, datatype: give_type };
            Some(Blocks::new(give, ranks, layout)?)
        }
    };
    let blocks = Blocks::new(get, ranks, Layout::Regular { count: get_count, datatype: get_type })?;
    // SAFETY: the caller's promise.
    unsafe { go(&comm, Call::Alltoall { give: own, get: blocks, regular: true }, way) }
}

pub unsafe fn alltoallv(
    give: *const u8,
    give_counts: Numbers,
    give_displacements: Numbers,
    give_type: i32,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_type: i32,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let ranks = comm.peers().size();
    // SAFETY: the caller's promise.
    unsafe {
        let own = match is_in_place(give) {
            true => refuse_in_place(&comm).map(|()| None)?,
            false => Some(counted(give, ranks, give_counts, give_displacements, give_type)?),
        };
        let blocks = counted(get, ranks, counts, displacements, get_type)?;
        go(&comm, Call::Alltoall { give: own, get: blocks, regular: false }, way)
    }
}

pub unsafe fn alltoallw(
    give: *const u8,
    give_counts: Numbers,
    give_displacements: Numbers,
    give_types: *const c_int,
    get: *mut u8,
    counts: Numbers,
    displacements: Numbers,
    get_types: *const c_int,
    handle: i32,
    way: CallForm,
) -> Mpi {
    let comm = comm(handle)?;
    let ranks = comm.peers().size();
    // SAFETY: the caller's promise.
    unsafe {
        let own = match is_in_place(give) {
            true => refuse_in_place(&comm).map(|()| None)?,
            false => Some(typed(give, ranks, give_counts, give_displacements, give_types)?),
        };
        let blocks = typed(get, ranks, counts, displacements, get_types)?;
        go(&comm, Call::Alltoall { give: own, get: blocks, regular: false }, way)
    }
}
