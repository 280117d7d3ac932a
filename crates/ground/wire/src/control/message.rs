//! The vocabulary: what a task may ask, and what the daemon answers or says.

use super::rows::{GroupRow, HostRow, LinkRow, MailClass, OptionRow, Recorded, Spawned, TaskRow};
use super::{Blob, Details, Failure, HostOptions, Ticket};
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
    /// Writes to the standard input of a task of the caller's job, which asked for it ([`Each::input`]). Answer:
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
        /// With what their pages say of each pair and message: [`TaskRow::sight`].
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
        /// Their names. Options of a hostfile may follow ([`HostOptions`]): `parvum=PATH` is the command over there, and
        /// `by=COMMAND`, which comes last, starts it.
        hosts: Vec<String>,
    },
    /// Takes hosts out. Answer: [`Reply::HostResults`].
    RemoveHosts {
        /// Their names.
        hosts: Vec<String>,
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

/// Where messages for a name are taken, in the words of who takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// The tag of such messages.
    pub number: i32,
    /// Their context.
    pub context: u32,
    /// How many may wait there; 0 for no bound of its own.
    pub messages: u32,
    /// How many bytes may wait there; 0 for no bound of its own.
    pub bytes: u64,
}

/// What a hostfile may say of a host. What is `None` or empty stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSettings {
    /// Its name (`pvmd -n`).
    pub name: Option<String>,
    /// Its relative speed, 1 to 1000000 (`sp=`).
    pub speed: Option<i32>,
    /// Directories where spawned programs are looked for first (`ep=`).
    pub search: Vec<Blob>,
    /// Where spawned programs begin unless their spawner says otherwise (`wd=`).
    pub cwd: Option<Blob>,
    /// The program that starts a task to be debugged (`bx=`).
    pub debugger: Option<Blob>,
    /// What a hostfile says of other hosts, by their names; it counts when this daemon adds them.
    pub known: Vec<(String, HostOptions)>,
}

impl HostSettings {
    /// The name in [`HostSettings::known`] of what holds for hosts without a line of their own.
    pub const ANY: &str = "*";
}

/// A part that one task may play for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The resource manager: tasks that know of it ask it for tasks and hosts.
    Manager,
    /// The tasker: it starts the processes, instead of the daemon.
    Tasker,
    /// The hoster: it runs the commands that start daemons on other hosts.
    Hoster,
}

/// What to start, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// A path, or a name to be searched.
    pub program: Blob,
    /// Its arguments, without the name of the program.
    pub args: Vec<Blob>,
    /// How many.
    pub count: u32,
    /// Directories to search before PATH.
    pub search: Vec<Blob>,
    /// Working directory; the user's home when `None`.
    pub cwd: Option<Blob>,
    /// The whole environment (`NAME=value`), or the daemon's.
    pub env: Option<Vec<Blob>>,
    /// Variables set on top of it (`NAME=value`).
    pub env_add: Vec<Blob>,
    /// Where its output goes.
    pub output: Output,
    /// Which host.
    pub place: SpawnWhere,
    /// Start all or none.
    pub all_or_none: bool,
    /// PVM's spawn flag, shown by `tasks`.
    pub flag: i32,
    /// The tasks get no parent (PVM's PvmNoSpawnParent).
    pub orphan: bool,
    /// On behalf of this task, which becomes their parent: for the resource manager alone.
    pub behalf: Option<Tid>,
    /// Who is told that they begin and end, in PVM's trace events.
    pub trace: Option<OutputMessages>,
    /// The job's tasks run at the same time as one another, in turns with other gangs.
    pub gang: bool,
    /// What the job's tasks do is recorded, and how.
    pub record: Option<Recorder>,
    /// What few requests say.
    pub details: Box<Details>,
}

/// How what a task does is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorder {
    /// The memory of each task's recording.
    pub bytes: u64,
    /// The time of a record is the processor time that the task's process has had, not the clock's.
    pub processor_time: bool,
}

/// On which host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpawnWhere {
    /// The machine decides.
    #[default]
    Anywhere,
    /// This host, by name or as the tid of its daemon in digits; "." is the spawner's.
    Host(String),
    /// Any host of this architecture.
    Arch(String),
    /// Any host but this one.
    NotHost(String),
    /// Any host of another architecture.
    NotArch(String),
}

/// Where a task's output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Where the spawner's own output goes.
    #[default]
    Inherit,
    /// To the spawner, as [`Event::Output`].
    Spawner,
    /// To the daemon's log.
    Log,
    /// To a task, as [`Event::TaskOutput`].
    Messages(OutputMessages),
}

/// How a task gets the output of others as messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputMessages {
    /// Who gets them.
    pub to: Tid,
    /// In which context.
    pub context: u32,
    /// With which tag.
    pub tag: i32,
}

/// What is told of a task whose output goes to another as messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum OutputNews {
    /// There will be output of it; this is who spawned it.
    Expected(Option<Tid>),
    /// It has begun; this is who spawned it.
    Begun(Option<Tid>),
    /// It has written this.
    Wrote(Blob),
    /// It has ended, and all it wrote was told.
    Ended,
}

/// One of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What to be told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Notice {
    /// A task is gone.
    TaskExit,
    /// A host is gone.
    HostDelete,
    /// A host was added.
    HostAdd,
}

/// How a mailbox entry may be used: PVM's `PvmMbox` flags, as its owner gave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailFlags(pub u32);

impl MailFlags {
    /// It stays when its owner goes.
    pub const PERSISTENT: MailFlags = MailFlags(1);
    /// It is put beside the other entries of the class, not in their place.
    pub const MULTI: MailFlags = MailFlags(2);
    /// Others may replace and delete it.
    pub const OVERWRITABLE: MailFlags = MailFlags(4);
    /// It is the job's, if the task that puts it has one: it stays when that task goes, and goes with the job. Not PVM's.
    pub const OF_JOB: MailFlags = MailFlags(1 << 16);

    /// Without the bits of `other`.
    pub fn without(self, other: MailFlags) -> MailFlags {
        MailFlags(self.0 & !other.0)
    }

    /// Whether all bits of `other` are set.
    pub fn has(self, other: MailFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    pub fn and(self, other: MailFlags) -> MailFlags {
        MailFlags(self.0 | other.0)
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitStatus {
    /// It returned this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl ExitStatus {
    /// The code a shell would give. Another daemon names the signal, so the number may be any.
    pub fn shell_code(self) -> i32 {
        match self {
            ExitStatus::Code(code) => code,
            ExitStatus::Signal(signal) => signal.saturating_add(128),
        }
    }
}

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
        /// For [`Request::DataHello`].
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
    /// What was asked for by [`Request::Notify`].
    Notified {
        /// Which request.
        cookie: u64,
        /// About what.
        about: Notice,
        /// Which task or host.
        tid: Tid,
    },
}

/// Who sends which vocabulary: ties [`Call`] and [`FromDaemon`] to the codec.
pub trait Directions: Serialize + for<'de> Deserialize<'de> {}
impl Directions for Call {}
impl Directions for FromDaemon {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_of_any_number_has_a_code() {
        assert_eq!(ExitStatus::Code(3).shell_code(), 3);
        assert_eq!(ExitStatus::Signal(9).shell_code(), 137);
        // A daemon of another host names the signal.
        assert_eq!(ExitStatus::Signal(i32::MAX).shell_code(), i32::MAX);
    }
}
