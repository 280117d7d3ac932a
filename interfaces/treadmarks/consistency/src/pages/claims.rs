//! Which task of a node has a page open, in memory that they share.
//!
//! The node has a *table* with the permitted access to each page. A task opens the page for itself with a *claim*,
//! without the node. To close the page, the node changes the table, and asks only tasks with a larger claim to close
//! it. A task reads the table again after its claim. The node reads the claims after it has changed the table. One of
//! the two therefore sees the other. Checked under loom.

use crate::pages::memory::Access;

#[cfg(loom)]
use loom::sync::atomic::{AtomicU8, Ordering, fence};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU8, Ordering, fence};

/// The table and the claims of all tasks. In their bytes, 0 stands for the access to a page before its first use.
pub struct Claims<'m> {
    untouched: Access,
    table: &'m [AtomicU8],
    /// The claims of all tasks, one task after the other.
    claims: &'m [AtomicU8],
}

fn code(access: Access) -> u8 {
    match access {
        Access::None => 1,
        Access::Read => 2,
        Access::Write => 3,
    }
}

impl<'m> Claims<'m> {
    /// `claims` has as many bytes as the table for each task.
    pub fn new(untouched: Access, table: &'m [AtomicU8], claims: &'m [AtomicU8]) -> Claims<'m> {
        assert!(!table.is_empty() && claims.len().is_multiple_of(table.len()));
        Claims { untouched, table, claims }
    }

    fn access(&self, of: u8) -> Access {
        match of {
            0 => self.untouched,
            1 => Access::None,
            2 => Access::Read,
            _ => Access::Write,
        }
    }

    fn of(&self, task: usize, first: u32, count: u32) -> &[AtomicU8] {
        let start = task * self.table.len() + first as usize;
        &self.claims[start..start + count as usize]
    }

    /// The claim of a task on a page.
    pub fn has(&self, task: usize, page: u32) -> Access {
        // Relaxed: the task's own, as in what follows.
        self.access(self.of(task, page, 1)[0].load(Ordering::Relaxed))
    }

    /// For a task, one of its threads at a time: whether it may do that to a page now. It has it opened by `map`, unless it was.
    pub fn open(&self, task: usize, page: u32, wanted: Access, map: impl FnOnce(Access)) -> bool {
        let (may, claim) = (&self.table[page as usize], &self.of(task, page, 1)[0]);
        let before = claim.load(Ordering::Relaxed);
        // Acquire: partner of the release in `change`; a task that may read the page sees its contents.
        let now = may.load(Ordering::Acquire);
        if self.access(now) < wanted {
            return false;
        }
        if self.access(before) >= self.access(now) {
            return true;
        }
        claim.store(now, Ordering::Relaxed);
        // Partner of the fence in `change`: the claim is seen there, or the change here.
        fence(Ordering::SeqCst);
        if may.load(Ordering::Acquire) != now {
            claim.store(before, Ordering::Relaxed);
            return false;
        }
        map(self.access(now));
        true
    }

    /// For a task, one of its threads at a time: it has pages open no more than that.
    pub fn closed(&self, task: usize, first: u32, count: u32, access: Access) {
        self.of(task, first, count).iter().for_each(|claim| claim.store(code(access), Ordering::Relaxed));
    }

    /// For the node: what may be done to pages from now on. Which tasks may have more of them open than that, and are to close them.
    pub fn change(&self, first: u32, count: u32, access: Access) -> Vec<usize> {
        let (code, mut closes) = (code(access), false);
        for may in &self.table[first as usize..first as usize + count as usize] {
            // Release: partner of the acquires in `open`.
            closes |= self.access(may.swap(code, Ordering::AcqRel)) > access;
        }
        if !closes {
            return Vec::new();
        }
        fence(Ordering::SeqCst);
        let more = |claim: &AtomicU8| self.access(claim.load(Ordering::Relaxed)) > access;
        let tasks = 0..self.claims.len() / self.table.len();
        tasks.filter(|&task| self.of(task, first, count).iter().any(more)).collect()
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::{Arc, Mutex};

    /// A page, two tasks, and what each has mapped.
    struct Host {
        table: [AtomicU8; 1],
        claims: [AtomicU8; 2],
        mapped: [Mutex<Access>; 2],
    }

    impl Host {
        fn claims(&self) -> Claims<'_> {
            Claims::new(Access::None, &self.table, &self.claims)
        }

        fn open(&self, task: usize, wanted: Access) -> bool {
            let mut mapped = self.mapped[task].lock().expect("whole");
            self.claims().open(task, 0, wanted, |access| *mapped = access)
        }

        /// The steps of the node, and of the tasks' threads for the node.
        fn change(&self, access: Access) {
            for task in self.claims().change(0, 1, access) {
                let mut mapped = self.mapped[task].lock().expect("whole");
                *mapped = access;
                self.claims().closed(task, 0, 1, access);
            }
            for mapped in &self.mapped {
                assert!(*mapped.lock().expect("whole") <= access, "it is closed when the node goes on");
            }
        }
    }

    #[test]
    fn page_closed_by_node_is_open_in_no_task() {
        loom::model(|| {
            let host = Arc::new(Host {
                table: [AtomicU8::new(0)],
                claims: [AtomicU8::new(0), AtomicU8::new(0)],
                mapped: [Mutex::new(Access::None), Mutex::new(Access::None)],
            });
            host.change(Access::Write);
            let tasks = [0, 1].map(|task| {
                let host = host.clone();
                loom::thread::spawn(move || {
                    host.open(task, if task == 0 { Access::Write } else { Access::Read })
                })
            });
            host.change(Access::Read);
            host.change(Access::None);
            tasks.into_iter().for_each(|task| _ = task.join().expect("it ends"));
            for mapped in &host.mapped {
                assert_eq!(*mapped.lock().expect("whole"), Access::None);
            }
            // And what may be opened is.
            host.change(Access::Read);
            assert!(host.open(0, Access::Read) && !host.open(1, Access::Write));
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn task_with_more_access_is_asked_to_reduce() {
        let bytes: Vec<AtomicU8> = (0..12).map(|_| AtomicU8::new(0)).collect();
        let claims = Claims::new(Access::Read, &bytes[..4], &bytes[4..]);
        assert_eq!((claims.has(1, 2), claims.change(0, 4, Access::Write)), (Access::Read, vec![]));
        let mut mapped = None;
        assert!(claims.open(1, 2, Access::Write, |access| mapped = Some(access)));
        assert_eq!((mapped, claims.has(1, 2)), (Some(Access::Write), Access::Write));
        assert!(claims.open(1, 2, Access::Read, |_| unreachable!("it is open")));
        assert_eq!(claims.change(0, 2, Access::Read), Vec::<usize>::new());
        assert_eq!(claims.change(1, 3, Access::Read), [1]);
        claims.closed(1, 1, 3, Access::Read);
        assert!(!claims.open(1, 2, Access::Write, |_| unreachable!("it is closed")));
        assert_eq!(claims.change(3, 1, Access::None), [0, 1], "who begins with copies has it");
    }
}
