//! Asking the daemon.

use crate::errors::AskError;
use crate::inside::Inside;
use parvum_api::{Notes, call};
use parvum_task::SessionError;
use parvum_wire::control::Request;
use rustix::fd::BorrowedFd;

/// The daemon answers at once; a minute means that it hangs.
pub(crate) const MINUTE: Notes =
    Notes { limit: 60_000_000_000, call: call::MACHINE, peer: -1, tag: -1, context: -1 };

impl Inside {
    /// Asks the daemon, and handles messages during the wait. If a signal has ended the wait without an answer, the
    /// same request later waits for this answer, and is not sent again.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        fds: &[BorrowedFd<'_>],
        notes: &Notes,
    ) -> Result<parvum_task::Answer, AskError> {
        let until_signal = notes.call & call::UNTIL_SIGNAL != 0;
        let asked = until_signal.then(|| request.clone());
        let before = self.services.interrupted.iter().position(|(asked, _)| *asked == request);
        let id = match before {
            Some(at) => self.services.interrupted.swap_remove(at).1,
            None => self.identity.session.start_with(request, fds).map_err(AskError::Lost)?,
        };
        let answer = self.wait_until(notes, |runtime| {
            if let Some(answer) = runtime.identity.session.take_reply(id) {
                return Some(Ok(answer));
            }
            runtime.identity.session.is_lost().then(|| Err(AskError::Lost(SessionError::Lost)))
        });
        match answer {
            Some(answer) => answer,
            None if self.identity.session.is_lost() => Err(AskError::Lost(SessionError::Lost)),
            None => {
                match asked {
                    Some(request) => self.services.interrupted.push((request, id)),
                    None => self.identity.session.forget(id),
                }
                Err(AskError::Late(self.identity.session.daemon()))
            }
        }
    }
}
