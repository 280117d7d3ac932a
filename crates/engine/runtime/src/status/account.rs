//! The account of this process's task: the memory in which tools read what it does.

use parvum_control::{ControlBlock, CounterBook, Recording};
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The memory for the published state of this task; all of it outlives the task.
pub(crate) struct Account {
    pub(crate) control_block: &'static ControlBlock,
    pub(crate) book: &'static CounterBook,
    /// The recording, if its job is recorded.
    pub(crate) recording: Option<Arc<Recording>>,
    /// The names of routes by number, as the control block has them.
    pub(crate) routes: &'static [CString],
}

/// The account of this process's task, or null. The object behind this pointer is never freed.
static ACCOUNT: AtomicPtr<Account> = AtomicPtr::new(null_mut());

/// The process has a task from now on.
pub(crate) fn open(
    control_block: &'static ControlBlock,
    book: &'static CounterBook,
    recording: Option<Arc<Recording>>,
) {
    let names = control_block.routes().into_iter().map(|name| CString::new(name).unwrap_or_default());
    let account = Account { control_block, book, recording, routes: names.collect::<Vec<_>>().leak() };
    let account: *mut Account = Box::leak(Box::new(account));
    // Release: partner of the acquires in `account` and `last`.
    ACCOUNT.store(account, Ordering::Release);
    LAST.store(account, Ordering::Release);
    PROCESS.store(std::process::id(), Ordering::Relaxed);
}

/// The process has no task any more.
pub(crate) fn close() {
    ACCOUNT.store(null_mut(), Ordering::Release);
}

/// The task's own counters, which live as long as the process.
pub(crate) fn own_cells() -> *const u64 {
    account().map_or(null(), |account| account.control_block.counters()[0].as_ptr())
}

/// The account of this process's last task, which it may have left: its control block stays. And the process, for a child has another.
static LAST: AtomicPtr<Account> = AtomicPtr::new(null_mut());
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Whether this process fails if it ends now.
pub(crate) fn is_obliged() -> bool {
    last().is_some_and(|last| last.control_block.owes_end())
}

/// The last account of this process; a forked child has none.
pub(crate) fn last() -> Option<&'static Account> {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return None;
    }
    // SAFETY: null, or what `open` has leaked. Acquire: partner of the release there.
    unsafe { LAST.load(Ordering::Acquire).as_ref() }
}

/// The present account of this process's task.
pub(crate) fn account() -> Option<&'static Account> {
    // SAFETY: null, or what `open` has leaked. Acquire: partner of the release there.
    unsafe { ACCOUNT.load(Ordering::Acquire).as_ref() }
}
