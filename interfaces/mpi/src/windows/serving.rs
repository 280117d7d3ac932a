//! What a target does for others: on the service's thread, while the program computes.
//!
//! Accumulates are atomic for each element: elements of a word's length that lie aligned are changed by the processor in one piece,
//! here as in any process that has the memory mapped; all others only here, one operation at a time. So are several bytes of
//! `MPI_BYTE`: programs exchange structs so, and read them whole.

use crate::comms::comm::Comm;
use crate::errors::{Error, Mpi, class};
use crate::objects::ops::{NO_OP, REPLACE};
use crate::process::this::{Process, machine_notes, process};
use crate::windows::memory::{self, SharedLock};
use crate::windows::{questions, words};
use parvum_api::SendTo;
use parvum_datatypes::{Basic, Class};
use parvum_service::{Service, Window};
use parvum_sync::{LockQueue, LockWord};
use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Questions come in this context of the second endpoint, answers in the next.
const CONTEXT: u32 = 0x7d69_0010;
/// The tag of messages that say: the lock is yours.
pub(crate) const GRANTED: i32 = 3;

static SERVICE: Mutex<Option<Arc<Service>>> = Mutex::new(None);
/// What this process exposes, by number.
static EXPOSED: LazyLock<Mutex<HashMap<u32, Arc<Exposed>>>> = LazyLock::new(Mutex::default);
/// Held while elements are changed that the processor cannot change in one piece.
static CHANGING: Mutex<()> = Mutex::new(());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service of this process, from its first window on.
pub(crate) fn service(process: &Process) -> Mpi<Arc<Service>> {
    let mut service = lock(&SERVICE);
    if let Some(service) = &*service {
        return Ok(service.clone());
    }
    let handler = Box::new(|_: i32, question: &[u8]| Some(questions::answer(question)));
    let opened = Service::open(process.api, "MPI", CONTEXT, Some(handler));
    let opened = Arc::new(opened.map_err(|status| process.failed(status, None))?);
    *service = Some(opened.clone());
    Ok(opened)
}

/// Ends the service, if there is one.
pub(crate) fn end() {
    let service = lock(&SERVICE).take();
    drop(service);
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
            let how = SendTo { to, tag: GRANTED, context, meta, buffering: 2, completion: 0 };
            // Who is gone wants no lock; who takes what it had is not told.
            let _ = process.api.send_owned(how, &Arc::new(vec![0]), &machine_notes());
        }
    }

    /// Does what is asked of the memory, and gives what it was if that is wanted.
    pub(crate) fn work(&self, work: &Work, runs: &[(u64, u64)], data: &[u8]) -> Mpi<Vec<u8>> {
        if runs.iter().all(|&run| self.has(run)) {
            return work.run(runs, data);
        }
        Err(Error::new(class::RMA_RANGE, "the target's memory is not in the window, or not attached to it"))
    }
}

/// What is done to elements of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Put,
    Get,
    /// An operation on elements, one at a time.
    Combine(i32),
    /// The data is what to compare with, and what it becomes.
    Swap,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) what: What,
    pub(crate) basic: Basic,
    /// What the elements were is wanted.
    pub(crate) fetches: bool,
}

type Combine<'c> = &'c dyn Fn(&mut [u8], &[u8]);

impl Work {
    /// Whether the processor changes each of the elements in one piece. Of several bytes that are one value to the program it does not.
    pub(crate) fn is_of_words(&self, runs: &[(u64, u64)]) -> bool {
        let size = self.basic.size() as usize;
        let is_one_value =
            self.basic.class() == Class::Byte && runs.iter().map(|(_, length)| length).sum::<u64>() > 1;
        self.basic.class() != Class::Pair
            && !is_one_value
            && words::is_word(size)
            && runs.iter().all(|(start, _)| start % size as u64 == 0)
    }

