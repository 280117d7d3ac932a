//! What answers are made of: one row for each task, host, link, group, option or entry that was asked for.

use super::MailFlags;
use crate::Tid;
use crate::calls::{self, Sort, Word};
use serde::{Deserialize, Serialize};

/// A task that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawned {
    /// Its id.
    pub tid: Tid,
    /// Its process.
    pub pid: u32,
}

/// How one host reaches another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRow {
    /// The daemon of the other.
    pub host: Tid,
    /// The address in use.
    pub address: String,
    /// The round trip now, in microseconds.
    pub round_trip: u64,
    /// Bytes sent, everything included.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Datagrams that were lost on the way there.
    pub lost: u64,
    /// Each address that was tried, and what it did.
    pub tried: Vec<(String, String)>,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskState {
    /// Its process runs and has not enrolled (yet).
    Started,
    /// It is enrolled.
    Enrolled,
    /// It has left the machine; its process goes on.
    Departed,
}

/// A row of `parvum ps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// Its id.
    pub tid: Tid,
    /// Who spawned it.
    pub parent: Option<Tid>,
    /// The daemon of its host.
    pub host: Tid,
    /// Its process.
    pub pid: u32,
    /// The program's name.
    pub name: String,
    /// PVM's spawn flag.
    pub flag: i32,
    /// Where it stands.
    pub state: TaskState,
    /// What it waits for.
    pub waits: Option<Waits>,
    /// What it has counted, by number: `parvum_control::COUNTER_NAMES`. Empty before it enrols.
    pub counters: Vec<u64>,
    /// The daemon started it; otherwise it came by itself.
    pub spawned: bool,
    /// It is stopped, for it is another gang's turn.
    pub held: bool,
    /// Its number among the tasks of a run.
    pub rank: Option<u32>,
    /// What its page says beside the counters, if that was asked for.
    pub sight: Option<Box<Sight>>,
}

/// What a task's page says of its pairs and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sight {
    /// Each peer that it has a link to, or had, route by route.
    pub pairs: Vec<PairRow>,
    /// The names of the routes that it knows, by number; an empty one is of a number not in use.
    pub routes: Vec<String>,
    /// Messages that no receive has taken, oldest first; of many the first ones only.
    pub unmatched: Vec<UnmatchedRow>,
    /// Nanoseconds since the task began.
    pub age: u64,
    /// Bytes of memory that its process uses.
    pub memory: u64,
    /// Nanoseconds of processor time that it has used.
    pub cpu: u64,
    /// The processors that it may run on, as the system lists them.
    pub cpus: String,
    /// How it shares memory, in its interface's words; empty if it does not.
    pub memory_way: String,
    /// The names of what it counts of that.
    pub memory_counts: Vec<String>,
}

/// What a task has counted of one peer over one route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRow {
    /// The peer; 0 for all that have no ledger of their own.
    pub peer: Tid,
    /// The route, by its number: [`Sight::routes`] has its name.
    pub route: u8,
    /// Counts, by number: `parvum_control::COUNTER_NAMES`.
    pub counters: Vec<u64>,
    /// Why each route is in use or not: `parvum_control::Taken`.
    pub reasons: [u8; 8],
    /// Nanoseconds asleep, waiting for this peer.
    pub waited: u64,
}

/// A message that no receive has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmatchedRow {
    /// Who sent it.
    pub from: Tid,
    /// Its tag.
    pub tag: i32,
    /// Its context.
    pub context: u32,
    /// Bytes of data.
    pub length: u64,
    /// Counts all messages that became visible to receives.
    pub order: u64,
}

/// What a task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    /// Which kind of wait: a number of [`crate::calls::KINDS`].
    pub kind: u32,
    /// The interface.
    pub interface: String,
    /// The interface's word for the call, if it has one.
    pub word: Option<Word>,
    /// No task that starts later can help a task of the interface.
    pub closed: bool,
    /// From whom; -1 anyone.
    pub peer: i32,
    /// Which tag; -1 any.
    pub tag: i32,
    /// Which context.
    pub context: i32,
    /// For how long, in milliseconds.
    pub for_ms: u64,
    /// Since when, in nanoseconds of its host's clock: another wait has another.
    pub since: u64,
    /// It ends by itself after a time.
    pub ends: bool,
    /// The barrier that it waits in.
    pub barrier: Option<BarrierRow>,
    /// Several threads use the interface: others may go on while one waits.
    pub threads: bool,
    /// What it does there, if it is this wait's.
    pub operation: Option<OperationRow>,
}

