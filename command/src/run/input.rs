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
}

/// Reads `none`, or a number.
pub fn reader(text: &str) -> Result<Reader, String> {
    match text {
        "none" => Ok(Reader::Nobody),
        digits => digits.parse().map(Reader::Rank).map_err(|_| "the number of a task, or none".into()),
    }
}

/// The way from here to the task. One piece is on its way at a time: a task that reads nothing stops us.
pub struct Input {
    to: Option<Tid>,
    under_way: Option<RequestId>,
}

impl Input {
    /// Input for that task, or for nobody.
    pub fn to(to: Option<Tid>) -> Input {
        Input { to, under_way: None }
    }

    /// Whether the next piece is wanted. One in the background of a terminal would be stopped for reading.
    pub fn wants(&self) -> bool {
        let in_front = || !isatty(stdin()) || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        self.to.is_some() && self.under_way.is_none() && in_front()
    }

    /// Nobody reads it any more.
    pub fn close(&mut self) {
        self.to = None;
    }

    /// Sends on what there is, as far as the task takes it.
    pub fn carry(&mut self, session: &mut Session) -> Result<(), SessionError> {
        if let Some(answer) = self.under_way.and_then(|id| session.take_reply(id)) {
            self.under_way = None;
            if answer.reply.is_err() {
                self.close();
            }
        }
        let Some(tid) = self.to.filter(|_| self.wants() && is_readable()) else { return Ok(()) };
        let mut piece = vec![0; PIECE];
        let length = match rustix::io::read(stdin(), &mut piece) {
            Ok(length) => length,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // What cannot be read has ended.
            Err(_) => 0,
        };
        piece.truncate(length);
        self.under_way = Some(session.start(Request::Input { tid, data: Blob(piece) })?);
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
