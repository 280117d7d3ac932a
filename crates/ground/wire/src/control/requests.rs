//! What requests carry: how to spawn, where output goes, what a task is told of others.

use super::{Blob, Details, HostOptions};
use crate::Tid;
use serde::{Deserialize, Serialize};

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
    /// To the spawner, as [`Event::Output`](super::Event::Output).
    Spawner,
    /// To the daemon's log.
    Log,
    /// To a task, as [`Event::TaskOutput`](super::Event::TaskOutput).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_status_of_any_signal_has_shell_code() {
        assert_eq!(ExitStatus::Code(3).shell_code(), 3);
        assert_eq!(ExitStatus::Signal(9).shell_code(), 137);
        // A daemon of another host names the signal.
        assert_eq!(ExitStatus::Signal(i32::MAX).shell_code(), i32::MAX);
    }
}