impl Waits {
    /// What kind of wait it is, the same for all interfaces.
    pub fn kind_name(&self) -> &'static str {
        calls::kind(self.kind)
    }

    /// The call's name, in the interface's own words if it has any.
    pub fn name(&self) -> &str {
        self.word
            .as_ref()
            .filter(|word| word.sort != Sort::Function)
            .map_or(self.kind_name(), |word| &word.name)
    }

    /// The function of the program that the task waits in, if its interface tells functions.
    pub fn function(&self) -> Option<&str> {
        self.word.as_ref().filter(|word| word.sort == Sort::Function).map(|word| word.name.as_str())
    }

    /// What must be known about the call beside its name, as the interface says.
    pub fn mark(&self) -> &str {
        self.word.as_ref().map_or("", |word| &word.mark)
    }

    /// Whether the call is about shared memory: what is waited for then is no message.
    pub fn is_of_shared_memory(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.sort == Sort::Memory)
    }
}

/// What a function does among the members of a communicator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationRow {
    /// The communicator's name; empty when it has none.
    pub name: String,
    /// The task's rank in it.
    pub rank: u32,
    /// How many members it has.
    pub size: u32,
    /// The root; -1 where there is none.
    pub root: i32,
    /// Which of the communicator's collective operations it is, counted from 0; of a message -1.
    pub turn: i32,
    /// Bytes of data; of a collective operation those that all members must agree on. `u64::MAX`: there is no such number.
    pub bytes: u64,
}

/// A barrier, as a task that waits there says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BarrierRow {
    /// The group's name; of a long one the first bytes.
    pub group: String,
    /// How many the task awaits; -1 for all members.
    pub count: i32,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRow {
    /// Its name.
    pub name: String,
    /// Its members, with their instance numbers.
    pub members: Vec<(u32, Tid)>,
    /// How many are awaited in its barrier, as far as the daemon knows; `None` when nobody waits.
    pub awaited: Option<u32>,
    /// How many wait there.
    pub waiting: u32,
    /// Of the members that ended without leaving, and that nobody has replaced, the first.
    pub lost: Option<Tid>,
}

/// A row of `parvum hosts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// The tid of its daemon.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// Its architecture, in PVM's words.
    pub arch: String,
    /// Its relative speed.
    pub speed: i32,
    /// Its processors.
    pub cpus: u32,
}

/// What one host has recorded of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Whose job.
    pub job: Tid,
    /// The daemon of the host.
    pub host: Tid,
    /// Its tasks.
    pub tasks: Vec<RecordedTask>,
    /// The words of interfaces, each text once: see [`crate::calls`].
    pub words: Vec<String>,
    /// Recordings that were thrown away to keep within the host's bound.
    pub thrown_away: u64,
    /// The time when this was said: as records have it, in nanoseconds of the host's CLOCK_MONOTONIC, and since 1970.
    pub now: (u64, u64, u64),
}

/// A task whose doings were recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedTask {
    /// Its id.
    pub tid: Tid,
    /// The program's name.
    pub name: String,
    /// When it began: as records have it, and in nanoseconds of the host's CLOCK_MONOTONIC.
    pub began: (u64, u64),
    /// When it was gone, in the same nanoseconds; 0 while it is there.
    pub ended: u64,
    /// How many records it has written, ever.
    pub written: u64,
    /// How many of them are kept at most.
    pub kept: u64,
    /// The names of the routes that its records give by number.
    pub routes: Vec<String>,
    /// The words that its records give by number: a place in [`Recorded::words`].
    pub words: u32,
}

/// A row of `parvum info`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRow {
    /// What.
    pub name: String,
    /// Its value now.
    pub value: String,
    /// Where the value comes from.
    pub source: String,
    /// What it is for.
    pub help: String,
}

/// All mailbox entries of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailClass {
    /// The name.
    pub name: String,
    /// The entries, by index.
    pub entries: Vec<MailEntry>,
}

/// A mailbox entry, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailEntry {
    /// Its index.
    pub index: u32,
    /// Who put it; `None` when that task is gone.
    pub owner: Option<Tid>,
    /// How it may be used.
    pub flags: MailFlags,
}
