//! What can go wrong: numbered, one cause and one remedy each.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares the kinds as one table: number, code, cause, remedy. The numbers
/// are fixed; `docs/errors.md` has a paragraph for each code.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $code:literal, $cause:literal, $remedy:literal;)*) => {
        /// The cause of a refusal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum ErrorKind { $($(#[$doc])* $name = $number,)* }

        impl ErrorKind {
            /// Every kind, in the order of the numbers.
            pub const ALL: &[ErrorKind] = &[$(ErrorKind::$name,)*];

            /// The code a person can look up, such as `E-NOTASK`.
            pub fn code(self) -> &'static str {
                match self { $(ErrorKind::$name => $code,)* }
            }
            /// What happened.
            pub fn cause(self) -> &'static str {
                match self { $(ErrorKind::$name => $cause,)* }
            }
            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self { $(ErrorKind::$name => $remedy,)* }
            }
        }
    };
}

kinds! {
    /// Bytes that are no request, or a request out of turn.
    Protocol = 1, "E-PROTOCOL", "the daemon cannot read the request",
        "use the parvum command and libraries of one release";
    /// Two releases that do not speak the same protocol.
    Version = 2, "E-VERSION", "program and daemon are of different versions",
        "`parvum down`, then start the machine with this release";
    /// A request that only a task may make.
    NotEnrolled = 3, "E-NOTENROLLED", "the program has not joined the machine",
        "call pvm_mytid() (or parvum.enrol()) before this call";
    /// An argument out of range.
    BadParameter = 4, "E-BADPARAM", "an argument is out of range", "check the arguments of the call";
    /// The tid names nobody.
    NoSuchTask = 5, "E-NOTASK", "there is no such task", "`parvum ps` lists the tasks";
    /// The tid or name is no host of this machine.
    NoSuchHost = 6, "E-NOHOST", "there is no such host in the machine", "`parvum hosts` lists the hosts";
    /// The program was not found.
    ProgramNotFound = 7, "E-NOPROGRAM", "the program was not found",
        "give its whole path, or copy it into a folder of PATH";
    /// The program may not be executed.
    NotExecutable = 8, "E-NOTEXEC", "the program is not executable",
        "make it executable with `chmod +x`, or give the program and not its source";
    /// The kernel refused to start the program.
    ExecFailed = 9, "E-EXEC", "the system could not start the program",
        "run the program by hand on that host";
    /// No processes, descriptors or memory left.
    OutOfResources = 10, "E-RESOURCES", "the host has no room for another task",
        "`parvum doctor` shows the limits; raise them (`ulimit -u`, `ulimit -n`), or start fewer tasks";
    /// More bytes than the bound.
    TooLarge = 11, "E-TOOLARGE", "the request or entry is larger than its bound",
        "send large data as a message; `parvum info` lists the bounds";
    /// The task is in the group already.
    DuplicateGroup = 12, "E-DUPGROUP", "the task is in that group already", "leave the group first";
    /// No group of that name.
    NoSuchGroup = 13, "E-NOGROUP", "there is no such group", "a task must join the group first";
    /// The task is not a member.
    NotInGroup = 14, "E-NOTINGROUP", "the task is not in that group", "join the group first";
    /// Nobody has that instance number.
    NoSuchInstance = 15, "E-NOINST", "nobody in the group has that instance number",
        "instances count from 0 and have gaps after members left";
    /// No such mailbox entry.
    NoSuchEntry = 16, "E-NOENTRY", "there is no such mailbox entry", "a task must put the entry first";
    /// The mailbox entry exists already.
    EntryExists = 17, "E-EXISTS", "the mailbox entry exists already",
        "put it with the multi-instance or overwritable flag";
    /// The owner did not permit it.
    Denied = 18, "E-DENIED", "the owner did not permit that", "ask the owner, or run as the same user";
    /// The machine is on its way down.
    GoingDown = 19, "E-GOINGDOWN", "the machine is being stopped", "`parvum up` starts it again";
    /// The system refused something else.
    System = 20, "E-SYSTEM", "the operating system refused",
        "the daemon's log has more: `parvum info` names it";
    /// The barrier can no longer be completed.
    BarrierBroken = 21, "E-BARRIER", "a member left the group, and the barrier cannot be completed any more",
        "start the group again with the members that are left";
    /// The pair is connected already.
    AlreadyConnected = 22, "E-CONNECTED", "the two tasks are connected already", "use the connection there is";
    /// Another user's connection.
    OtherUser = 23, "E-OTHERUSER", "the machine belongs to another user",
        "`parvum up` starts your own; PARVUM_DIR may point to another user's directory";
    /// Spawned beside others that could not be started.
    NotAll = 24, "E-NOTALL", "no task was started, because one of them could not start",
        "start fewer tasks, or let the request start as many as possible";
    /// The host is in the machine already.
    DuplicateHost = 25, "E-DUPHOST", "the host is in the machine already", "`parvum hosts` lists the hosts";
    /// A daemon on another host.
    CannotStart = 26, "E-CANTSTART", "no daemon could be started on the other host",
        "`parvum doctor HOST` checks ssh, release and ports; run that command by hand";
    /// The host that was asked is gone.
    HostLost = 28, "E-HOSTLOST", "the host that had to answer is gone from the machine",
        "`parvum hosts` lists those that are left";
    /// Too few hosts are left to speak for the machine.
    Minority = 29, "E-MINORITY", "this part of the machine has no majority and changes nothing",
        "mend the network, or stop this part with `parvum down`";
    /// The name leads elsewhere.
    NameTaken = 30, "E-NAMETAKEN", "the name is bound already",
        "choose another name, or unbind the container first";
    /// Another task plays that part.
    PartTaken = 27, "E-PARTTAKEN", "another task plays that part already", "end that task first";
}

