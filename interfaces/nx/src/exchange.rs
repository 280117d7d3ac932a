//! Sending and receiving: how each call waits, and which handlers run during the wait.

#![allow(unsafe_code)]

use crate::account::{self, Call};
use crate::errors::{Nx, NxError};
use crate::task::{Task, ptype_in_use};
use crate::words;
use crate::{handlers, ids, interrupt, select};
use parvum_api::Completion;
use parvum_api::{Message, Notes, Pattern, Request, SendTo, Status, TagKind};
use parvum_collectives::plans::hosts::Placement;
use parvum_collectives::{Exchange, Failure, Members, plans};
use parvum_partition::{AtSegment, Attend};
use parvum_wire::{EAGER, encoding};
use std::sync::atomic::{AtomicI64, Ordering};

/// The time that a sender waits before it wakes a receiver that computes, and the time between two wakeups.
const FIRST_CALL: i64 = 50_000;
const NEXT_CALL: i64 = 1_000_000;

/// The upper bits of a message's word are the sender's ptype.
const PTYPE_SHIFT: u32 = 8;

/// Memory that the program lends to a call, as the program names it: an address and a number of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lent {
    start: *mut u8,
    count: i64,
}

impl Lent {
    /// # Safety
    /// If `start` is not null, it must point to `count` bytes of the program until the operation is complete. They must
    /// be readable, and writable for a receive. No other code may use them in a conflicting way.
    #[inline]
    pub(crate) unsafe fn new(start: *mut u8, count: i64) -> Lent {
        Lent { start, count }
    }

    /// Checks the program's claims.
    #[inline]
    pub(crate) fn memory(self) -> Nx<Memory> {
        let Lent { start, count } = self;
        match count {
            0 => Ok(Memory { start, length: 0 }),
            ..0 => Err(NxError::Len),
            _ if count > Memory::LARGEST => Err(NxError::BLen),
            _ if start.is_null() => Err(NxError::PBuf),
            _ => Ok(Memory { start, length: count as usize }),
        }
    }

    /// The program's number of bytes.
    pub(crate) fn count(self) -> i64 {
        self.count
    }

    /// Whether the program has lent no bytes at a null address.
    pub(crate) fn is_nothing(self) -> bool {
        self.start.is_null() && self.count == 0
    }
}

/// Memory that the program has lent until an operation is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    start: *mut u8,
    length: usize,
}

impl Memory {
    /// More is no memory of any process.
    const LARGEST: i64 = 1 << 47;

    /// Bytes.
    #[inline]
    pub(crate) fn length(self) -> usize {
        self.length
    }

    /// The memory as a slice.
    ///
    /// # Safety
    /// Nobody else may use the memory while the slice lives.
    #[inline]
    pub(crate) unsafe fn slice<'a>(self) -> &'a mut [u8] {
        match self.length {
            0 => &mut [],
            // SAFETY: not null, and the program's: the promise of `Lent::new`.
            length => unsafe { std::slice::from_raw_parts_mut(self.start, length) },
        }
    }
}

/// The properties of a message that was received or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub(crate) kind: i64,
    pub(crate) count: i64,
    /// A task, not a node: few programs ask.
    pub(crate) from: i32,
    pub(crate) ptype: i64,
}

impl From<&Message> for Info {
    #[inline]
    fn from(message: &Message) -> Info {
        Info {
            kind: message.tag.into(),
            count: message.length as i64,
            from: message.from,
            ptype: (message.meta >> PTYPE_SHIFT).into(),
        }
    }
}

impl Info {
    /// In the order of the info array: type, count, node, ptype.
    pub(crate) fn numbers(&self, task: &Task) -> [i64; 4] {
        [self.kind, self.count, task.partition.node(self.from), self.ptype]
    }
}

/// The values of `infocount` and related calls.
static LAST: [AtomicI64; 4] = [const { AtomicI64::new(0) }; 4];

/// Stores the last completed message, for `infocount` and related calls.
#[inline]
pub(crate) fn remember(info: &Info) {
    // Relaxed: only the thread that received the message reads it.
    for (cell, number) in LAST.iter().zip([info.kind, info.count, info.from.into(), info.ptype]) {
        cell.store(number, Ordering::Relaxed);
    }
}

/// What was remembered last.
pub(crate) fn last() -> Info {
    let number = |at: usize| LAST[at].load(Ordering::Relaxed);
    Info { kind: number(0), count: number(1), from: number(2) as i32, ptype: number(3) }
}

/// A send that was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) request: Request,
    pub(crate) to: i32,
}

