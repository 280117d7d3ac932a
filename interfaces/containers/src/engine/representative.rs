//! A handle on a container, local to its sender.

use super::station::{self, Link, Sight};
use super::{CONTEXT, words};
use crate::Bounds;
use crate::errors::Error;
use parvum_api::{Buffering, Completion};
use parvum_api::{CoreApi, Notes, Request, SendTo, Status};
use parvum_sync::{BiasedGuard, BiasedLock, fork};
use parvum_wire::control::Spot;
use parvum_wire::encoding;
use std::collections::VecDeque;
use std::sync::Arc;

/// A container with bounds lets its senders know after each such part of them what was taken.
const PARTS: u64 = 64;

/// How often it looks for notes where its container's task can notify this one, and where not: see [`State::looks`].
const SELDOM: u64 = 63;
const OFTEN: u64 = 3;

/// See [`crate::ContainerRepresentative`].
pub(crate) struct Representative {
    api: CoreApi,
    generation: u32,
    me: i32,
    sight: Sight,
    how: SendTo,
    notes: Notes,
    bounds: Bounds,
    state: BiasedLock<State>,
}

/// The state of a representative: its sent messages.
#[derive(Default)]
struct State {
    /// Since the first message: what is known of the container's life.
    link: Option<Arc<Link>>,
    sent: u64,
    /// After a message whose number has none of these bits, the representative looks for unread notes.
    looks: u64,
    /// The messages from here that may still be in the container.
    waiting: Amount,
    /// The part of them after the last mark.
    unmarked: Amount,
    /// Messages whose receipt the engine reports, with the amount before each.
    marks: VecDeque<(Request, Amount)>,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    messages: u64,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }

    fn subtract(&mut self, other: Amount) {
        self.messages -= other.messages;
        self.bytes -= other.bytes;
    }
}

/// The action if the container is full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenFull {
    Wait,
    Drop,
}

impl Representative {
    pub(crate) fn of(task: i32, spot: Spot) -> Result<Representative, Error> {
        let Spot { number: tag, context, messages, bytes } = spot;
        station::with(|station| {
            let how = SendTo {
                to: task,
                tag,
                context,
                meta: encoding::RAW,
                buffering: Buffering::AtSender,
                completion: Completion::Copied,
            };
            let notes = Notes { limit: -1, call: words::send(), peer: task, tag, context: context as i32 };
            let bounds = Bounds { messages, bytes };
            let (api, me, generation) = (station.api, station.me, fork::generation());
            let sight = Sight::new(api);
            Ok(Representative {
                api,
                sight,
                generation,
                me,
                how,
                notes,
                bounds,
                state: BiasedLock::new(State::default()),
            })
        })
    }

    /// A representative for messages with a tag of context 0 to any task.
    pub(crate) fn of_tag(task: i32, tag: i32) -> Result<Representative, Error> {
        if tag < 0 || !parvum_wire::Tid(task).is_task() {
            return Err(Error::BadArgument);
        }
        Representative::of(task, Spot { number: tag, ..Spot::default() })
    }

    pub(crate) fn api(&self) -> CoreApi {
        self.api
    }

    pub(crate) fn task(&self) -> i32 {
        self.how.to
    }

    pub(crate) fn tag(&self) -> i32 {
        self.how.tag
    }

    pub(crate) fn is_local(&self) -> bool {
        self.how.to == self.me
    }

    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How its messages go, and what a wait for one is called.
    pub(super) fn how(&self) -> (SendTo, Notes) {
        (self.how, self.notes)
    }

    /// Whether it may send now.
    pub(super) fn ready_for_group(&self) -> Result<(), Error> {
        self.ready().map(drop)
    }

    /// A message has gone to its container among those to a group.
    pub(super) fn has_sent(&self) {
        self.state.take().sent += 1;
    }

    /// Whether a library like this one is behind it, and not just a tag.
    pub(crate) fn answers(&self) -> bool {
        self.how.context == CONTEXT
    }

    pub(crate) fn sent(&self) -> u64 {
        self.state.take().sent
    }

    /// Sends. `Ok(false)`: the container is full and the message was dropped.
    #[inline]
    pub(crate) fn send(&self, data: &[u8], when_full: WhenFull) -> Result<bool, Error> {
        self.send_as(data, self.how.meta, Buffering::AtSender, when_full)
    }

    /// Sends without buffering: waits until the receiver has read the memory itself.
    pub(crate) fn send_reference(&self, data: &[u8]) -> Result<bool, Error> {
        self.send_as(data, self.how.meta, Buffering::Never, WhenFull::Wait)
    }

