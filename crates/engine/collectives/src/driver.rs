//! Runs plans with messages, and waits for them.

use crate::course::{Combine, Course, Fault, Next};
use crate::memory::Memory;
use crate::plans::{Area, Group, Plan};
use parvum_api::{Buffering, Completion};
use parvum_api::{CoreApi, Notes, Pattern, SendTo, Status, TagKind};

/// Messages between the members of a group, for one operation at a time.
pub trait Exchange {
    /// This member, and how many there are.
    fn group(&self) -> Group;

    /// Sends data and a word to a member. The call does not wait for the receive, and the data may change after it
    /// returns. [`Status::Gone`] and [`Status::Unknown`] mean that there is no such member any more.
    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status>;

    /// Receives the next message from a member, waiting for it: its word and how long it is, which may be more than the room.
    /// Errors as for [`Exchange::send`].
    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status>;
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Because of a member. All steps were done nevertheless, see [`Course`].
    Fault(Fault),
    /// The engine refused, and the operation was given up.
    Engine(Status),
}

impl Failure {
    /// The member that is gone, if one is.
    pub fn gone(self) -> Option<usize> {
        match self {
            Failure::Fault(Fault::Gone(member)) => Some(member),
            _ => None,
        }
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        match failure {
            Failure::Fault(Fault::Gone(_)) => Status::Gone,
            Failure::Fault(Fault::Disagreed) => Status::BadArgument,
            Failure::Engine(status) => status,
        }
    }
}

/// Runs a plan to its end, waiting for the others.
///
/// If the plan's pieces do not fit into the memory, the members disagree: this member tells the others, and fails.
pub fn run<X: Exchange>(
    exchange: &mut X,
    plan: &Plan,
    memory: Memory<'_>,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let size = exchange.group().size;
    if memory.fits(plan) {
        return finish(exchange, Course::new(plan, size), memory, combine);
    }
    let [mine, mut data, mut scratch] =
        [Area::Mine, Area::Data, Area::Scratch].map(|area| vec![0; plan.needs(area)]);
    let memory = Memory { mine: &mine, data: &mut data, scratch: &mut scratch };
    finish(exchange, Course::unfit(plan, size), memory, combine)
}

fn finish<X: Exchange>(
    exchange: &mut X,
    mut course: Course<&Plan>,
    mut memory: Memory<'_>,
    combine: Combine<'_>,
) -> Result<(), Failure> {
    loop {
        let done = match course.next(&mut memory, combine) {
            Next::Over => return course.outcome().map_err(Failure::Fault),
            Next::Send { to, piece, word } => {
                exchange.send(to, word, memory.piece(piece)).map(|()| course.sent())
            }
            Next::Receive { from, piece } => {
                exchange.receive(from, memory.room(piece)).map(|(word, length)| course.received(word, length))
            }
        };
        match done {
            Ok(()) => {}
            Err(Status::Gone | Status::Unknown) => course.gone(),
            Err(other) => return Err(Failure::Engine(other)),
        }
    }
}

/// Broadcasts the root's data straight to each member. This does the same as [`run`] with
/// [`straight`](crate::plans::broadcast::straight), without making a plan.
pub fn broadcast_straight<X: Exchange>(
    exchange: &mut X,
    root: usize,
    data: &mut [u8],
) -> Result<(), Failure> {
    let Group { own, size } = exchange.group();
    if own != root {
        return match exchange.receive(root, data) {
            Ok((0, length)) if length == data.len() as u64 => Ok(()),
            Ok((word, _)) => Err(Failure::Fault(Fault::told(word, size).unwrap_or(Fault::Disagreed))),
            Err(Status::Gone | Status::Unknown) => Err(Failure::Fault(Fault::Gone(root))),
            Err(other) => Err(Failure::Engine(other)),
        };
    }
    let mut unsent = Ok(());
    for to in (own + 1..size).chain(0..own) {
        match exchange.send(to, 0, data) {
            Ok(()) => {}
            Err(Status::Gone | Status::Unknown) => unsent = unsent.and(Err(Failure::Fault(Fault::Gone(to)))),
            Err(other) => return Err(Failure::Engine(other)),
        }
    }
    unsent
}

