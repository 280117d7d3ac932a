//! Variables of libpvm3 that programs read. PVM's library lives by them; ours keeps them true.

use crate::options;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

macro_rules! variables {
    ($($(#[$doc:meta])* $symbol:literal $name:ident = $value:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(export_name = $symbol)]
        pub static $name: AtomicI32 = AtomicI32::new($value);
    )*};
}

variables! {
    /// This task; -1 before it is one.
    "pvmmytid" MY_TID = -1;
    /// Its parent, 0 for none; -1 before it is a task.
    "pvmmyptid" MY_PARENT = -1;
    /// Its process; -1 before it is a task.
    "pvmmyupid" MY_PROCESS = -1;
    /// Its context.
    "pvmmyctx" MY_CONTEXT = 0;
    /// The resource manager that looks after it; 0 for none.
    "pvmschedtid" SCHEDULER = 0;
    /// How failures are reported: `PvmAutoErr`.
    "pvmautoerr" AUTO_ERROR = 1;
    /// Which way messages take: `PvmRoute`.
    "pvmrouteopt" ROUTE = 2;
    /// `PvmDebugMask`.
    "pvmdebmask" DEBUG_MASK = 0;
    /// `PvmFragSize`.
    "pvmfrgsiz" FRAGMENT_SIZE = 4080;
    /// `PvmShowTids`.
    "pvmshowtaskid" SHOW_TIDS = 1;
    /// `PvmNoReset`.
    "pvmnoreset" NO_RESET = 0;
    /// The user; -1 before this process is a task.
    "pvm_useruid" USER = -1;
}

/// Keeps the variables of who this task is.
pub(crate) fn publish_identity(tid: c_int, parent: c_int) {
    let enrolled = tid > 0;
    // Relaxed: the program's own threads order what they do with it.
    let set = |variable: &AtomicI32, value: c_int| variable.store(value, Ordering::Relaxed);
    set(&MY_TID, if enrolled { tid } else { -1 });
    set(&MY_PARENT, if enrolled { parent } else { -1 });
    set(&MY_PROCESS, if enrolled { std::process::id() as c_int } else { -1 });
    // SAFETY: asks the kernel and touches no memory.
    set(&USER, if enrolled { unsafe { libc::getuid() as c_int } } else { -1 });
}

/// The task's own id; not positive if the process is not a task.
pub(crate) fn own_tid() -> c_int {
    // Relaxed: see `publish_identity`.
    MY_TID.load(Ordering::Relaxed)
}

/// Keeps the variable of the resource manager.
pub(crate) fn publish_manager(tid: c_int) {
    SCHEDULER.store(tid, Ordering::Relaxed);
}

/// Keeps the variable of the context.
pub(crate) fn publish_context(context: u32) {
    MY_CONTEXT.store(context as c_int, Ordering::Relaxed);
}

/// Keeps the variable of an option, if it has one.
pub(super) fn publish_option(what: c_int, value: c_int) {
    let variable = match what {
        options::ROUTE => &ROUTE,
        options::AUTO_ERR => &AUTO_ERROR,
        options::DEBUG_MASK => &DEBUG_MASK,
        options::FRAGMENT_SIZE => &FRAGMENT_SIZE,
        options::SHOW_TIDS => &SHOW_TIDS,
        options::NO_RESET => &NO_RESET,
        _ => return,
    };
    variable.store(value, Ordering::Relaxed);
}

/// The texts of the error codes, by number without its sign.
#[repr(transparent)]
pub struct Texts([*const c_char; TEXTS]);

// SAFETY: the texts are constants.
unsafe impl Sync for Texts {}

const TEXTS: usize = 37;

/// How many texts there are.
#[unsafe(export_name = "pvm_nerr")]
pub static TEXT_COUNT: c_int = TEXTS as c_int;

/// The texts of the error codes, by number without its sign.
#[unsafe(export_name = "pvm_errlist")]
pub static TEXT_LIST: Texts = Texts({
    let mut list = [std::ptr::null(); TEXTS];
    let mut at = 0;
    while at < TEXTS {
        list[at] = crate::errors::c_text(at).as_ptr();
        at += 1;
    }
    list
});
