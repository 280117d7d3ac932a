//! Messages between two: MPI's four modes as the engine's choices of who buffers, and when a send is over.

use crate::comms::comm::Comm;
use crate::comms::failure;
use crate::comms::revocation::revoked;
use crate::errors::{Error, Mpi, class};
use crate::messages::attached::Leaving;
use crate::messages::bsend;
use crate::messages::buffers::{Data, ReceiveInto, Sent, overlap};
use crate::messages::status::Status;
use crate::objects::numbers::{ANY_SOURCE, ANY_TAG};
use crate::process::machine::notes;
use crate::process::this::{Process, process};
use crate::process::{introspect, sessions};
use crate::requests::deferred;
use crate::requests::operations::{Operation, Receiving, State};
use crate::requests::outcome::{Outcome, outcome_of, with_nobody};
use crate::requests::progress;
use parvum_api::{
    ANY_TASK, Buffering, Completion, Message, Pattern, SendTo, Status as Answer, TagKind, call,
};
use parvum_wire::EAGER;
use std::sync::Arc;
use std::time::Instant;

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Buffered by its length.
    Standard,
    /// The same: a receive that is missing is no reason to lose data.
    Ready,
    /// Over when it is matched.
    Synchronous,
    /// Over at once: it waits in the buffer that the program has attached.
    Buffered,
}

/// Where a message is to go: who, and how it is told.
struct To {
    rank: i32,
    how: SendTo,
}

#[inline(always)]
fn checked_tag(tag: i32) -> Mpi<i32> {
    if tag >= 0 { Ok(tag) } else { Err(wrong_tag(tag)) }
}

#[cold]
fn wrong_tag(tag: i32) -> Error {
    let text = match tag {
        ANY_TAG => "the tag is MPI_ANY_TAG, which only receives may have".to_owned(),
        tag => format!("the tag is {tag}; tags go from 0 to {}", i32::MAX),
    };
    Error::new(class::TAG, text)
}

/// `None`: to nobody.
#[inline(always)]
fn to(comm: &Comm, rank: i32, tag: i32, mode: Mode, length: usize) -> Mpi<Option<To>> {
    checked_tag(tag)?;
    if comm.is_revoked() {
        return Err(revoked());
    }
    let Some(task) = comm.peer(rank)? else { return Ok(None) };
    let (buffering, completion) = match mode {
        Mode::Standard | Mode::Ready => (Buffering::BySize, Completion::Copied),
        Mode::Synchronous if length <= EAGER => (Buffering::BySize, Completion::Matched),
        Mode::Synchronous => (Buffering::Never, Completion::Matched),
        Mode::Buffered => (Buffering::AtSender, Completion::Copied),
    };
    let how =
        SendTo { to: task, tag, context: comm.context(), meta: comm.rank() as u32, buffering, completion };
    Ok(Some(To { rank, how }))
}

/// Sends, and waits until the buffer may be used again.
#[inline(always)]
pub(crate) fn send(comm: &Arc<Comm>, data: &Data, rank: i32, tag: i32, mode: Mode) -> Mpi {
    let process = process()?;
    let Some(to) = to(comm, rank, tag, mode, data.length())? else { return Ok(()) };
    if mode == Mode::Buffered {
        return send_buffered(process, comm, data, to);
    }
    let function = mode.function();
    // What is longer, or over only when it is matched, may wait for its receiver.
    let may_wait = data.length() > EAGER || mode == Mode::Synchronous;
    if may_wait {
        introspect::enter(function);
        introspect::publish_send(process, comm, data.length());
    }
    let told = notes(introspect::within(call::SEND, function), to.how.to, tag, comm.context());
    let sent = match data.bytes() {
        Some(run) if progress::is_quiet() && !comm.is_tolerant() => {
            let sent = process.api.send_one(to.how, run, &told);
            sent.map_err(|status| process.failed(status, Some(rank as usize)))
        }
        _ => {
            introspect::enter(function);
            start(process, comm, data, to).and_then(|operation| finish(process, operation))
        }
    };
    if may_wait {
        introspect::forget_send(process);
    }
    sent
}

