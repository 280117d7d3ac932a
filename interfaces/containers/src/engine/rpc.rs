//! Request and answer. The engine neither loses nor repeats messages, so a request runs at most once, and is never sent
//! again. If a timer's handler asks for a repetition, the call only continues to wait.

use super::representative::{Representative, WhenFull};
use super::{CALL_NUMBERS, REPLIES, memory, station, words};
use crate::errors::Error;
use crate::state::{ClientState, Decision};
use parvum_api::Buffering;
use parvum_api::{ANY_TASK, CoreApi, Message, Notes, Pattern, Status, TagKind};
use parvum_wire::Tid;
use std::time::{Duration, Instant};

/// The interval in which a call of several servers checks that servers without an answer still live.
const LOOK_AT_SERVERS: i64 = 20_000_000;

/// Answers a call that was received.
#[inline]
pub(crate) fn reply(task: i32, number: u32, data: &[u8]) -> Result<(), Error> {
    if number == 0 || number >= CALL_NUMBERS || !Tid(task).is_task() {
        return Err(Error::BadArgument);
    }
    let api = station::with(|station| Ok(station.api))?;
    station::answer(api, task, number, data, 0).map_err(|why| Error::of(why, || api.last_error()))
}

/// Calls a server: the answer goes into `room`; gives its length.
#[inline]
pub(crate) fn call(
    server: &Representative,
    request: &[u8],
    room: &mut [u8],
    state: &mut ClientState,
) -> Result<usize, Error> {
    if !server.answers() {
        return Err(Error::Unable("a tag of context 0 has no answers; bind a container and call that"));
    }
    let number = station::with(|station| Ok(station.number_calls(1)))?;
    server.send_as(request, station::meta_of_call(number), Buffering::AtSender, WhenFull::Wait)?;
    let mut message = Message::NONE;
    match await_answer(server, number, room, state, &mut message) {
        Ok(true) if !station::is_failure(&message) => Ok(message.length as usize),
        Ok(true) => Err(Error::Gone),
        Ok(false) => finish(server.api(), &message, room),
        Err(why) => {
            // If the answer comes later, it is thrown away.
            let _ = station::with(|station| {
                station.abandon(number);
                Ok(())
            });
            Err(why)
        }
    }
}

/// Waits for the answer; whether it is in `room` already.
#[inline]
fn await_answer(
    server: &Representative,
    number: u32,
    room: &mut [u8],
    state: &mut ClientState,
    message: &mut Message,
) -> Result<bool, Error> {
    let pattern = Pattern {
        from: server.task(),
        tags: TagKind::Exactly,
        tag: number as i32,
        other: 0,
        context: REPLIES.into(),
    };
    loop {
        let limit = state.timer().map_or(-1, |timer| timer.as_nanos().min(i64::MAX as u128) as i64);
        let notes = Notes {
            limit,
            call: words::rpc(),
            peer: server.task(),
            tag: server.tag(),
            context: REPLIES as i32,
        };
        match server.api().receive_fitting(&pattern, room, &notes, message) {
            Ok(is_there) => return Ok(is_there),
            Err(Status::Pending) if state.expire() == Decision::GiveUp => return Err(Error::TimedOut),
            Err(Status::Pending) => {}
            Err(why) => return Err(server.failed(why)),
        }
    }
}

/// Copies an answer out and gives it back.
#[inline(never)]
fn finish(api: CoreApi, message: &Message, room: &mut [u8]) -> Result<usize, Error> {
    let length = message.length as usize;
    let done = if station::is_failure(message) {
        Err(Error::Gone)
    } else if let Some(room) = room.get_mut(..length) {
        memory::copy(api, message, 0, room).map(|()| length).map_err(|why| Error::of(why, String::new))
    } else {
        Err(Error::NoRoom { length })
    };
    api.give_back(message);
    done
}

/// One server of a call to several, and the state of its answer.
pub(crate) struct Ask<'a> {
    pub(crate) server: &'a Representative,
    pub(crate) outcome: Option<Result<(), Error>>,
}

/// Gets a member's answer, or why it has none; whether to go on.
type Hear<'a> = &'a mut dyn FnMut(usize, Result<&[u8], Error>) -> bool;

