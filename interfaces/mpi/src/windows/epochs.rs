//! When a window may be accessed: fences, post-start-complete-wait, and locks.

use crate::collective::{Call, run};
use crate::comms::group::Group;
use crate::errors::{Error, Mpi, class};
use crate::messages::buffers::Data;
use crate::messages::send::{self, Mode};
use crate::process::this::process;
use crate::requests::operations::Operation;
use crate::requests::progress;
use crate::windows::questions::Question;
use crate::windows::serving::GRANTED;
use crate::windows::{Target, Win};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// The tag of messages that say: the window may be accessed.
const POSTED: i32 = 1;
/// The tag of messages that say: it was accessed.
const COMPLETED: i32 = 2;

const NO_CHECK: i32 = 1024;
const NO_SUCCEED: i32 = 16384;
/// All assertions.
const ASSERTIONS: i32 = NO_CHECK | 2048 | 4096 | 8192 | NO_SUCCEED;

/// Which epochs of a window are open at this process.
#[derive(Default)]
pub(crate) struct Epochs {
    /// Since the last fence nothing has said that no access follows.
    fenced: bool,
    /// The targets of an access epoch between start and complete.
    started: Option<Vec<usize>>,
    /// The targets that are locked.
    locked: Locked,
    all_locked: Option<LockState>,
    /// The receives that end an exposure epoch, one for each origin.
    posted: Option<Vec<Arc<Operation>>>,
}

/// How a lock is held.
#[derive(Clone, Copy)]
struct LockState {
    exclusive: bool,
    /// The program has promised that nobody else wants it: it was not asked for.
    unchecked: bool,
}

/// What is locked, by rank: it asks nobody for memory once as much was locked before.
#[derive(Default)]
struct Locked(Vec<(usize, LockState)>);

impl Locked {
    fn find(&self, rank: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&rank, |(rank, _)| *rank)
    }

    fn has(&self, rank: usize) -> bool {
        self.find(rank).is_ok()
    }

    fn insert(&mut self, rank: usize, held: LockState) {
        if let Err(place) = self.find(rank) {
            self.0.insert(place, (rank, held));
        }
    }

    fn remove(&mut self, rank: usize) -> Option<LockState> {
        self.find(rank).ok().map(|place| self.0.remove(place).1)
    }
}

#[cold]
fn out_of_order(text: impl Into<String>) -> Error {
    Error::new(class::RMA_SYNC, text)
}

impl Epochs {
    /// Refuses an access to a target outside an epoch that permits it.
    pub(crate) fn permits(&self, rank: usize) -> Mpi {
        if self.is_open(rank) { Ok(()) } else { Err(no_epoch(rank)) }
    }

    /// Whether an epoch permits an access to a target.
    pub(crate) fn is_open(&self, rank: usize) -> bool {
        self.fenced
            || self.is_locked(Some(rank))
            || self.started.as_ref().is_some_and(|started| started.contains(&rank))
    }

    /// Whether a target is locked, or any is.
    pub(crate) fn is_locked(&self, rank: Option<usize>) -> bool {
        self.all_locked.is_some()
            || match rank {
                Some(rank) => self.locked.has(rank),
                None => !self.locked.0.is_empty(),
            }
    }

    /// Whether a lock keeps all others from a target.
    pub(crate) fn is_exclusive(&self, rank: usize) -> bool {
        self.locked.find(rank).is_ok_and(|place| self.locked.0[place].1.exclusive)
    }

    /// Refuses what only locks permit.
    fn refuse_unlocked(&self, rank: Option<usize>) -> Mpi {
        match self.is_locked(rank) {
            true => Ok(()),
            false => {
                Err(out_of_order("nothing is locked there; call MPI_Win_lock or MPI_Win_lock_all first"))
            }
        }
    }

    fn refuse_access(&self) -> Mpi {
        if self.started.is_some() {
            return Err(out_of_order("an access epoch is open; call MPI_Win_complete first"));
        }
        if !self.locked.0.is_empty() || self.all_locked.is_some() {
            return Err(out_of_order("the window is locked; unlock it first"));
        }
        Ok(())
    }

    /// Refuses while any epoch is open that must be closed.
    pub(crate) fn refuse_open(&self) -> Mpi {
        self.refuse_access()?;
        match self.posted {
            None => Ok(()),
            Some(_) => Err(out_of_order("an exposure epoch is open; call MPI_Win_wait first")),
        }
    }
}

#[cold]
fn no_epoch(rank: usize) -> Error {
    let text = format!(
        "no epoch is open for an access to rank {rank}; call MPI_Win_fence, MPI_Win_start or MPI_Win_lock first"
    );
    out_of_order(text)
}

fn checked(assertions: i32) -> Mpi<i32> {
    match assertions & !ASSERTIONS {
        0 => Ok(assertions),
        _ => Err(Error::new(class::ASSERT, format!("{assertions} is no set of MPI_MODE_ assertions"))),
    }
}