/// Hands a message of this rank to itself to the first deferred receive. False: nothing has happened, and the usual calls are needed.
#[inline(never)]
pub(crate) fn passes_to_deferred(
    process: &Process,
    comm: &Comm,
    data: &Data,
    rank: i32,
    tag: i32,
) -> Mpi<bool> {
    if rank != comm.rank() as i32 || comm.remote().is_some() || comm.is_tolerant() || !progress::is_quiet() {
        return Ok(false);
    }
    let Some(data) = data.bytes().filter(|data| data.len() <= EAGER) else { return Ok(false) };
    let to = to(comm, rank, tag, Mode::Standard, data.len())?;
    Ok(to.is_some_and(|to| deferred::pass(process, to.how, data)))
}

fn finish(process: &Process, operation: Option<Arc<Operation>>) -> Mpi {
    let Some(operation) = operation else { return Ok(()) };
    let outcome = progress::wait(process, &operation)?;
    outcome.error.map_or(Ok(()), Err)
}

impl Mode {
    /// The blocking function that sends so.
    fn function(self) -> u32 {
        match self {
            Mode::Standard => SEND,
            Mode::Ready => RSEND,
            Mode::Synchronous => SSEND,
            Mode::Buffered => BSEND,
        }
    }
}

const SEND: u32 = introspect::number("MPI_Send");
const RSEND: u32 = introspect::number("MPI_Rsend");
const SSEND: u32 = introspect::number("MPI_Ssend");
const BSEND: u32 = introspect::number("MPI_Bsend");
const RECV: u32 = introspect::number("MPI_Recv");

fn send_buffered(process: &'static Process, comm: &Arc<Comm>, data: &Data, to: To) -> Mpi {
    let send = &|| {
        let bytes = Arc::new(data.packed());
        let begun = process.api.start_owned(to.how, &bytes);
        let begun = begun.map_err(|status| process.failed(status, Some(to.rank as usize)))?;
        let told = notes(call::SEND, to.how.to, to.how.tag, comm.context());
        Ok(begun.map(|request| Leaving::new(request, to.rank, told)))
    };
    // The communicator's buffer, or its session's, or the process's.
    if comm.buffer.is_attached() {
        return comm.buffer.send(process, data.length(), send);
    }
    let of_session =
        sessions::with_buffer_of(comm.session(), |buffer| buffer.send(process, data.length(), send));
    of_session.unwrap_or_else(|| bsend::of_process().send(process, data.length(), send))
}

/// Starts to send. `None`: it is over.
#[inline(always)]
fn start(process: &Process, comm: &Arc<Comm>, data: &Data, to: To) -> Mpi<Option<Arc<Operation>>> {
    let begun = match data.run() {
        // SAFETY: the program leaves its buffer alone until the request is over.
        Some((start, length)) => unsafe { process.api.start_send(to.how, start, length) },
        None => match data.holed() {
            // SAFETY: likewise.
            Sent::Pieces(pieces) => unsafe { process.api.start_pieces(&to.how, &pieces) },
            // SAFETY: the program's memory is there during its call.
            Sent::Scattered(data) => unsafe { process.api.start_scattered(&to.how, &data) },
        },
    };
    let begun = begun.map_err(|status| process.failed(status, Some(to.rank as usize)))?;
    let told = notes(call::SEND, to.how.to, to.how.tag, comm.context());
    let sending = |request| Operation::new(State::Sending { request, peer: to.rank }, comm.handle(), told);
    Ok(begun.map(|request| Arc::new(sending(request))))
}

/// Starts to send in standard mode, without waiting for anything. `None`: it is over.
#[inline(always)]
pub(crate) fn start_standard(
    process: &Process,
    comm: &Arc<Comm>,
    data: &Data,
    rank: i32,
    tag: i32,
) -> Mpi<Option<Arc<Operation>>> {
    match to(comm, rank, tag, Mode::Standard, data.length())? {
        Some(to) => start(process, comm, data, to),
        None => Ok(None),
    }
}

