//! The classes, as programs see them.

use crate::engine::{self, Ask};
use crate::errors::Error;
use crate::state::{ClientState, Protocol};
use crate::{Bounds, Received, Sender};
use engine::WhenFull;
use std::time::Duration;

fn nanoseconds(limit: Option<Duration>) -> i64 {
    limit.map_or(-1, |limit| limit.as_nanos().min(i64::MAX as u128) as i64)
}

/// A mailbox of this task: it buffers messages until they are received.
///
/// It ends when it is dropped: representatives that others hold of it then fail with [`Error::Gone`], and what lies in
/// it is lost.
pub struct MessageContainer(pub(crate) engine::Container);

impl MessageContainer {
    /// Makes one; the first joins the machine.
    pub fn new(bounds: Bounds) -> Result<MessageContainer, Error> {
        engine::Container::new(bounds).map(MessageContainer)
    }

    /// Makes a container that takes messages to this task with a tag of context 0, from any interface: PVM's `pvm_send`
    /// and `pvm_psend`, NX's `csend`. The data is given as it was sent: of a PVM message packed for other architectures
    /// that is XDR. This container has no bounds.
    pub fn of_tag(tag: i32) -> Result<MessageContainer, Error> {
        engine::Container::tagged(tag).map(MessageContainer)
    }

    /// The number of the container, which is the tag of messages to it.
    pub fn number(&self) -> i32 {
        self.0.number
    }

    /// Receives the oldest message, and waits for one. A message that is longer than `room` stays in the container:
    /// [`Error::NoRoom`] has its length.
    #[inline]
    pub fn receive(&self, room: &mut [u8]) -> Result<Received, Error> {
        self.0.receive(room, -1)
    }

    /// The same, but waits at most this time; [`Error::Empty`] if no message came. Zero: does not wait.
    pub fn receive_within(&self, room: &mut [u8], limit: Duration) -> Result<Received, Error> {
        self.0.receive(room, nanoseconds(Some(limit)))
    }

    /// Receives without copying: long data stays with its sender until it is read, or the reference dropped.
    pub fn receive_reference(&self, limit: Option<Duration>) -> Result<Reference, Error> {
        self.0.receive_reference(nanoseconds(limit)).map(Reference)
    }
}

/// A received message that is read where it lies.
pub struct Reference(engine::HeldMessage);

impl Reference {
    /// Bytes of data.
    pub fn length(&self) -> usize {
        self.0.length()
    }

    /// Who sent it.
    pub fn from(&self) -> Sender {
        self.0.from()
    }

    /// Whether the data is still in the sender's memory. If so nothing was copied yet.
    pub fn is_with_sender(&self) -> bool {
        self.0.is_with_sender()
    }

    /// Copies a part, from byte `from` on. A part that is not all inside is refused.
    pub fn read(&self, from: usize, out: &mut [u8]) -> Result<(), Error> {
        self.0.read(from, out)
    }
}

/// Answers a call that was received.
#[inline]
pub fn reply(to: &Sender, answer: &[u8]) -> Result<(), Error> {
    engine::reply(to.task, to.call, answer)
}

/// A sender's local handle of a container. It is bound to that container: when it ends, sending fails with
/// [`Error::Gone`], and the name must be looked up again.
pub struct ContainerRepresentative(engine::Representative);

impl ContainerRepresentative {
    /// A representative for messages with a tag of context 0 to any task. It sends messages to PVM, NX and CMMD
    /// programs.
    pub fn of_tag(task: i32, tag: i32) -> Result<ContainerRepresentative, Error> {
        engine::Representative::of_tag(task, tag).map(ContainerRepresentative)
    }

    /// Sends reliably. Returns when the memory may be used again: the receiver need not be waiting.
    #[inline]
    pub fn send(&self, data: &[u8]) -> Result<(), Error> {
        self.0.send(data, WhenFull::Wait).map(drop)
    }

    /// Sends as a conversation has it.
    pub fn send_in(&self, data: &[u8], state: &mut ClientState) -> Result<(), Error> {
        let datagram = state.protocol() == Protocol::Datagram;
        if !self.0.send(data, if datagram { WhenFull::Drop } else { WhenFull::Wait })? {
            state.has_dropped();
        }
        Ok(())
    }

    /// Sends by reference: long data is not buffered. The call waits until the receiver has read it.
    pub fn send_reference(&self, data: &[u8]) -> Result<(), Error> {
        self.0.send_reference(data).map(drop)
    }

    /// The task of the container.
    pub fn task(&self) -> i32 {
        self.0.task()
    }

    /// The container's number.
    pub fn number(&self) -> i32 {
        self.0.tag()
    }

    /// Whether the container is this very task's.
    pub fn is_local(&self) -> bool {
        self.0.is_local()
    }

    /// How many messages it has sent.
    pub fn sent(&self) -> u64 {
        self.0.sent()
    }
}

/// Where names lead. A name is 1 to 1024 bytes of UTF-8. It is free again when it is unbound, or its task ends.
pub struct DistributedNameServer;

impl DistributedNameServer {
    /// Binds a name to a container of this task. [`Error::NameTaken`] while another binding lives.
    pub fn bind(name: &str, container: &MessageContainer) -> Result<(), Error> {
        engine::bind(&[(name, &container.0)])
    }

    /// Binds many names in few exchanges: all of them, or none.
    pub fn bind_all(names: &[(&str, &MessageContainer)]) -> Result<(), Error> {
        let list: Vec<_> = names.iter().map(|(name, container)| (*name, &container.0)).collect();
        engine::bind(&list)
    }

