//! Each process has a memory of its own, and a node of the protocol keeps it consistent.
//!
//! The node is moved by the program's calls and faults, and by the desk's thread; one at a time has it, with all signals held
//! back, so that no handler of the program's wants it meanwhile. Letters are sent while it is had, so that they keep their
//! order; sending waits for nobody.

use crate::desk::{self, kind};
use crate::errors::{Trouble, end};
use crate::heap::Pages;
use crate::keys::{Keys, Taken};
use crate::run::Run;
use parvum_consistency::{Access, Counts, Fault, Node, Progress};
use parvum_waist::without_signals;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Far {
    inner: Mutex<Inner>,
    keys: Arc<Keys>,
}

struct Inner {
    node: Node,
    pages: Pages,
}

impl Far {
    pub(crate) fn new(node: Node, pages: Pages) -> Far {
        let keys = pages.keys.clone();
        Far { inner: Mutex::new(Inner { node, pages }), keys }
    }

    fn with<R>(&self, run: &Run, work: impl FnOnce(&mut Node, &mut Pages) -> R) -> R {
        without_signals(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let Inner { node, pages } = &mut *inner;
            let result = work(node, pages);
            for letter in node.outbox() {
                let to = run.services[letter.to];
                let bytes = desk::letter(kind::CONSISTENCY, &letter.bytes);
                let sent = if letter.answer { run.post.answer(to, bytes) } else { run.post.ask(to, bytes) };
                // Who is gone is told of by the machine.
                let _ = sent;
            }
            result
        })
    }

    /// Does one of the program's calls, to its end.
    fn call(
        &self,
        run: &Run,
        begin: impl FnOnce(&mut Node, &mut Pages) -> Result<Progress, Fault>,
    ) -> Result<(), Trouble> {
        let _alone = run.program()?;
        if self.with(run, begin)? == Progress::Done {
            return Ok(());
        }
        loop {
            let (from, letter) = run.next_answer()?;
            if let Some((&kind::CONSISTENCY, bytes)) = letter.split_first() {
                self.with(run, |node, pages| node.receive(from, bytes, pages))?;
            }
            if !self.with(run, |node, _| node.is_waiting()) {
                return Ok(());
            }
        }
    }

    pub(crate) fn acquire(&self, run: &Run, lock: u32) -> Result<(), Trouble> {
        match self.keys.take(lock) {
            Taken::Here => Ok(()),
            Taken::Ask => self.call(run, |node, pages| node.acquire(lock, pages)),
            Taken::Already => Err(Trouble::HeldAlready(lock)),
        }
    }

    pub(crate) fn release(&self, run: &Run, lock: u32) -> Result<(), Trouble> {
        if self.keys.give_back(lock) {
            return Ok(());
        }
        self.call(run, |node, pages| {
            let done = node.release(lock, pages)?;
            if node.keeps(lock) {
                self.keys.keep(lock);
            }
            Ok(done)
        })
    }

    pub(crate) fn barrier(&self, run: &Run, barrier: u32) -> Result<(), Trouble> {
        self.call(run, |node, pages| node.barrier(barrier, pages))
    }

    /// The program has touched a page that was closed to it. Where the processor does not say whether it wanted to write, it
    /// did if it may read.
    pub(crate) fn fault(&self, run: &Run, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        self.call(run, |node, pages| {
            let writes = writes.unwrap_or_else(|| node.access(page) != Access::None);
            node.fault(page, if writes { Access::Write } else { Access::Read }, pages)
        })
    }

    pub(crate) fn give_home(&self, run: &Run, first: u32, count: u32) -> Result<(), Fault> {
        self.with(run, |node, _| node.give_home(first, count))
    }

    pub(crate) fn counts(&self, run: &Run) -> Counts {
        let counts = self.with(run, |node, _| node.counts());
        Counts { locks_here: counts.locks_here + self.keys.count(), ..counts }
    }

    /// On the desk's thread: another node asks something. When that ends what the program waits for, it is woken.
    pub(crate) fn question(&self, run: &Run, from: usize, bytes: &[u8]) {
        let outcome: Result<bool, Fault> = self.with(run, |node, pages| {
            let waited = node.is_waiting();
            node.receive(from, bytes, pages)?;
            Ok(waited && !node.is_waiting())
        });
        match outcome {
            Ok(true) => run.wake(),
            Ok(false) => {}
            Err(fault) => end(&Trouble::from(fault)),
        }
    }
}