/// Calls several servers; `hear` gets each answer, or the reason why there is none, and decides whether to continue.
/// Ends when `want` have answered or nothing more can come. Gives how many answered.
pub(crate) fn call_many(
    asked: &mut [Ask<'_>],
    request: &[u8],
    want: usize,
    state: &mut ClientState,
    hear: Hear<'_>,
) -> Result<usize, Error> {
    let count = asked.len() as u32;
    let (api, first) = station::with(|station| Ok((station.api, station.number_calls(count))))?;
    let mut calls = Several { api, first, asked, answers: 0, want, hear, stopped: false };
    calls.ask(request);
    let ended = calls.listen(state);
    let Several { answers, asked, .. } = calls;
    for (at, _) in asked.iter().enumerate().filter(|(_, ask)| ask.outcome.is_none()) {
        station::with(|station| {
            station.abandon(first + at as u32);
            Ok(())
        })?;
    }
    ended.map(|()| answers)
}

struct Several<'a, 'b> {
    api: CoreApi,
    first: u32,
    asked: &'a mut [Ask<'b>],
    answers: usize,
    want: usize,
    hear: Hear<'a>,
    stopped: bool,
}

impl Several<'_, '_> {
    fn ask(&mut self, request: &[u8]) {
        for at in 0..self.asked.len() {
            let server = self.asked[at].server;
            let meta = station::meta_of_call(self.first + at as u32);
            let sent = if server.answers() {
                server.send_as(request, meta, Buffering::AtSender, WhenFull::Wait).map(drop)
            } else {
                Err(Error::Unable("a tag of context 0 has no answers"))
            };
            if let Err(why) = sent {
                self.fail(at, why);
            }
        }
    }

    fn fail(&mut self, at: usize, why: Error) {
        self.asked[at].outcome = Some(Err(why.clone()));
        self.stopped |= !(self.hear)(at, Err(why));
    }

    fn is_over(&self) -> bool {
        self.stopped || self.answers >= self.want || self.asked.iter().all(|ask| ask.outcome.is_some())
    }

    fn listen(&mut self, state: &mut ClientState) -> Result<(), Error> {
        let mut until = state.timer().map(|timer| Instant::now() + timer);
        while !self.is_over() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                if state.expire() == Decision::GiveUp {
                    return Err(Error::TimedOut);
                }
                until = state.timer().map(|timer| Instant::now() + timer);
                continue;
            }
            let limit = left.map_or(LOOK_AT_SERVERS, |left| LOOK_AT_SERVERS.min(left.as_nanos() as i64));
            match self.next(limit) {
                Ok(message) => self.take(&message),
                Err(Status::Pending) => self.look_at_servers(),
                Err(why) => return Err(Error::of(why, || self.api.last_error())),
            }
        }
        Ok(())
    }

    fn next(&self, limit: i64) -> Result<Message, Status> {
        let (tag, other) = (self.first as i32, (self.first + self.asked.len() as u32) as i32 - 1);
        let pattern = Pattern { from: ANY_TASK, tags: TagKind::Within, tag, other, context: REPLIES.into() };
        let notes = Notes { limit, call: words::rpc(), peer: ANY_TASK, tag, context: REPLIES as i32 };
        self.api.receive_by_reference(&pattern, &notes)
    }

    fn take(&mut self, message: &Message) {
        let at = (message.tag as u32 - self.first) as usize;
        if station::is_failure(message) {
            self.api.give_back(message);
            return self.fail(at, Error::Gone);
        }
        let mut far = Vec::new();
        let bytes = if message.is_remote() {
            far.resize(message.length as usize, 0);
            if memory::copy(self.api, message, 0, &mut far).is_err() {
                self.api.give_back(message);
                return self.fail(at, Error::Gone);
            }
            &far
        } else {
            memory::bytes_of(message)
        };
        self.asked[at].outcome = Some(Ok(()));
        self.answers += 1;
        self.stopped |= !(self.hear)(at, Ok(bytes));
        self.api.give_back(message);
    }

    /// A server that is gone will not answer.
    fn look_at_servers(&mut self) {
        for at in 0..self.asked.len() {
            if self.asked[at].outcome.is_some() {
                continue;
            }
            let task = self.asked[at].server.task();
            let tag = (self.first + at as u32) as i32;
            let pattern =
                Pattern { from: task, tags: TagKind::Exactly, tag, other: 0, context: REPLIES.into() };
            // The shortest time: a single look does not report that a task is gone.
            let notes = Notes { limit: 1, call: words::rpc(), peer: task, tag, context: REPLIES as i32 };
            match self.api.receive_by_reference(&pattern, &notes) {
                Ok(message) => self.take(&message),
                Err(Status::Pending) => {}
                Err(_) => self.fail(at, Error::Gone),
            }
        }
    }
}