/// Starts to send, for a request. A send that is over has an operation all the same.
pub(crate) fn isend(comm: &Arc<Comm>, data: &Data, rank: i32, tag: i32, mode: Mode) -> Mpi<Arc<Operation>> {
    let process = process()?;
    let over = || Arc::new(Operation::over(Outcome::EMPTY, comm.handle()));
    let Some(to) = to(comm, rank, tag, mode, data.length())? else { return Ok(over()) };
    if mode == Mode::Buffered {
        return send_buffered(process, comm, data, to).map(|()| over());
    }
    Ok(start(process, comm, data, to)?.unwrap_or_else(over))
}

/// Which messages a receive or probe takes; `None`: from nobody.
#[inline(always)]
pub(crate) fn pattern(comm: &Comm, source: i32, tag: i32) -> Mpi<Option<Pattern>> {
    if comm.is_revoked() {
        return Err(revoked());
    }
    let from = match source {
        ANY_SOURCE => ANY_TASK,
        source => match comm.peer(source)? {
            Some(task) => task,
            None => {
                if tag != ANY_TAG {
                    checked_tag(tag)?;
                }
                return Ok(None);
            }
        },
    };
    let tags = if tag == ANY_TAG { TagKind::Any } else { TagKind::Exactly };
    if tag != ANY_TAG {
        checked_tag(tag)?;
    }
    Ok(Some(Pattern { from, tags, tag, other: 0, context: i64::from(comm.context()) }))
}

/// Receives, and waits for it.
#[inline(always)]
pub(crate) fn receive(comm: &Arc<Comm>, data: &Data, source: i32, tag: i32) -> Mpi<Outcome> {
    let process = process()?;
    let Some(pattern) = pattern(comm, source, tag)? else { return Ok(with_nobody(true)) };
    if let Some((start, length)) = data.run()
        && progress::is_quiet()
        && !comm.is_tolerant()
    {
        let told = notes(introspect::within(call::RECEIVE, RECV), pattern.from, tag, comm.context());
        // SAFETY: the program promises the buffer for the call.
        let room =
            unsafe { std::slice::from_raw_parts_mut(if length == 0 { NOWHERE } else { start }, length) };
        let got = process.api.receive_seen(&pattern, room, &told, |message| outcome_of(message, length));
        return got.map_err(|status| process.failed(status, usize::try_from(source).ok()));
    }
    introspect::enter(RECV);
    let operation = Arc::new(post(process, comm, data, &pattern, source));
    progress::wait_for_message(process, &operation)
}

const NOWHERE: *mut u8 = std::ptr::dangling_mut();

/// Posts a receive.
pub(crate) fn post(
    process: &Process,
    comm: &Arc<Comm>,
    data: &Data,
    pattern: &Pattern,
    source: i32,
) -> Operation {
    // SAFETY: the program leaves its buffer alone until the request is over.
    let request = unsafe {
        match data.room() {
            ReceiveInto::Run(start, length) => process.api.post_into(pattern, start, length, 0),
            ReceiveInto::Pieces(pieces) => process.api.post_into_pieces(pattern, &pieces, 0),
            ReceiveInto::Scattered(memory) => process.api.post_scattered(pattern, &memory, 0),
        }
    };
    let (length, comm_kept) = (data.length(), Some(comm.clone()));
    let state = State::Receiving(Receiving { request, length, source, comm: comm_kept });
    Operation::new(state, comm.handle(), notes(call::RECEIVE, pattern.from, pattern.tag, comm.context()))
}

/// Begins a receive.
pub(crate) fn irecv(comm: &Arc<Comm>, data: &Data, source: i32, tag: i32) -> Mpi<Arc<Operation>> {
    let process = process()?;
    Ok(Arc::new(match pattern(comm, source, tag)? {
        Some(pattern) => post(process, comm, data, &pattern, source),
        None => Operation::over(with_nobody(true), comm.handle()),
    }))
}

