//! What the daemon answers, and what it says unasked.

use super::{
    Blob, ExitStatus, Failure, GroupRow, HostRow, LinkRow, MailClass, MailFlags, Notice, OptionRow,
    OutputMessages, OutputNews, Recorded, Spawned, Spot, Stream, TaskRow,
};
use crate::Tid;
use serde::{Deserialize, Serialize};

/// Answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// It is done.
    Done,
    /// Welcome. Attached for tasks and runners: the control block, the eventfd.
    Enrolled {
        /// The task's id; the daemon's own for a tool.
        tid: Tid,
        /// Who spawned it.
        parent: Option<Tid>,
        /// The host's name.
        host: String,
        /// For [`Request::DataHello`](super::Request::DataHello).
        secret: [u8; 16],
    },
    /// The segment was handed on. Attached: the other's control block and eventfd.
    Connected {
        /// The other's process; 0 when it is not known yet.
        pid: u32,
    },
    /// The other offered first: its [`Event::Offered`] has come before this.
    AlreadyOffered,
    /// Connect there and show the token.
    Listener {
        /// `address:port`.
        addr: String,
        /// What the other expects.
        token: [u8; 16],
        /// Whether all that follows the greeting is encrypted, by keys from the token.
        encrypted: bool,
    },
    /// One result for each task asked for.
    Spawned(Vec<Result<Spawned, Failure>>),
    /// The tasks.
    Tasks(Vec<TaskRow>),
    /// The hosts.
    Hosts(Vec<HostRow>),
    /// What the daemon is and does.
    Info(Vec<OptionRow>),
    /// The connections of this host.
    Links(Vec<LinkRow>),
    /// How busy each host has said that it is: its daemon, and the load of all its processors in hundredths.
    Loads(Vec<(Tid, u32)>),
    /// An instance, an index, a size.
    Number(u32),
    /// A task.
    Task(Tid),
    /// Group members.
    Members(Vec<(u32, Tid)>),
    /// The groups.
    Groups(Vec<GroupRow>),
    /// A mailbox entry.
    Mail {
        /// Its index.
        index: u32,
        /// Who put it; `None` when that task is gone.
        owner: Option<Tid>,
        /// How it may be used.
        flags: MailFlags,
        /// Its content.
        data: Blob,
    },
    /// The mailbox.
    MailList(Vec<MailClass>),
    /// Tasks that were started together.
    Siblings(Vec<Tid>),
    /// Where output goes; `None` is the log.
    Output(Option<OutputMessages>),
    /// One result for each host asked for.
    HostResults(Vec<Result<Tid, Failure>>),
    /// What a host has recorded of a job.
    Recorded(Recorded),
    /// A piece of a recording: records in the layout of `parvum_control::Happening`, four words each, the
    /// lowest byte first.
    Records {
        /// Of which task.
        tid: Tid,
        /// The number of the first one: higher than asked for when those before are not there any more.
        first: u64,
        /// The records; none when there are no more.
        data: Blob,
    },
    /// A clock: since 1970.
    Clock {
        /// Seconds.
        seconds: i64,
        /// And nanoseconds.
        nanoseconds: u32,
    },
    /// Where each name leads that was asked for: nowhere, or to a task of one machine, or to all members of a group.
    Names(Vec<Vec<(Tid, Spot)>>),
    /// A name that leads to each place that was asked for; empty for none. Of several it is the first in the alphabet, a
    /// group's only where there is no other.
    NamesOf(Vec<String>),
    /// How a process ended.
    Ended(ExitStatus),
    /// A token for hosts that join.
    Invited {
        /// The token: a secret.
        token: String,
        /// The addresses at which this daemon takes such hosts, most likely first.
        addresses: Vec<String>,
    },
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A task offers the other end of a link. Attached: what it has offered, its page, its eventfd.
    Offered {
        /// Who.
        from: Tid,
        /// Its process.
        pid: u32,
        /// Over which route, by its number.
        route: u8,
    },
    /// Take calls on the attached listener of TCP.
    Listen {
        /// `address:port`.
        addr: String,
        /// For which route.
        route: u8,
    },
    /// A task is about to call and will show this token.
    Expect {
        /// Who.
        from: Tid,
        /// Over which route.
        route: u8,
        /// What it shows.
        token: [u8; 16],
        /// Whether all that follows the greeting is encrypted, by keys from the token.
        encrypted: bool,
    },
    /// The connection that this task was to make does not come about.
    NotConnected {
        /// Who.
        from: Tid,
        /// Over which route.
        route: u8,
    },
    /// Routed frames wait: open the data connection.
    OpenData,
    /// Routed frames to that task were thrown away: it is gone.
    Undeliverable {
        /// To whom.
        to: Tid,
    },
    /// A connected task is gone.
    Gone {
        /// Who.
        tid: Tid,
        /// It has sent routed frames to this task: its last one is followed, on the
        /// data connection, by one without payload, and that may still be to come.
        routed: bool,
    },
    /// A task began that belongs to this runner's job, or whose output comes here.
    Started {
        /// Who.
        tid: Tid,
        /// Who spawned it.
        parent: Tid,
        /// The program's name.
        name: String,
    },
    /// A task wrote something.
    Output {
        /// Who.
        tid: Tid,
        /// Where.
        stream: Stream,
        /// What.
        data: Blob,
    },
    /// Something about a task whose output comes as messages.
    TaskOutput {
        /// Which task.
        tid: Tid,
        /// In which context to deliver it.
        context: u32,
        /// With which tag.
        tag: i32,
        /// What.
        news: OutputNews,
    },
    /// Who plays the resource manager now.
    Manager(Option<Tid>),
    /// What a tracer of all tasks has put into the mailbox.
    Tracer(Blob),
    /// A message from the daemon, in XDR.
    Word {
        /// In which context to deliver it.
        context: u32,
        /// With which tag.
        tag: i32,
        /// Its data.
        data: Blob,
    },
    /// Something that whoever runs this task should know; no call of it fails by it.
    Remark {
        /// What: code, cause and remedy.
        text: String,
    },
    /// A spawned process ended; all its output has been sent before.
    Exited {
        /// Who.
        tid: Tid,
        /// How.
        status: ExitStatus,
    },
    /// What was asked for by [`Request::Notify`](super::Request::Notify).
    Notified {
        /// Which request.
        cookie: u64,
        /// About what.
        about: Notice,
        /// Which task or host.
        tid: Tid,
    },
}
