//! The host program: it starts the nodes, and takes part in what they do with it.

use crate::envelope::{context, notes};
use crate::errors::{Cmmd, Fault, print};
use crate::state::Guard;
use crate::words;
use parvum_api::{Message, Pattern, Receiving, TagKind, call};
use parvum_wire::Tid;
use parvum_wire::control::{Blob, Output, Reply, Request, SpawnRequest};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;

/// The kinds of messages between host and nodes.
pub(crate) mod about {
    pub(crate) const BROADCAST: i32 = 1;
    pub(crate) const TO_HOST: i32 = 2;
    pub(crate) const FROM_HOST: i32 = 3;
    pub(crate) const REDUCED: i32 = 4;
    pub(crate) const HERE: i32 = 5;
    pub(crate) const GO_ON: i32 = 6;
}

/// Set in the nodes that a host starts.
const NODE: &str = "PARVUM_CMMD_NODE";

/// Whether a host has started this process.
pub(crate) fn am_node() -> bool {
    std::env::var_os(NODE).is_some()
}

/// How many nodes a host starts.
fn wanted_nodes() -> Cmmd<u32> {
    match std::env::var("PARVUM_CMMD_NODES") {
        Err(_) => Ok(std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)),
        Ok(text) => match text.parse() {
            Ok(count) if (1..=4096).contains(&count) => Ok(count),
            _ => {
                print(&format!(
                    "E-OPTION: PARVUM_CMMD_NODES={text} is not valid; help: use a number from 1 to 4096"
                ));
                Err(Fault::BadArgument)
            }
        },
    }
}

/// The node program: as the environment names it, else NAME.node beside the host program, else that itself.
fn node_program() -> Cmmd<PathBuf> {
    if let Some(named) = std::env::var_os("PARVUM_CMMD_PROGRAM") {
        return std::fs::canonicalize(&named).map_err(|why| {
            print(&format!("E-OPTION: PARVUM_CMMD_PROGRAM={}: {why}; help: name a program", named.display()));
            Fault::BadArgument
        });
    }
    let own = std::env::current_exe().map_err(|_| Fault::Refused)?;
    let mut beside = OsString::from(&own);
    beside.push(".node");
    let beside = PathBuf::from(beside);
    Ok(if beside.exists() { beside } else { own })
}

impl Guard {
    /// Starts the nodes.
    pub(crate) fn start_nodes(&mut self) -> Cmmd<i32> {
        if !self.company.nodes.is_empty() {
            return Ok(0);
        }
        let blob = |text: OsString| Blob::from(text.into_vec());
        let variables =
            std::env::vars_os().filter(|(name, _)| name != "PARVUM_TID" && name != "PARVUM_TICKET");
        let set =
            |(name, value): (OsString, OsString)| [name.as_bytes(), b"=", value.as_bytes()].concat().into();
        let plan = SpawnRequest {
            program: blob(node_program()?.into()),
            args: std::env::args_os().skip(1).map(blob).collect(),
            count: wanted_nodes()?,
            cwd: std::env::current_dir().ok().map(|dir| blob(dir.into())),
            env: Some(variables.map(set).collect()),
            env_add: vec![Blob::from(format!("{NODE}=1").into_bytes())],
            output: Output::Inherit,
            all_or_none: true,
            ..Default::default()
        };
        let api = self.api;
        let asked = self.outside(|| api.ask(&Request::Spawn(plan), &notes(call::MACHINE, -1, -1)))?;
        let Ok(Reply::Spawned(nodes)) = asked else {
            print(&self.api.last_error());
            return Err(Fault::Refused);
        };
        let tid = |one: Result<parvum_wire::control::Spawned, parvum_wire::control::Failure>| match one {
            Ok(spawned) => Ok(spawned.tid.0),
            Err(why) => {
                print(&why.to_string());
                Err(Fault::Refused)
            }
        };
        self.company.nodes = nodes.into_iter().map(tid).collect::<Cmmd<_>>()?;
        self.company.own = self.company.nodes.len();
        Ok(0)
    }

    /// Goes on with the first nodes; whether this one is not among them. All nodes call it.
    pub(crate) fn reset_size(&mut self, size: i32) -> Cmmd<bool> {
        let size = usize::try_from(size).map_err(|_| Fault::BadArgument)?;
        if size == 0 || size > self.nodes()?.size() {
            return Err(Fault::BadArgument);
        }
        // The end is reported only after all nodes have arrived.
        self.barrier()?;
        if self.company.own >= size {
            return Ok(true);
        }
        if let Some(partition) = &mut self.partition {
            // Else a thread is in an operation of all nodes, which are about to be others.
            Arc::get_mut(partition).ok_or(Fault::Unfinished)?.shrink(size);
        }
        self.company.nodes.truncate(size);
        Ok(false)
    }

    /// Receives what host and nodes tell each other, into `room`.
    pub(crate) fn hear(&mut self, from: i32, about: i32, room: &mut [u8]) -> Cmmd<Message> {
        let wanted =
            Pattern { from, tags: TagKind::Exactly, tag: about, other: 0, context: context::HOST.into() };
        let length = room.len() as u64;
        let (api, notes) = (self.api, notes(words::all_nodes(), from, about));
        let message = self.outside(|| api.receive(&wanted, Receiving::Into(room), &notes))?;
        if message.length == length { Ok(message) } else { Err(Fault::BadLength) }
    }

    /// The barrier of host and nodes, on a node.
    pub(crate) fn sync_with_host(&mut self) -> Cmmd<()> {
        let host = self.host()?;
        self.barrier()?;
        self.send_own(host, context::HOST, about::HERE, 0, &[])?;
        self.hear(host, about::GO_ON, &mut []).map(drop)
    }

    /// The same on the host.
    pub(crate) fn sync_with_nodes(&mut self) -> Cmmd<()> {
        let nodes = self.own_nodes()?;
        for &node in &nodes {
            self.hear(node, about::HERE, &mut [])?;
        }
        for &node in &nodes {
            self.send_own(node, context::HOST, about::GO_ON, 0, &[])?;
        }
        Ok(())
    }

    /// Ends the nodes of this partition, for `CMMD_error`.
    pub(crate) fn end_all(&self) {
        for task in self.participants() {
            let _ = self.api.ask(
                &Request::Signal { tid: Tid(task), signal: libc::SIGTERM },
                &notes(call::MACHINE, -1, -1),
            );
        }
    }
}