/// The oldest message that fits, as a status; `None` when there is none yet, which `wait` forbids.
pub(crate) fn probe(comm: &Arc<Comm>, source: i32, tag: i32, wait: bool) -> Mpi<Option<Status>> {
    find(comm, source, tag, wait, false).map(|found| found.map(|found| found.0))
}

/// The same, and nobody else finds it: its status and, unless it is from nobody, the message.
pub(crate) fn extract(
    comm: &Arc<Comm>,
    source: i32,
    tag: i32,
    wait: bool,
) -> Mpi<Option<(Status, Option<Message>)>> {
    find(comm, source, tag, wait, true)
}

fn find(
    comm: &Arc<Comm>,
    source: i32,
    tag: i32,
    wait: bool,
    takes: bool,
) -> Mpi<Option<(Status, Option<Message>)>> {
    let process = process()?;
    let Some(pattern) = pattern(comm, source, tag)? else { return Ok(Some((Status::FROM_NOBODY, None))) };
    let told = notes(introspect::now(call::PROBE), pattern.from, tag, comm.context());
    let mut asked = Instant::now();
    loop {
        progress::move_all(process);
        // Who has something to move, or to hear of, looks at it now and then.
        let limit = match wait {
            false => 0,
            true if progress::is_quiet() && !comm.is_tolerant() => -1,
            true => A_WHILE,
        };
        let told = parvum_api::Notes { limit, ..told };
        let found = match takes {
            true => process.api.extract(&pattern, &told),
            false => process.api.probe(&pattern, &told),
        };
        match found {
            Ok(message) => {
                return Ok(Some((
                    Status::of(message.meta as i32, message.tag, message.length),
                    Some(message),
                )));
            }
            Err(Answer::Pending) if !wait => return Ok(None),
            Err(Answer::Pending) if process.api.progress().lost => {
                return Err(process.failed(Answer::NoMachine, None));
            }
            Err(Answer::Pending) => {
                if comm.is_revoked() {
                    return Err(revoked());
                }
                if source == ANY_SOURCE && comm.is_tolerant() && asked.elapsed() >= failure::ASKING {
                    failure::refuse_unknown_deaths(process, comm)?;
                    asked = Instant::now();
                }
            }
            Err(status) => return Err(process.failed(status, usize::try_from(source).ok())),
        }
    }
}

/// Nanoseconds.
const A_WHILE: i64 = 20_000_000;

/// Receives a message that was taken out of matching.
pub(crate) fn receive_extracted(message: &Message, data: &Data) -> Mpi<Outcome> {
    let process = process()?;
    let told = notes(introspect::now(call::RECEIVE), message.from, message.tag, message.context);
    if let Some((start, length)) = data.run() {
        // SAFETY: the program promises the buffer for the call.
        let room =
            unsafe { std::slice::from_raw_parts_mut(if length == 0 { NOWHERE } else { start }, length) };
        return match process.api.take(message, parvum_api::Receiving::Into(room), &told) {
            Ok(_) | Err(Answer::Cut) => Ok(outcome_of(message, length)),
            Err(status) => Err(process.failed(status, usize::try_from(message.meta as i32).ok())),
        };
    }
    // SAFETY: the program promises the buffer for the call.
    match unsafe { process.api.take_scattered(message, &data.copied(), &told) } {
        Ok(()) | Err(Answer::Cut) => Ok(outcome_of(message, data.length())),
        Err(status) => Err(process.failed(status, usize::try_from(message.meta as i32).ok())),
    }
}

