//! The name server.

use super::containers::Container;
use super::{Handle, array, count, done, handle, limit, text};
use crate::errors::Error;
use crate::{ContainerRepresentative, DistributedNameServer, MessageContainer};
use std::ffi::{c_char, c_int, c_long};

/// Binds a name, or for null the container's own, to a container.
///
/// # Safety
/// `name` must be null or a C string, `container` a handle of this library or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_bind(name: *const c_char, container: *const Handle<Container>) -> c_int {
    let bind = || {
        // SAFETY: the caller's promise.
        let container = unsafe { Handle::of(container)? };
        let name = match name.is_null() {
            true => container.name.as_deref().ok_or(Error::BadArgument)?,
            // SAFETY: the caller's promise.
            false => unsafe { text(name)? },
        };
        DistributedNameServer::bind(name, &container.it)
    };
    done(bind())
}

/// Binds many names in few exchanges: all, or none.
///
/// # Safety
/// Both must be arrays of `number`, of C strings and of handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_bind_many(
    names: *const *const c_char,
    containers: *const *const Handle<Container>,
    number: c_int,
) -> c_int {
    let bind = || {
        // SAFETY: the caller's promise.
        let (names, containers) = unsafe { (array(names, number)?, array(containers, number)?) };
        let list: Result<Vec<(&str, &MessageContainer)>, Error> = names
            .iter()
            .zip(containers)
            // SAFETY: the caller's promise.
            .map(|(name, container)| unsafe { Ok((text(*name)?, &Handle::of(*container)?.it)) })
            .collect();
        DistributedNameServer::bind_all(&list?)
    };
    done(bind())
}

/// Takes a name back.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_unbind(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    done(unsafe { text(name) }.and_then(DistributedNameServer::unbind))
}

/// Looks a name up; null if no task binds it in time.
///
/// # Safety
/// `name` must be null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_lookup(
    name: *const c_char,
    milliseconds: c_long,
) -> *mut Handle<ContainerRepresentative> {
    // SAFETY: the caller's promise.
    let name = unsafe { text(name) };
    handle(name.and_then(|name| DistributedNameServer::lookup(name, limit(milliseconds))))
}

/// Looks many names up in few exchanges; gives how many were found. For the others there are nulls in `out`.
///
/// # Safety
/// `names` must be an array of `number` C strings, `out` have room for as many handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ch_lookup_many(
    names: *const *const c_char,
    number: c_int,
    milliseconds: c_long,
    out: *mut *mut Handle<ContainerRepresentative>,
) -> c_int {
    let look = || {
        // SAFETY: the caller's promise.
        let names = unsafe { array(names, number)? };
        if out.is_null() && number > 0 {
            return Err(Error::BadArgument);
        }
        // SAFETY: the caller's promise.
        let names: Result<Vec<&str>, Error> = names.iter().map(|name| unsafe { text(*name) }).collect();
        let found = DistributedNameServer::lookup_all(&names?, limit(milliseconds))?;
        let mut count = 0;
        for (at, one) in found.into_iter().enumerate() {
            count += usize::from(one.is_some());
            let one = one.map_or(std::ptr::null_mut(), Handle::lend);
            // SAFETY: the caller says that there is room for as many.
            unsafe { out.add(at).write(one) };
        }
        Ok(count)
    };
    count(look())
}
