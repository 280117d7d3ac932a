//! What a target does for others: on the service's thread, while the program computes.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::process::machine::machine_notes;
use crate::process::this::process;
use crate::windows::elements::Work;
use crate::windows::memory;
use crate::windows::seats::SharedLock;
use parvum_api::SendTo;
use parvum_api::{Buffering, Completion};
use parvum_service::{Service, Window};
use parvum_sync::{LockQueue, LockWord};
use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The tag of messages that say: the lock is yours.
pub(crate) const GRANTED: i32 = 3;

/// What this process exposes, by number.
static EXPOSED: LazyLock<Mutex<HashMap<u32, Arc<Exposed>>>> = LazyLock::new(Mutex::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of this process that others may use.
pub(crate) struct Exposed {
    id: u32,
    window: Option<Window>,
    base: u64,
    size: u64,
    /// What is attached, where it begins and how long it is: of a dynamic window.
    attached: Option<Mutex<BTreeMap<u64, u64>>>,
    lock: Lock,
    /// The ranks that wait for it.
    waiting: Mutex<LockQueue<usize>>,
    comm: Arc<Comm>,
}

/// The lock of this memory: where all members see it, or here, where they must ask for it.
enum Lock {
    Seen(SharedLock),
    Own(LockWord),
}

impl Lock {
    fn seen(&self) -> Option<&SharedLock> {
        match self {
            Lock::Seen(lock) => Some(lock),
            Lock::Own(_) => None,
        }
    }
}

impl Deref for Lock {
    type Target = LockWord;

    fn deref(&self) -> &LockWord {
        match self {
            Lock::Seen(word) => word,
            Lock::Own(word) => word,
        }
    }
}

impl Exposed {
    /// Lets the members of a communicator use memory.
    pub(crate) fn new(
        comm: &Arc<Comm>,
        (base, size): (*mut u8, usize),
        is_dynamic: bool,
        seen: Option<SharedLock>,
        service: &Service,
    ) -> Mpi<Arc<Exposed>> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        let window = if is_dynamic { None } else { Some(memory::expose(service, base, size)?) };
        let exposed = Arc::new(Exposed {
            // Relaxed: a number only.
            id: NUMBERS.fetch_add(1, Ordering::Relaxed),
            window,
            base: base.expose_provenance() as u64,
            size: size as u64,
            attached: is_dynamic.then(Mutex::default),
            lock: seen.map_or_else(|| Lock::Own(LockWord::new()), Lock::Seen),
            waiting: Mutex::default(),
            comm: comm.clone(),
        });
        lock(&EXPOSED).insert(exposed.id, exposed.clone());
        Ok(exposed)
    }

    /// Ends that.
    pub(crate) fn close(&self, service: &Service) {
        if let Some(window) = self.window {
            service.withdraw(window);
        }
        lock(&EXPOSED).remove(&self.id);
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn window(&self) -> Option<Window> {
        self.window
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// That of a number.
    pub(crate) fn of(id: u32) -> Option<Arc<Exposed>> {
        lock(&EXPOSED).get(&id).cloned()
    }

    fn attached(&self) -> Mpi<&Mutex<BTreeMap<u64, u64>>> {
        let wrong = || Error::new(class::RMA_FLAVOR, "memory is attached to dynamic windows only");
        self.attached.as_ref().ok_or_else(wrong)
    }

    pub(crate) fn attach(&self, start: u64, length: u64) -> Mpi {
        let mut attached = lock(self.attached()?);
        let end = start.saturating_add(length);
        let before = attached.range(..end.max(start + 1)).next_back();
        if before.is_some_and(|(&other, &long)| other.saturating_add(long) > start || other == start) {
            let text = "the memory overlaps some that is attached already; detach that first";
            return Err(Error::new(class::RMA_ATTACH, text));
        }
        attached.insert(start, length);
        Ok(())
    }

    pub(crate) fn detach(&self, start: u64) -> Mpi {
        let none = || Error::new(class::RMA_ATTACH, "no memory is attached that begins there");
        lock(self.attached()?).remove(&start).map(drop).ok_or_else(none)
    }

    fn has(&self, (start, length): (u64, u64)) -> bool {
        let Some(end) = start.checked_add(length) else { return false };
        match &self.attached {
            None => start >= self.base && end <= self.base + self.size,
            Some(attached) => {
                let attached = lock(attached);
                // Memory that was attached in several pieces may be one at the target.
                let mut reached = start;
                while reached < end {
                    let piece = attached.range(..=reached).next_back();
                    match piece.map(|(&other, &long)| other.saturating_add(long)) {
                        Some(to) if to > reached => reached = to,
                        _ => return false,
                    }
                }
                true
            }
        }
    }

    /// Whether a member has the lock at once; if not it is told when.
    pub(crate) fn lock(&self, exclusive: bool, rank: usize) -> bool {
        lock(&self.waiting).ask(&self.lock, exclusive, rank)
    }

    pub(crate) fn unlock(&self, exclusive: bool) {
        let next = lock(&self.waiting).leave(&self.lock, exclusive);
        let Ok(process) = process() else { return };
        for rank in next {
            let Some(&to) = self.comm.group().tasks().get(rank) else { continue };
            let (context, meta) = (self.comm.context(), self.comm.rank() as u32);
            // The sender keeps the data: nobody is waited for.
            let how = SendTo {
                to,
                tag: GRANTED,
                context,
                meta,
                buffering: Buffering::AtSender,
                completion: Completion::Copied,
            };
            // Who is gone wants no lock; who takes what it had is not told.
            let _ = process.api.send_owned(how, &Arc::new(vec![0]), &machine_notes());
        }
    }

    /// Does what is asked of the memory, and gives what it was if that is wanted.
    pub(crate) fn work(&self, work: &Work, runs: &[(u64, u64)], data: &[u8]) -> Mpi<Vec<u8>> {
        if runs.iter().all(|&run| self.has(run)) {
            return work.run(runs, data, self.lock.seen());
        }
        Err(Error::new(class::RMA_RANGE, "the target's memory is not in the window, or not attached to it"))
    }
}