    /// The runs lie in this process's memory.
    pub(crate) fn run(&self, runs: &[(u64, u64)], data: &[u8]) -> Mpi<Vec<u8>> {
        let total = runs.iter().map(|(_, length)| *length as usize).sum::<usize>();
        let has_data = match self.what {
            What::Get => true,
            What::Combine(NO_OP) => true,
            What::Swap => data.len() == 2 * total,
            _ => data.len() == total,
        };
        if !has_data || total % self.basic.size() as usize != 0 {
            return Err(Error::new(class::RMA_RANGE, "origin and target do not have as many elements"));
        }
        match self.what {
            What::Put => put(runs, data),
            What::Get => return Ok(get(runs, total)),
            What::Swap => {
                let (expected, wanted) = data.split_at(total);
                return self.change(runs, wanted, &|element: &mut [u8], wanted: &[u8]| {
                    if element == expected {
                        element.copy_from_slice(wanted);
                    }
                });
            }
            What::Combine(NO_OP) => {
                let nothing = vec![0; total];
                return self.change(runs, &nothing, &|_: &mut [u8], _: &[u8]| {});
            }
            What::Combine(REPLACE) => {
                return self
                    .change(runs, data, &|element: &mut [u8], new: &[u8]| element.copy_from_slice(new));
            }
            What::Combine(op) => {
                let operation =
                    crate::objects::ops::operation(op, crate::objects::datatypes::handle_of(self.basic))?;
                return self.change(runs, data, &|first, second| operation.combine.apply(first, second));
            }
        }
        Ok(Vec::new())
    }

    fn change(&self, runs: &[(u64, u64)], data: &[u8], combine: Combine<'_>) -> Mpi<Vec<u8>> {
        let size = self.basic.size() as usize;
        let _turn = (!self.is_of_words(runs)).then(|| lock(&CHANGING));
        if self.basic.class() == Class::Pair || !words::is_word(size) {
            // Elements may lie in several runs: pairs have holes.
            let old = get(runs, data.len());
            let mut new = old.clone();
            combine(&mut new, data);
            put(runs, &new);
            return Ok(old);
        }
        let mut old = vec![0; data.len()];
        let mut at = 0;
        for &(start, length) in runs {
            for address in (start..start + length).step_by(size) {
                let (out, operand) = (&mut old[at..at + size], &data[at..at + size]);
                if address % size as u64 == 0 {
                    words::change_by(address, out, |element| combine(element, operand));
                } else {
                    memory::read(address, out);
                    let mut new = out.to_vec();
                    combine(&mut new, operand);
                    memory::write(address, &new);
                }
                at += size;
            }
        }
        Ok(old)
    }
}

fn put(runs: &[(u64, u64)], mut data: &[u8]) {
    for &(start, length) in runs {
        let (now, later) = data.split_at(length as usize);
        memory::write(start, now);
        data = later;
    }
}

fn get(runs: &[(u64, u64)], total: usize) -> Vec<u8> {
    let mut out = vec![0; total];
    let mut rest = &mut out[..];
    for &(start, length) in runs {
        let (now, later) = rest.split_at_mut(length as usize);
        memory::read(start, now);
        rest = later;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_combined_wherever_they_lie() {
        let mut memory = [1_i64, 2, 3, 4];
        let base = memory.as_mut_ptr().expose_provenance() as u64;
        let work = |what, basic| Work { what, basic, fetches: true };
        let bytes = |all: &[i64]| all.iter().flat_map(|one| one.to_ne_bytes()).collect::<Vec<u8>>();
        let sum = What::Combine(0x5800_0003);
        let old = work(sum, Basic::Int64).run(&[(base, 8), (base + 16, 16)], &bytes(&[10, 20, 30]));
        assert_eq!((old, memory), (Ok(bytes(&[1, 3, 4])), [11, 2, 23, 34]));
        let old = work(What::Swap, Basic::Int64).run(&[(base + 8, 8)], &bytes(&[2, 7]));
        assert_eq!((old, memory[1]), (Ok(bytes(&[2])), 7));
        let old = work(What::Swap, Basic::Int64).run(&[(base + 8, 8)], &bytes(&[2, 9]));
        assert_eq!((old, memory[1]), (Ok(bytes(&[7])), 7));
        let old = work(What::Combine(NO_OP), Basic::Int64).run(&[(base, 8)], &[]);
        assert_eq!((old, memory[0]), (Ok(bytes(&[11])), 11));
        // Several bytes are one value, which only the target changes.
        let bytes_of = work(What::Combine(REPLACE), Basic::Byte);
        assert!(bytes_of.is_of_words(&[(base, 1)]) && !bytes_of.is_of_words(&[(base, 16)]));
        // Not aligned.
        let odd = work(What::Combine(REPLACE), Basic::Int64).run(&[(base + 1, 8)], &bytes(&[-1]));
        assert_eq!((odd.map(|old| old.len()), memory[0]), (Ok(8), -245));
        assert!(work(sum, Basic::Int64).run(&[(base, 8)], &[0; 7]).is_err());
    }
}