/// This member's part of a reduction that goes straight to another member, the root. This does the same as [`run`] with
/// [`straight`](crate::plans::reduce::straight), without making a plan.
pub fn contribute<X: Exchange>(exchange: &mut X, root: usize, data: &[u8]) -> Result<(), Failure> {
    exchange.send(root, 0, data).map_err(|why| unheard(why, root))
}

/// The root's part, where there are two: `data` is its own, and the result afterwards; `come` is room for as much. They are combined
/// in the order of the members.
pub fn reduce_of_two<X: Exchange>(
    exchange: &mut X,
    data: &mut [u8],
    come: &mut [u8],
    combine: Combine<'_>,
) -> Result<(), Failure> {
    let Group { own, .. } = exchange.group();
    let other = 1 - own;
    match exchange.receive(other, come).map_err(|why| unheard(why, other))? {
        (0, length) if length == data.len() as u64 => {}
        (word, _) => return Err(Failure::Fault(Fault::told(word, 2).unwrap_or(Fault::Disagreed))),
    }
    if own == 0 {
        combine(data, come);
    } else {
        combine(come, data);
        data.copy_from_slice(come);
    }
    Ok(())
}

fn unheard(why: Status, member: usize) -> Failure {
    match why {
        Status::Gone | Status::Unknown => Failure::Fault(Fault::Gone(member)),
        why => Failure::Engine(why),
    }
}

/// For plans that combine nothing.
pub fn none(_: &mut [u8], _: &[u8]) {}

/// Tasks as the members of a group, over the engine.
///
/// Their messages have a separate context and tag, which no receive of a program matches. Two operations of the same
/// members with one tag must not overlap in time. They may follow one another, because messages of a pair keep their
/// order.
#[derive(Clone, Copy)]
pub struct Members<'m> {
    /// The engine.
    pub api: CoreApi,
    /// All members, in their order.
    pub tasks: &'m [i32],
    /// The place of this task among them.
    pub own: usize,
    /// The messages' context.
    pub context: u32,
    /// The messages' tag.
    pub tag: i32,
    /// The call that tools show while the task waits: a number in the control block.
    pub call: u32,
}

impl Members<'_> {
    /// The properties of an operation's message to a member.
    pub fn outgoing(&self, to: usize, word: u32) -> SendTo {
        let (to, tag, context) = (self.tasks[to], self.tag, self.context);
        SendTo {
            to,
            tag,
            context,
            meta: word,
            buffering: Buffering::AtSender,
            completion: Completion::Copied,
        }
    }

    /// The pattern of a member's messages.
    pub fn pattern(&self, from: usize) -> Pattern {
        let (tags, context) = (TagKind::Exactly, self.context.into());
        Pattern { from: self.tasks[from], tags, tag: self.tag, other: 0, context }
    }

    /// The notes for tools of a wait for a member.
    pub fn notes(&self, member: usize) -> Notes {
        let (peer, context) = (self.tasks[member], self.context as i32);
        Notes { limit: -1, call: self.call, peer, tag: self.tag, context }
    }
}

impl Exchange for Members<'_> {
    fn group(&self) -> Group {
        Group { own: self.own, size: self.tasks.len() }
    }

    #[inline]
    fn send(&mut self, to: usize, word: u32, data: &[u8]) -> Result<(), Status> {
        self.api.send_one(self.outgoing(to, word), data, &self.notes(to))
    }

    #[inline]
    fn receive(&mut self, from: usize, room: &mut [u8]) -> Result<(u32, u64), Status> {
        let seen = |message: &parvum_api::Message| (message.meta, message.length);
        self.api.receive_seen(&self.pattern(from), room, &self.notes(from), seen)
    }
}
