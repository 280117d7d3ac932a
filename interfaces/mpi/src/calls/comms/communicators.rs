//! Communicators.

use crate::calls::arguments::{get, give_text, put, put_at, put_null, text};
use crate::comms::comm::Comm;
use crate::comms::create;
use crate::comms::group::{as_communicators, group};
use crate::comms::handles::{COMMS, comm, keep};
use crate::errors::{Error, Mpi, class};
use crate::messages::bsend;
use crate::objects::errhandlers::Handler;
use crate::objects::info::{Info, hints};
use crate::objects::numbers::{
    COMM_NULL, COMM_SELF, COMM_TYPE_HW_GUIDED, COMM_TYPE_HW_UNGUIDED, COMM_TYPE_RESOURCE_GUIDED,
    COMM_TYPE_SHARED, COMM_WORLD, IDENT, Kind, MAX_OBJECT_NAME, UNDEFINED, UNEQUAL,
};
use crate::process::this::process;
use parvum_api::pointers::{Out, Text};
use parvum_wire::Tid;
use std::ffi::{c_char, c_int};
use std::sync::Arc;

pub fn comm_size(handle: i32, size: Out<'_, c_int>) -> Mpi {
    put(size, comm(handle)?.size() as c_int)
}

pub fn comm_rank(handle: i32, rank: Out<'_, c_int>) -> Mpi {
    put(rank, comm(handle)?.rank() as c_int)
}

pub fn comm_remote_size(handle: i32, size: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let remote = comm.remote().ok_or_else(no_inter)?.group.size();
    put(size, remote as c_int)
}

fn no_inter() -> Error {
    Error::new(class::COMM, "it is an intra-communicator, which has no remote group")
}

pub fn comm_test_inter(handle: i32, flag: Out<'_, c_int>) -> Mpi {
    put(flag, c_int::from(comm(handle)?.remote().is_some()))
}

pub fn comm_compare(one: i32, other: i32, result: Out<'_, c_int>) -> Mpi {
    let (first, second) = (comm(one)?, comm(other)?);
    let groups = first.group().compare(second.group());
    let compared = match (first.remote(), second.remote()) {
        _ if one == other => IDENT,
        (None, None) => as_communicators(groups, false),
        (Some(here), Some(there)) => as_communicators(groups.max(here.group.compare(&there.group)), false),
        _ => UNEQUAL,
    };
    put(result, compared)
}

pub fn comm_group(handle: i32, place: Out<'_, c_int>) -> Mpi {
    put_group_of(&*comm(handle)?, place)
}

/// Gives the program the group of a communicator.
pub(in crate::calls) fn put_group_of(comm: &Comm, place: Out<'_, c_int>) -> Mpi {
    let copy = comm.group().include_all();
    put(place, crate::comms::group::keep(copy)?)
}

pub fn comm_remote_group(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let tasks = comm.remote().ok_or_else(no_inter)?.group.tasks().to_vec();
    let copy = crate::comms::group::Group::new(tasks, process()?.me());
    put(place, crate::comms::group::keep(copy)?)
}

pub fn comm_dup(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let made = create::duplicate(&*comm(handle)?, true)?;
    put(place, keep(made)?)
}

pub fn comm_dup_with_info(handle: i32, info: i32, place: Out<'_, c_int>) -> Mpi {
    let hints = hints(info)?;
    let made = create::duplicate(&*comm(handle)?, true)?;
    if let Some(hints) = hints {
        made.set_info(&hints)?;
    }
    put(place, keep(made)?)
}

pub unsafe fn comm_idup(handle: i32, place: *mut c_int, request: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { start_duplicate(handle, None, place, request) }
}

pub unsafe fn comm_idup_with_info(handle: i32, info: i32, place: *mut c_int, request: Out<'_, c_int>) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { start_duplicate(handle, hints(info)?, place, request) }
}

unsafe fn start_duplicate(
    handle: i32,
    hints: Option<Arc<Info>>,
    place: *mut c_int,
    request: Out<'_, c_int>,
) -> Mpi {
    let comm = comm(handle)?;
    // SAFETY: the caller's promise.
    unsafe {
        put_null(place)?;
        let operation = create::start_duplicate(&comm, hints, place)?;
        put(request, crate::requests::handles::keep_shared(operation)?)
    }
}

/// Keeps a communicator, if this process has a part in it.
fn put_comm(place: Out<'_, c_int>, made: Option<Comm>) -> Mpi {
    let handle = match made {
        Some(made) => keep(made)?,
        None => COMM_NULL,
    };
    put(place, handle)
}

