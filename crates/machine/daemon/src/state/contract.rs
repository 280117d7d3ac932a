//! What the shell and the machine have to do with each other: what the machine is told at its beginning, what happens,
//! and what is to be done.

use super::{Change, ClientId};
use parvum_agreement::{Member, Standing};
use parvum_wire::Tid;
use parvum_wire::control::{
    Between, Blob, Call, Event, ExitStatus, Failure, HostOptions, HostRecord, HostSettings, Reply, RequestId,
    SpawnRequest,
};
use std::rc::Rc;

/// What the daemon says about its host.
pub struct Config {
    /// The number of the host: 1 for the first.
    pub number: u32,
    /// Which life of the host this is.
    pub life: u64,
    /// Where other daemons reach this one.
    pub addresses: Vec<String>,
    /// The other hosts of the machine, for one that has just joined.
    pub hosts: Vec<HostRecord>,
    /// The host's name.
    pub host: String,
    /// Its architecture, in PVM's words.
    pub arch: String,
    /// Its processors.
    pub cpus: u32,
    /// The time since 1970: seconds and nanoseconds.
    pub clock: Box<dyn Fn() -> (i64, u32)>,
    /// Connections between tasks of two hosts are encrypted.
    pub encrypt: bool,
    /// What a hostfile says of it.
    pub settings: HostSettings,
    /// Where unguessable tokens come from.
    pub entropy: Box<dyn FnMut() -> [u8; 16]>,
    /// The bounds.
    pub limits: Limits,
}

/// Bounds on what the daemon keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Tasks and processes on this host.
    pub tasks: usize,
    /// Events kept for a task that has not enrolled yet.
    pub queued_events: usize,
    /// Bytes in the mailbox.
    pub mailbox_bytes: usize,
    /// Bytes of bound names and their keeping.
    pub names_bytes: usize,
    /// Watches of one task.
    pub watches: usize,
    /// Groups.
    pub groups: usize,
    /// Contexts.
    pub contexts: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            tasks: 16 * 1024,
            queued_events: 4096,
            mailbox_bytes: 64 * 1024 * 1024,
            names_bytes: 512 * 1024 * 1024,
            watches: 64 * 1024,
            groups: 16 * 1024,
            contexts: 0x3_ffff,
        }
    }
}

/// A task's page and eventfd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel<F> {
    /// The control block.
    pub page: F,
    /// The eventfd that wakes the task in poll(2).
    pub bell: F,
    /// Where the task writes down what it does, if its job is recorded. Peers do not get it.
    pub recording: Option<F>,
}

impl<F: Clone> Channel<F> {
    pub(super) fn fds(&self) -> Vec<F> {
        vec![self.page.clone(), self.bell.clone()]
    }

    pub(super) fn own_fds(&self) -> Vec<F> {
        self.fds().into_iter().chain(self.recording.clone()).collect()
    }
}

/// What happened.
#[derive(Debug)]
pub enum Input<F> {
    /// A client asked for something.
    Call {
        /// Who.
        client: ClientId,
        /// Its process, as the kernel says.
        pid: u32,
        /// What.
        call: Box<Call>,
        /// The descriptors that came with it.
        fds: Vec<F>,
        /// A fresh page for a task to be enrolled: required when
        /// [`Machine::wants_channel`] says so.
        channel: Option<Channel<F>>,
    },
    /// A client's connection is closed, and everything it sent was handed over.
    Closed(ClientId),
    /// The answer to [`Effect::Spawn`].
    Spawned {
        /// Which.
        tid: Tid,
        /// Its process and channel, or why not.
        result: Result<(u32, Channel<F>), Failure>,
    },
    /// The answer to [`Effect::Prepare`]: the program's path, the variables it needs, its channel.
    Prepared {
        /// Which.
        tid: Tid,
        /// What the tasker needs, or why not.
        result: Result<Prepared<F>, Failure>,
    },
    /// The answer to [`Effect::Listen`].
    Listening {
        /// For which task.
        tid: Tid,
        /// For which route.
        route: u8,
        /// Address and listener, or why not.
        result: Result<(String, F), Failure>,
    },
    /// A spawned process ended.
    ProcessExited {
        /// Which.
        tid: Tid,
        /// How.
        status: ExitStatus,
    },
    /// All output of a spawned process was handed on.
    OutputEnded(Tid),
    /// The answer to [`Effect::Feed`], when the process has taken it or never will.
    Fed {
        /// Whom to answer.
        client: ClientId,
        /// Which request.
        id: RequestId,
        /// Whether it was taken.
        result: Result<(), Failure>,
    },
    /// The daemon of another host says something.
    Heard {
        /// Which host.
        host: u32,
        /// What.
        word: Box<Between>,
    },
    /// The answer to [`Effect::Fetch`].
    Fetched {
        /// Which number it was to get.
        number: u32,
        /// Which life it was to begin.
        life: u64,
        /// The host, whose daemon is connected with this one; or why not.
        result: Result<HostRecord, Failure>,
    },
    /// From now on changes are agreed with others: [`Effect::Propose`].
    Agreeing,
    /// A change is agreed.
    Agreed {
        /// The life that proposed it.
        by: u64,
        /// The life that led.
        leader: u64,
        /// What.
        change: Box<Change>,
    },
    /// What another daemon's [`super::Machine::snapshot`] gave: to be kept instead of what is kept here.
    Install(Vec<u8>),
    /// How this host stands to those it agrees with.
    Stands(Standing),
    /// The hosts whose daemons vote on changes.
    Voters(Vec<u32>),
    /// This host is out of the machine.
    Removed,
    /// A host does not answer any more, or has said that it leaves.
    HostLost(u32),
    /// A host has left a question unanswered for a moment.
    HostDoubtful(u32),
    /// A host is connected.
    HostFound(u32),
    /// The hoster is to start these.
    Hosting(Vec<Hosting>),
    /// How late this daemon has lately been called at the worst.
    Late(super::Now),
    /// How busy this host is: tasks that want a processor, in hundredths.
    Load(u32),
    /// Time has passed.
    Tick,
}

