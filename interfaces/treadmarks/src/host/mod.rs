//! The tasks of a host are one node of the protocol: they map the same pages, and hosts exchange what was changed.
//!
//! The first of them has the node ([`Tasks`]). The calls and faults of the other tasks go to it as letters. Its service
//! thread handles these letters, like requests of other nodes. This thread also receives all messages between nodes,
//! because the program may compute while another task waits. While the program of the first task
//! waits, the program does the work of the thread. If no other node wants a lock, a task takes the lock by itself
//! ([`Keys`]). A task opens a page that is open on the host itself ([`rooms`]).

mod letters;
mod pages;
#[allow(unsafe_code)]
pub(crate) mod rooms;

use crate::errors::{Trouble, end};
use crate::limits::LOCKS;
use crate::nodes::groups::Groups;
use crate::nodes::letters::{kind, letter};
use crate::nodes::peers::Peers;
use crate::shown::Shown;
use crate::words;
use letters::{Call, Outcome};
pub(crate) use pages::Pages;
use parvum_consistency::{Access, Counts, Fault, Keys, Progress, Taken, Tasks};
use parvum_sync::without_signals;
use rooms::Rooms;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Host {
    groups: Groups,
    /// This task's node, and its place there.
    place: (usize, usize),
    keys: Keys,
    /// Locks that this task has, a bit for each.
    holds: Box<[AtomicU64]>,
    rooms: Arc<Rooms>,
    shown: Shown,
    /// At the first.
    inner: Option<Mutex<Inner>>,
}

pub(crate) struct Inner {
    tasks: Tasks,
    pages: Pages,
    /// The tasks whose calls did not complete at once, and are still open.
    waits: Vec<bool>,
}

