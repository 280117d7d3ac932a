//! Barriers: in a page that the members of a group share, or else at the daemon.

use crate::errors::AskError;
use crate::inside::Inside;
use crate::segments::meets::Meets;
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
            None => self.services.meetings.retain(|(name, _)| name != group),
        }
        self.show_barrier(group, count);
        let answer = self.ask(Request::Barrier { group: group.to_owned(), count }, &[], notes)?;
        Ok(match answer.reply {
            Ok(Reply::Done) => {
                self.remember_meeting(group, answer.fds);
                Ok(())
            }
            Ok(_) => Err(ErrorKind::Protocol.into()),
            Err(why) => Err(why),
        })
    }

    /// Names for onlookers the barrier in which this task waits next.
    pub(crate) fn show_barrier(&mut self, group: &str, count: i32) {
        // Most programs come to the same one again and again.
        if (self.services.shown_barrier.0.as_str(), self.services.shown_barrier.1) != (group, count) {
            self.identity.page.set_barrier(group, count);
            self.services.shown_barrier = (group.to_owned(), count);
        }
    }

    /// The page in which the members of a group meet, if this task has it.
    pub(crate) fn meeting(&self, group: &str) -> Option<Arc<GroupSegment>> {
        self.services.meetings.iter().find(|(name, _)| name == group).map(|(_, meeting)| meeting.clone())
    }

    pub(crate) fn remember_meeting(&mut self, group: &str, fds: Vec<OwnedFd>) {
        if let Some(meeting) = fds.first().and_then(|file| GroupSegment::open(file).ok()) {
            meeting.schedule_in(self.identity.page.door().scheduled_in());
            self.services.meetings.push((group.to_owned(), Arc::new(meeting)));
        }
    }

    /// Meets the others in the group's page. Nothing: there is none, or not for this.
    fn meet(
        &mut self,
        group: &str,
        count: i32,
        notes: &Notes,
    ) -> Result<Option<Result<(), Failure>>, AskError> {
        let Some(meeting) = self.meeting(group) else { return Ok(None) };
        // Who waits for sockets as well sleeps in poll(2), where no page wakes anybody.
        if self.must_poll() {
            return Ok(None);
        }
        let wanted = match count {
            -1 => None,
            _ => Some(count as u32),
        };
        let turn = match meeting.arrive(wanted) {
            Arrival::Opened { .. } => return Ok(Some(Ok(()))),
            Arrival::Waits(turn) => turn,
            Arrival::Closed => return Ok(None),
            Arrival::Mismatch => {
                let detail = format!("count {count}, but others wait for another");
                return Ok(Some(Err(Failure::new(ErrorKind::BadParameter, detail))));
            }
        };
        self.show_barrier(group, count);
        self.wait_in(LeftBarrier { group: group.to_owned(), count, meeting, turn }, notes)
    }

    /// Waits in a barrier that this task has come to. Nothing: its page is closed, and the daemon is to be asked.
    fn wait_in(&mut self, here: LeftBarrier, notes: &Notes) -> Result<Option<Result<(), Failure>>, AskError> {
        let LeftBarrier { meeting, turn, .. } = &here;
        self.meets = Some(Meets::all(meeting.clone()));
        let outcome = self.wait_until(notes, |_| meeting.outcome(*turn));
        self.meets = None;
        match outcome {
            Some(Outcome::Opened) => Ok(Some(Ok(()))),
            Some(Outcome::Closed) => Ok(None),
            // A signal: whoever comes again goes on waiting.
            None if notes.call & call::UNTIL_SIGNAL != 0 && !self.is_over() => {
                self.services.left_barrier = Some(here);
                Err(AskError::Late(self.identity.session.daemon()))
            }
            None => Err(AskError::Lost(parvum_task::SessionError::Lost)),
        }
    }
}
