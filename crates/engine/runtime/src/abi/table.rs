//! The table of `parvum-api`: C types in, the runtime called, C types out.
//!
//! The threads of a program share the process lock (`inside.rs`), and give it away while they wait. A panic here would be a bug of
//! ours: it ends the process rather than unwind into C.

use crate::connecting::departing;
use crate::connecting::routes::RouteWish;
use crate::connecting::transports;
use crate::endpoint::{Endpoint, Program, Service};
use crate::errors::{self, AskError, StartError, remember};
use crate::inside::{self, with};
use crate::process;
use crate::receiving::completing;
use crate::receiving::finding;
use crate::receiving::own;
use crate::receiving::receive;
use crate::receiving::serving;
use crate::runtime::Runtime;
use crate::segments::bcast_ring;
use crate::segments::exchange;
use crate::segments::memory;
use crate::segments::segment;
use crate::sending::multicast;
use crate::sending::scattered;
use crate::sending::send;
use crate::status::account;
use crate::status::counters;
use crate::status::words;
use crate::waiting::watching;
use parvum_api as api;
use parvum_api::{Enrolled, Message, Notes, Progress, Status, Table};
use parvum_engine::{Envelope, RequestId};
use parvum_task::SessionError;
use parvum_wire::Tid;
use parvum_wire::control::{Failure, Reply, Request, Role};
use std::ffi::c_void;

const fn table<E: Endpoint>() -> Table {
    Table {
        version: api::TABLE_VERSION,
        size: size_of::<Table>() as u32,
        enrol: enrol::<E>,
        depart: depart::<E>,
        send: send::send::<E>,
        receive: receive::receive::<E>,
        post: completing::post::<E>,
        wait: completing::wait::<E>,
        wait_any: completing::wait_any::<E>,
        wait_some: completing::wait_some::<E>,
        wait_standing: completing::wait_standing::<E>,
        post_again: completing::post_again::<E>,
        cancel: completing::cancel::<E>,
        fetch_claims: completing::fetch_claims::<E>,
        next_completed: next_completed::<E>,
        probe: finding::probe::<E>,
        extract: finding::extract::<E>,
        put_back: finding::put_back::<E>,
        find: finding::find::<E>,
        take: finding::take::<E>,
        give_back: receive::give_back::<E>,
        progress: progress::<E>,
        inject: inject::<E>,
        ask: ask::<E>,
        prefer: prefer::<E>,
        counters: counters::<E>,
        last_error,
        descriptors: watching::descriptors::<E>,
        read_remote: receive::read_remote::<E>,
        fetch_remote: receive::fetch_remote::<E>,
        await_arrival: watching::await_arrival::<E>,
        watch: watching::watch::<E>,
        start_machine: watching::start_machine::<E>,
        manager: watching::manager::<E>,
        tracer: watching::tracer::<E>,
        multicast: multicast::multicast::<E>,
        looked: watching::looked::<E>,
        summon: serving::summon::<E>,
        serve: serving::serve::<E>,
        cells: cells::<E>,
        is_free: completing::is_free::<E>,
        notify: serving::notify::<E>,
        service,
        board_open: segment::board_open::<E>,
        board_exchange: exchange::board_exchange::<E>,
        board_post: bcast_ring::board_post::<E>,
        board_read: segment::board_read::<E>,
        board_close: segment::board_close::<E>,
        receive_each: receive::receive_each::<E>,
        tell: counters::tell,
        oblige: counters::oblige,
        show_wait: counters::show_wait,
        board_reaches: memory::board_reaches::<E>,
        board_fetch: memory::board_fetch::<E>,
        send_scattered: scattered::send::<E>,
        describe: words::describe,
        pass_to_self: own::pass_to_self::<E>,
    }
}

static PROGRAM: Table = table::<Program>();
static SERVICE: Table = table::<Service>();

/// The table; see `parvum-api`.
#[unsafe(no_mangle)]
pub extern "C" fn parvum_table() -> *const Table {
    &PROGRAM
}

extern "C" fn service() -> *const Table {
    &SERVICE
}

unsafe extern "C" fn enrol<E: Endpoint>(interface: *const u8, length: usize, out: *mut Enrolled) -> i32 {
    // SAFETY: the caller gives a string of that length.
    let interface = unsafe { std::slice::from_raw_parts(interface, length) };
    // Before anything is remembered: what a thread of this process holds now its children must find free.
    parvum_sync::fork::watch();
    let start = || {
        let started = Runtime::start(
            E::place().role,
            &String::from_utf8_lossy(interface),
            process::own_directory(),
            transports::policy()?,
        )?;
        static WATCHED: std::sync::Once = std::sync::Once::new();
        WATCHED.call_once(departing::watch_process);
        Ok::<_, StartError>(started)
    };
    let inside = match inside::join::<E, _>(start) {
        Ok(Some(inside)) => inside,
        Ok(None) => {
            remember("E-BUSY: this process leaves the machine, and a thread of it still waits in a call");
            return Status::NoMachine as i32;
        }
        Err(why) => {
            remember(&why);
            return Status::NoMachine as i32;
        }
    };
    let runtime: &Runtime = &inside;
    if runtime.identity.session.is_lost() {
        remember(&SessionError::Lost);
        return Status::NoMachine as i32;
    }
    let parent = runtime.identity.parent.map_or(0, |parent| parent.0);
    // SAFETY: `out` is writable, by the table's contract.
    unsafe { *out = Enrolled { tid: runtime.engine.me().0, parent } };
    Status::Done as i32
}

