//! The harness of threads: no thread of a program stands still because another one waits, copies or connects.
//!
//! The programs are `tests/programs/*beside.c`. Each makes every call of its interface that waits, one after the other, in one thread. Its
//! second thread works meanwhile, and its longest pause is judged: `tests/programs/include/beside.h`.

use crate::TestMachine;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Events of the partner, or of the daemon, during a call.
pub fn situations() -> impl Iterator<Item = &'static str> {
    // 256 MiB on their way take long.
    ["silent", "stopped", "daemon", "long"]
        .into_iter()
        .filter(|situation| *situation != "long" || !crate::is_quick())
}

/// Programs of the harness do not disturb one another.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a program of the harness; so many calls must be judged good.
pub fn judge(machine: &TestMachine, command: &mut Command, calls: usize) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let daemon = machine.daemon_pid().to_string();
    let done = command.env("BESIDE_DAEMON", daemon).output().expect("it runs");
    let (said, complaints) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{complaints}");
    assert_eq!(said.matches("good: ").count(), calls, "{said}{complaints}");
}
