//! What a spawn request may say of the processes: what they get of whoever runs them, and where tasks of one request differ.

use super::Blob;
use crate::Tid;
use serde::{Deserialize, Serialize};

/// What a spawn request says of the processes beside their program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// What the processes get of whoever runs them; what the daemon has when `None`.
    pub inherited: Option<Inherited>,
    /// Further programs, for the tasks that `each` gives them to.
    pub programs: Vec<Program>,
    /// Where the tasks differ, in their order: as many as there are, or none.
    pub each: Vec<Each>,
    /// To what the tasks are bound.
    pub bind: Option<Bind>,
    /// Standard output is a terminal, so that C programs write line by line.
    pub terminal: bool,
    /// Standard output and standard error are one pipe, so that what a task writes to both keeps its order.
    pub one_stream: bool,
}

/// What shows that a process is the one that was spawned as task `tid`, or was started by it: both have it in their
/// environment, as `PARVUM_TID` and `PARVUM_TICKET`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The task.
    pub tid: Tid,
    /// Made for this one spawn: a number alone may be anybody's, or was an earlier task's.
    pub secret: [u8; 16],
}

impl Ticket {
    /// The ticket in an environment where `PARVUM_TID` and `PARVUM_TICKET` have these values.
    pub fn read(tid: &str, secret: &str) -> Option<Ticket> {
        if secret.len() != 32 || !secret.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let tid = Tid(tid.parse().ok()?);
        Some(Ticket { tid, secret: u128::from_str_radix(secret, 16).ok()?.to_be_bytes() })
    }

    /// The value of `PARVUM_TICKET`.
    pub fn text(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.secret))
    }
}

/// What a process takes over from whoever runs the job, and not from whoever started the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inherited {
    /// Limits, as `getrlimit` gives them.
    pub limits: Vec<Limit>,
    /// Which permissions new files do not get.
    pub umask: u32,
    /// How willingly it lets others go first.
    pub nice: i32,
    /// The processors that it may use, by their numbers on `host`.
    pub cpus: Vec<u32>,
    /// The daemon of the host that those numbers are of; on others the processors are the daemon's.
    pub host: Tid,
}

/// A limit of the system's; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Which: the system's number.
    pub resource: u32,
    /// What holds.
    pub soft: Option<u64>,
    /// How far the process may raise it.
    pub hard: Option<u64>,
}

/// A program of a request that starts several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// A path, or a name to be searched.
    pub program: Blob,
    /// Its arguments, without the name of the program.
    pub args: Vec<Blob>,
    /// Its working directory; the request's when `None`.
    pub cwd: Option<Blob>,
    /// Variables set on top of the request's (`NAME=value`).
    pub env_add: Vec<Blob>,
}

/// One task of a request, where it differs from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Each {
    /// Its number among all tasks of the request.
    pub rank: u32,
    /// 0 for the request's program, else one of its further ones, counted from 1.
    pub program: u32,
    /// The daemon of its host; the machine decides when `None`.
    pub host: Option<Tid>,
    /// Its standard input comes from the spawner, as `Request::Input`.
    pub input: bool,
}

/// To what processors tasks are bound, each to those of its own turn on its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// Each to a core: all processors that share it.
    Core,
    /// Each to a socket: all processors of one package.
    Socket,
    /// Each to one of these processors.
    Processors(Vec<u32>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_reads_only_its_written_form() {
        let ticket = Ticket { tid: Tid(0x40001), secret: [7; 16] };
        assert_eq!(Ticket::read("262145", &ticket.text()), Some(ticket));
        let small = Ticket { tid: Tid(1), secret: [0; 16] };
        assert_eq!(Ticket::read("1", &small.text()), Some(small));
        let signed = format!("+{}", &ticket.text()[1..]);
        for other in ["", "7", &ticket.text()[1..], &signed, "zz345678901234567890123456789012"] {
            assert_eq!(Ticket::read("262145", other), None, "{other}");
        }
        assert_eq!(Ticket::read("x", &ticket.text()), None);
    }
}
