//! The vocabulary: what a task may ask, and what the daemon answers or says.

use super::{
    Blob, Event, ExitStatus, Failure, HostSettings, MailFlags, Notice, Output, Part, Reply, SpawnRequest,
    Spot, Ticket,
};
use crate::Tid;
use serde::{Deserialize, Serialize};

/// Pairs an answer with its request; chosen by the task, unique per connection.
pub type RequestId = u32;

/// A request on its way to the daemon.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Comes back with the answer.
    pub id: RequestId,
    /// What is asked.
    pub request: Request,
}

/// Anything on its way to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromDaemon {
    /// The answer to the request of that number.
    Reply(RequestId, Result<Reply, Failure>),
    /// Something that happened.
    Event(Event),
}

/// What a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A task: gets a tid and a page.
    Task,
    /// `parvum run`: a task whose job (everything it spawns, and what that
    /// spawns) dies with it.
    Runner,
    /// A tool that only looks and gives orders: no tid.
    Tool,
    /// A task's second endpoint, which serves others while its program computes: it has a tid and a page of its own and is
    /// in no list of tasks.
    Service,
}

/// What may be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// First of all: who is calling. Answer: [`Reply::Enrolled`], with the task
    /// page and the eventfd for tasks and runners.
    Enrol {
        /// What the connection is.
        role: Role,
        /// The caller's process.
        pid: u32,
        /// The program's name, for people.
        name: String,
        /// From the environment of a process that the daemon has started, or of one that such a process has started.
        ticket: Option<Ticket>,
        /// The caller's release, for people.
        release: String,
    },
    /// Turns a second connection into the carrier of routed frames.
    /// Answer: [`Reply::Done`]; from then on frames only.
    DataHello {
        /// Whose connection.
        tid: Tid,
        /// From [`Reply::Enrolled`].
        secret: [u8; 16],
    },
    /// Offers task `to` what is attached: the other end of a link. Answers: [`Reply::Connected`],
    /// [`Reply::AlreadyOffered`].
    Connect {
        /// The other task.
        to: Tid,
        /// Over which route, by its number.
        route: u8,
    },
    /// Asks for a listener of task `to`. Answers:
    /// [`Reply::Listener`]; [`Reply::AlreadyOffered`] when the other was told to call first.
    Call {
        /// The other task.
        to: Tid,
        /// For which route, by its number.
        route: u8,
    },
    /// The connection to `to` that the caller was to make does not come about: nobody waits for it any more, and the two may offer each
    /// other another. Answer: [`Reply::Done`].
    NotConnected {
        /// The other task.
        to: Tid,
        /// Over which route.
        route: u8,
    },
    /// Starts programs. Answer: [`Reply::Spawned`].
    Spawn(SpawnRequest),
    /// Sends a signal to a task's process. Answer: [`Reply::Done`].
    Signal {
        /// Which task.
        tid: Tid,
        /// The signal's number.
        signal: i32,
    },
    /// Writes to the standard input of a task of the caller's job, which asked for it ([`Each::input`](super::Each::input)). Answer:
    /// [`Reply::Done`] when the task's pipe has taken all of it; a refusal when nobody reads it any more.
    Input {
        /// Which task.
        tid: Tid,
        /// What; nothing is the end.
        data: Blob,
    },
    /// Sends a signal to every task of the caller's job. Answer: [`Reply::Done`].
    SignalJob {
        /// The signal's number.
        signal: i32,
    },
    /// Lists the tasks: all, those of one host, or one. Answer: [`Reply::Tasks`].
    Tasks {
        /// A daemon's tid for its host, a task's for that task.
        of: Option<Tid>,
        /// With what their pages say of each pair and message: [`TaskRow::sight`](super::TaskRow::sight).
        deep: bool,
    },
    /// Lists the hosts. Answer: [`Reply::Hosts`].
    Hosts,
    /// Asks how busy the hosts are. Answer: [`Reply::Loads`].
    Loads,
    /// Asks what the daemon is and does. Answer: [`Reply::Info`].
    Info,
    /// Asks how this host reaches the others. Answer: [`Reply::Links`].
    Links,
    /// Asks to be told, once for each target. Answer: [`Reply::Done`].
    Notify {
        /// About what.
        about: Notice,
        /// Tasks or hosts; for [`Notice::HostAdd`] empty.
        targets: Vec<Tid>,
        /// How often, for [`Notice::HostAdd`]; -1 without end, 0 never again.
        count: i32,
        /// Comes back with [`Event::Notified`].
        cookie: u64,
    },
    /// Completes those notifications at once: each is told as if it had
    /// happened. Answer: [`Reply::Done`].
    CancelNotify {
        /// About what.
        about: Notice,
        /// Of which targets; empty means all of that cookie.
        targets: Vec<Tid>,
        /// Which cookie.
        cookie: u64,
    },
    /// Joins a group. Answer: [`Reply::Number`], the instance.
    Join {
        /// Which group.
        group: String,
    },
    /// Leaves a group. Answer: [`Reply::Done`].
    Leave {
        /// Which group.
        group: String,
    },
    /// Who has that instance number? Answer: [`Reply::Task`].
    GroupTid {
        /// Which group.
        group: String,
        /// Which instance.
        instance: u32,
    },
    /// Which instance number has that task? Answer: [`Reply::Number`].
    GroupInstance {
        /// Which group.
        group: String,
        /// Which task.
        tid: Tid,
    },
    /// How many members? Answer: [`Reply::Number`].
    GroupSize {
        /// Which group.
        group: String,
    },
    /// The members in the order of their instances. Answer: [`Reply::Members`].
    GroupMembers {
        /// Which group.
        group: String,
    },
    /// Lists the groups. Answer: [`Reply::Groups`].
    Groups,
    /// Waits until `count` members have asked. Answer, perhaps much later:
    /// [`Reply::Done`]; when all members have asked, with a page attached in which they may
    /// meet from now on without asking, until it is closed.
    Barrier {
        /// Which group.
        group: String,
        /// How many members; -1 means all that are members when the first asks.
        count: i32,
    },
    /// Puts an entry into the mailbox. Answer: [`Reply::Number`], the index.
    MailPut {
        /// The class.
        name: String,
        /// Replace the entry at this index (PVM's PvmMboxDirectIndex).
        index: Option<u32>,
        /// How it may be used.
        flags: MailFlags,
        /// The content.
        data: Blob,
    },
    /// Reads an entry. Answer: [`Reply::Mail`], much later when waiting.
    MailGet {
        /// The class.
        name: String,
        /// The index, or the lowest one that will do.
        index: u32,
        /// Take the first with that index or a higher one.
        first: bool,
        /// Delete it as well.
        take: bool,
        /// Wait until there is one.
        wait: bool,
    },
    /// Deletes an entry. Answer: [`Reply::Done`].
    MailRemove {
        /// The class.
        name: String,
        /// The index.
        index: u32,
    },
    /// Lists the mailbox. Answer: [`Reply::MailList`].
    MailList,
    /// Deletes an entry whose owner is gone. Answer: [`Reply::Done`].
    MailTidy {
        /// The class.
        name: String,
        /// The index.
        index: u32,
    },
    /// Leaves the machine: the task is gone, its process stays attended.
    /// Answer: [`Reply::Done`], then the daemon closes.
    Depart,
    /// The tasks that were started by the same request as the caller, itself among
    /// them, in the order of that request. Answer: [`Reply::Siblings`].
    Siblings,
    /// Makes a context that no other task was given. Answer: [`Reply::Number`].
    NewContext {
        /// Whether it belongs to the caller's job, and stays when the caller ends.
        shared: bool,
    },
    /// Gives a context back that the caller or its job has made. Answer: [`Reply::Done`].
    FreeContext {
        /// Which.
        context: u32,
        /// The caller's job: the caller's daemon says it, when it passes the request on.
        job: Option<Tid>,
    },
    /// Where the caller's own output goes. Answer: [`Reply::Output`].
    GetOutput,
    /// Sends the caller's own output elsewhere from now on. Answer: [`Reply::Done`].
    SetOutput {
        /// Where.
        output: Output,
    },
    /// Waits until `count` members have asked; the group then has the members that it
    /// has until all of them leave. Answer, perhaps much later: [`Reply::Members`].
    Freeze {
        /// Which group.
        group: String,
        /// How many members; -1 means all that are members when the first asks.
        count: i32,
    },
    /// Adds hosts. Answer: [`Reply::HostResults`].
    AddHosts {
        /// Their names. Options of a hostfile may follow ([`HostOptions`](super::HostOptions)): `parvum=PATH` is the command over there, and
        /// `by=COMMAND`, which comes last, starts it.
        hosts: Vec<String>,
    },
    /// Takes hosts out. Answer: [`Reply::HostResults`].
    RemoveHosts {
        /// Their names.
        hosts: Vec<String>,
    },
    /// Makes a token with which hosts join the machine through this daemon. Answer: [`Reply::Invited`].
    Invite {
        /// The seconds that the token is valid.
        seconds: u64,
        /// The number of hosts that may join with the token.
        uses: u32,
    },
    /// Makes all tokens of this daemon invalid. Answer: [`Reply::Done`].
    Revoke,
    /// A daemon asks all daemons to admit a host that has shown a token. Answer: [`Reply::HostResults`].
    Admit {
        /// The name of the host.
        name: String,
        /// The number of the connection at the daemon that asks.
        guest: u64,
        /// The incarnation of the host whose daemon asks.
        by: u64,
    },
    /// Reads a host's clock. Answer: [`Reply::Clock`].
    Clock {
        /// The tid of its daemon.
        host: Tid,
    },
    /// Writes what the daemon holds into its log. Answer: [`Reply::Done`].
    Dump,
    /// Takes a part: from now on the caller decides, or starts, what tasks ask for.
    /// Answer: [`Reply::Done`].
    Register {
        /// Which part.
        part: Part,
    },
    /// Gives a part to another task. Answer: [`Reply::Done`].
    HandOver {
        /// Which part.
        part: Part,
        /// To whom.
        to: Tid,
    },
    /// A task that the caller started as tasker has ended. Answer: [`Reply::Done`].
    TaskEnded {
        /// Which.
        tid: Tid,
        /// How.
        status: ExitStatus,
    },
    /// What came of hosts that the caller was asked for as hoster: the tid of each, and the line that its command has printed, or
    /// PVM's name of an error. Answer: [`Reply::Done`].
    HostsStarted {
        /// Of each host.
        results: Vec<(Tid, Blob)>,
    },
    /// Asks what was recorded on a host of the tasks of a job. Answer: [`Reply::Recorded`].
    Recorded {
        /// Whose job: a runner's id.
        job: Tid,
        /// The tid of the host's daemon.
        host: Tid,
    },
    /// Asks for a piece of a task's recording. Answer: [`Reply::Records`].
    Records {
        /// Of which task.
        tid: Tid,
        /// From which record on.
        from: u64,
    },
    /// Stops the machine. Answer: [`Reply::Done`] once the tasks are dead and
    /// nothing is left but the daemon's own end.
    Halt,
    /// Says what holds for the daemon's host from now on. Answer: [`Reply::Done`].
    Configure(HostSettings),
    /// Binds names to places where messages are taken: all of them, or none. Answer: [`Reply::Done`].
    NamesBind {
        /// Which names, and where each leads.
        names: Vec<(String, Spot)>,
        /// Each is the name of a group: other members may bind it too.
        group: bool,
    },
    /// Takes names back that the caller has bound. Answer: [`Reply::Number`], how many there were.
    NamesUnbind {
        /// Which.
        names: Vec<String>,
        /// Only the one that leads there: of a group's name the caller may have bound several.
        number: Option<i32>,
    },
    /// Asks where names lead. Answer: [`Reply::Names`].
    NamesFind {
        /// Which.
        names: Vec<String>,
    },
    /// Asks which names lead to places: of each a task, a number and a context, as in [`Spot`]. Answer: [`Reply::NamesOf`].
    NamesOf {
        /// Which places.
        places: Vec<(Tid, i32, u32)>,
    },
    /// Wakes a task of this host that something was brought to, for the caller has no descriptor to do it by itself. There is
    /// no answer.
    Wake {
        /// Which task.
        to: Tid,
    },
    /// Puts an entry of the mailbox back that the caller has taken and cannot use, as the entry was. Answer: [`Reply::Number`],
    /// the index: its old one, or the next free one.
    MailPutBack {
        /// The class.
        name: String,
        /// Its index.
        index: u32,
        /// Whose entry it is.
        owner: Option<Tid>,
        /// How it may be used.
        flags: MailFlags,
        /// The content.
        data: Blob,
    },
    /// The caller's process lives longer than the machine: a session of Python's, a notebook. When the machine ends, it is not
    /// signalled: its connection ends, as with a daemon that dies. Answer: [`Reply::Done`].
    LivesOn,
    /// How did the process of that task end, which the daemon of the caller's host has started? Answer: [`Reply::Ended`]. Refused
    /// while the process is there, of another host's task, and of one that ended long ago.
    HowEnded {
        /// Which task.
        tid: Tid,
    },
}

/// Who sends which vocabulary: ties [`Call`] and [`FromDaemon`] to the codec.
pub trait Directions: Serialize + for<'de> Deserialize<'de> {}
impl Directions for Call {}
impl Directions for FromDaemon {}
