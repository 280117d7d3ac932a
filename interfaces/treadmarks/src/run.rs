//! What a process of a run has, and what its calls do.

use crate::errors::{Trouble, name_node};
use crate::host::Host;
use crate::limits::{NODES, VIEWS};
use crate::memory::allocator::Allocator;
use crate::memory::heap::Heap;
use crate::memory::image;
use crate::nodes::desk::{self, NOTHING, kind};
use crate::nodes::far::Far;
use crate::nodes::near::Near;
use crate::nodes::reduce::Reduces;
use crate::options::Protocol;
use crate::races::findings::Races;
use crate::shown::Shown;
use parvum_api::call;
use parvum_consistency::{Counts, Fault};
use parvum_partition::Partition;
use parvum_service::Post;
use parvum_sync::{BiasedGuard, BiasedLock, fork};
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
    name_node(run.own);
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
    /// All want to: nobody's end is a death.
    pub(crate) over: AtomicBool,
    /// At who keeps the list: the others are told that they may go.
    pub(crate) told: AtomicBool,
    go: AtomicBool,
    left: AtomicBool,
}

pub(crate) struct Run {
    pub(crate) own: usize,
    pub(crate) partition: Partition,
    pub(crate) post: Arc<Post>,
    /// Under which id each process is written to.
    pub(crate) services: Vec<i32>,
    pub(crate) heap: Heap,
    pub(crate) way: Way,
    /// Calls that wait for answers, one at a time.
    pub(crate) calls: BiasedLock<()>,
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
    /// Who is known to have ended.
    pub(crate) dead: Box<[AtomicBool]>,
}

