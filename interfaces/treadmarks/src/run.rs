//! What a process of a run has, and what its calls do.

use crate::errors::{Trouble, name_node};
use crate::host::Host;
use crate::limits::VIEWS;
use crate::memory::allocator::Allocator;
use crate::memory::heap::Heap;
use crate::memory::image;
use crate::nodes::desk;
use crate::nodes::far::Far;
use crate::nodes::letters::{NOTHING, kind, letter, variable};
use crate::nodes::near::Near;
use crate::nodes::peers::Peers;
use crate::nodes::reduce::Reduces;
use crate::options::Protocol;
use crate::races::findings::Races;
use crate::shown::Shown;
use parvum_api::call;
use parvum_consistency::{Counts, Fault};
use parvum_sync::fork;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

static RUN: OnceLock<Run> = OnceLock::new();

/// The run that this process is part of.
#[inline]
pub(crate) fn run() -> Option<&'static Run> {
    RUN.get()
}

/// The same, for a call.
#[inline]
pub(crate) fn of_call(name: &'static str) -> Result<&'static Run, Trouble> {
    match RUN.get() {
        Some(run) if !fork::is_child() => Ok(run),
        _ => Err(Trouble::Early(name)),
    }
}

pub(crate) fn begin(run: Run) -> &'static Run {
    name_node(run.peers.own);
    RUN.get_or_init(|| run)
}

/// How memory is shared.
pub(crate) enum Way {
    /// All map the same pages.
    Near(Near),
    /// Those of a host do.
    Host(Box<Host>),
    /// Each has its own.
    Far(Box<Far>),
}

impl Way {
    /// The number by which onlookers know it (`parvum_control::MEMORY_WAY`).
    pub(crate) fn number(&self, protocol: Protocol) -> u64 {
        match (self, protocol) {
            (Way::Near(_), _) => 1,
            (Way::Host(_), _) => 5,
            // Behind those by mprotect(2) the same by userfaultfd(2).
            (Way::Far(far), _) => {
                let protocol = match protocol {
                    Protocol::Auto | Protocol::Lazy => 2,
                    Protocol::Classic => 3,
                    Protocol::Home => 4,
                };
                protocol + if far.has_userfault() { 4 } else { 0 }
            }
        }
    }
}

/// How processes leave; see [`crate::nodes::desk`].
#[derive(Default)]
pub(crate) struct Leaving {
    /// Who wants to, and who knows that all do.
    pub(crate) want: Mutex<BTreeSet<usize>>,
    pub(crate) known: Mutex<BTreeSet<usize>>,
    /// At who keeps the list: the others are told that they may go.
    pub(crate) told: AtomicBool,
    go: AtomicBool,
    left: AtomicBool,
}

pub(crate) struct Run {
    pub(crate) peers: Peers,
    pub(crate) heap: Heap,
    pub(crate) way: Way,
    /// At process 0.
    pub(crate) allocator: Arc<Mutex<Allocator>>,
    pub(crate) leaving: Leaving,
    pub(crate) shown: Shown,
    /// A line is wanted in the end.
    pub(crate) tells: bool,
    /// When races are looked for.
    pub(crate) races: Option<Races>,
    /// Every process keeps another's memory as well: the run goes on when one dies.
    pub(crate) replicas: bool,
    pub(crate) reduces: Reduces,
}

impl Run {
    /// A process has ended before its time, and its memory is kept.
    pub(crate) fn died(&self, node: usize) {
        self.peers.set_dead(node);
        if let Way::Far(far) = &self.way {
            far.gone(&self.peers, node);
        }
        desk::look_who_leaves(self);
    }

    /// Somebody has died, and no barrier has told of it yet.
    fn is_stranded(&self) -> bool {
        matches!(&self.way, Way::Far(far) if far.is_stranded(&self.peers))
    }

