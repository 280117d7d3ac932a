//! Calls that ask other processes: for blocks of the heap, for variables, views and homes.

use super::{Run, Sharing};
use crate::errors::Trouble;
use crate::limits::VIEWS;
use crate::memory::image;
use crate::nodes::letters::{NOTHING, kind, letter, variable};
use crate::races::findings::{Block, encoded};
use crate::words;
use parvum_consistency::{Fault, Site};
use std::collections::BTreeSet;
use std::sync::PoisonError;

impl Run {
    /// The answers of these processes; dead processes have none.
    fn numbers(&self, mut of: BTreeSet<usize>) -> Result<Vec<u64>, Trouble> {
        let mut numbers = Vec::new();
        loop {
            of.retain(|&node| !self.peers.is_dead(node));
            if of.is_empty() {
                return Ok(numbers);
            }
            let (from, letter) = self.peers.next_answer()?;
            match letter.split_first() {
                Some((&kind::NUMBER, number)) if of.remove(&from) => {
                    let number = number.try_into().map_err(|_| Trouble::Malformed(from))?;
                    numbers.push(u64::from_le_bytes(number));
                }
                Some((&kind::WAKE, _)) => {}
                // An answer to a question that was cancelled after a death.
                Some((&(kind::CONSISTENCY | kind::REDUCED), _)) if self.replicas => {}
                _ => return Err(Trouble::Malformed(from)),
            }
        }
    }

    /// Sends the same request to all others, and waits until all have confirmed it.
    fn ask_all(&self, asked: &[u8]) -> Result<bool, Trouble> {
        let _alone = self.peers.program()?;
        let others: BTreeSet<usize> = self.peers.living().filter(|&node| node != self.peers.own).collect();
        for &node in &others {
            // The virtual machine reports processes that are gone.
            let _ = self.peers.post.ask(self.peers.services[node], asked.to_vec());
        }
        self.shown.waiting(words::heap(), None, || {
            Ok(self.numbers(others)?.iter().all(|&number| number != NOTHING))
        })
    }

    fn ask_heap(&self, kind: u8, number: u64) -> Result<u64, Trouble> {
        // The race detector needs the place in the program that requested a block.
        let site = self.races.as_ref().filter(|_| kind != kind::FREE).map(|races| races.site_of_call());
        let mut asks = number.to_le_bytes().to_vec();
        asks.extend(site.iter().flat_map(encoded));
        loop {
            let keeper = self.peers.keeper();
            if self.peers.own == keeper {
                return Ok(self.of_heap(keeper, (kind, number), site));
            }
            let _alone = self.peers.program()?;
            let _ = self.peers.post.ask(self.peers.services[keeper], letter(kind, &asks));
            let of = BTreeSet::from([keeper]);
            // If a process has died without an answer, the next process is its heir.
            if let [number] = self.shown.waiting(words::heap(), None, || self.numbers(of))?[..] {
                return Ok(number);
            }
        }
    }

    /// An address for the program; 0: there is no room.
    pub(crate) fn allocate(&self, size: u64) -> Result<usize, Trouble> {
        self.ask_heap(kind::ALLOCATE, size).map(|place| self.address(place))
    }

    pub(crate) fn grow(&self, more: u64) -> Result<usize, Trouble> {
        self.ask_heap(kind::GROW, more).map(|place| self.address(place))
    }

    fn address(&self, place: u64) -> usize {
        if place == NOTHING { 0 } else { self.heap.start + place as usize }
    }

    pub(crate) fn free(&self, address: usize) -> Result<(), Trouble> {
        let wrong = Trouble::NotAllocated(address);
        let Some(place) = self.heap.place(address) else { return Err(wrong) };
        let given_back = self.ask_heap(kind::FREE, place as u64)? != NOTHING;
        // Work between a death and the next barrier is undone, and the list may be from the previous barrier.
        if given_back || self.is_stranded() { Ok(()) } else { Err(wrong) }
    }

    /// Copies a private variable to all others.
    pub(crate) fn distribute(&self, address: usize, length: usize) -> Result<(), Trouble> {
        let found = match image::variable_at(address, length) {
            Some(variable) if !self.heap.meets(address, length) => variable,
            _ => return Err(Trouble::NotPrivate(address)),
        };
        let data = image::read(address, length);
        let done = self.ask_all(&variable(&found.file, found.offset, &data))?;
        if done { Ok(()) } else { Err(Trouble::NotPrivate(address)) }
    }

    /// Memory of a view, at separate pages; 0: there is no room.
    pub(crate) fn allocate_view(&self, view: u32, size: u64) -> Result<usize, Trouble> {
        if self.replicas {
            return Err(Fault::ViewsAreNotKept.into());
        }
        if view >= VIEWS {
            return Err(Fault::NoSuchView(view).into());
        }
        let place = self.ask_heap(kind::ALLOCATE_VIEW, size)?;
        let has_protocol = !matches!(self.way, Sharing::Near(_));
        if has_protocol && place != NOTHING {
            let first = (place / self.heap.page as u64) as u32;
            let count = size.max(1).div_ceil(self.heap.page as u64) as u32;
            match &self.way {
                Sharing::Far(far) => far.make_view(&self.peers, view, first, count)?,
                Sharing::Host(host) => host.make_view(&self.peers, view, first, count)?,
                Sharing::Near(_) => {}
            }
            let numbers = [view, first, count].map(u32::to_le_bytes);
            if !self.ask_all(&letter(kind::MAKE_VIEW, numbers.as_flattened()))? {
                return Err(Fault::NoSuchView(view).into());
            }
        }
        Ok(self.address(place))
    }

    /// Gives the pages that lie wholly in it a home.
    pub(crate) fn give_home(&self, address: usize, length: usize) -> Result<(), Trouble> {
        if !self.heap.has(address, length) {
            return Err(Trouble::NotShared(address));
        }
        let place = address - self.heap.start;
        let (first, end) = (place.div_ceil(self.heap.page), (place + length) / self.heap.page);
        let Some(count @ 1..) = end.checked_sub(first) else { return Ok(()) };
        if self.is_stranded() {
            return Ok(());
        }
        let (first, count) = (first as u32, count as u32);
        match &self.way {
            Sharing::Near(_) => return Ok(()),
            Sharing::Host(host) => host.give_home(&self.peers, first, count)?,
            Sharing::Far(far) => far.give_home(&self.peers, first, count)?,
        }
        let region = [first.to_le_bytes(), count.to_le_bytes()].concat();
        if self.ask_all(&letter(kind::HOME, &region))? { Ok(()) } else { Err(Fault::TouchedAlready.into()) }
    }

    /// At process 0: the heap's blocks.
    pub(crate) fn of_heap(&self, from: usize, (kind, number): (u8, u64), site: Option<Site>) -> u64 {
        let mut allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match kind {
            kind::ALLOCATE => allocator.take(number).unwrap_or(NOTHING),
            kind::ALLOCATE_VIEW => allocator.take_for_good(number).unwrap_or(NOTHING),
            kind::GROW => allocator.grow(number).unwrap_or(NOTHING),
            _ if allocator.give_back(number) => return 0,
            _ => NOTHING,
        };
        if let (Some(races), Some(site), true) = (&self.races, site, place != NOTHING) {
            races.allocated(place, Block { size: number, node: from, site });
        }
        place
    }
}