/// A refusal: its kind and the particulars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which cause.
    pub kind: ErrorKind,
    /// The particulars: a name, a number, the system's own words. May be empty.
    pub detail: String,
}

impl Failure {
    /// A refusal with particulars.
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Failure {
        Failure { kind, detail: detail.into() }
    }

    /// What happened. The particulars lead; the general sentence is for those that are none, or a mere name.
    pub fn cause(&self) -> String {
        match self.detail.as_str() {
            "" => self.kind.cause().to_owned(),
            name if !name.contains(char::is_whitespace) => format!("{name}: {}", self.kind.cause()),
            sentence => sentence.to_owned(),
        }
    }

    /// What to do about it; nothing if the particulars say it themselves.
    pub fn remedy(&self) -> &'static str {
        if self.detail.contains("; help: ") { "" } else { self.kind.remedy() }
    }
}

impl From<ErrorKind> for Failure {
    fn from(kind: ErrorKind) -> Failure {
        Failure { kind, detail: String::new() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.cause())?;
        match self.remedy() {
            "" => Ok(()),
            remedy => write!(f, "; help: {remedy}"),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn failure_text_starts_with_detail_if_present() {
        let said = |detail: &str| Failure::new(ErrorKind::NoSuchHost, detail).to_string();
        let remedy = "`parvum hosts` lists the hosts";
        assert_eq!(said(""), format!("E-NOHOST: there is no such host in the machine; help: {remedy}"));
        assert_eq!(
            said("beta"),
            format!("E-NOHOST: beta: there is no such host in the machine; help: {remedy}")
        );
        assert_eq!(said("beta has left"), format!("E-NOHOST: beta has left; help: {remedy}"));
        assert_eq!(
            said("cannot add beta; help: check its name"),
            "E-NOHOST: cannot add beta; help: check its name"
        );
        let outside = Failure::from(ErrorKind::NotEnrolled).to_string();
        assert!(
            outside.ends_with("; help: call pvm_mytid() (or parvum.enrol()) before this call"),
            "{outside}"
        );
    }

    #[test]
    fn error_kind_has_unique_code_and_number() {
        let codes: HashSet<_> = ErrorKind::ALL.iter().map(|k| k.code()).collect();
        let numbers: HashSet<_> = ErrorKind::ALL.iter().map(|k| *k as u16).collect();
        assert_eq!(codes.len(), ErrorKind::ALL.len());
        assert_eq!(numbers.len(), ErrorKind::ALL.len());
    }
}
