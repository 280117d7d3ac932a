//! The starter of this daemon: the daemon tells it the result of the start, and then lets go of its streams.

use parvum_socket::MachineDirectory;
use std::fs::OpenOptions;
use std::io::{self, Write};

/// Tells the starter of this daemon the result.
pub(crate) fn notify_starter(text: &str) {
    let mut out = io::stdout();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Puts the log behind the standard streams, so that even a panic is on record,
/// and lets go of the starter's pipe.
pub(crate) fn detach(place: &MachineDirectory) {
    let log = OpenOptions::new().append(true).open(place.log());
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    if let Ok(null) = &null {
        let _ = rustix::stdio::dup2_stdin(null);
    }
    if let Ok(target) = log.or(null) {
        let _ = rustix::stdio::dup2_stdout(&target);
        let _ = rustix::stdio::dup2_stderr(&target);
    }
}