/// Sends and receives, neither before the other.
pub(crate) fn exchange(
    comm: &Arc<Comm>,
    (give, dest, send_tag): (&Data, i32, i32),
    (get, source, receive_tag): (&Data, i32, i32),
) -> Mpi<Outcome> {
    let process = process()?;
    // Wrong arguments are errors before anything is posted.
    let going = to(comm, dest, send_tag, Mode::Standard, give.length())?;
    let coming = pattern(comm, source, receive_tag)?;
    let (mut going, mut sending) = (going, None);
    if let Some(coming) = &coming
        && let Some((data, (place, length))) = short_runs(comm, give, get)
    {
        // SAFETY: the program promises the buffer for the call; it is apart from the data.
        let room = unsafe { std::slice::from_raw_parts_mut(place, length) };
        match going.take() {
            Some(to) if to.rank == comm.rank() as i32 && comm.remote().is_none() => {
                let see = |message: &Message| outcome_of(message, length);
                if let Some(outcome) = process.api.pass_to_self(to.how, data, coming, room, see) {
                    return Ok(outcome);
                }
                going = Some(to);
            }
            // A short send is mostly over at once, so the receive needs no request.
            Some(to) => {
                sending = start(process, comm, give, to)?;
                if sending.is_none() {
                    return receive_run(process, comm, coming, room, source);
                }
            }
            None => {}
        }
    }
    let coming = Arc::new(match coming {
        Some(pattern) => post(process, comm, get, &pattern, source),
        None => Operation::over(with_nobody(true), comm.handle()),
    });
    let sent = match going {
        Some(to) => start(process, comm, give, to),
        None => Ok(sending),
    };
    let sent = sent.and_then(|operation| finish(process, operation));
    sent.map_err(|error| without_receive(&coming, error))?;
    progress::wait_for_message(process, &coming)
}

/// The data of an exchange, and the address and length of its memory. `None`: one of them has several runs, the data is
/// long, or other operations move on beside the exchange.
#[inline]
fn short_runs<'d>(comm: &Comm, give: &'d Data, get: &Data) -> Option<(&'d [u8], (*mut u8, usize))> {
    let (data, (start, length)) = (give.bytes()?, get.run()?);
    if data.len() > EAGER || !progress::is_quiet() || comm.is_tolerant() || overlap(give, get) {
        return None;
    }
    Some((data, (if length == 0 { NOWHERE } else { start }, length)))
}

/// Receives into one run.
#[inline]
fn receive_run(
    process: &Process,
    comm: &Comm,
    pattern: &Pattern,
    room: &mut [u8],
    source: i32,
) -> Mpi<Outcome> {
    let told = notes(introspect::now(call::RECEIVE), pattern.from, pattern.tag, comm.context());
    let length = room.len();
    let got = process.api.receive_seen(pattern, room, &told, |message| outcome_of(message, length));
    got.map_err(|status| process.failed(status, usize::try_from(source).ok()))
}

/// The error of a send whose receive was posted before it: the receive is taken back, and the program's buffer stays as it is.
#[cold]
pub(crate) fn without_receive(coming: &Operation, error: Error) -> Error {
    if let Ok(process) = process() {
        coming.cancel(process);
    }
    error
}

/// Refuses what makes no sense in a send, before anything is done.
pub(crate) fn check_send(comm: &Comm, dest: i32, tag: i32) -> Mpi {
    to(comm, dest, tag, Mode::Standard, 0).map(|_| ())
}

/// Starts to send bytes that are nobody else's.
pub(crate) fn isend_copy(comm: &Arc<Comm>, bytes: Vec<u8>, dest: i32, tag: i32) -> Mpi<Arc<Operation>> {
    let process = process()?;
    let over = || Arc::new(Operation::over(Outcome::EMPTY, comm.handle()));
    let Some(to) = to(comm, dest, tag, Mode::Standard, bytes.len())? else { return Ok(over()) };
    let begun = process.api.start_owned(to.how, &Arc::new(bytes));
    let begun = begun.map_err(|status| process.failed(status, Some(to.rank as usize)))?;
    let told = notes(call::SEND, to.how.to, to.how.tag, comm.context());
    let sending = |request| Operation::new(State::Sending { request, peer: to.rank }, comm.handle(), told);
    Ok(begun.map_or_else(over, |request| Arc::new(sending(request))))
}