impl Win {
    /// Changes which epochs are open: for this target, or for others too. The short way is shown it.
    fn change<T>(&self, rank: Option<usize>, change: impl FnOnce(&mut Epochs) -> T) -> T {
        let mut epochs = self.epochs();
        let was_fenced = epochs.fenced;
        let said = change(&mut epochs);
        let others = was_fenced != epochs.fenced;
        self.reach.show(&epochs, rank.filter(|_| !others));
        said
    }

    pub(crate) fn fence(&self, assertions: i32) -> Mpi {
        let assertions = checked(assertions)?;
        self.epochs().refuse_open()?;
        run(&self.comm, Call::Barrier)?;
        self.change(None, |epochs| epochs.fenced = assertions & NO_SUCCEED == 0);
        Ok(())
    }

    /// The ranks that members of a group have in the window.
    fn ranks(&self, group: &Group) -> Mpi<Vec<usize>> {
        let none = || Error::new(class::GROUP, "the group has a member that has no part in the window");
        let rank = |&task: &i32| self.comm.group().rank_of(task).ok_or_else(none);
        group.tasks().iter().map(rank).collect()
    }

    fn tell(&self, ranks: &[usize], tag: i32) -> Mpi {
        for &rank in ranks {
            let sent = send::isend(&self.comm, &Data::NONE, rank as i32, tag, Mode::Standard)?;
            if sent.poll(process()?).is_none() {
                progress::keep_moving(sent);
            }
        }
        Ok(())
    }

    /// Begins an exposure epoch.
    pub(crate) fn post(&self, group: &Group, assertions: i32) -> Mpi {
        checked(assertions)?;
        let ranks = self.ranks(group)?;
        self.change(None, |epochs| -> Mpi {
            if epochs.posted.is_some() {
                return Err(out_of_order("an exposure epoch is open; call MPI_Win_wait first"));
            }
            let receive = |&rank: &usize| send::irecv(&self.comm, &Data::NONE, rank as i32, COMPLETED);
            epochs.posted = Some(ranks.iter().map(receive).collect::<Mpi<_>>()?);
            epochs.fenced = false;
            Ok(())
        })?;
        self.tell(&ranks, POSTED)
    }

    /// Begins an access epoch: waits until all targets have posted.
    pub(crate) fn start(&self, group: &Group, assertions: i32) -> Mpi {
        checked(assertions)?;
        let ranks = self.ranks(group)?;
        self.change(None, |epochs| -> Mpi {
            epochs.refuse_access()?;
            epochs.started = Some(ranks.clone());
            epochs.fenced = false;
            Ok(())
        })?;
        ranks.iter().try_for_each(|&rank| self.hear(rank, POSTED))
    }

    fn hear(&self, rank: usize, tag: i32) -> Mpi {
        // What was said to a lock has a byte.
        let mut room = [0];
        let heard =
            send::receive(&self.comm, &Data::memory(room.as_mut_ptr(), room.len()), rank as i32, tag)?;
        heard.error.map_or(Ok(()), Err)
    }

    pub(crate) fn complete(&self) -> Mpi {
        let none = || out_of_order("no access epoch is open; call MPI_Win_start first");
        let ranks = self.change(None, |epochs| epochs.started.take()).ok_or_else(none)?;
        self.tell(&ranks, COMPLETED)
    }

    /// Ends an exposure epoch: waits until all origins have completed theirs.
    pub(crate) fn wait(&self) -> Mpi {
        let posted = self.epochs().posted.clone().ok_or_else(no_exposure)?;
        let process = process()?;
        let mut outcome = Ok(());
        for operation in posted {
            let ended = progress::wait(process, &operation)?;
            outcome = outcome.and(ended.error.map_or(Ok(()), Err));
        }
        self.epochs().posted = None;
        outcome
    }

    /// The same without waiting: whether it is over.
    pub(crate) fn test(&self) -> Mpi<bool> {
        let process = process()?;
        progress::move_all(process);
        let mut epochs = self.epochs();
        let posted = epochs.posted.as_ref().ok_or_else(no_exposure)?;
        let ended: Option<Vec<_>> = posted.iter().map(|operation| operation.poll(process)).collect();
        let Some(ended) = ended else { return Ok(false) };
        epochs.posted = None;
        ended.into_iter().find_map(|outcome| outcome.error).map_or(Ok(true), Err)
    }

