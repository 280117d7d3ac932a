//! Tables: look-ups for the files that serve connections, tasks and hosts.

use super::Shell;
use crate::daemon::life::options::Options;
use crate::daemon::tasks::client::ClientIo;
use crate::daemon::tasks::io::{AsMessages, TaskIo};
use crate::daemon::tasks::port::{Port, Source};
use crate::state::ClientId;
use parvum_wire::Tid;
use parvum_wire::control::{HostRecord, Recorder, Ticket};
use std::collections::BTreeSet;
use std::rc::Rc;

impl Shell {
    /// What the environment said when the daemon began.
    pub fn options(&self) -> &Options {
        &self.around.options
    }

    /// Whether nothing passes between hosts in clear.
    pub fn encrypts(&self) -> bool {
        self.machine.borrow().encrypts()
    }

    /// The number, the life and the name of this host.
    pub fn identity(&self) -> (u32, u64, String) {
        self.machine.borrow().identity()
    }

    /// The record of a host of the machine.
    pub fn record_of(&self, host: u32) -> Option<HostRecord> {
        self.machine.borrow().host(host)
    }

    /// The records of all hosts of the machine.
    pub fn hosts(&self) -> Vec<HostRecord> {
        self.machine.borrow().hosts()
    }

    /// The host that is adding this one, which has not arrived yet.
    pub fn home(&self) -> Option<HostRecord> {
        self.machine.borrow().home()
    }

    /// Hosts of the machine that do not answer.
    pub fn silent_hosts(&self) -> Vec<HostRecord> {
        self.machine.borrow().silent_hosts()
    }

    /// The hosts that this daemon checks all the time, if they are others than when this was last asked.
    pub fn take_watched(&self) -> Option<BTreeSet<u32>> {
        self.machine.borrow_mut().take_watched()
    }

    /// All that the daemons keep together.
    pub fn snapshot(&self) -> Vec<u8> {
        self.machine.borrow().snapshot()
    }

    /// Other daemons reach this one there.
    pub fn set_addresses(&self, addresses: Vec<String>) {
        self.machine.borrow_mut().set_addresses(addresses);
    }

    /// The parent of a task that was spawned and has not joined, if the task is one.
    pub fn unjoined_child(&self, tid: Tid) -> Option<Option<Tid>> {
        self.machine.borrow().unjoined_child(tid)
    }

    /// A task's page and bell, as long as somebody holds them.
    pub fn io_of(&self, tid: Tid) -> Option<Rc<TaskIo>> {
        self.tasks.borrow().get(&tid).cloned()
    }

    /// The task that a ticket is of.
    pub fn shown(&self, ticket: Ticket) -> Option<Tid> {
        self.machine.borrow().shown(ticket)
    }

    /// A task's job, if that is recorded, and in how many bytes.
    pub fn recording_of(&self, tid: Tid) -> Option<(Tid, Recorder)> {
        self.machine.borrow().recording_of(tid)
    }

    pub fn client(&self, id: ClientId) -> Option<Rc<ClientIo>> {
        self.clients.borrow().get(&id).cloned()
    }

    pub fn forget(&self, id: ClientId) {
        self.clients.borrow_mut().remove(&id);
    }

    pub fn closing(&self, id: ClientId) {
        self.machine.borrow_mut().closing(id);
    }

    pub fn tid_of(&self, id: ClientId) -> Option<Tid> {
        self.machine.borrow().tid_of(id)
    }

    pub fn exists(&self, tid: Tid) -> bool {
        self.machine.borrow().exists(tid)
    }

    /// The task of another host that gets the output of a process, and in which form.
    pub fn output_elsewhere(&self, tid: Tid) -> Option<(Tid, AsMessages)> {
        self.machine.borrow().output_elsewhere(tid)
    }

    /// The connection of a task of this host.
    pub fn client_of(&self, tid: Tid) -> Option<Rc<ClientIo>> {
        let id = self.machine.borrow().client_of(tid)?;
        self.client(id)
    }

    /// Whether the task, if it is there, is a task of another host.
    pub fn is_elsewhere(&self, tid: Tid) -> bool {
        !self.exists(tid) && self.machine.borrow().may_exist(tid)
    }

    pub fn houses_others(&self, tid: Tid) -> bool {
        self.machine.borrow().houses_others(tid)
    }

    pub fn link(&self, a: Tid, b: Tid) {
        self.machine.borrow_mut().link_routed(a, b);
    }

    /// Whether the two exchange routed frames, and neither is known to be gone.
    pub fn is_linked(&self, a: Tid, b: Tid) -> bool {
        self.machine.borrow().is_routed(a, b)
    }

    /// Who gets the output of a process, and as which messages if so; nobody means the log.
    pub fn output_client(&self, tid: Tid) -> Option<(Rc<ClientIo>, AsMessages)> {
        let (id, as_messages) = self.machine.borrow().output_client(tid)?;
        Some((self.client(id)?, as_messages))
    }

    pub fn may_carry(&self, tid: Tid, secret: [u8; 16]) -> bool {
        self.machine.borrow().secret(tid).is_some_and(|s| s == secret)
    }

    /// Ties the data connection to the task's control connection; false when the
    /// task has one already, or is gone.
    pub fn attach_data(&self, tid: Tid, source: Rc<Source>) -> bool {
        let clients = self.clients.borrow();
        let machine = self.machine.borrow();
        let Some(client) = clients.values().find(|c| machine.tid_of(c.id) == Some(tid)) else { return false };
        let mut data = client.data.borrow_mut();
        data.is_none() && data.replace(source).is_none()
    }

    /// The port of a task that exists.
    pub fn port(&self, tid: Tid) -> Rc<Port> {
        let make = || Rc::new(Port::new(self.tasks.borrow().get(&tid).cloned()));
        self.ports.borrow_mut().entry(tid).or_insert_with(make).clone()
    }

    pub fn find_port(&self, tid: Tid) -> Option<Rc<Port>> {
        self.ports.borrow().get(&tid).cloned()
    }
}