impl Host {
    /// `node` is there at the first task.
    pub(crate) fn new(
        (groups, own): (Groups, usize),
        keys: Keys,
        rooms: Arc<Rooms>,
        shown: Shown,
        node: Option<(Tasks, Pages)>,
    ) -> Host {
        let waits = vec![false; rooms.tasks];
        let inner = node.map(|(tasks, pages)| Mutex::new(Inner { tasks, pages, waits }));
        let holds = (0..LOCKS.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Host { place: groups.place(own), groups, keys, holds, rooms, shown, inner }
    }

    /// From now on this task's pages are closed when the node wants it.
    pub(crate) fn attend(&self) -> std::io::Result<()> {
        if self.inner.is_some() {
            return Ok(());
        }
        let rooms = self.rooms.clone();
        let guard = std::thread::Builder::new().name("Tmk guard".into()).stack_size(1 << 17);
        without_signals(|| guard.spawn(move || rooms.guard())).map(drop)
    }

    /// At the first task: takes the node, and sends its messages.
    fn with<R>(&self, peers: &Peers, inner: &Mutex<Inner>, work: impl FnOnce(&mut Inner) -> R) -> R {
        without_signals(|| {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            let result = work(&mut inner);
            for out in inner.tasks.outbox() {
                // The program of the other's first task may be computing: its thread takes answers in as well.
                let to = peers.services[self.groups.first(out.to)];
                // The virtual machine reports processes that are gone.
                let _ = peers.post.ask(to, letter(kind::CONSISTENCY, &out.bytes));
            }
            for place in 0..inner.waits.len() {
                if inner.waits[place] && !inner.tasks.is_waiting(place) {
                    inner.waits[place] = false;
                    self.tell(peers, place, &Ok(false));
                }
            }
            self.shown.counts_of_host(&inner.tasks.counts());
            result
        })
    }

    /// A task's call is over.
    fn tell(&self, peers: &Peers, place: usize, outcome: &Outcome) {
        if place == self.place.1 {
            return peers.wake();
        }
        let to = peers.services[self.groups.members(self.place.0)[place]];
        let _ = peers.post.answer(to, letter(kind::DONE, &letters::encode(outcome)));
    }

    /// At the first: begins what a task wants. Whether it is over already.
    fn begin(&self, peers: &Peers, inner: &Mutex<Inner>, place: usize, call: Call) -> Outcome {
        let progress = self.with(peers, inner, |Inner { tasks, pages, waits }| {
            let progress = match call {
                Call::Acquire(lock) => tasks.acquire(place, lock, pages),
                Call::Release(lock) => {
                    let done = tasks.release(place, lock, pages);
                    if done.is_ok() && tasks.keeps(lock) {
                        pages.keys.keep(lock);
                    }
                    done
                }
                Call::AcquireView(view, writes) => tasks.acquire_view(place, view, writes, pages),
                Call::ReleaseView(view, writes) => tasks.release_view(place, view, writes, pages),
                Call::Barrier(barrier) => match tasks.meets() {
                    Some((other, at)) if at != barrier => {
                        let of = |place: usize| self.groups.members(self.place.0)[place];
                        return Err(Fault::DifferentBarriers {
                            nodes: (of(other), of(place)),
                            at: (at, barrier),
                        });
                    }
                    _ => tasks.barrier(place, barrier, pages),
                },
                Call::Page(page, access) => tasks.fault(place, page, access, pages),
                Call::Overwrite(first, count) => tasks.overwrite(place, (first, count), pages),
            };
            let progress = progress.map_err(|fault| self.of_processes(fault))?;
            waits[place] = progress == Progress::Wait;
            Ok(progress)
        })?;
        Ok(progress == Progress::Done)
    }

    /// In a fault nodes are named by their first processes.
    fn of_processes(&self, fault: Fault) -> Fault {
        let first = |node: usize| if node < self.groups.count() { self.groups.first(node) } else { node };
        match fault {
            Fault::DifferentBarriers { nodes, at } => {
                Fault::DifferentBarriers { nodes: (first(nodes.0), first(nodes.1)), at }
            }
            Fault::Malformed(node) => Fault::Malformed(first(node)),
            other => other,
        }
    }

    /// Does one of the program's calls, to its end. Whether it was over at once.
    fn call(&self, peers: &Peers, call: Call) -> Result<bool, Trouble> {
        let _alone = peers.program()?;
        let Some(inner) = &self.inner else { return self.ask(peers, call) };
        if self.begin(peers, inner, self.place.1, call)? {
            return Ok(true);
        }
        while self.with(peers, inner, |inner| inner.waits[self.place.1]) {
            peers.next_answer()?;
        }
        Ok(false)
    }

    /// Writes to the first: which process that is.
    fn send(&self, peers: &Peers, call: Call) -> usize {
        let first = self.groups.first(self.place.0);
        // The virtual machine reports processes that are gone.
        let _ = peers.post.ask(peers.services[first], letter(kind::TASK, &call.encode()));
        first
    }

    /// The same, by a letter to the first.
    fn ask(&self, peers: &Peers, call: Call) -> Result<bool, Trouble> {
        let first = self.send(peers, call);
        loop {
            let (from, letter) = peers.next_answer()?;
            if let Some((&kind::DONE, outcome)) = letter.split_first() {
                let outcome = letters::decode(outcome).filter(|_| from == first);
                return Ok(outcome.ok_or(Trouble::Malformed(from))??);
            }
        }
    }

    pub(crate) fn acquire(&self, peers: &Peers, lock: u32) -> Result<(), Trouble> {
        match self.keys.take(lock) {
            Taken::Here => self.shown.count_lock_here(),
            Taken::Ask => {
                let at_once = self
                    .shown
                    .waiting(words::lock(), Some(lock), || self.call(peers, Call::Acquire(lock)))?;
                if at_once { self.shown.count_lock_here() } else { self.shown.count_lock_fetched() }
            }
            Taken::Already => return Err(Trouble::HeldAlready(lock)),
        }
        // Relaxed: of this process alone.
        self.holds[lock as usize / 64].fetch_or(1 << (lock % 64), Ordering::Relaxed);
        self.shown.took(lock);
        Ok(())
    }

    /// The caller does not wait for the first task: letters keep their order, and the lock certainly belongs to this
    /// task.
    pub(crate) fn release(&self, peers: &Peers, lock: u32) -> Result<(), Trouble> {
        let (word, bit) = (lock as usize / 64, 1 << (lock % 64));
        // Relaxed: as in `acquire`.
        let holds = self.holds.get(word).ok_or(Trouble::NoSuchLock(lock))?;
        if holds.fetch_and(!bit, Ordering::Relaxed) & bit == 0 {
            return Err(Trouble::NotHeld(lock));
        }
        self.shown.gives(lock);
        if self.keys.give_back(lock) {
            return Ok(());
        }
        match self.inner {
            Some(_) => self.call(peers, Call::Release(lock)).map(drop),
            None => {
                self.send(peers, Call::Release(lock));
                Ok(())
            }
        }
    }

    pub(crate) fn make_view(&self, peers: &Peers, view: u32, first: u32, count: u32) -> Result<(), Fault> {
        let Some(inner) = &self.inner else { return Ok(()) };
        self.with(peers, inner, |inner| inner.tasks.make_view(view, first, count, &mut inner.pages))
    }

    pub(crate) fn give_home(&self, peers: &Peers, first: u32, count: u32) -> Result<(), Fault> {
        let Some(inner) = &self.inner else { return Ok(()) };
        self.with(peers, inner, |inner| inner.tasks.give_home(first, count))
    }

    pub(crate) fn acquire_view(&self, peers: &Peers, view: u32, writes: bool) -> Result<(), Trouble> {
        let lock = LOCKS.saturating_add(view);
        let call = Call::AcquireView(view, writes);
        self.shown.waiting(words::lock(), Some(lock), || self.call(peers, call))?;
        self.shown.took(lock);
        Ok(())
    }

    pub(crate) fn release_view(&self, peers: &Peers, view: u32, writes: bool) -> Result<(), Trouble> {
        self.call(peers, Call::ReleaseView(view, writes))?;
        self.shown.gives(LOCKS.saturating_add(view));
        Ok(())
    }

    pub(crate) fn barrier(&self, peers: &Peers, barrier: u32) -> Result<(), Trouble> {
        self.shown.meeting(barrier, || self.call(peers, Call::Barrier(barrier)))?;
        self.shown.count_barrier();
        Ok(())
    }

    /// The program has touched a page that is closed to it.
    pub(crate) fn fault(&self, peers: &Peers, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        let writes = writes.unwrap_or_else(|| self.rooms.has(page) != Access::None);
        let access = if writes { Access::Write } else { Access::Read };
        // Another task may have had it opened, and it may be closed again before this one has opened it.
        while !self.rooms.open(page, access) {
            self.shown.waiting(words::page(), Some(page), || self.call(peers, Call::Page(page, access)))?;
        }
        Ok(())
    }

    /// The program will write all of these pages before any task reads them.
    pub(crate) fn overwrite(&self, peers: &Peers, first: u32, count: u32) -> Result<(), Trouble> {
        self.call(peers, Call::Overwrite(first, count)).map(drop)
    }

    /// The first task has the counts of the node. Each task has its own counts of locks and barriers.
    pub(crate) fn counts(&self, peers: &Peers) -> Counts {
        let of_node = |inner| self.with(peers, inner, |inner| inner.tasks.counts());
        Counts {
            locks_here: self.shown.locks_here(),
            locks_fetched: self.shown.locks_fetched(),
            barriers: self.shown.barriers(),
            ..self.inner.as_ref().map_or_else(Counts::default, of_node)
        }
    }

    /// At the desk of the first task: a message from another node.
    pub(crate) fn letter(&self, peers: &Peers, from: usize, bytes: &[u8]) -> Option<()> {
        let (inner, from) = (self.inner.as_ref()?, self.groups.node_of(from)?);
        let outcome = self.with(peers, inner, |inner| inner.tasks.receive(from, bytes, &mut inner.pages));
        if let Err(fault) = outcome {
            end(&Trouble::from(self.of_processes(fault)));
        }
        Some(())
    }

    /// The same: a task of this node calls.
    pub(crate) fn question(&self, peers: &Peers, from: usize, bytes: &[u8]) -> Option<()> {
        let (inner, call, (node, place)) =
            (self.inner.as_ref()?, Call::decode(bytes)?, self.groups.place(from));
        if node != self.place.0 {
            return None;
        }
        match (self.begin(peers, inner, place, call), call) {
            (Ok(_), Call::Release(_)) | (Ok(false), _) => {}
            (Err(_), Call::Release(_)) => return None,
            (over, _) => self.tell(peers, place, &over),
        }
        Some(())
    }
}
