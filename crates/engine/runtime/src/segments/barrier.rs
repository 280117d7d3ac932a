//! Barriers: in the segment of the group if this task has mapped it, else at the daemon.

use crate::errors::AskError;
use crate::inside::Inside;
use crate::segments::awaited::InSegment;
use crate::services::LeftBarrier;
use parvum_api::{Notes, call};
use parvum_segment::{Arrival, GroupSegment, Outcome};
use parvum_wire::control::{ErrorKind, Failure, Reply, Request};
use rustix::fd::OwnedFd;
use std::sync::Arc;

impl Inside {
    /// Waits until `count` members (-1: all) of the group have come.
    pub(crate) fn barrier(
        &mut self,
        group: &str,
        count: i32,
        notes: &Notes,
    ) -> Result<Result<(), Failure>, AskError> {
        let comes_again = |left: &LeftBarrier| left.group == group && left.count == count;
        let met = match self.services.left_barrier.take_if(|left| comes_again(left)) {
            Some(left) => self.wait_in(left, notes),
            None => self.meet(group, count, notes),
        };
        match met? {
            Some(result) => return Ok(result),
            None => self.services.mapped.retain(|(name, _)| name != group),
        }
        self.show_barrier(group, count);
        let answer = self.ask(Request::Barrier { group: group.to_owned(), count }, &[], notes)?;
        Ok(match answer.reply {
            Ok(Reply::Done) => {
                self.remember_segment(group, answer.fds);
                Ok(())
            }
            Ok(_) => Err(ErrorKind::Protocol.into()),
            Err(why) => Err(why),
        })
    }

    /// Names for tools the barrier in which this task waits next.
    pub(crate) fn show_barrier(&mut self, group: &str, count: i32) {
        // Most programs come to the same barrier again and again.
        if (self.services.shown_barrier.0.as_str(), self.services.shown_barrier.1) != (group, count) {
            self.identity.control_block.set_barrier(group, count);
            self.services.shown_barrier = (group.to_owned(), count);
        }
    }

    /// The segment of a group, if this task has mapped it.
    pub(crate) fn segment_of(&self, group: &str) -> Option<Arc<GroupSegment>> {
        self.services.mapped.iter().find(|(name, _)| name == group).map(|(_, shared)| shared.clone())
    }

    pub(crate) fn remember_segment(&mut self, group: &str, fds: Vec<OwnedFd>) {
        if let Some(shared) = fds.first().and_then(|file| GroupSegment::open(file).ok()) {
            shared.schedule_in(self.identity.control_block.door().scheduled_in());
            self.services.mapped.push((group.to_owned(), Arc::new(shared)));
        }
    }

    /// Passes the barrier in the group's segment. `None`: there is no segment, or no segment for this count.
    fn meet(
        &mut self,
        group: &str,
        count: i32,
        notes: &Notes,
    ) -> Result<Option<Result<(), Failure>>, AskError> {
        let Some(shared) = self.segment_of(group) else { return Ok(None) };
        // A task that waits for sockets as well sleeps in poll(2), from which no futex wakes it.
        if self.must_poll() {
            return Ok(None);
        }
        let wanted = match count {
            -1 => None,
            _ => Some(count as u32),
        };
        let round = match shared.arrive(wanted) {
            Arrival::Opened { .. } => return Ok(Some(Ok(()))),
            Arrival::Waits(round) => round,
            Arrival::Closed => return Ok(None),
            Arrival::Mismatch => {
                let detail = format!("count {count}, but others wait for another");
                return Ok(Some(Err(Failure::new(ErrorKind::BadParameter, detail))));
            }
        };
        self.show_barrier(group, count);
        self.wait_in(LeftBarrier { group: group.to_owned(), count, shared, round }, notes)
    }

    /// Waits in a barrier that this task has come to. Nothing: its segment is closed, and the daemon must be asked.
    fn wait_in(&mut self, here: LeftBarrier, notes: &Notes) -> Result<Option<Result<(), Failure>>, AskError> {
        let LeftBarrier { shared, round, .. } = &here;
        self.awaits_in_segment = Some(InSegment::all(shared.clone()));
        let outcome = self.wait_until(notes, |_| shared.outcome(*round));
        self.awaits_in_segment = None;
        match outcome {
            Some(Outcome::Opened) => Ok(Some(Ok(()))),
            Some(Outcome::Closed) => Ok(None),
            // A signal: the next call continues the wait.
            None if notes.call & call::UNTIL_SIGNAL != 0 && !self.is_over() => {
                self.services.left_barrier = Some(here);
                Err(AskError::Late(self.identity.session.daemon()))
            }
            None => Err(AskError::Lost(parvum_task::SessionError::Lost)),
        }
    }
}
