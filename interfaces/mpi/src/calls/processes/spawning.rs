//! Processes that come and go.

use crate::callbacks::calling::calling;
use crate::calls::arguments::{array, give_text, length_of, plain_text, put, put_at, put_if_at, text};
use crate::comms::handles::{comm, keep};
use crate::errors::{Error, Mpi, class};
use crate::objects::info::hints;
use crate::objects::numbers::MAX_PORT_NAME;
use crate::process::spawned::{self, Child, Port};
use crate::process::this::process;
use parvum_api::pointers::{Out, Text};
use parvum_wire::control::{Reply, Request, Spot};
use std::ffi::{c_char, c_int};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

/// Arguments up to a null pointer.
unsafe fn arguments(list: *const *const c_char) -> Mpi<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    if list.is_null() {
        return Ok(all);
    }
    // SAFETY: the caller's promise: the list ends with a null pointer.
    unsafe {
        let mut at = list;
        while !(*at).is_null() {
            all.push(text(Text::new(*at))?);
            at = at.add(1);
        }
    }
    Ok(all)
}

unsafe fn child(command: Text<'_>, list: *const *const c_char, count: i32, info: i32) -> Mpi<Child> {
    let hints = hints(info)?;
    let hint = |key: &str| hints.as_ref().and_then(|hints| hints.get(key).ok().flatten());
    if count < 0 {
        return Err(Error::new(class::ARG, format!("maxprocs is {count}")));
    }
    // SAFETY: the caller's promise.
    let (program, arguments) = unsafe { (text(command)?, arguments(list)?) };
    let (directory, path) = (hint("wdir").or_else(|| hint("wd")), hint("path"));
    let no_host = |name: std::string::FromUtf8Error| {
        let text = format!("there is no host \"{}\"", name.as_bytes().escape_ascii());
        Error::new(class::SPAWN, text)
    };
    let host = hint("host").map(String::from_utf8).transpose().map_err(no_host)?;
    Ok(Child { program, arguments, count: count as u32, directory, host, path })
}

unsafe fn spawn(
    handle: i32,
    root: i32,
    children: impl FnOnce() -> Mpi<Vec<Child>>,
    place: *mut c_int,
    codes: *mut c_int,
) -> Mpi {
    let comm = comm(handle)?;
    let root = comm.root(root)?;
    let wanted = if comm.rank() == root { Some(children()) } else { None };
    let total = wanted.as_ref().and_then(|children| children.as_ref().ok());
    let total = total.map(|children| children.iter().map(|child| child.count).sum::<u32>());
    let spawned = spawned::spawn(&comm, root, wanted);
    // SAFETY: the caller's promise.
    unsafe {
        let told = match &spawned {
            Ok((_, told)) => told.clone(),
            Err(error) => vec![error.class(); total.unwrap_or(0) as usize],
        };
        if !codes.is_null() {
            for (at, code) in told.iter().enumerate() {
                put_if_at(codes.add(at), (calling().code_told)(*code));
            }
        }
        let (made, _) = spawned?;
        put_at(place, keep(made)?)
    }
}

pub unsafe fn comm_spawn(
    command: Text<'_>,
    list: *const *const c_char,
    count: i32,
    info: i32,
    root: i32,
    handle: i32,
    place: *mut c_int,
    codes: *mut c_int,
) -> Mpi {
    // SAFETY: the caller's promise.
    unsafe { spawn(handle, root, || Ok(vec![child(command, list, count, info)?]), place, codes) }
}