/// Starts to send. `None`: the send is over.
#[inline]
pub(crate) fn start_send(task: &'static Task, kind: i64, data: Memory, to: i32) -> Nx<Option<Sending>> {
    let (tag, buffering) = select::outgoing(kind)?;
    interrupt::serve_if_long(task, data.length);
    let meta = encoding::RAW | ptype_in_use()? << PTYPE_SHIFT;
    let how = SendTo { to, tag, context: select::CONTEXT, meta, buffering, completion: Completion::Copied };
    // SAFETY: the program has lent the memory until the send is over.
    let started = unsafe { task.api.start_send(how, data.start, data.length) }?;
    Ok(started.map(|request| Sending { request, to }))
}

/// Sends, and returns when the memory may be used again.
#[inline]
pub(crate) fn send(task: &'static Task, kind: i64, data: Memory, to: i32) -> Nx<()> {
    match start_send(task, kind, data, to)? {
        None => Ok(()),
        Some(sending) => finish_send(task, sending, words::csend()),
    }
}

/// Waits until a send is over.
pub(crate) fn finish_send(task: &Task, sending: Sending, call: u32) -> Nx<()> {
    let notes = Notes { limit: -1, call, peer: sending.to, tag: -1, context: -1 };
    wait_over(task, sending.request, Some(sending.to), &notes)?;
    task.api.wait(sending.request, &Notes { limit: 0, ..notes }).map(|_| ())?;
    Ok(())
}

/// Waits until a request is over; its outcome is not taken. Handlers run during the wait. `to`: who must take
/// something.
pub(crate) fn wait_over(task: &Task, request: Request, to: Option<i32>, notes: &Notes) -> Nx<()> {
    let mut limit = if to.is_some() { FIRST_CALL } else { notes.limit };
    let mut requests = vec![request];
    loop {
        handlers::run_ready(task);
        requests.truncate(1);
        let until = handlers::awaited(&mut requests, limit);
        match task.api.wait_any(&requests, u64::MAX, &Notes { limit: until, ..*notes }) {
            0 => return Ok(()),
            1.. => continue,
            // Without a limit only the end of the machine ends a wait.
            _ if until < 0 || task.api.progress().lost => return Err(NxError::Machine),
            _ if until != limit => continue,
            _ => {}
        }
        if let Some(to) = to {
            task.api.summon(to);
        }
        limit = NEXT_CALL;
    }
}

/// Posts a receive into memory.
#[inline]
pub(crate) fn post(task: &Task, pattern: &Pattern, room: Memory, flags: u32) -> Request {
    // SAFETY: the program has lent the memory until the receive is over.
    unsafe { task.api.post_into(pattern, room.start, room.length, flags) }
}

/// Receives into memory, waiting for the message.
#[inline]
pub(crate) fn receive(task: &'static Task, pattern: &Pattern, room: Memory, call: Call) -> Nx<Info> {
    ptype_in_use()?;
    interrupt::serve_if_long(task, room.length);
    let notes =
        Notes { limit: -1, call: words::crecv(), peer: pattern.from, tag: pattern_tag(pattern), context: 0 };
    // Two kinds of messages need a posted receive when they arrive: a long message, so that its data goes straight to
    // the buffer, and a force message, which is otherwise dropped.
    let is_posted =
        handlers::are_posted() || room.length > EAGER || pattern.tag > select::LAST_ORDINARY as i32;
    let got = if is_posted {
        receive_posted(task, pattern, room, &notes).map(|message| Info::from(&message))
    } else {
        receive_alone(task, pattern, room, &notes)
    };
    account::copied_in(task, call);
    let info = got?;
    account::received(info.count as u64);
    Ok(info)
}

#[inline]
fn receive_alone(task: &Task, pattern: &Pattern, room: Memory, notes: &Notes) -> Nx<Info> {
    let receive = |notes: &Notes| {
        // SAFETY: the slice lives as long as this call, in which the program does nothing else with the memory.
        let room = unsafe { room.slice() };
        task.api.receive_seen(pattern, room, notes, |message| Info::from(message))
    };
    let fits = |info: Info| if info.count > room.length as i64 { Err(NxError::MsgLong) } else { Ok(info) };
    if ids::may_have_claims() {
        match receive(&Notes { limit: 0, ..*notes }) {
            Err(Status::Pending) => {}
            other => return fits(other?),
        }
        // Before a receive waits for another message, it copies messages that posted receives have claimed.
        task.api.fetch_claims(None);
    }
    fits(receive(notes)?)
}

fn receive_posted(task: &Task, pattern: &Pattern, room: Memory, notes: &Notes) -> Nx<Message> {
    let request = post(task, pattern, room, 0);
    if task.api.wait_any(&[request], u64::MAX, &Notes { limit: 0, ..*notes }) != 0 && ids::may_have_claims() {
        task.api.fetch_claims(None);
    }
    wait_over(task, request, None, notes)?;
    outcome(task, request, room.length)
}

