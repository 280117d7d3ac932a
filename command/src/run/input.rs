//! Standard input of `parvum run` goes to one of the tasks.

use parvum_task::{Session, SessionError};
use parvum_wire::Tid;
use parvum_wire::control::{Blob, Request, RequestId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{isatty, tcgetpgrp};

/// So much is on its way at once.
const PIECE: usize = 64 * 1024;

/// Who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Nobody.
    Nobody,
    /// The task of that number.
    Rank(u32),
    /// Every task of the program; each gets the same.
    All,
}

impl Reader {
    /// Whether the task of that number does.
    pub fn is(self, rank: u32) -> bool {
        match self {
            Reader::Nobody => false,
            Reader::Rank(only) => only == rank,
            Reader::All => true,
        }
    }
}

/// Reads `none`, `all`, or a number.
pub fn reader(text: &str) -> Result<Reader, String> {
    match text {
        "none" => Ok(Reader::Nobody),
        "all" => Ok(Reader::All),
        digits => digits.parse().map(Reader::Rank).map_err(|_| "the number of a task, all, or none".into()),
    }
}

/// The way from here to the tasks that read. One piece is on its way at a time: the slowest of them sets the pace, and one
/// that reads nothing stops us.
#[derive(Default)]
pub struct Input {
    to: Vec<Tid>,
    /// Who has not taken the last piece yet.
    under_way: Vec<(RequestId, Tid)>,
}

impl Input {
    /// A task reads it.
    pub fn goes_to(&mut self, tid: Tid) {
        self.to.push(tid);
    }

    /// Whether the next piece is wanted. One in the background of a terminal would be stopped for reading.
    pub fn wants(&self) -> bool {
        let in_front = || !isatty(stdin()) || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        !self.to.is_empty() && self.under_way.is_empty() && in_front()
    }

    /// Nobody reads it any more.
    pub fn close(&mut self) {
        self.to.clear();
    }

    /// Sends on what there is, as far as the tasks take it.
    pub fn carry(&mut self, session: &mut Session) -> Result<(), SessionError> {
        let to = &mut self.to;
        self.under_way.retain(|(id, tid)| match session.take_reply(*id) {
            None => true,
            Some(answer) => {
                if answer.reply.is_err() {
                    // It has ended, or reads no more; others may go on.
                    to.retain(|reader| reader != tid);
                }
                false
            }
        });
        if !self.wants() || !is_readable() {
            return Ok(());
        }
        let mut piece = vec![0; PIECE];
        let length = match rustix::io::read(stdin(), &mut piece) {
            Ok(length) => length,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // What cannot be read has ended.
            Err(_) => 0,
        };
        piece.truncate(length);
        for &tid in &self.to {
            let id = session.start(Request::Input { tid, data: Blob(piece.clone()) })?;
            self.under_way.push((id, tid));
        }
        if length == 0 {
            self.close();
        }
        Ok(())
    }
}

fn is_readable() -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&stdin(), PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}
