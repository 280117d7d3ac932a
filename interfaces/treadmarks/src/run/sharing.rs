//! Calls on the shared memory: each goes to the way of sharing that this run has.

use super::{Run, Sharing};
use crate::errors::Trouble;
use parvum_consistency::Counts;

impl Run {
    #[inline]
    pub(crate) fn acquire(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Near(near) => near.acquire(lock),
            Sharing::Host(host) => host.acquire(&self.peers, lock),
            Sharing::Far(far) => far.acquire(&self.peers, lock),
        }
    }

    #[inline]
    pub(crate) fn release(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Near(near) => near.release(lock),
            Sharing::Host(host) => host.release(&self.peers, lock),
            Sharing::Far(far) => far.release(&self.peers, lock),
        }
    }

    pub(crate) fn acquire_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Near(near) => near.acquire_view(view, writes),
            Sharing::Host(host) => host.acquire_view(&self.peers, view, writes),
            Sharing::Far(far) => far.acquire_view(&self.peers, view, writes),
        }
    }

    pub(crate) fn release_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Near(near) => near.release_view(view, writes),
            Sharing::Host(host) => host.release_view(&self.peers, view, writes),
            Sharing::Far(far) => far.release_view(&self.peers, view, writes),
        }
    }

    /// The number of processes that have died so far, if this barrier has restored the memory of the previous barrier.
    pub(crate) fn barrier(&self, barrier: u32) -> Result<Option<u32>, Trouble> {
        match &self.way {
            Sharing::Near(near) => near.barrier(barrier, &self.peers.partition).map(|()| None),
            Sharing::Host(host) => host.barrier(&self.peers, barrier).map(|()| None),
            Sharing::Far(far) => {
                far.barrier(&self.peers, barrier)?;
                self.races.iter().for_each(|races| races.tell(&self.peers, far));
                if !self.replicas {
                    return Ok(None);
                }
                let (deaths, gone) = far.deaths(&self.peers);
                // Deaths that other processes reported before the virtual machine did.
                gone.into_iter().filter(|&node| !self.peers.is_dead(node)).for_each(|node| self.died(node));
                deaths.iter().for_each(|&deaths| self.reduces.recovered(deaths));
                Ok(deaths)
            }
        }
    }

    /// The program has touched a page that was closed to it: to write to it or not, where that is known.
    pub(crate) fn fault(&self, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Near(_) => Ok(()),
            Sharing::Host(host) => host.fault(&self.peers, page, writes),
            Sharing::Far(far) => far.fault(&self.peers, page, writes),
        }
    }

    pub(crate) fn touch(&self, address: usize, length: usize, writes: bool) -> Result<(), Trouble> {
        if !self.heap.has(address, length) {
            return Err(Trouble::NotShared(address));
        }
        let place = address - self.heap.start;
        let (first, end) = (place / self.heap.page, (place + length).div_ceil(self.heap.page));
        (first..end).try_for_each(|page| self.fault(page as u32, Some(writes)))?;
        if let (Sharing::Far(far), Some(races)) = (&self.way, &self.races) {
            far.touches(&self.peers, (place, length), writes, (&races.site_of_call(), true));
        }
        Ok(())
    }

    /// The program will write all of it before any process reads it, so pages that are completely inside are not
    /// fetched.
    pub(crate) fn overwrite(&self, address: usize, length: usize) -> Result<(), Trouble> {
        if !self.heap.has(address, length) {
            return Err(Trouble::NotShared(address));
        }
        let place = address - self.heap.start;
        let (first, end) = (place.div_ceil(self.heap.page), (place + length) / self.heap.page);
        let Some(count @ 1..) = end.checked_sub(first) else { return Ok(()) };
        match &self.way {
            Sharing::Host(host) => host.overwrite(&self.peers, first as u32, count as u32),
            // Races are looked for in what the program does, with what it reads all there.
            Sharing::Far(far) if self.races.is_none() => {
                far.overwrite(&self.peers, first as u32, count as u32)
            }
            Sharing::Near(_) | Sharing::Far(_) => Ok(()),
        }
    }

    /// Combines arrays of all processes, when one of them may die.
    pub(crate) fn reduce(&self, data: &mut [u8], type_: u8, op: u8) -> Result<(), Trouble> {
        match &self.way {
            Sharing::Far(far) => self.reduces.reduce(&self.peers, far, data, (type_, op)),
            Sharing::Near(_) | Sharing::Host(_) => Ok(()),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        match &self.way {
            Sharing::Near(near) => near.counts(),
            Sharing::Host(host) => host.counts(&self.peers),
            Sharing::Far(far) => far.counts(&self.peers),
        }
    }
}