    /// Takes a name back; [`Error::Unbound`] when this task has not bound it.
    pub fn unbind(name: &str) -> Result<(), Error> {
        match engine::unbind(&[name])? {
            0 => Err(Error::Unbound),
            _ => Ok(()),
        }
    }

    /// Takes names back in few exchanges; gives how many this task had bound.
    pub fn unbind_all(names: &[&str]) -> Result<usize, Error> {
        engine::unbind(names)
    }

    /// Looks a name up, and waits until a task binds it: at most this time, or for ever. [`Error::Unbound`] if no task
    /// does.
    pub fn lookup(name: &str, limit: Option<Duration>) -> Result<ContainerRepresentative, Error> {
        let found = engine::lookup(&[name], limit)?.pop().flatten();
        found.map(ContainerRepresentative).ok_or(Error::Unbound)
    }

    /// Looks many names up in few exchanges.
    pub fn lookup_all(
        names: &[&str],
        limit: Option<Duration>,
    ) -> Result<Vec<Option<ContainerRepresentative>>, Error> {
        let found = engine::lookup(names, limit)?;
        Ok(found.into_iter().map(|one| one.map(ContainerRepresentative)).collect())
    }

    /// Looks a group up: waits until it has `least` members, or the time is over.
    pub fn lookup_group(
        name: &str,
        least: usize,
        limit: Option<Duration>,
    ) -> Result<GroupRepresentative, Error> {
        let members: Vec<_> = engine::lookup_group(name, least, limit)?;
        if members.len() < least.max(1) {
            return Err(Error::Unbound);
        }
        Ok(GroupRepresentative { members: members.into_iter().map(ContainerRepresentative).collect() })
    }
}

/// Containers, of this task and of others, that get the same messages. Each task adds its own.
pub struct ContainerGroup {
    name: String,
}

impl ContainerGroup {
    /// The group of that name; it need not have members yet.
    pub fn new(name: &str) -> ContainerGroup {
        ContainerGroup { name: name.to_owned() }
    }

    /// Adds a container of this task. Tasks that look the group up from now on send to this container too.
    pub fn add(&self, container: &MessageContainer) -> Result<(), Error> {
        engine::bind_group(&self.name, &container.0)
    }

    /// Takes a container of this task out; [`Error::Unbound`] when it was not in.
    pub fn remove(&self, container: &MessageContainer) -> Result<(), Error> {
        match engine::leave_group(&self.name, &container.0)? {
            true => Ok(()),
            false => Err(Error::Unbound),
        }
    }
}

/// A handle on the members that a group had when it was looked up.
pub struct GroupRepresentative {
    members: Vec<ContainerRepresentative>,
}

impl GroupRepresentative {
    /// A group of representatives that were looked up one by one.
    pub fn of(members: Vec<ContainerRepresentative>) -> GroupRepresentative {
        GroupRepresentative { members }
    }

    /// Its members.
    pub fn members(&self) -> &[ContainerRepresentative] {
        &self.members
    }

    /// Sends one message to each member; gives to how many. Members that are gone are left out. Long data crosses the link
    /// to another host once for all the tasks there that have a member without bounds.
    pub fn send(&self, data: &[u8]) -> Result<usize, Error> {
        engine::group::send(self.members.iter().map(|member| &member.0), data)
    }
}

/// A message without answer, which may be lost.
pub struct OneWay;

impl OneWay {
    /// Sends a datagram.
    pub fn send(to: &ContainerRepresentative, data: &[u8], state: &mut ClientState) -> Result<(), Error> {
        if !to.0.send(data, WhenFull::Drop)? {
            state.has_dropped();
        }
        Ok(())
    }
}

/// A request and its answer. The request runs at most once.
pub struct ReliableRpc;

impl ReliableRpc {
    /// Sends the request and waits for the answer, which goes into `room`; gives its length. An answer that is
    /// longer than that is lost: [`Error::NoRoom`].
    #[inline]
    pub fn call(
        server: &ContainerRepresentative,
        request: &[u8],
        room: &mut [u8],
        state: &mut ClientState,
    ) -> Result<usize, Error> {
        state.begin();
        engine::call(&server.0, request, room, state)
    }
}

/// One request to several servers, and their answers.
pub struct MultiRpc;

impl MultiRpc {
    /// Sends the request to all members. `hear` gets each answer when it comes, or the reason why a member has none,
    /// with the member's place in the group. Its result decides whether the call continues. The call ends when `want`
    /// members have answered, when no more can answer, or when `hear` ends it. Later answers are dropped. Gives how
    /// many have answered.
    pub fn call(
        servers: &GroupRepresentative,
        request: &[u8],
        want: usize,
        state: &mut ClientState,
        mut hear: impl FnMut(usize, Result<&[u8], Error>) -> bool,
    ) -> Result<usize, Error> {
        state.begin();
        let mut asked: Vec<_> =
            servers.members.iter().map(|member| Ask { server: &member.0, outcome: None }).collect();
        engine::call_many(&mut asked, request, want, state, &mut hear)
    }
}

/// Starts programs on idle processors, together.
pub struct GangScheduler;

impl GangScheduler {
    /// Starts a program `count` times as a gang: the machine runs all tasks of a gang at the same time, in turns with
    /// other gangs. Either all start or none. Returns their ids.
    pub fn run(program: &str, args: &[&str], count: u32) -> Result<Vec<i32>, Error> {
        engine::gangs::run(program, args, count)
    }
}
