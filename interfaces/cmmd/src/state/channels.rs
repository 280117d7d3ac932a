//! Channels: a prepared way from one node to another, used again and again.
//!
//! Each end is opened with the memory that it will use. The receiving end always has a posted receive, unless the
//! program still uses the data in its buffer. Written data is therefore copied once, from memory to memory, and waits
//! only for this receive. The two ends find each other by their nodes and the channel's number, as messages in a
//! context of their own.

use crate::envelope::{context, notes};
use crate::errors::{Cmmd, Fault};
use crate::lent::{start_receive, start_send};
use crate::words;
use parvum_api::{Buffering, Completion, CoreApi, Notes, Pattern, Request, SendTo, Status, TagKind};
use parvum_wire::encoding;

/// One end.
struct Channel {
    sends: bool,
    /// The task at the other end.
    peer: i32,
    number: i32,
    /// The program's memory.
    start: usize,
    length: usize,
    /// The transfer under way.
    request: Option<Request>,
    /// The receiving end: data has come, and the program has not done with it.
    full: bool,
    /// How the last transfer ended, if not well.
    fault: Option<Fault>,
}

/// All ends that are open.
#[derive(Default)]
pub(crate) struct Channels(Vec<Option<Channel>>);

/// The maximum number of open ends.
const MOST: usize = 256;

impl Channels {
    fn get(&mut self, channel: i32, sends: Option<bool>) -> Cmmd<&mut Channel> {
        let at = usize::try_from(channel).map_err(|_| Fault::BadMcb)?;
        let open = self.0.get_mut(at.wrapping_sub(1)).and_then(Option::as_mut).ok_or(Fault::BadMcb)?;
        if sends.is_some_and(|sends| sends != open.sends) { Err(Fault::BadMcb) } else { Ok(open) }
    }

    fn add(&mut self, channel: Channel) -> Cmmd<i32> {
        let at = match self.0.iter().position(Option::is_none) {
            Some(free) => free,
            None if self.0.len() < MOST => {
                self.0.push(None);
                self.0.len() - 1
            }
            None => return Err(Fault::NoRports),
        };
        self.0[at] = Some(channel);
        Ok(at as i32 + 1)
    }

    pub(crate) fn names(&self) -> Vec<i32> {
        (1..=self.0.len() as i32).collect()
    }
}

/// How one end sends.
fn how(channel: &Channel) -> SendTo {
    SendTo {
        to: channel.peer,
        tag: channel.number,
        context: context::CHANNEL,
        meta: encoding::RAW,
        buffering: Buffering::Never,
        completion: Completion::Matched,
    }
}

/// What one end receives.
fn pattern(channel: &Channel) -> Pattern {
    Pattern {
        from: channel.peer,
        tags: TagKind::Exactly,
        tag: channel.number,
        other: 0,
        context: context::CHANNEL.into(),
    }
}

/// Begins a transfer.
fn start_transfer(api: CoreApi, channel: &Channel) -> Cmmd<Option<Request>> {
    let Channel { start, length, .. } = *channel;
    if channel.sends {
        return start_send(api, how(channel), start, length);
    }
    Ok(Some(start_receive(api, &pattern(channel), start, length)))
}

impl Channels {
    pub(crate) fn open(
        &mut self,
        api: CoreApi,
        sends: bool,
        peer: i32,
        number: i32,
        start: usize,
        length: usize,
    ) -> Cmmd<i32> {
        if number < 0 {
            return Err(Fault::BadArgument);
        }
        let channel = Channel { sends, peer, number, start, length, request: None, full: false, fault: None };
        let name = self.add(channel)?;
        if !sends {
            self.renew(api, name)?;
        }
        Ok(name)
    }

    /// Begins a transfer on the sending end, or awaits one on the other.
    fn renew(&mut self, api: CoreApi, name: i32) -> Cmmd<()> {
        let channel = self.get(name, None)?;
        channel.fault = None;
        channel.full = false;
        channel.request = start_transfer(api, channel)?;
        Ok(())
    }

    /// Looks whether the transfer is over.
    pub(crate) fn is_idle(&mut self, api: CoreApi, name: i32, sends: Option<bool>) -> Cmmd<bool> {
        let channel = self.get(name, sends)?;
        let Some(request) = channel.request else { return Ok(true) };
        match api.wait(request, &Notes { limit: 0, ..notes(words::msg_wait(), channel.peer, -1) }) {
            Err(Status::Pending) => return Ok(false),
            Ok(message) => {
                channel.full = !channel.sends;
                let fits = channel.sends || message.length == channel.length as u64;
                channel.fault = if fits { None } else { Some(Fault::BadLength) };
            }
            Err(why) => channel.fault = Some(why.into()),
        }
        channel.request = None;
        Ok(true)
    }

    pub(crate) fn write(&mut self, api: CoreApi, name: i32) -> Cmmd<i32> {
        if !self.is_idle(api, name, Some(true))? {
            return Err(Fault::Unfinished);
        }
        self.renew(api, name).map(|()| 0)
    }

    /// The receiving end has done with the data: the next may come. The sending end forgets a failure.
    pub(crate) fn reset(&mut self, api: CoreApi, name: i32) -> Cmmd<i32> {
        if !self.is_idle(api, name, None)? {
            let sends = self.get(name, None)?.sends;
            return if sends { Err(Fault::Unfinished) } else { Ok(0) };
        }
        if self.get(name, None)?.sends {
            self.get(name, None)?.fault = None;
            return Ok(0);
        }
        self.renew(api, name).map(|()| 0)
    }

    /// 1: writable, or readable; 0: not yet; a failure of the last transfer.
    pub(crate) fn status(&mut self, api: CoreApi, name: i32, sends: bool) -> Cmmd<i32> {
        let rests = self.is_idle(api, name, Some(sends))?;
        let channel = self.get(name, Some(sends))?;
        match channel.fault {
            Some(why) => Err(why),
            None => Ok((if sends { rests } else { channel.full }).into()),
        }
    }

    pub(crate) fn close(&mut self, api: CoreApi, name: i32, sends: bool) -> Cmmd<i32> {
        let rests = self.is_idle(api, name, Some(sends))?;
        let channel = self.get(name, Some(sends))?;
        if !rests && (sends || !api.cancel(channel.request.expect("under way"))) {
            return Err(Fault::Unfinished);
        }
        if let Some(request) = channel.request.take() {
            // Takes the outcome of what was cancelled.
            let _ = api.wait(request, &Notes { limit: 0, ..notes(words::msg_wait(), -1, -1) });
        }
        self.0[name as usize - 1] = None;
        Ok(0)
    }

    /// Whether no sending end has a transfer under way.
    pub(crate) fn are_all_free(&mut self, api: CoreApi) -> bool {
        let mut free = true;
        for name in self.names() {
            // Else it is closed, or of the other kind.
            if let Ok(rests) = self.is_idle(api, name, Some(true)) {
                free &= rests;
            }
        }
        free
    }

    /// The transfer under way on an end, and the task at the other end.
    pub(crate) fn under_way(&mut self, name: i32) -> Option<(Request, i32)> {
        let channel = self.get(name, None).ok()?;
        channel.request.map(|request| (request, channel.peer))
    }
}