/// A host that is to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The number it gets,
    pub number: u32,
    /// which life it begins,
    pub life: u64,
    /// what the user calls it,
    pub name: String,
    /// and how its daemon is started.
    pub start: Starting,
}

/// A host that has shown a token, and the number that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The number of its connection.
    pub guest: u64,
    /// The number of the host.
    pub number: u32,
    /// The life of the host.
    pub life: u64,
    /// The name of the host.
    pub name: String,
}

/// What a hoster needs to start a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosting {
    /// The number it gets.
    pub number: u32,
    /// What `so=` says.
    pub start: String,
    /// The host, and the login name before it.
    pub login: String,
    /// What is to be run there.
    pub command: String,
    /// The same for hosts of another system, if nobody has said where the daemon is.
    pub other: String,
    /// PVM's name of the machine.
    pub machine: String,
}

/// How a daemon is started on another host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Starting {
    /// The host and its options, as they were asked for. The shell reads them: a value may name a variable.
    pub line: String,
    /// What the hostfile says of the host; it counts where the line says nothing.
    pub known: HostOptions,
}

/// What a tasker needs to start a program.
#[derive(Debug)]
pub struct Prepared<F> {
    /// Its path.
    pub path: Vec<u8>,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// PVM's spawn flag.
    pub flag: i32,
    /// `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// Its channel.
    pub channel: Channel<F>,
}

/// What is to be done.
#[derive(Debug, PartialEq)]
pub enum Effect<F> {
    /// Answer a client.
    Reply {
        /// Whom.
        client: ClientId,
        /// Which request.
        id: RequestId,
        /// What.
        reply: Box<Result<Reply, Failure>>,
        /// To be attached.
        fds: Vec<F>,
    },
    /// Tell a client.
    Event {
        /// Whom.
        client: ClientId,
        /// What.
        event: Event,
        /// To be attached.
        fds: Vec<F>,
    },
    /// A barrier opens: answer these clients, with a page in which so many members may meet the
    /// next time, if there is a number for it.
    Opened {
        /// Whom.
        waiters: Vec<(ClientId, RequestId)>,
        /// The number of the segment, and how many members.
        segment: Option<(u64, u32)>,
    },
    /// Close a segment: its group has changed.
    CloseSegment(u64),
    /// A client has become this task: write it into the page.
    Enrolled {
        /// Who.
        client: ClientId,
        /// Its id.
        tid: Tid,
        /// Its process.
        pid: u32,
        /// Its name.
        name: String,
        /// Its channel.
        channel: Channel<F>,
    },
    /// The task is gone: forget its routed frames.
    TaskGone(Tid),
    /// The runner is gone: nobody wants what was recorded of its job.
    ForgetRecordings(Tid),
    /// Start a process.
    Spawn {
        /// As this task.
        tid: Tid,
        /// What and how.
        plan: Rc<SpawnRequest>,
    },
    /// Write to the standard input of a process; nothing is its end.
    Feed {
        /// Which process.
        tid: Tid,
        /// What.
        data: Blob,
        /// Who is answered when it was taken,
        client: ClientId,
        /// and to which request.
        id: RequestId,
    },
    /// Find out what a tasker shall start, and make a channel for it.
    Prepare {
        /// As this task.
        tid: Tid,
        /// What and how.
        plan: Rc<SpawnRequest>,
    },
    /// Make a TCP listener for a task's route.
    Listen(Tid, u8),
    /// Say something to the daemon of another host.
    Say {
        /// Which host.
        host: u32,
        /// What.
        word: Box<Between>,
    },
    /// Propose a change to all hosts.
    Propose(Box<Change>),
    /// These are the hosts of the machine: they agree on changes.
    Members(Vec<Member>),
    /// Start a daemon on another host, and connect with it.
    Fetch(Box<Wanted>),
    /// Continue with a host that has shown a token. Its result comes as [`Input::Fetched`].
    Admit(Box<Admitted>),
    /// Tell a host that has shown a token why it cannot join.
    TurnAway {
        /// The number of its connection.
        guest: u64,
        /// The reason.
        why: Failure,
    },
    /// Prepare hosts that the hoster shall start. Answer: [`Input::Hosting`] and, for each, [`Input::Fetched`].
    Host(Vec<Wanted>),
    /// What the hoster says came of the host of that number.
    Hosted {
        /// Which.
        number: u32,
        /// A line, or PVM's name of an error.
        said: Blob,
    },
    /// There is no hoster any more: nobody will say what came of hosts.
    HosterGone,
    /// The host is out of the machine: break with it, and take no word of this life of it any more.
    Forget {
        /// Its number.
        host: u32,
        /// Which life.
        life: u64,
    },
    /// Ask these hosts for a sign of life, as far as they are connected.
    Probe(Vec<u32>),
    /// Ring the task's bell, if it is of this host.
    Wake(Tid),
    /// Send a signal.
    Signal {
        /// To this process,
        pid: u32,
        /// or to its whole process group.
        group: bool,
        /// Which.
        signal: i32,
    },
    /// Close the connection once everything queued is sent.
    Close(ClientId),
    /// Everything is over: end the daemon once everything queued is sent.
    Stop,
}
