//! Each process has its own memory, and a node of the protocol keeps the memory consistent.
//!
//! The program's calls and faults, and the service thread, use the node. One thread at a time has the node, with all
//! signals blocked, so that no handler of the program needs it at the same time. A thread sends letters while it has
//! the node, so that they keep their order. Sending never waits.

use crate::errors::{Trouble, end};
use crate::limits::LOCKS;
use crate::memory::pages::Pages;
use crate::nodes::letters::{kind, letter};
use crate::nodes::peers::Peers;
use crate::shown::Shown;
use crate::words;
use parvum_consistency::{Access, Counts, Fault, Keys, Node, Progress, Race, Site, Taken};
use parvum_sync::without_signals;
use std::sync::{Mutex, PoisonError};

pub(crate) struct Far {
    inner: Mutex<Inner>,
    keys: Keys,
    shown: Shown,
    /// Races are looked for: every access is noted.
    sees_races: bool,
}

struct Inner {
    node: Node,
    pages: Pages,
}

impl Far {
    /// Whether pages are closed by userfaultfd(2).
    pub(crate) fn has_userfault(&self) -> bool {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).pages.userfault.is_some()
    }

    pub(crate) fn new(node: Node, pages: Pages, shown: Shown) -> Far {
        let keys = pages.keys.clone();
        let sees_races = pages.lent.is_some();
        Far { inner: Mutex::new(Inner { node, pages }), keys, shown, sees_races }
    }

    fn with<R>(&self, peers: &Peers, work: impl FnOnce(&mut Node, &mut Pages) -> R) -> R {
        without_signals(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Inner { node, pages } = &mut *inner;
            let result = work(node, pages);
            for out in node.outbox() {
                let to = peers.services[out.to];
                let bytes = letter(kind::CONSISTENCY, &out.bytes);
                let sent = if out.answer { peers.post.answer(to, bytes) } else { peers.post.ask(to, bytes) };
                // The virtual machine reports processes that are gone.
                let _ = sent;
            }
            self.shown.counts(&node.counts());
            result
        })
    }

    /// Does one of the program's calls, to its end. Whether it was over at once.
    fn call(
        &self,
        peers: &Peers,
        begin: impl FnOnce(&mut Node, &mut Pages) -> Result<Progress, Fault>,
        await_it: impl FnOnce(&mut dyn FnMut() -> Result<(), Trouble>) -> Result<(), Trouble>,
    ) -> Result<bool, Trouble> {
        let _alone = peers.program()?;
        if self.with(peers, begin)? == Progress::Done {
            return Ok(true);
        }
        await_it(&mut || self.await_end(peers)).map(|()| false)
    }

    fn await_end(&self, peers: &Peers) -> Result<(), Trouble> {
        loop {
            let (from, letter) = peers.next_answer()?;
            if let Some((&kind::CONSISTENCY, bytes)) = letter.split_first() {
                self.with(peers, |node, pages| node.receive(from, bytes, pages))?;
            }
            if !self.with(peers, |node, _| node.is_waiting()) {
                return Ok(());
            }
        }
    }

    pub(crate) fn acquire(&self, peers: &Peers, lock: u32) -> Result<(), Trouble> {
        self.take_back(peers);
        match self.keys.take(lock) {
            Taken::Here => self.shown.count_lock_here(),
            Taken::Ask => {
                let waiting =
                    |wait: &mut dyn FnMut() -> _| self.shown.waiting(words::lock(), Some(lock), wait);
                if self.call(peers, |node, pages| node.acquire(lock, pages), waiting)? {
                    self.shown.count_lock_here();
                }
            }
            Taken::Already => return Err(Trouble::HeldAlready(lock)),
        }
        self.shown.took(lock);
        Ok(())
    }

    pub(crate) fn release(&self, peers: &Peers, lock: u32) -> Result<(), Trouble> {
        self.shown.gives(lock);
        self.take_back(peers);
        if self.keys.give_back(lock) {
            return Ok(());
        }
        let release = |node: &mut Node, pages: &mut Pages| {
            let done = node.release(lock, pages)?;
            // The witness of races hears of every lock.
            if node.keeps(lock) && !self.sees_races {
                self.keys.keep(lock);
            }
            Ok(done)
        };
        self.call(peers, release, |wait| wait()).map(drop)
    }

    pub(crate) fn make_view(&self, peers: &Peers, view: u32, first: u32, count: u32) -> Result<(), Fault> {
        self.with(peers, |node, pages| node.make_view(view, first, count, pages))
    }

    /// Onlookers see a view as a lock, numbered behind the locks.
    pub(crate) fn acquire_view(&self, peers: &Peers, view: u32, writes: bool) -> Result<(), Trouble> {
        self.take_back(peers);
        let acquire = |node: &mut Node, pages: &mut Pages| node.acquire_view(view, writes, pages);
        let lock = LOCKS.saturating_add(view);
        self.call(peers, acquire, |wait| self.shown.waiting(words::lock(), Some(lock), wait))?;
        self.shown.took(lock);
        Ok(())
    }

    pub(crate) fn release_view(&self, peers: &Peers, view: u32, writes: bool) -> Result<(), Trouble> {
        self.take_back(peers);
        self.call(peers, |node, pages| node.release_view(view, writes, pages), |wait| wait())?;
        self.shown.gives(LOCKS.saturating_add(view));
        Ok(())
    }

    pub(crate) fn barrier(&self, peers: &Peers, barrier: u32) -> Result<(), Trouble> {
        self.take_back(peers);
        let arrive = |node: &mut Node, pages: &mut Pages| node.barrier(barrier, pages);
        self.shown.meeting(barrier, || self.call(peers, arrive, |wait| wait()).map(drop))
    }

    /// The number of deaths from which the last barrier has recovered, if it has; and the processes that are known to
    /// be dead.
    pub(crate) fn deaths(&self, peers: &Peers) -> (Option<u32>, Vec<usize>) {
        self.with(peers, |node, _| {
            let gone = (0..peers.services.len()).filter(|&other| node.is_gone(other)).collect();
            (node.has_recovered().then(|| node.deaths()), gone)
        })
    }

    /// The living processes, except for deaths that no barrier has reported yet.
    pub(crate) fn living(&self, peers: &Peers) -> Vec<usize> {
        self.with(peers, |node, _| node.living().to_vec())
    }

    /// The number of deaths that barriers have reported.
    pub(crate) fn recovered_from(&self, peers: &Peers) -> u32 {
        self.with(peers, |node, _| node.deaths())
    }

    /// Whether a process has died, and no barrier has reported this yet.
    pub(crate) fn is_stranded(&self, peers: &Peers) -> bool {
        self.with(peers, |node, _| node.is_stranded())
    }

    /// Another node has died, and what it had is kept. When that ends what the program waits for, it is woken; it is anyway.
    pub(crate) fn gone(&self, peers: &Peers, dead: usize) {
        if let Err(fault) = self.with(peers, |node, pages| node.gone(dead, pages)) {
            end(&Trouble::from(fault));
        }
        peers.wake();
    }

    /// The program has touched a page that was closed to it. If the processor does not show the kind of access, a fault
    /// on a readable page was a write.
    pub(crate) fn fault(&self, peers: &Peers, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        let open = |node: &mut Node, pages: &mut Pages| {
            let writes = writes.unwrap_or_else(|| node.access(page) != Access::None);
            node.fault(page, if writes { Access::Write } else { Access::Read }, pages)
        };
        self.shown.waiting(words::page(), Some(page), || self.call(peers, open, |wait| wait()).map(drop))?;
        // It may have been open before, and not mapped.
        self.with(peers, |node, pages| pages.show(page, node.access(page)));
        Ok(())
    }

    /// Closes pages again that were open for system calls, because a synchronisation follows.
    fn take_back(&self, peers: &Peers) {
        if self.sees_races {
            self.with(peers, |_, pages| pages.take_back());
        }
    }

    /// The program accesses these bytes of open pages, while the race detector is on. With `lend` the pages stay open,
    /// else for one instruction.
    pub(crate) fn touches(
        &self,
        peers: &Peers,
        (place, length): (usize, usize),
        writes: bool,
        (site, lend): (&Site, bool),
    ) {
        self.with(peers, |node, pages| {
            let (first, last) = (place / pages.heap.page, (place + length - 1) / pages.heap.page);
            node.touches(place as u64, length as u64, writes, site);
            if !lend {
                return pages.open(first as u32, node.access(first as u32));
            }
            for page in first as u32..=last as u32 {
                pages.lend(page, node.access(page));
            }
        });
    }

    /// Opens a page for an instruction whose access was noted already.
    pub(crate) fn reopen(&self, peers: &Peers, page: u32) {
        self.with(peers, |node, pages| pages.open(page, node.access(page)));
    }

    /// The instruction that has touched these pages is over.
    pub(crate) fn close(&self, peers: &Peers, touched: &[u32]) {
        self.with(peers, |node, pages| touched.iter().for_each(|&page| pages.close(page, node.access(page))));
    }

    /// The last accesses of this process.
    pub(crate) fn testify(&self, peers: &Peers) -> Vec<u8> {
        self.with(peers, |node, _| node.testify())
    }

    /// At process 0: what another has.
    pub(crate) fn hear(&self, peers: &Peers, from: usize, bytes: &[u8]) -> Result<(), Fault> {
        self.with(peers, |node, _| node.on_testimony(from, bytes))
    }

    /// At process 0: races that were not reported yet, the number of all pairs of places, and how often they were seen.
    pub(crate) fn races(&self, peers: &Peers) -> (Vec<Race>, (u64, u64)) {
        self.with(peers, |node, _| (node.races(), node.race_totals()))
    }

    /// The program will write all of these pages before any process reads them.
    pub(crate) fn overwrite(&self, peers: &Peers, first: u32, count: u32) -> Result<(), Trouble> {
        // Another thread of the program may be waiting for a page: this comes after it.
        let overwrite = |node: &mut Node, pages: &mut Pages| {
            node.overwrite(first, count, pages)?;
            Ok(Progress::Done)
        };
        self.call(peers, overwrite, |wait| wait()).map(drop)
    }

    pub(crate) fn give_home(&self, peers: &Peers, first: u32, count: u32) -> Result<(), Fault> {
        self.with(peers, |node, _| node.give_home(first, count))
    }

    pub(crate) fn counts(&self, peers: &Peers) -> Counts {
        let counts = self.with(peers, |node, _| node.counts());
        Counts { locks_here: self.shown.locks_here(), ..counts }
    }

    /// At the desk: another node asks something. When that ends what the program waits for, it is woken.
    pub(crate) fn question(&self, peers: &Peers, from: usize, bytes: &[u8]) {
        let outcome: Result<bool, Fault> = self.with(peers, |node, pages| {
            let waited = node.is_waiting();
            node.receive(from, bytes, pages)?;
            Ok(waited && !node.is_waiting())
        });
        match outcome {
            Ok(true) => peers.wake(),
            Ok(false) => {}
            Err(fault) => end(&Trouble::from(fault)),
        }
    }
}