pub fn comm_split(handle: i32, colour: i32, key: i32, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    if colour < 0 && colour != UNDEFINED {
        return Err(Error::new(
            class::ARG,
            format!("the color is {colour}; it is MPI_UNDEFINED or not negative"),
        ));
    }
    put_comm(place, create::split(&comm, colour, key)?)
}

/// Key of the hint that says which hardware is meant.
const HARDWARE: &str = "mpi_hw_resource_type";

pub fn comm_split_type(handle: i32, kind: i32, key: i32, info: i32, place: Out<'_, c_int>) -> Mpi {
    let (comm, hints) = (comm(handle)?, hints(info)?);
    let wanted = hints.as_ref().and_then(|hints| hints.get(HARDWARE).ok().flatten());
    let here = Tid(process()?.me()).host() as i32 & i32::MAX;
    let colour = match kind {
        COMM_TYPE_SHARED => here,
        // Of hardware the machine knows its hosts.
        COMM_TYPE_HW_GUIDED | COMM_TYPE_RESOURCE_GUIDED
            if wanted.as_deref() == Some(b"mpi_shared_memory") =>
        {
            here
        }
        UNDEFINED | COMM_TYPE_HW_GUIDED | COMM_TYPE_HW_UNGUIDED | COMM_TYPE_RESOURCE_GUIDED => UNDEFINED,
        _ => return Err(Error::new(class::ARG, format!("{kind} is no kind of division"))),
    };
    let made = create::split(&comm, colour, key)?;
    if let (Some(made), Some(hints)) = (&made, hints) {
        made.set_info(&hints)?;
    }
    put_comm(place, made)
}

pub fn comm_create(handle: i32, members: i32, place: Out<'_, c_int>) -> Mpi {
    let (comm, group) = (comm(handle)?, group(members)?);
    put_comm(place, create::create(&comm, &group)?)
}

pub fn comm_create_group(handle: i32, members: i32, tag: i32, place: Out<'_, c_int>) -> Mpi {
    let (comm, group) = (comm(handle)?, group(members)?);
    if comm.remote().is_some() {
        return Err(Error::new(class::COMM, "it is an inter-communicator"));
    }
    if tag < 0 {
        return Err(Error::new(class::TAG, format!("the tag is {tag}")));
    }
    put_comm(place, create::create_group(&comm, &group, tag)?)
}

pub fn comm_create_from_group(
    members: i32,
    tag: Text<'_>,
    info: i32,
    errhandler: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let (group, hints) = (group(members)?, hints(info)?);
    let tag = text(tag)?;
    let handler = Handler::of(errhandler, Kind::Comm)?;
    let made = create::create_group(&process()?.world, &group, create::tag_of(&tag))?;
    if let Some(made) = &made {
        made.choose_errhandler(handler);
        if let Some(hints) = hints {
            made.set_info(&hints)?;
        }
    }
    put_comm(place, made)
}

pub unsafe fn comm_free(place: *mut c_int) -> Mpi {
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? };
    let comm = comm(handle)?;
    if handle == COMM_WORLD || handle == COMM_SELF {
        return Err(Error::new(class::COMM, "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed"));
    }
    // It is still there when that fails, so its own handler is asked.
    comm.attributes.delete_all(handle).map_err(|error| error.of_comm(handle))?;
    COMMS.remove(handle);
    crate::process::spawned::forget_parent(handle);
    // SAFETY: likewise.
    unsafe { put_at(place, COMM_NULL) }
}

pub unsafe fn comm_disconnect(place: *mut c_int) -> Mpi {
    crate::requests::progress::finish_all()?;
    // SAFETY: the caller's promise.
    let handle = unsafe { get(place)? };
    // Nobody is free before what all have begun is over.
    let comm = comm(handle)?;
    if handle != COMM_WORLD && handle != COMM_SELF {
        crate::collective::run(&comm, crate::collective::Call::Barrier)?;
    }
    drop(comm);
    // SAFETY: likewise.
    unsafe { comm_free(place) }
}

pub fn comm_set_name(handle: i32, name: Text<'_>) -> Mpi {
    comm(handle)?.set_name(&text(name)?);
    Ok(())
}

