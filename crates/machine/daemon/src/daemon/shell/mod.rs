//! The one shell: everything the daemon owns. One file of this folder reads its tables, and the others do its own work. Files
//! that serve connections, processes and other hosts import the shell, and this file imports none of them.

mod effects;
mod information;
mod listening;
mod processes;
mod tables;

use crate::daemon::awake::Awake;
use crate::daemon::hosts::gate::Gate;
use crate::daemon::hosts::lateness::Lateness;
use crate::daemon::hosts::network::Network;
use crate::daemon::life::keeper::Keeper;
use crate::daemon::life::log::Log;
use crate::daemon::processes::child::Surroundings;
use crate::daemon::processes::on_its_way::OnItsWay;
use crate::daemon::processes::programs::Programs;
use crate::daemon::tasks::client::ClientIo;
use crate::daemon::tasks::io::{Fd, TaskIo};
use crate::daemon::tasks::port::Port;
use crate::daemon::tasks::recordings::Recordings;
use crate::state::{ClientId, Config, Limits, Machine};
use parvum_agreement::Agreement;
use parvum_control::monotonic_ns;
use parvum_segment::GroupSegment;
use parvum_socket::MachineDirectory;
use parvum_wire::Tid;
use parvum_wire::control::Blob;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;
use tokio::sync::{Notify, oneshot};

/// How much of a pipe is read at once.
const PIPE_HOLDS: usize = 64 * 1024;

/// How a host came into its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Origin {
    /// The machine began here: a signal to the daemon ends the machine. For a later host, a signal ends this host only.
    #[default]
    First,
    /// Another host has added it.
    Added,
    /// It has joined with a token. Other hosts may be unable to reach it, for example behind a router, so it calls them.
    Joined,
}

/// Everything the daemon owns, on one thread.
pub(super) struct Shell {
    pub log: Log,
    pub keeper: Keeper,
    pub place: MachineDirectory,
    machine: RefCell<Machine<Fd>>,
    clients: RefCell<HashMap<ClientId, Rc<ClientIo>>>,
    tasks: RefCell<HashMap<Tid, Rc<TaskIo>>>,
    ports: RefCell<HashMap<Tid, Rc<Port>>>,
    segments: RefCell<HashMap<u64, GroupSegment>>,
    around: Surroundings,
    /// What a task has written, on its way from a pipe to a client.
    pub buffer: RefCell<Box<[u8]>>,
    last_client: Cell<ClientId>,
    limits: Limits,
    began: u64,
    timer: Notify,
    stop: Notify,
    pub(super) network: RefCell<Option<Rc<Network>>>,
    pub(super) agreement: RefCell<Option<Agreement>>,
    pub(super) on_its_way: RefCell<HashMap<Tid, Rc<OnItsWay>>>,
    /// Who waits for what the hoster says of a host, by its number.
    pub(super) hosted: RefCell<HashMap<u32, oneshot::Sender<Blob>>>,
    /// Hosts that join by themselves.
    pub(super) gate: Gate,
    /// How this host came into the machine.
    pub(super) origin: Cell<Origin>,
    /// The hosts of the machine have changed.
    pub(super) members_changed: Notify,
    /// The programs of processes that may never join.
    pub(super) programs: RefCell<Programs>,
    pub(super) awake: Rc<Awake>,
    pub(super) recordings: RefCell<Recordings>,
    pub(super) lateness: Lateness,
    /// What writes to the standard input of processes that have one.
    pub(super) inputs: RefCell<HashMap<Tid, Rc<OwnedFd>>>,
}

impl Shell {
    pub fn new(
        place: MachineDirectory,
        log: Log,
        keeper: Keeper,
        around: Surroundings,
        config: Config,
    ) -> Shell {
        Shell {
            log,
            keeper,
            place,
            limits: config.limits,
            machine: RefCell::new(Machine::new(config)),
            clients: Default::default(),
            tasks: Default::default(),
            ports: Default::default(),
            segments: Default::default(),
            around,
            buffer: RefCell::new(vec![0; PIPE_HOLDS].into()),
            last_client: Cell::new(0),
            lateness: Lateness::new(Instant::now()),
            began: monotonic_ns(),
            timer: Notify::new(),
            stop: Notify::new(),
            network: RefCell::new(None),
            agreement: RefCell::new(None),
            on_its_way: Default::default(),
            hosted: Default::default(),
            gate: Gate::default(),
            origin: Cell::default(),
            members_changed: Notify::new(),
            programs: Default::default(),
            awake: Default::default(),
            recordings: Default::default(),
            inputs: Default::default(),
        }
    }
}