    /// The answers of these; of who has died there is none.
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
                // To a question that was given up when somebody died.
                Some((&(kind::CONSISTENCY | kind::REDUCED), _)) if self.replicas => {}
                _ => return Err(Trouble::Malformed(from)),
            }
        }
    }

    /// Asks all others the same thing, and waits until all have said that it is done.
    fn ask_all(&self, asked: &[u8]) -> Result<bool, Trouble> {
        let _alone = self.peers.program()?;
        let others: BTreeSet<usize> = self.peers.living().filter(|&node| node != self.peers.own).collect();
        for &node in &others {
            // Who is gone is told of by the machine.
            let _ = self.peers.post.ask(self.peers.services[node], asked.to_vec());
        }
        self.shown.waiting(call::SHARED_HEAP, None, || {
            Ok(self.numbers(others)?.iter().all(|&number| number != NOTHING))
        })
    }

    fn ask_heap(&self, kind: u8, number: u64) -> Result<u64, Trouble> {
        // Who looks for races wants to know where in the program a block was asked for.
        let site = self.races.as_ref().filter(|_| kind != kind::FREE).map(|races| races.site_of_call());
        let mut asks = number.to_le_bytes().to_vec();
        asks.extend(site.iter().flat_map(crate::races::findings::encoded));
        loop {
            let keeper = self.peers.keeper();
            if self.peers.own == keeper {
                return Ok(desk::of_heap(self, keeper, (kind, number), site));
            }
            let _alone = self.peers.program()?;
            let _ = self.peers.post.ask(self.peers.services[keeper], letter(kind, &asks));
            let of = BTreeSet::from([keeper]);
            // Who has died without an answer has the next as its heir.
            if let [number] = self.shown.waiting(call::SHARED_HEAP, None, || self.numbers(of))?[..] {
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
        // What is done between a death and the next barrier is undone, and the list may be of the barrier before.
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

    #[inline]
    pub(crate) fn acquire(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.acquire(lock),
            Way::Host(host) => host.acquire(&self.peers, lock),
            Way::Far(far) => far.acquire(&self.peers, lock),
        }
    }

    #[inline]
    pub(crate) fn release(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.release(lock),
            Way::Host(host) => host.release(&self.peers, lock),
            Way::Far(far) => far.release(&self.peers, lock),
        }
    }

    /// Memory of a view, at pages of its own; 0: there is no room.
    pub(crate) fn allocate_view(&self, view: u32, size: u64) -> Result<usize, Trouble> {
        if self.replicas {
            return Err(Fault::ViewsAreNotKept.into());
        }
        if view >= VIEWS {
            return Err(Fault::NoSuchView(view).into());
        }
        let place = self.ask_heap(kind::ALLOCATE_VIEW, size)?;
        let has_protocol = !matches!(self.way, Way::Near(_));
        if has_protocol && place != NOTHING {
            let first = (place / self.heap.page as u64) as u32;
            let count = size.max(1).div_ceil(self.heap.page as u64) as u32;
            match &self.way {
                Way::Far(far) => far.make_view(&self.peers, view, first, count)?,
                Way::Host(host) => host.make_view(&self.peers, view, first, count)?,
                Way::Near(_) => {}
            }
            let numbers = [view, first, count].map(u32::to_le_bytes);
            if !self.ask_all(&letter(kind::MAKE_VIEW, numbers.as_flattened()))? {
                return Err(Fault::NoSuchView(view).into());
            }
        }
        Ok(self.address(place))
    }

    pub(crate) fn acquire_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.acquire_view(view, writes),
            Way::Host(host) => host.acquire_view(&self.peers, view, writes),
            Way::Far(far) => far.acquire_view(&self.peers, view, writes),
        }
    }

    pub(crate) fn release_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.release_view(view, writes),
            Way::Host(host) => host.release_view(&self.peers, view, writes),
            Way::Far(far) => far.release_view(&self.peers, view, writes),
        }
    }

    /// How many processes have died by now, if the barrier has put back the memory of the one before.
    pub(crate) fn barrier(&self, barrier: u32) -> Result<Option<u32>, Trouble> {
        match &self.way {
            Way::Near(near) => near.barrier(barrier, &self.peers.partition).map(|()| None),
            Way::Host(host) => host.barrier(&self.peers, barrier).map(|()| None),
            Way::Far(far) => {
                far.barrier(&self.peers, barrier)?;
                self.races.iter().for_each(|races| races.tell(&self.peers, far));
                if !self.replicas {
                    return Ok(None);
                }
                let (deaths, gone) = far.deaths(&self.peers);
                // Of whom others have told before the machine did.
                gone.into_iter().filter(|&node| !self.peers.is_dead(node)).for_each(|node| self.died(node));
                deaths.iter().for_each(|&deaths| self.reduces.recovered(deaths));
                Ok(deaths)
            }
        }
    }

    /// The program has touched a page that was closed to it: to write to it or not, where that is known.
    pub(crate) fn fault(&self, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(_) => Ok(()),
            Way::Host(host) => host.fault(&self.peers, page, writes),
            Way::Far(far) => far.fault(&self.peers, page, writes),
        }
    }

    pub(crate) fn touch(&self, address: usize, length: usize, writes: bool) -> Result<(), Trouble> {
        if !self.heap.has(address, length) {
            return Err(Trouble::NotShared(address));
        }
        let place = address - self.heap.start;
        let (first, end) = (place / self.heap.page, (place + length).div_ceil(self.heap.page));
        (first..end).try_for_each(|page| self.fault(page as u32, Some(writes)))?;
        if let (Way::Far(far), Some(races)) = (&self.way, &self.races) {
            far.touches(&self.peers, (place, length), writes, (&races.site_of_call(), true));
        }
        Ok(())
    }

    /// All of it will be written before anybody reads it: pages that lie wholly in it are not fetched.
    pub(crate) fn overwrite(&self, address: usize, length: usize) -> Result<(), Trouble> {
        if !self.heap.has(address, length) {
            return Err(Trouble::NotShared(address));
        }
        let place = address - self.heap.start;
        let (first, end) = (place.div_ceil(self.heap.page), (place + length) / self.heap.page);
        let Some(count @ 1..) = end.checked_sub(first) else { return Ok(()) };
        match &self.way {
            Way::Host(host) => host.overwrite(&self.peers, first as u32, count as u32),
            // Races are looked for in what the program does, with what it reads all there.
            Way::Far(far) if self.races.is_none() => far.overwrite(&self.peers, first as u32, count as u32),
            Way::Near(_) | Way::Far(_) => Ok(()),
        }
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
            Way::Near(_) => return Ok(()),
            Way::Host(host) => host.give_home(&self.peers, first, count)?,
            Way::Far(far) => far.give_home(&self.peers, first, count)?,
        }
        let region = [first.to_le_bytes(), count.to_le_bytes()].concat();
        if self.ask_all(&letter(kind::HOME, &region))? { Ok(()) } else { Err(Fault::TouchedAlready.into()) }
    }

    /// Combines arrays of all processes, when one of them may die.
    pub(crate) fn reduce(&self, data: &mut [u8], type_: u8, op: u8) -> Result<(), Trouble> {
        match &self.way {
            Way::Far(far) => self.reduces.reduce(&self.peers, far, data, (type_, op)),
            Way::Near(_) | Way::Host(_) => Ok(()),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        match &self.way {
            Way::Near(near) => near.counts(),
            Way::Host(host) => host.counts(&self.peers),
            Way::Far(far) => far.counts(&self.peers),
        }
    }

    /// All know that all leave.
    pub(crate) fn may_go(&self) {
        // Release: partner of the acquire in `leave`.
        self.leaving.go.store(true, Ordering::Release);
        self.peers.wake();
    }

    /// Ends this process's part: waits until all others are about to end theirs, and serves them meanwhile.
    pub(crate) fn leave(&self) -> Result<(), Trouble> {
        // Relaxed: the second call, at the end of the process, is of the same thread.
        if self.leaving.left.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        if self.tells {
            self.tell_counts();
        }
        let witnessed = match (&self.way, &self.races) {
            (Way::Far(far), Some(_)) => far.testify(&self.peers),
            _ => Vec::new(),
        };
        let _alone = self.peers.program()?;
        let mut told = None;
        self.shown.waiting(call::SHARED_EXIT, None, || {
            while !self.leaving.go.load(Ordering::Acquire) {
                let keeper = self.peers.keeper();
                if told.replace(keeper) == Some(keeper) {
                    self.peers.next_answer()?;
                } else if keeper == self.peers.own {
                    desk::leaves(self, keeper, &witnessed)?;
                } else {
                    let _ =
                        self.peers.post.ask(self.peers.services[keeper], letter(kind::LEAVING, &witnessed));
                }
            }
            Ok::<(), Trouble>(())
        })?;
        if let (Way::Far(far), Some(races), 0) = (&self.way, &self.races, self.peers.own) {
            races.tell(&self.peers, far);
            races.sum_up(&self.peers, far);
        }
        Ok(())
    }

    /// This process ends, and with it the run: what it hears of others' ends from now on is its own doing.
    pub(crate) fn abandon(&self) {
        self.peers.all_leave.store(true, Ordering::Release);
    }

    fn tell_counts(&self) {
        let counts = self.counts();
        eprintln!(
            "libTmk: node {}: {} messages, {} bytes, {} misses, {} requests, {} pages, {} twins, {} diffs ({} bytes) made, {} applied, {} pushes, {} pages pushed, \
             {} intervals, {} + {} locks, {} views, {} barriers, {} replicas, {} collections, {} bytes of records at most",
            self.peers.own,
            counts.messages,
            counts.bytes,
            counts.misses,
            counts.requests,
            counts.page_fetches,
            counts.twins,
            counts.diffs_made,
            counts.diff_bytes,
            counts.diffs_applied,
            counts.pushes,
            counts.pushed,
            counts.intervals,
            counts.locks_here,
            counts.locks_fetched,
            counts.views,
            counts.barriers,
            counts.replicas,
            counts.collections,
            counts.most_held,
        );
    }
}