pub unsafe fn comm_get_name(handle: i32, name: *mut c_char, length: Out<'_, c_int>) -> Mpi {
    let text = if handle == COMM_NULL { b"MPI_COMM_NULL".to_vec() } else { comm(handle)?.name() };
    // SAFETY: the caller's promise.
    unsafe {
        let written = give_text(name, MAX_OBJECT_NAME, &text)?;
        put(length, written)
    }
}

pub fn comm_set_info(handle: i32, info: i32) -> Mpi {
    comm(handle)?.set_info(&*crate::objects::info::info(info)?)
}

pub fn comm_get_info(handle: i32, place: Out<'_, c_int>) -> Mpi {
    let shown = comm(handle)?.info()?;
    put(place, crate::objects::info::keep(shown)?)
}

pub fn intercomm_create(
    local: i32,
    leader: i32,
    peer: i32,
    remote_leader: i32,
    tag: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let local = comm(local)?;
    if local.remote().is_some() {
        return Err(Error::new(class::COMM, "the local communicator is an inter-communicator"));
    }
    let leader = usize::try_from(leader).ok().filter(|&leader| leader < local.size());
    let leader =
        leader.ok_or_else(|| Error::new(class::RANK, "the local leader is no rank of the communicator"))?;
    if tag < 0 {
        return Err(Error::new(class::TAG, format!("the tag is {tag}")));
    }
    let made = match local.rank() == leader {
        true => {
            let peer = comm(peer)?;
            if remote_leader < 0 || remote_leader as usize >= peer.peers().size() {
                return Err(Error::new(class::RANK, format!("the remote leader is rank {remote_leader}")));
            }
            create::join(&local, leader, Some((&**peer, remote_leader)), tag)?
        }
        false => create::join(&local, leader, None, tag)?,
    };
    put(place, keep(made)?)
}

pub fn intercomm_create_from_groups(
    local: i32,
    local_leader: i32,
    remote: i32,
    remote_leader: i32,
    tag: Text<'_>,
    info: i32,
    errhandler: i32,
    place: Out<'_, c_int>,
) -> Mpi {
    let (ours, theirs, hints) = (group(local)?, group(remote)?, hints(info)?);
    let handler = Handler::of(errhandler, Kind::Comm)?;
    let tag = create::tag_of(&text(tag)?);
    let world = &process()?.world;
    // Both are looked at before anybody is waited for.
    let of_group = |group: &crate::comms::group::Group, rank: i32, what: &str| {
        let task = usize::try_from(rank).ok().and_then(|rank| group.tasks().get(rank).copied());
        let none = || format!("the {what} leader is rank {rank} of a group of {}", group.size());
        task.ok_or_else(|| Error::new(class::RANK, none()))
    };
    of_group(&ours, local_leader, "local")?;
    let leader = world.group().rank_of(of_group(&theirs, remote_leader, "remote")?);
    let made = create::create_group(world, &ours, tag)?;
    let local =
        Arc::new(made.ok_or_else(|| Error::new(class::GROUP, "this process is not in the local group"))?);
    let unknown = || Error::new(class::RANK, "the remote leader is not in the set mpi://WORLD");
    let leader = leader.ok_or_else(unknown)? as i32;
    let made = create::join(&local, local_leader as usize, Some((&**world, leader)), tag)?;
    made.choose_errhandler(handler);
    if let Some(hints) = hints {
        made.set_info(&hints)?;
    }
    put(place, keep(made)?)
}

pub fn intercomm_merge(handle: i32, high: i32, place: Out<'_, c_int>) -> Mpi {
    let made = create::merge(&*comm(handle)?, high != 0)?;
    put(place, keep(made)?)
}

pub unsafe fn comm_attach_buffer(handle: i32, buffer: *mut u8, size: i64) -> Mpi {
    comm(handle)?.buffer.attach(buffer.addr(), size)
}

pub unsafe fn comm_detach_buffer(
    handle: i32,
    place: *mut u8,
    size: crate::calls::arguments::CountTarget,
) -> Mpi {
    let (address, length) = bsend::detach(&comm(handle)?.buffer)?;
    // SAFETY: the caller's promise.
    unsafe {
        put_at(place.cast(), address)?;
        size.put(length)
    }
}

pub fn comm_flush_buffer(handle: i32) -> Mpi {
    bsend::flush(&comm(handle)?.buffer)
}

pub fn comm_iflush_buffer(handle: i32, request: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let waiting = bsend::waiting(&comm.buffer, comm.handle());
    crate::calls::messages::point_to_point::put_all(waiting, comm.handle(), request)
}