    #[inline]
    pub(super) fn send_as(
        &self,
        data: &[u8],
        meta: u32,
        buffering: Buffering,
        when_full: WhenFull,
    ) -> Result<bool, Error> {
        let mut state = self.ready()?;
        let how = SendTo { meta, buffering, ..self.how };
        if self.bounds != Bounds::default() {
            if !self.wait_for_room(&mut state, data.len(), when_full)? {
                return Ok(false);
            }
            if self.is_mark(&mut state, data.len()) && buffering == Buffering::AtSender {
                return self.send_marked(&mut state, how, data).map(|()| true);
            }
        }
        state.sent += 1;
        self.api.send_one(how, data, &self.notes).map_err(|why| self.failed(why))?;
        if state.sent & state.looks == 0 {
            // Notes that are read now are for the next call: the receiver may have taken this message before it ended.
            station::look_after(self.api);
        }
        Ok(true)
    }

    /// Its state, after a look whether it may send at all.
    #[inline]
    fn ready(&self) -> Result<BiasedGuard<'_, State>, Error> {
        if self.generation != fork::generation() {
            return Err(Error::Forked);
        }
        let mut state = self.state.take();
        if state.link.is_none() {
            self.begin(&mut state)?;
        }
        self.sight.take_notices();
        if state.looks == OFTEN && self.sight.has_unasked() {
            station::look_after(self.api);
        }
        self.check(&state)?;
        Ok(state)
    }

    #[inline]
    fn check(&self, state: &State) -> Result<(), Error> {
        match &state.link {
            Some(link) if link.is_gone() => Err(Error::Gone),
            _ => Ok(()),
        }
    }

    #[cold]
    fn begin(&self, state: &mut State) -> Result<(), Error> {
        state.link = Some(match self.answers() {
            true => station::with(|station| Ok(station.greet(self.how.to, self.how.tag)))?,
            // The task there would not understand a greeting.
            false => Arc::new(Link::default()),
        });
        // Two tasks that share memory notify each other; the rest is for a change of the route.
        let notices = !self.answers() || self.is_local() || self.api.notify(self.how.to);
        state.looks = if notices { SELDOM } else { OFTEN };
        Ok(())
    }

    /// Waits until the container has room for this number of bytes. `Ok(false)`: there is no room, and the caller does
    /// not wait.
    #[cold]
    fn wait_for_room(&self, state: &mut State, length: usize, when_full: WhenFull) -> Result<bool, Error> {
        let Bounds { messages, bytes } = self.bounds;
        if bytes != 0 && length as u64 > bytes {
            return Err(Error::TooLarge);
        }
        loop {
            self.check(state)?;
            let Amount { messages: waiting, bytes: lie } = state.waiting;
            let has_room =
                (messages == 0 || waiting < messages.into()) && (bytes == 0 || lie + length as u64 <= bytes);
            if has_room {
                return Ok(true);
            }
            let Some(&(request, amount)) = state.marks.front() else { return Err(Error::Full) };
            // A short while, then a look whether the container is still there.
            let limit = if when_full == WhenFull::Drop || self.is_local() { 0 } else { 20_000_000 };
            match self.api.wait(request, &Notes { limit, ..self.notes }) {
                Ok(_) => {
                    state.marks.pop_front();
                    state.waiting.subtract(amount);
                }
                Err(Status::Pending) if when_full == WhenFull::Drop => return Ok(false),
                // No other call of this process can receive while this call waits.
                Err(Status::Pending) if self.is_local() => return Err(Error::Full),
                Err(Status::Pending) => station::look_after(self.api),
                Err(why) => return Err(self.failed(why)),
            }
        }
    }

    /// Counts a message. Returns whether the engine should report its receipt.
    #[cold]
    fn is_mark(&self, state: &mut State, length: usize) -> bool {
        state.waiting.add(length);
        state.unmarked.add(length);
        let part = |whole: u64| (whole / PARTS).max(1);
        let Bounds { messages, bytes } = self.bounds;
        (messages != 0 && state.unmarked.messages >= part(messages.into()))
            || (bytes != 0 && state.unmarked.bytes >= part(bytes))
    }

    /// Sends a message whose receipt the engine reports; it is kept here until then.
    #[cold]
    fn send_marked(&self, state: &mut State, how: SendTo, data: &[u8]) -> Result<(), Error> {
        let owned = Arc::new(data.to_vec());
        let started = self.api.start_owned(SendTo { completion: Completion::Matched, ..how }, &owned);
        let amount = std::mem::take(&mut state.unmarked);
        state.sent += 1;
        match started.map_err(|why| self.failed(why))? {
            Some(request) => state.marks.push_back((request, amount)),
            // Taken already.
            None => {
                for (request, _) in state.marks.drain(..) {
                    let _ = self.api.wait(request, &Notes { limit: 0, ..self.notes });
                }
                state.waiting = Amount::default();
            }
        }
        station::look_after(self.api);
        Ok(())
    }

    #[cold]
    pub(super) fn failed(&self, why: Status) -> Error {
        Error::of(why, || self.api.last_error())
    }
}

impl Drop for Representative {
    fn drop(&mut self) {
        if self.generation != fork::generation() {
            return;
        }
        let mut state = self.state.take();
        // The engine keeps sent messages until they are received; their requests end by themselves.
        if state.link.take().is_some() && self.answers() {
            let _ = station::with(|station| {
                station.forget_link(self.how.to, self.how.tag);
                Ok(())
            });
        }
    }
}
