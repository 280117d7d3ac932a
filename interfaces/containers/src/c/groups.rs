//! Groups of containers, and gangs of programs.

use super::containers::Container;
use super::{Handle, Kind, array, bytes, count, done, handle, limit, text};
use crate::errors::Error;
use crate::{
    ContainerGroup, ContainerRepresentative, DistributedNameServer, GangScheduler, GroupRepresentative,
};
use std::ffi::{c_char, c_int, c_long, c_void};

impl Kind for ContainerGroup {
    const MARK: u64 = 0x6368_6772_6f75_7000;
}
impl Kind for GroupRepresentative {
    const MARK: u64 = 0x6368_6d61_6e79_0000;
}

/// The group of that name.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_group_create(name: *const c_char) -> *mut Handle<ContainerGroup> {
    // SAFETY: the caller's promise.
    handle(unsafe { text(name) }.map(ContainerGroup::new))
}

/// Releases the handle; what was added stays in the group.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_group_release(group: *mut Handle<ContainerGroup>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(group) })
}

/// Adds a container of this task to a group.
///
/// # Safety
/// Handles of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_group_add(
    group: *const Handle<ContainerGroup>,
    container: *const Handle<Container>,
) -> c_int {
    // SAFETY: the caller's promise.
    let add = || unsafe { Handle::of(group)?.add(&Handle::of(container)?.it) };
    done(add())
}

/// Takes a container of this task out of a group.
///
/// # Safety
/// Handles of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_group_remove(
    group: *const Handle<ContainerGroup>,
    container: *const Handle<Container>,
) -> c_int {
    // SAFETY: the caller's promise.
    let remove = || unsafe { Handle::of(group)?.remove(&Handle::of(container)?.it) };
    done(remove())
}

/// Looks a group up, and waits until it has this number of members; null if it does not have them in time.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_lookup_group(
    name: *const c_char,
    least: c_int,
    milliseconds: c_long,
) -> *mut Handle<GroupRepresentative> {
    let look = || {
        let least = usize::try_from(least).map_err(|_| Error::BadArgument)?;
        // SAFETY: the caller's promise.
        DistributedNameServer::lookup_group(unsafe { text(name)? }, least, limit(milliseconds))
    };
    handle(look())
}

/// A group of representatives, which it takes over: they must not be used or released any more.
///
/// # Safety
/// An array of `number` handles of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_many_create(
    members: *const *mut Handle<ContainerRepresentative>,
    number: c_int,
) -> *mut Handle<GroupRepresentative> {
    let make = || {
        // SAFETY: the caller's promise.
        let members = unsafe { array(members, number)? };
        for member in members {
            // SAFETY: the caller's promise.
            unsafe { Handle::of(*member)? };
        }
        // SAFETY: each came from `lend`, is of this kind, and is given up by the program.
        let members = members.iter().map(|member| unsafe { Box::from_raw(*member) }.it).collect();
        Ok(GroupRepresentative::of(members))
    };
    handle(make())
}

/// Releases a group's representative.
///
/// # Safety
/// A handle of this library that nobody uses any more, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_many_release(group: *mut Handle<GroupRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { Handle::release(group) })
}

/// How many members it has.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_many_size(group: *const Handle<GroupRepresentative>) -> c_int {
    // SAFETY: the caller's promise.
    count(unsafe { Handle::of(group) }.map(|group| group.members().len()))
}

/// The task of a member, by its place.
///
/// # Safety
/// A handle of this library, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_many_task(group: *const Handle<GroupRepresentative>, place: c_int) -> c_int {
    let task = || {
        // SAFETY: the caller's promise.
        let members = unsafe { Handle::of(group)? }.members();
        let place = usize::try_from(place).map_err(|_| Error::BadArgument)?;
        Ok(members.get(place).ok_or(Error::BadArgument)?.task() as usize)
    };
    count(task())
}

/// Sends one message to each member; gives to how many.
///
/// # Safety
/// `data` must be readable for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_send_many(
    group: *const Handle<GroupRepresentative>,
    data: *const c_void,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let send = || unsafe { Handle::of(group)?.send(bytes(data, size)?) };
    count(send())
}

/// Starts this number of tasks of a program as a gang. Returns their number; their ids are in `tasks`, if it is not
/// null.
///
/// # Safety
/// `program` must be a C string or null. `args` must be null, or C strings with a null after the last. `tasks` must be
/// null, or have room for `number` ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_gang_run(
    program: *const c_char,
    args: *const *const c_char,
    number: c_int,
    tasks: *mut c_int,
) -> c_int {
    let run = || {
        let number = u32::try_from(number).map_err(|_| Error::BadArgument)?;
        let mut words = Vec::new();
        // SAFETY: the caller's promise: a null ends the list.
        unsafe {
            while !args.is_null() && !(*args.add(words.len())).is_null() {
                words.push(text(*args.add(words.len()))?);
            }
        }
        // SAFETY: the caller's promise.
        let started = GangScheduler::run(unsafe { text(program)? }, &words, number)?;
        if !tasks.is_null() {
            // SAFETY: the caller says that there is room.
            unsafe { std::slice::from_raw_parts_mut(tasks, started.len()) }.copy_from_slice(&started);
        }
        Ok(started.len())
    };
    count(run())
}
