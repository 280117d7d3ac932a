//! A segment after the heap that the tasks of a host share: the access of each task to each page.
//!
//! A task opens a page for itself when it accesses a page that is open on the host ([`Claims`]). Each task has a thread
//! that closes pages in its process for the node ([`Rooms::guard`]), and confirms this. A task's thread and its program
//! change the protection of their process one at a time.

use crate::limits::{LOCKS, NODES};
use crate::memory::heap::Heap;
use parvum_consistency::{Access, Claims};
use parvum_sync::futex::{self, Among};
use parvum_sync::without_signals;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A request to the thread of a task.
#[repr(C, align(64))]
struct Bell {
    /// How often it was asked, and how often it has done what was asked.
    asked: AtomicU32,
    done: AtomicU32,
    first: AtomicU32,
    count: AtomicU32,
    access: AtomicU32,
}

/// The size of the head does not depend on the size of the heap. Zeros are its beginning.
#[repr(C)]
struct Head {
    bells: [Bell; NODES],
    locks: [AtomicU32; LOCKS as usize],
}

/// The bytes after a heap with these numbers of pages and tasks: the head, the table, and the claims of each task.
pub(crate) fn length(pages: usize, tasks: usize) -> usize {
    (size_of::<Head>() + pages * (1 + tasks)).next_multiple_of(65536)
}

/// One task's part in it.
pub(crate) struct Rooms {
    heap: Heap,
    head: &'static Head,
    claims: Claims<'static>,
    pub(crate) own: usize,
    pub(crate) tasks: usize,
    /// Held by the thread that changes the protection of this process.
    closing: Mutex<()>,
}

impl Rooms {
    /// `at` is the address of a mapping of [`length`] bytes that stays as long as the process.
    pub(crate) fn new(at: usize, heap: Heap, untouched: Access, (own, tasks): (usize, usize)) -> Rooms {
        let pages = heap.pages();
        let bytes = at + size_of::<Head>();
        // SAFETY: the mapping is large enough, aligned to pages, and never unmapped; all of it is atomics alone.
        let (head, table, claims) = unsafe {
            (
                &*std::ptr::with_exposed_provenance::<Head>(at),
                std::slice::from_raw_parts(std::ptr::with_exposed_provenance(bytes), pages),
                std::slice::from_raw_parts(std::ptr::with_exposed_provenance(bytes + pages), pages * tasks),
            )
        };
        let claims = Claims::new(untouched, table, claims);
        Rooms { heap, head, claims, own, tasks, closing: Mutex::new(()) }
    }

    /// The words of locks that are here.
    pub(crate) fn locks(&self) -> &'static [AtomicU32] {
        &self.head.locks
    }

    /// The access to a page that this task has opened.
    pub(crate) fn has(&self, page: u32) -> Access {
        self.claims.has(self.own, page)
    }

    /// Opens a page to this task, if it may be.
    pub(crate) fn open(&self, page: u32, wanted: Access) -> bool {
        let map = |access| self.heap.protect(page, 1, access);
        self.alone(|| self.claims.open(self.own, page, wanted, map))
    }

    /// Closes pages in this process.
    pub(crate) fn close(&self, first: u32, count: u32, access: Access) {
        self.alone(|| {
            self.heap.protect(first, count, access);
            self.claims.closed(self.own, first, count, access);
        });
    }

    fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        // A signal handler of the program could access a page during this.
        without_signals(|| {
            let _alone = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
            work()
        })
    }

    /// For the node: what may be done to pages from now on. Which tasks have more of them open than that.
    pub(crate) fn change(&self, first: u32, count: u32, access: Access) -> Vec<usize> {
        self.claims.change(first, count, access)
    }

    /// For the node: asks another task's thread to close pages. Nothing else is asked of it until [`Rooms::await_closed`].
    pub(crate) fn ask(&self, task: usize, first: u32, count: u32, access: Access) {
        let bell = &self.head.bells[task];
        // Relaxed, these three: the release below hands them over.
        bell.first.store(first, Ordering::Relaxed);
        bell.count.store(count, Ordering::Relaxed);
        bell.access.store(access as u32, Ordering::Relaxed);
        // Release: partner of the acquire in `guard`.
        bell.asked.fetch_add(1, Ordering::Release);
        futex::wake(&bell.asked, 1, Among::Processes);
    }

    /// Whether it has closed them; `false` after a while in which it has not.
    pub(crate) fn await_closed(&self, task: usize, looks: u32) -> bool {
        let bell = &self.head.bells[task];
        // Relaxed: this thread has written it, in `ask`.
        let asked = bell.asked.load(Ordering::Relaxed);
        for _ in 0..looks {
            // Acquire: partner of the release in `guard`, here and below.
            if bell.done.load(Ordering::Acquire) == asked {
                return true;
            }
            std::hint::spin_loop();
        }
        let done = bell.done.load(Ordering::Acquire);
        if done != asked {
            let _ = futex::sleep(&bell.done, done, Some(WHILE), Among::Processes);
        }
        bell.done.load(Ordering::Acquire) == asked
    }

    /// Closes what the node asks for, for ever.
    pub(crate) fn guard(&self) -> ! {
        let bell = &self.head.bells[self.own];
        loop {
            // Acquire: partner of the release in `ask`. The loads of the three words below are therefore relaxed. Only
            // this thread writes `done`.
            let asked = bell.asked.load(Ordering::Acquire);
            if asked == bell.done.load(Ordering::Relaxed) {
                let _ = futex::sleep(&bell.asked, asked, None, Among::Processes);
                continue;
            }
            let access = match bell.access.load(Ordering::Relaxed) {
                is if is == Access::Write as u32 => Access::Write,
                is if is == Access::Read as u32 => Access::Read,
                _ => Access::None,
            };
            self.close(bell.first.load(Ordering::Relaxed), bell.count.load(Ordering::Relaxed), access);
            // Release: partner of the acquires in `await_closed`. A thread that sees this number finds the pages
            // closed.
            bell.done.store(asked, Ordering::Release);
            futex::wake(&bell.done, 1, Among::Processes);
        }
    }
}

/// The time after which the node checks that the task lives.
const WHILE: Duration = Duration::from_millis(50);

/// A process, to be asked whether it has ended.
pub(crate) struct Alive(std::os::fd::RawFd, i32);

impl Alive {
    pub(crate) fn watch(process: i32) -> Alive {
        // SAFETY: a call without memory. On older kernels the call fails.
        let number = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
        Alive(number as std::os::fd::RawFd, process)
    }

    pub(crate) fn has_ended(&self) -> bool {
        if self.0 < 0 {
            // SAFETY: no signal is sent.
            return unsafe { libc::kill(self.1, 0) } != 0;
        }
        let mut poll = libc::pollfd { fd: self.0, events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, which the call fills.
        unsafe { libc::poll(&raw mut poll, 1, 0) > 0 }
    }
}
