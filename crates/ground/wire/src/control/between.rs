//! What the daemons of one machine say to each other.
//!
//! Each task is known to the daemon of its host, and whoever asks something about it is asked for
//! there: a daemon passes requests of its clients on ([`Between::Ask`]), and answers and events back.
//! What belongs to no host (groups, mailbox, parts, the table of hosts) all keep; how they agree on its changes
//! is in [`Between::Agreement`].

use super::rows::{HostRow, Spawned};
use super::{Blob, Failure};
use super::{Event, Reply, Request, RequestId, SpawnRequest};
use crate::Tid;
use serde::{Deserialize, Serialize};

/// A host, as all daemons know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Its number: the host part of its tasks' ids.
    pub number: u32,
    /// Which life of the host: a number is used again, a life is not.
    pub life: u64,
    /// What users see of it.
    pub row: HostRow,
    /// Where its daemon can be reached, `address:port`, the likeliest first.
    pub addresses: Vec<String>,
}

/// What a part of a spawn request needs to know of the spawner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpawnPart {
    /// Names the request at the daemon that asks.
    pub batch: u64,
    /// What to start, and how many of it here.
    pub plan: SpawnRequest,
    /// How many tasks of the request come before these, on other hosts, and how many it has in all.
    pub among: (u32, u32),
    /// Who spawns.
    pub spawner: Tid,
    /// The runner whose job it belongs to.
    pub job: Option<Tid>,
    /// Who gets the output, in which context and with which tag if as messages.
    pub sink: Option<(Tid, Option<(u32, i32)>)>,
}

/// A word between two daemons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Between {
    /// A client of the sender asks.
    Ask {
        /// Comes back with the answer.
        client: u64,
        /// Comes back with the answer.
        id: RequestId,
        /// The task that asks, if it is one.
        me: Option<Tid>,
        /// What.
        request: Request,
    },
    /// The answer.
    Answer {
        /// From the question.
        client: u64,
        /// From the question.
        id: RequestId,
        /// What.
        reply: Result<Reply, Failure>,
    },
    /// Something for a task of the receiver's host.
    Event {
        /// Which task.
        tid: Tid,
        /// What.
        event: Event,
    },
    /// Start tasks.
    Start(Box<SpawnPart>),
    /// What came of it.
    Started {
        /// From the question.
        batch: u64,
        /// One for each.
        results: Vec<Result<Spawned, Failure>>,
    },
    /// These tasks were started by one request: tell each that it has these siblings.
    Siblings(Vec<Tid>),
    /// These tasks shall be as if they had never been.
    Undo(Vec<Tid>),
    /// The sender wants to hear of the end of a task of the receiver's host.
    Watch(Tid),
    /// A task that the receiver wanted to hear of, or a runner, is gone.
    Over {
        /// Which.
        tid: Tid,
        /// It was a runner: its job ends.
        runner: bool,
    },
    /// A signal for every task of a job.
    SignalJob {
        /// Whose job.
        job: Tid,
        /// Which signal.
        signal: i32,
    },
    /// The sender reaches these hosts no more, or again; for the one that leads.
    Silent {
        /// Which hosts.
        hosts: Vec<u32>,
        /// Whether they do not answer.
        silent: bool,
    },
    /// For the leader: at the moment the sender gets no answer from this host.
    Doubt(u32),
    /// The sender has all that is kept; for the one that leads.
    Arrived,
    /// A piece of what the hosts say to agree on changes.
    Agreement(Blob),
    /// So much of a task's output was handed on to whoever gets it.
    Took {
        /// Whose output: a task of the receiver's host.
        tid: Tid,
        /// How many bytes.
        bytes: u64,
    },
    /// The sender has so many tasks of a job that is a gang; for the conductor, the lowest host.
    Gang {
        /// Whose runner this is.
        job: Tid,
        /// None any more: 0.
        tasks: u32,
    },
    /// Of all gangs only these jobs may run now, for the conductor says so; all: none given.
    Turn(Option<Vec<Tid>>),
    /// How busy the sender is: tasks that want a processor, in hundredths. For those who vote.
    Load(u32),
    /// How busy these hosts are, says the one that leads.
    Loads(Vec<(u32, u32)>),
    /// The machine stops.
    Halt,
}