    pub(crate) fn lock(&self, exclusive: bool, rank: i32, assertions: i32) -> Mpi {
        let unchecked = checked(assertions)? & NO_CHECK != 0;
        let Some((rank, target)) = self.target(rank)? else { return Ok(()) };
        let held = LockState { exclusive, unchecked };
        self.change(Some(rank), |epochs| -> Mpi {
            if epochs.started.is_some() || epochs.is_locked(Some(rank)) {
                let text = format!("rank {rank} is being accessed already; end that epoch first");
                return Err(out_of_order(text));
            }
            epochs.locked.insert(rank, held);
            epochs.fenced = false;
            Ok(())
        })?;
        let locked = self.acquire(rank, target, held);
        if locked.is_err() {
            self.change(Some(rank), |epochs| epochs.locked.remove(rank));
        }
        locked
    }

    /// The same, if nobody must be waited for or asked, and nothing is wrong.
    pub(crate) fn lock_at_once(&self, exclusive: bool, rank: i32, assertions: i32) -> Option<()> {
        let unchecked = checked(assertions).ok()? & NO_CHECK != 0;
        let (rank, target) = (rank as usize, self.targets.get(rank as usize)?);
        let lock = target.lock.as_ref()?;
        self.change(Some(rank), |epochs| {
            let is_open = epochs.started.is_some() || epochs.is_locked(Some(rank));
            if is_open || !unchecked && !lock.try_enter(exclusive) {
                return None;
            }
            epochs.locked.insert(rank, LockState { exclusive, unchecked });
            epochs.fenced = false;
            Some(())
        })
    }

    fn acquire(&self, rank: usize, target: &Target, held: LockState) -> Mpi {
        if held.unchecked || target.lock.as_ref().is_some_and(|lock| lock.try_enter(held.exclusive)) {
            return Ok(());
        }
        let granted = match rank == self.comm.rank() {
            true => self.exposed.lock(held.exclusive, rank),
            false => {
                let question = Question::Lock { exclusive: held.exclusive, rank: self.comm.rank() };
                self.ask(target, rank, &question)?.first() == Some(&1)
            }
        };
        if granted { Ok(()) } else { self.hear(rank, GRANTED) }
    }

    fn release(&self, rank: usize, target: &Target, held: LockState) -> Mpi {
        let exclusive = held.exclusive;
        if held.unchecked {
            // With the same in other processes: what was put is there, in whichever order they look. A lock does that otherwise.
            fence(Ordering::SeqCst);
            return Ok(());
        }
        if target.lock.as_ref().is_some_and(|lock| lock.try_leave(exclusive)) {
            return Ok(());
        }
        if rank == self.comm.rank() {
            self.exposed.unlock(exclusive);
            return Ok(());
        }
        self.ask(target, rank, &Question::Unlock { exclusive }).map(drop)
    }

    pub(crate) fn unlock(&self, rank: i32) -> Mpi {
        let Some((rank, target)) = self.target(rank)? else { return Ok(()) };
        let none = || out_of_order(format!("rank {rank} is not locked; call MPI_Win_lock first"));
        let held = self.change(Some(rank), |epochs| epochs.locked.remove(rank)).ok_or_else(none)?;
        self.release(rank, target, held)
    }

    /// The same, if nobody must be told, and nothing is wrong.
    pub(crate) fn unlock_at_once(&self, rank: i32) -> Option<()> {
        let (rank, target) = (rank as usize, self.targets.get(rank as usize)?);
        let lock = target.lock.as_ref()?;
        self.change(Some(rank), |epochs| {
            let held = epochs.locked.remove(rank)?;
            if !held.unchecked && lock.try_leave(held.exclusive) {
                return Some(());
            }
            epochs.locked.insert(rank, held);
            None
        })
    }

    pub(crate) fn lock_all(&self, assertions: i32) -> Mpi {
        let held = LockState { exclusive: false, unchecked: checked(assertions)? & NO_CHECK != 0 };
        self.change(None, |epochs| -> Mpi {
            epochs.refuse_access()?;
            epochs.all_locked = Some(held);
            epochs.fenced = false;
            Ok(())
        })?;
        let mut all = self.targets.iter().enumerate();
        all.try_for_each(|(rank, target)| self.acquire(rank, target, held))
    }

    pub(crate) fn unlock_all(&self) -> Mpi {
        let none = || out_of_order("the window is not locked; call MPI_Win_lock_all first");
        let held = self.change(None, |epochs| epochs.all_locked.take()).ok_or_else(none)?;
        let mut all = self.targets.iter().enumerate();
        all.try_for_each(|(rank, target)| self.release(rank, target, held))
    }

    /// What was begun is over already: only that there is an epoch is checked.
    pub(crate) fn flush(&self, rank: Option<i32>) -> Mpi {
        let rank = match rank {
            None => None,
            Some(rank) => match self.target(rank)? {
                Some((rank, _)) => Some(rank),
                None => return Ok(()),
            },
        };
        self.epochs().refuse_unlocked(rank)
    }
}

#[cold]
fn no_exposure() -> Error {
    out_of_order("no exposure epoch is open; call MPI_Win_post first")
}
