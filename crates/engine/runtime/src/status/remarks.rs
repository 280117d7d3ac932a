//! Messages of the library to people, on standard error.
//!
//! The library prints them under the engine's lock, so it never waits for a reader of standard error. A line that would
//! wait is kept. It is written at the next remark, at the next event of the daemon, or when the task leaves, if there
//! is room by then.

use parvum_sync::BiasedLock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use std::fmt::Display;

/// No more lines are kept: the first ones name the cause.
const MOST: usize = 32;
/// A pipe with room takes this many bytes at once.
const AT_ONCE: usize = 4096;

static KEPT: BiasedLock<Vec<String>> = BiasedLock::new(Vec::new());

/// Prints a remark.
pub(crate) fn say(what: impl Display) {
    let who = format!("libparvum [pid{}]", std::process::id());
    let line = parvum_errors::shown(&who, &what.to_string()) + "\n";
    // A signal handler that has interrupted this function prints nothing.
    if let Some(mut kept) = KEPT.take_unless_own() {
        if kept.len() < MOST {
            kept.push(line);
        }
        bring_out(&mut kept, rustix::stdio::stderr());
    }
}

/// Prints kept remarks, if there is room now.
pub(crate) fn say_kept() {
    if let Some(mut kept) = KEPT.take_unless_own()
        && !kept.is_empty()
    {
        bring_out(&mut kept, rustix::stdio::stderr());
    }
}

fn bring_out(kept: &mut Vec<String>, to: BorrowedFd<'_>) {
    let written = kept.iter().take_while(|line| is_done_with(line, to)).count();
    kept.drain(..written);
}

/// Writes a line if that does not wait. False: it would. A pipe without a reader gets nothing.
fn is_done_with(line: &str, to: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(to, PollFlags::OUT)];
    match poll(&mut fds, Some(&Timespec::default())) {
        Ok(0) => return false,
        Ok(_) if fds[0].revents() == PollFlags::OUT => {
            let _ = rustix::io::write(to, &line.as_bytes()[..line.len().min(AT_ONCE)]);
        }
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::{AsFd, OwnedFd};
    use rustix::pipe::{PipeFlags, pipe_with};

    /// A pipe, and how many bytes fill it.
    fn full() -> (OwnedFd, OwnedFd, usize) {
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).expect("a pipe");
        let mut length = 0;
        while let Ok(more) = rustix::io::write(&writer, &[b'x'; AT_ONCE]) {
            length += more;
        }
        (reader, writer, length)
    }

    #[test]
    fn lines_for_full_pipe_are_buffered_in_order() {
        let (reader, writer, length) = full();
        let mut kept = vec!["one\n".to_owned(), "two\n".to_owned()];
        bring_out(&mut kept, writer.as_fd());
        assert_eq!(kept.len(), 2);
        let mut taken = 0;
        while taken < length {
            taken += rustix::io::read(&reader, &mut [0; AT_ONCE]).expect("it is full");
        }
        bring_out(&mut kept, writer.as_fd());
        assert!(kept.is_empty());
        let mut said = [0; 16];
        let length = rustix::io::read(&reader, &mut said).expect("both lines");
        assert_eq!(&said[..length], b"one\ntwo\n");
    }

    #[test]
    fn lines_for_closed_pipe_are_dropped() {
        let (reader, writer, _) = full();
        drop(reader);
        let mut kept = vec!["one\n".to_owned()];
        bring_out(&mut kept, writer.as_fd());
        assert!(kept.is_empty());
    }
}