extern "C" fn depart<E: Endpoint>() -> i32 {
    if departing::depart::<E>() { Status::Done as i32 } else { Status::Unknown as i32 }
}

extern "C" fn progress<E: Endpoint>() -> Progress {
    with::<E, _>(Progress { moved: false, lost: true }, |runtime| {
        // Nothing rings when a daemon dies: look.
        runtime.attend();
        Progress { moved: runtime.progress(), lost: runtime.identity.session.is_lost() }
    })
}

extern "C" fn next_completed<E: Endpoint>() -> u64 {
    with::<E, _>(0, |runtime| runtime.engine.next_completed().map_or(0, RequestId::number))
}

unsafe extern "C" fn inject<E: Endpoint>(message: *const Message, data: *const u8, length: usize) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (message, data) = unsafe { (&*message, std::slice::from_raw_parts(data, length)) };
    let &Message { from, tag, context, meta, .. } = message;
    let envelope = Envelope { from: Tid(from), tag, context, meta, length: data.len() as u64, order: None };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        runtime.engine.inject(envelope, data);
        runtime.waits.waiters.stirred = true;
        Status::Done as i32
    })
}

unsafe extern "C" fn ask<E: Endpoint>(
    request: *const u8,
    length: usize,
    notes: *const Notes,
    answer: unsafe extern "C" fn(context: *mut c_void, bytes: *const u8, length: usize),
    context: *mut c_void,
) -> i32 {
    // SAFETY: valid for the call, by the table's contract.
    let (bytes, notes) = unsafe { (std::slice::from_raw_parts(request, length), &*notes) };
    let Ok(request) = postcard::from_bytes::<Request>(bytes) else { return Status::BadArgument as i32 };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        let asked = match request {
            Request::Barrier { group, count } => {
                runtime.barrier(&group, count, notes).map(|met| met.map(|()| Reply::Done))
            }
            request => {
                if let Request::Freeze { group, count } = &request {
                    runtime.show_barrier(group, *count);
                }
                runtime.ask(request, &[], notes).map(|answer| answer.reply)
            }
        };
        let reply: Result<Reply, Failure> = match asked {
            Ok(reply) => reply,
            Err(AskError::Late(_)) => return Status::Pending as i32,
            Err(AskError::Lost(SessionError::Refused(failure))) => Err(failure),
            Err(AskError::Lost(why)) => {
                remember(&why);
                return Status::NoMachine as i32;
            }
        };
        let status = if reply.is_ok() { Status::Done } else { Status::Refused };
        if let Err(why) = &reply {
            remember(why);
        }
        let Ok(bytes) = postcard::to_stdvec(&reply) else { return Status::NoMemory as i32 };
        // SAFETY: the caller gives a function for this context; the bytes live during the call.
        unsafe { answer(context, bytes.as_ptr(), bytes.len()) };
        status as i32
    })
}

extern "C" fn prefer<E: Endpoint>(route: u32) -> i32 {
    let way = match route {
        0 => RouteWish::Best,
        1 => RouteWish::Direct,
        2 => RouteWish::ByDaemons,
        _ => return Status::BadArgument as i32,
    };
    with::<E, _>(Status::Unknown as i32, |runtime| {
        runtime.connections.routes.ask(way);
        Status::Done as i32
    })
}

unsafe extern "C" fn counters<E: Endpoint>(out: *mut u64, room: usize) -> usize {
    with::<E, _>(0, |runtime| {
        let ledger = runtime.engine.ledger();
        for at in 0..parvum_engine::Counters::CELLS.min(room) {
            // SAFETY: room for `room` numbers, by the table's contract.
            unsafe { *out.add(at) = ledger.read_at(at) };
        }
        parvum_engine::Counters::CELLS
    })
}

unsafe extern "C" fn last_error(out: *mut u8, room: usize) -> usize {
    let Some(text) = errors::last() else { return 0 };
    let length = text.len().min(room);
    // SAFETY: room for `room` bytes, by the table's contract; the text is ours.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), out, length) };
    length
}

extern "C" fn cells<E: Endpoint>() -> *const u64 {
    if E::place().role == Role::Task { account::own_cells() } else { std::ptr::null() }
}