pub unsafe fn comm_spawn_multiple(
    count: i32,
    commands: *const *const c_char,
    lists: *const *const *const c_char,
    counts: *const c_int,
    infos: *const c_int,
    root: i32,
    handle: i32,
    place: *mut c_int,
    codes: *mut c_int,
) -> Mpi {
    let children = || {
        let count = length_of(count)?;
        // SAFETY: the caller's promise.
        unsafe {
            let (commands, counts, infos) =
                (array(commands.cast::<Text<'_>>(), count)?, array(counts, count)?, array(infos, count)?);
            let list = |at| if lists.is_null() { std::ptr::null() } else { *lists.add(at) };
            (0..count).map(|at| child(commands[at], list(at), counts[at], infos[at])).collect()
        }
    };
    // SAFETY: the caller's promise.
    unsafe { spawn(handle, root, children, place, codes) }
}

pub fn comm_get_parent(place: Out<'_, c_int>) -> Mpi {
    process()?;
    put(place, spawned::parent())
}

pub unsafe fn open_port(_info: i32, name: *mut c_char) -> Mpi {
    let port = Port::open(process()?);
    // SAFETY: the caller's promise.
    unsafe { give_text(name, MAX_PORT_NAME, port.text()).map(|_| ()) }
}

pub fn close_port(name: Text<'_>) -> Mpi {
    Port::read(&plain_text(name)?).map(|_| ())
}

pub fn comm_accept(name: Text<'_>, _info: i32, root: i32, handle: i32, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let root = comm.root(root)?;
    let port =
        if comm.rank() == root { Some(plain_text(name).and_then(|name| Port::read(&name))) } else { None };
    put(place, keep(spawned::accept(&comm, root, port)?)?)
}

pub fn comm_connect(name: Text<'_>, _info: i32, root: i32, handle: i32, place: Out<'_, c_int>) -> Mpi {
    let comm = comm(handle)?;
    let root = comm.root(root)?;
    let port =
        if comm.rank() == root { Some(plain_text(name).and_then(|name| Port::read(&name))) } else { None };
    put(place, keep(spawned::connect(&comm, root, port)?)?)
}

pub unsafe fn comm_join(descriptor: i32, place: Out<'_, c_int>) -> Mpi {
    if descriptor < 0 {
        return Err(Error::new(class::ARG, format!("{descriptor} is no descriptor")));
    }
    // SAFETY: the program promises a socket, and keeps it: it is not closed here.
    let mut socket = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(descriptor) });
    let made = spawned::join_over(&mut *socket)?;
    put(place, keep(made)?)
}

/// Names are published beside those of other interfaces.
fn published(name: &str) -> String {
    format!("MPI service {name}")
}

fn ask(request: &Request, class: i32) -> Mpi<Reply> {
    let process = process()?;
    let answer = process.ask(request).map_err(|status| process.failed(status, None))?;
    answer.map_err(|failure| Error::new(class, failure.to_string()))
}

pub fn publish_name(service: Text<'_>, _info: i32, port: Text<'_>) -> Mpi {
    let (service, port) = (plain_text(service)?, Port::read(&plain_text(port)?)?);
    let spot = Spot { number: port.number, context: port.task as u32, ..Spot::default() };
    ask(&Request::NamesBind { names: vec![(published(&service), spot)], group: false }, class::SERVICE)
        .map(|_| ())
}

pub unsafe fn lookup_name(service: Text<'_>, _info: i32, name: *mut c_char) -> Mpi {
    let service = plain_text(service)?;
    let answer = ask(&Request::NamesFind { names: vec![published(&service)] }, class::NAME)?;
    let found = match &answer {
        Reply::Names(places) => places.first().and_then(|places| places.first()),
        _ => None,
    };
    let none = || Error::new(class::NAME, format!("nobody has published \"{service}\""));
    let (_, spot) = found.ok_or_else(none)?;
    let port = Port { task: spot.context as i32, number: spot.number };
    // SAFETY: likewise.
    unsafe { give_text(name, MAX_PORT_NAME, port.text()).map(|_| ()) }
}

pub unsafe fn unpublish_name(service: Text<'_>, _info: i32, _port: *const c_char) -> Mpi {
    let service = plain_text(service)?;
    match ask(&Request::NamesUnbind { names: vec![published(&service)], number: None }, class::SERVICE)? {
        Reply::Number(count) if count > 0 => Ok(()),
        _ => Err(Error::new(class::SERVICE, format!("this process has not published \"{service}\""))),
    }
}
