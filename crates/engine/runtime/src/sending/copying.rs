//! Copying without the lock: while a thread copies long data, other threads send and receive.
//!
//! The engine leaves copies of [`LONG`] bytes and more to the threads that wait. A thread makes the copy that it waits
//! for. If no thread waits for a copy, an idle thread makes it in portions.

use crate::inside::Inside;
use crate::runtime::Runtime;
use crate::waiting::away::{Copying, LONG};
use crate::waiting::waiters::{Until, own_word};
use parvum_engine::{KeptBytes, PullRefused};
use parvum_transport::Loan;
use parvum_wire::Tid;
use std::sync::Arc;

impl Inside {
    /// Does work without the lock, which takes long and needs nothing of the runtime.
    pub(crate) fn away<R>(&mut self, work: impl FnOnce() -> R) -> R {
        self.waits.away.threads += 1;
        self.pass_calls();
        let result = self.unlocked(None, work);
        self.waits.away.threads -= 1;
        result
    }

    /// Makes copies during the wait of this thread, which may have a wait number: all copies that the thread waits for,
    /// or a portion of another. Whether it has made any.
    pub(crate) fn make_copies(&mut self, until: &Until, number: Option<u64>, is_idle: bool) -> bool {
        let mut made = false;
        while self.engine.has_copies() && !self.has_left {
            if let Some(copy) = self.engine.take_copy(|receive| until.wants(receive)) {
                made = true;
                self.make(copy, number);
                continue;
            }
            if is_idle && let Some(copy) = self.engine.take_any_copy() {
                made = true;
                self.make(copy, number);
            }
            break;
        }
        made
    }

    fn make(&mut self, mut copy: parvum_engine::Copy, number: Option<u64>) {
        // A thread that copies receives no messages, so another waiting thread must drive during this time.
        if let Some(number) = number {
            self.waits.waiters.stops_driving(number);
        }
        let (receive, word) = (copy.receive(), own_word());
        let frame = std::ptr::from_ref(&copy) as usize;
        self.waits.away.copies.push(Copying { receive, word, frame });
        self.away(|| copy.run());
        self.waits.away.copies.retain(|other| other.receive != receive);
        self.engine.end_copy(copy);
        self.waits.waiters.stirred = true;
    }

    /// Fills the memory that the message sent last was lent, if the engine has left that to its sender.
    #[inline]
    pub(crate) fn fill_loan(&mut self, fill: impl FnOnce(&dyn Loan)) {
        if let Some(loan) = self.engine.take_unfilled() {
            self.away(|| fill(&*loan));
        }
    }

    /// Copies data that its sender must keep, if it is too long to copy under the lock.
    pub(crate) fn copy_to_keep(
        &mut self,
        to: Tid,
        length: usize,
        copy: impl FnOnce(&mut [u8]),
    ) -> Option<Arc<KeptBytes>> {
        if length < LONG || self.reach(to).is_err() {
            return None;
        }
        let mut memory = self.engine.memory_to_keep(to, length)?;
        self.away(|| copy(&mut memory));
        Some(Arc::new(memory))
    }

    /// Reads data that was left where it lies.
    pub(crate) fn read_remote(&mut self, handle: u64, from: u64, out: &mut [u8]) -> Result<(), PullRefused> {
        let runtime: &mut Runtime = self;
        let remote = runtime.services.remotes.get(handle & !parvum_api::REMOTE);
        let remote = remote.ok_or(PullRefused::NotPermitted)?;
        let reader = if out.len() >= LONG { runtime.engine.reader_of(remote) } else { None };
        match reader {
            None => runtime.engine.read_remote(remote, from, out),
            Some(reader) => {
                runtime.engine.count_read(remote, out.len() as u64);
                self.away(|| reader.read(from, out))
            }
        }
    }
}