/// The message of a receive that is over.
pub(crate) fn outcome(task: &Task, request: Request, room: usize) -> Nx<Message> {
    let notes = Notes { limit: 0, call: words::msgwait(), peer: -1, tag: -1, context: -1 };
    let message = task.api.wait(request, &notes)?;
    if message.length > room as u64 { Err(NxError::MsgLong) } else { Ok(message) }
}

/// All nodes, as the operations of all see them: handlers run while those wait.
pub(crate) struct Group<'a> {
    pub(crate) task: &'a Task,
    pub(crate) members: Members<'a>,
}

impl<'a> Group<'a> {
    /// The nodes' segment, if they have one; handlers run while this node waits there.
    pub(crate) fn segment(&self) -> Nx<Option<AtSegment<'a>>> {
        Ok(self.task.partition.segment(Some(self.task))?)
    }

    /// An operation is over; remembers who was missed in it.
    pub(crate) fn outcome(&self, outcome: Result<(), Failure>) -> Nx<()> {
        self.task.partition.remember(&outcome);
        Ok(outcome?)
    }
}

impl Attend for Task {
    #[inline]
    fn attend(&self, requests: &mut Vec<Request>) -> Result<i64, Status> {
        requests.clear();
        handlers::run_ready(self);
        Ok(handlers::awaited(requests, -1))
    }
}

impl Group<'_> {
    /// This node among all, and which of them live on one host.
    pub(crate) fn placement(&self) -> Placement<'_> {
        self.task.partition.placement()
    }

    /// Receives while handlers may run.
    fn receive_posted(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        let (pattern, notes) = (self.members.pattern(from), self.members.notes(from));
        let (start, length) = (room.as_mut_ptr(), room.len());
        // SAFETY: the memory is lent until this returns, and then the receive is over; but for the end of the machine.
        let request = unsafe { self.task.api.post_into(&pattern, start, length, 0) };
        wait_over(self.task, request, None, &notes).map_err(|_| Status::NoMachine)?;
        match self.task.api.wait(request, &Notes { limit: 0, ..notes }) {
            Ok(message) => Ok((message.meta, message.length)),
            // Longer than the room, by however much.
            Err(Status::Cut) => Ok((0, u64::MAX)),
            Err(why) => Err(why),
        }
    }
}

impl Exchange for Group<'_> {
    fn group(&self) -> plans::Group {
        self.members.group()
    }

    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status> {
        self.members.send(to, word, data)
    }

    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        match handlers::are_posted() {
            true => self.receive_posted(from, room),
            false => self.members.receive(from, room),
        }
    }
}

/// Finds a message without taking it. `None`: no message matches, and the call should not wait.
pub(crate) fn probe(task: &Task, pattern: &Pattern, wait: bool) -> Nx<Option<Info>> {
    ptype_in_use()?;
    let tag = pattern_tag(pattern);
    let notes = Notes { limit: 0, call: words::cprobe(), peer: pattern.from, tag, context: 0 };
    loop {
        let attentive = handlers::are_posted();
        let seen = task.api.arrivals();
        let limit = if wait && !attentive { -1 } else { 0 };
        match task.api.probe(pattern, &Notes { limit, ..notes }) {
            Ok(message) => return Ok(Some(Info::from(&message))),
            Err(Status::Pending) if !wait => return Ok(None),
            Err(Status::Pending) if attentive => {}
            Err(why) => return Err(why.into()),
        }
        handlers::run_ready(task);
        let mut requests = Vec::new();
        let limit = handlers::awaited(&mut requests, -1);
        task.api.wait_any(&requests, seen, &Notes { limit, ..notes });
        if task.api.progress().lost {
            return Err(NxError::Machine);
        }
    }
}

/// The tag for tools; -1 for several tags.
fn pattern_tag(pattern: &Pattern) -> i32 {
    if pattern.tags == TagKind::Exactly { pattern.tag } else { -1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_refused_if_no_process_can_have_it() {
        // SAFETY: nobody reads or writes there.
        let check = |start, count| unsafe { Lent::new(start, count) }.memory();
        let (here, null) = (std::ptr::dangling_mut(), std::ptr::null_mut());
        assert_eq!(check(here, -1).err(), Some(NxError::Len));
        assert_eq!(check(here, i64::MAX).err(), Some(NxError::BLen));
        assert_eq!(check(null, 1).err(), Some(NxError::PBuf));
        assert!(check(null, 0).is_ok());
    }
}