impl Run {
    /// The turn to wait for answers.
    pub(crate) fn program(&self) -> Result<BiasedGuard<'_, ()>, Trouble> {
        self.calls.take_unless_own().ok_or(Trouble::InHandler)
    }

    /// The next answer: from which node, and what.
    pub(crate) fn next_answer(&self) -> Result<(usize, Vec<u8>), Trouble> {
        let (service, letter) =
            self.post.await_answer(None).map_err(|_| Trouble::Machine("the machine is gone".into()))?;
        let from = self.services.iter().position(|&other| other == service);
        // What the dead have answered is of no use, and perhaps asked of somebody else again.
        let letter = if from.is_some_and(|from| self.is_dead(from)) { vec![kind::WAKE] } else { letter };
        Ok((from.unwrap_or(NODES), letter))
    }

    pub(crate) fn is_dead(&self, node: usize) -> bool {
        // Acquire: partner of the release in `died`.
        self.dead.get(node).is_some_and(|dead| dead.load(Ordering::Acquire))
    }

    /// A process has ended before its time, and its memory is kept.
    pub(crate) fn died(&self, node: usize) {
        self.dead[node].store(true, Ordering::Release);
        if let Way::Far(far) = &self.way {
            far.gone(self, node);
        }
        desk::look_who_leaves(self);
    }

    pub(crate) fn living(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.services.len()).filter(|&node| !self.is_dead(node))
    }

    /// Somebody has died, and no barrier has told of it yet.
    fn is_stranded(&self) -> bool {
        matches!(&self.way, Way::Far(far) if far.is_stranded(self))
    }

    /// Who keeps the list of blocks, and knows who wants to leave.
    pub(crate) fn keeper(&self) -> usize {
        self.living().next().unwrap_or(self.own)
    }

    /// Wakes the program's thread that waits for an answer.
    pub(crate) fn wake(&self) {
        // To oneself a letter is always on its way.
        let _ = self.post.answer(self.services[self.own], vec![kind::WAKE]);
    }

    /// The answers of these; of who has died there is none.
    fn numbers(&self, mut of: BTreeSet<usize>) -> Result<Vec<u64>, Trouble> {
        let mut numbers = Vec::new();
        loop {
            of.retain(|&node| !self.is_dead(node));
            if of.is_empty() {
                return Ok(numbers);
            }
            let (from, letter) = self.next_answer()?;
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
    fn ask_all(&self, letter: &[u8]) -> Result<bool, Trouble> {
        let _alone = self.program()?;
        let others: BTreeSet<usize> = self.living().filter(|&node| node != self.own).collect();
        for &node in &others {
            // Who is gone is told of by the machine.
            let _ = self.post.ask(self.services[node], letter.to_vec());
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
            let keeper = self.keeper();
            if self.own == keeper {
                return Ok(desk::of_heap(self, keeper, (kind, number), site));
            }
            let _alone = self.program()?;
            let _ = self.post.ask(self.services[keeper], desk::letter(kind, &asks));
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
        let variable = match image::variable_at(address, length) {
            Some(variable) if !self.heap.meets(address, length) => variable,
            _ => return Err(Trouble::NotPrivate(address)),
        };
        let data = image::read(address, length);
        let done = self.ask_all(&desk::variable(&variable.file, variable.offset, &data))?;
        if done { Ok(()) } else { Err(Trouble::NotPrivate(address)) }
    }

    #[inline]
    pub(crate) fn acquire(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.acquire(lock),
            Way::Host(host) => host.acquire(self, lock),
            Way::Far(far) => far.acquire(self, lock),
        }
    }

    #[inline]
    pub(crate) fn release(&self, lock: u32) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.release(lock),
            Way::Host(host) => host.release(self, lock),
            Way::Far(far) => far.release(self, lock),
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
                Way::Far(far) => far.make_view(self, view, first, count)?,
                Way::Host(host) => host.make_view(self, view, first, count)?,
                Way::Near(_) => {}
            }
            let numbers = [view, first, count].map(u32::to_le_bytes);
            if !self.ask_all(&desk::letter(kind::MAKE_VIEW, numbers.as_flattened()))? {
                return Err(Fault::NoSuchView(view).into());
            }
        }
        Ok(self.address(place))
    }

    pub(crate) fn acquire_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.acquire_view(view, writes),
            Way::Host(host) => host.acquire_view(self, view, writes),
            Way::Far(far) => far.acquire_view(self, view, writes),
        }
    }

    pub(crate) fn release_view(&self, view: u32, writes: bool) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(near) => near.release_view(view, writes),
            Way::Host(host) => host.release_view(self, view, writes),
            Way::Far(far) => far.release_view(self, view, writes),
        }
    }

    /// How many processes have died by now, if the barrier has put back the memory of the one before.
    pub(crate) fn barrier(&self, barrier: u32) -> Result<Option<u32>, Trouble> {
        match &self.way {
            Way::Near(near) => near.barrier(barrier, &self.partition).map(|()| None),
            Way::Host(host) => host.barrier(self, barrier).map(|()| None),
            Way::Far(far) => {
                far.barrier(self, barrier)?;
                self.races.iter().for_each(|races| races.tell(self, far));
                if !self.replicas {
                    return Ok(None);
                }
                let (deaths, gone) = far.deaths(self);
                // Of whom others have told before the machine did.
                gone.into_iter().filter(|&node| !self.is_dead(node)).for_each(|node| self.died(node));
                deaths.iter().for_each(|&deaths| self.reduces.recovered(deaths));
                Ok(deaths)
            }
        }
    }

    /// The program does not know what to do without them.
    pub(crate) fn death(&self) -> Trouble {
        let node = (0..self.services.len()).find(|&node| self.is_dead(node)).unwrap_or(self.own);
        Trouble::Dead { node, task: self.partition.task(node as i64).unwrap_or_default() }
    }

    /// The program has touched a page that was closed to it: to write to it or not, where that is known.
    pub(crate) fn fault(&self, page: u32, writes: Option<bool>) -> Result<(), Trouble> {
        match &self.way {
            Way::Near(_) => Ok(()),
            Way::Host(host) => host.fault(self, page, writes),
            Way::Far(far) => far.fault(self, page, writes),
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
            far.touches(self, (place, length), writes, (&races.site_of_call(), true));
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
            Way::Host(host) => host.overwrite(self, first as u32, count as u32),
            // Races are looked for in what the program does, with what it reads all there.
            Way::Far(far) if self.races.is_none() => far.overwrite(self, first as u32, count as u32),
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
            Way::Host(host) => host.give_home(self, first, count)?,
            Way::Far(far) => far.give_home(self, first, count)?,
        }
        let region = [first.to_le_bytes(), count.to_le_bytes()].concat();
        if self.ask_all(&desk::letter(kind::HOME, &region))? {
            Ok(())
        } else {
            Err(Fault::TouchedAlready.into())
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        match &self.way {
            Way::Near(near) => near.counts(),
            Way::Host(host) => host.counts(self),
            Way::Far(far) => far.counts(self),
        }
    }

    /// All know that all leave.
    pub(crate) fn may_go(&self) {
        // Release: partner of the acquire in `leave`.
        self.leaving.go.store(true, Ordering::Release);
        self.wake();
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
            (Way::Far(far), Some(_)) => far.testify(self),
            _ => Vec::new(),
        };
        let _alone = self.program()?;
        let mut told = None;
        self.shown.waiting(call::SHARED_EXIT, None, || {
            while !self.leaving.go.load(Ordering::Acquire) {
                let keeper = self.keeper();
                if told.replace(keeper) == Some(keeper) {
                    self.next_answer()?;
                } else if keeper == self.own {
                    desk::leaves(self, keeper, &witnessed)?;
                } else {
                    let _ = self.post.ask(self.services[keeper], desk::letter(kind::LEAVING, &witnessed));
                }
            }
            Ok::<(), Trouble>(())
        })?;
        if let (Way::Far(far), Some(races), 0) = (&self.way, &self.races, self.own) {
            races.tell(self, far);
            races.sum_up(self, far);
        }
        Ok(())
    }

    /// This process ends, and with it the run: what it hears of others' ends from now on is its own doing.
    pub(crate) fn abandon(&self) {
        self.leaving.over.store(true, Ordering::Release);
    }

    fn tell_counts(&self) {
        let counts = self.counts();
        eprintln!(
            "libTmk: node {}: {} messages, {} bytes, {} misses, {} requests, {} pages, {} twins, {} diffs ({} bytes) made, {} applied, {} pushes, {} pages pushed, \
             {} intervals, {} + {} locks, {} views, {} barriers, {} replicas, {} collections, {} bytes of records at most",
            self.own,
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
