//! Reading the other end's memory, from any thread.
//!
//! A link is used by one thread at a time, and long data takes long to copy. The object that reads the data is
//! therefore separate from the link. Several threads can copy several messages at the same time, while another thread
//! uses the link. Nothing here holds a lock while it copies.

use crate::arena::{self, Reader};
use crate::segment::{Segment, SingleCopy};
use crate::{single_copy, together};
use parvum_transport::{Kept, PullRefused, Puller, RemoteMemory, show_pulled};
use std::io::IoSliceMut;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

/// From this length on, a waiting sender copies a part itself.
const SHARED: usize = 128 << 10;

/// The object that reads the other end's memory.
pub(crate) struct Pulls {
    segment: Segment,
    /// Whether single copies may be tried at all.
    single_copy: bool,
    /// The other end's arena, once it was needed.
    reader: Mutex<Option<Reader>>,
    /// The number of the last copy that the peer could help with. A thread has it during its copy, because each end has
    /// only one [`Share`](crate::share::Share). Other threads copy without help during this time.
    copies: Mutex<u32>,
}

impl Pulls {
    pub(crate) fn new(segment: Segment, single_copy: bool) -> Pulls {
        segment.try_single_copy(single_copy);
        Pulls { segment, single_copy, reader: Mutex::default(), copies: Mutex::default() }
    }

    /// The other end's arena, mapped when it is first needed.
    pub(crate) fn arena(&self) -> Option<Reader> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if reader.is_none() {
            *reader = self.segment.reader().ok();
        }
        reader.clone()
    }

    pub(crate) fn has_arena(&self) -> bool {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn kept(&self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        self.arena()?.kept(address, length)
    }

    /// The process whose memory is read directly, if that may be read.
    fn process(&self) -> Result<u32, PullRefused> {
        match (self.segment.try_single_copy(self.single_copy), self.segment.peer_pid()) {
            (SingleCopy::Works, Some(pid)) => Ok(pid),
            _ => Err(PullRefused::NotPermitted),
        }
    }
}

impl Puller for Pulls {
    fn pull(&self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        if let [RemoteMemory { address, length }] = *from
            && arena::is_here(address)
        {
            return self.arena().ok_or(PullRefused::NotPermitted)?.scatter(address, length, into);
        }
        single_copy::read(self.process()?, from, into)
    }

    fn pull_together(
        &self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        if into.len() < SHARED || from.iter().any(|place| arena::is_here(place.address)) {
            return self.pull(from, &mut [IoSliceMut::new(into)]).map(|_| ());
        }
        let pid = self.process()?;
        let mut copies = match self.copies.try_lock() {
            Ok(copies) => copies,
            Err(TryLockError::Poisoned(copies)) => copies.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return self.pull(from, &mut [IoSliceMut::new(into)]).map(|_| ());
            }
        };
        // 0 means that none is open.
        *copies = copies.wrapping_add(1).max(1);
        together::read(pid, self.segment.share(), *copies, (cookie, at), from, into)
    }

    fn show(&self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        if arena::is_here(from.address) {
            return self.arena().ok_or(PullRefused::NotPermitted)?.show(from.address, from.length, take);
        }
        show_pulled(from, take, |place, portion| self.pull(&[place], &mut [IoSliceMut::new(portion)]))
    }

    fn can_pull(&self, address: u64) -> bool {
        !arena::is_here(address) && self.segment.try_single_copy(self.single_copy) == SingleCopy::Works
    }
}
