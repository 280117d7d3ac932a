//! The runtime: engine, session and transports of one process, and the step that moves them on.

use crate::connections::Connections;
use crate::identity::Identity;
use crate::inside::Inside;
use crate::recording;
use crate::routes::RoutePolicy;
use crate::services::Services;
use crate::transports;
use crate::waiting::NAP;
use crate::waits::Waits;
use parvum_engine::{Engine, Settings};
use parvum_shm::PageInbox;
use parvum_task::SessionError;
use parvum_waist::Notes;
use parvum_wire::Tid;
use parvum_wire::control::{Request, Role};
use rustix::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::Instant;

/// Everything a task has while it is part of a machine.
pub(crate) struct Runtime {
    pub(crate) engine: Engine,
    pub(crate) identity: Identity,
    pub(crate) connections: Connections,
    pub(crate) waits: Waits,
    pub(crate) services: Services,
    /// The task has left the machine; what is here stays for the threads that still wait.
    pub(crate) has_left: bool,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("E-OPTION: {name}={value} makes no sense; use {use_one_of}")]
    Option { name: &'static str, value: String, use_one_of: String },
    #[error("E-PROTOCOL: the daemon gave this task no page; use command and libraries of one release")]
    NoPage,
    #[error("E-PROTOCOL: {0}")]
    Page(#[from] parvum_page::PageError),
}

impl Runtime {
    /// Joins the machine in this role, starting it if there is none. `beside` is where this library lies.
    pub(crate) fn start(role: Role, interface: &str, beside: Option<PathBuf>) -> Result<Runtime, StartError> {
        let routes = route_policy()?;
        let credit = number_option("PARVUM_CREDIT", Settings::default().credit)?;
        let memory = match number_option("PARVUM_MEMORY", 0)? {
            0 => None,
            bytes => Some(bytes),
        };
        let single_copy = match std::env::var("PARVUM_SINGLE_COPY").as_deref() {
            Err(_) | Ok("" | "on") => true,
            Ok("off") => false,
            Ok(other) => {
                let value = other.to_owned();
                return Err(StartError::Option {
                    name: "PARVUM_SINGLE_COPY",
                    value,
                    use_one_of: "on or off".into(),
                });
            }
        };
        let (identity, ledger) = Identity::enrol(role, interface, beside, &routes.names())?;
        let mut engine = Engine::new(identity.session.me.tid, Settings { credit }, ledger);
        engine.set_inbox(Box::new(PageInbox::new(identity.page.clone())));
        if let Some(recording) = &identity.recording {
            engine.record_to(Box::new(recording::Messages(recording.clone())));
        }
        let connections = Connections::new(routes, single_copy);
        let (waits, services) = (Waits::new(), Services::new(memory));
        Ok(Runtime { engine, identity, connections, waits, services, has_left: false })
    }

    /// Moves everything on. Whether anything moved. Never blocks.
    #[inline]
    pub(crate) fn progress(&mut self) -> bool {
        let moved = self.engine.progress();
        self.waits.waiters.stirred |= moved;
        if self.identity.has_news() {
            self.attend();
            return true;
        }
        if self.has_sockets() {
            return self.tend_sockets() || moved;
        }
        moved
    }

    /// Whether something may come that no door is rung for.
    #[inline]
    pub(crate) fn has_sockets(&self) -> bool {
        self.connections.has_sockets()
    }

    /// Whether nothing will come any more: the daemon is lost, or the task has left.
    pub(crate) fn is_over(&self) -> bool {
        self.identity.session.is_lost() || self.has_left
    }

    /// Gives back memory of pairs that are idle, now and then.
    pub(crate) fn rest(&mut self, now: Instant) {
        if self.waits.has_rested(now) {
            self.engine.rest();
        }
    }

    fn is_unacknowledged(&self) -> bool {
        let open = |peer: Tid| self.engine.is_attached(peer, parvum_tcp::TRANSPORT.route);
        let mut sockets = self.connections.watched.iter();
        sockets.any(|(peer, socket)| open(*peer) && crate::process::unacknowledged(socket.as_fd()) > 0)
    }
}

impl Inside {
    /// Asks the daemon, going on with messages meanwhile.
    pub(crate) fn ask(
        &mut self,
        request: Request,
        fds: &[BorrowedFd<'_>],
        notes: &Notes,
    ) -> Result<parvum_task::Answer, AskError> {
        let id = self.identity.session.start_with(request, fds).map_err(AskError::Lost)?;
        let answer = self.wait_until(notes, |runtime| {
            if let Some(answer) = runtime.identity.session.take_reply(id) {
                return Some(Ok(answer));
            }
            runtime.identity.session.is_lost().then(|| Err(AskError::Lost(SessionError::Lost)))
        });
        match answer {
            Some(answer) => answer,
            None if self.identity.session.is_lost() => Err(AskError::Lost(SessionError::Lost)),
            None => Err(AskError::Late),
        }
    }

    /// Hands over everything that was sent, then tells the daemon that this task leaves.
    pub(crate) fn depart(&mut self) {
        let notes = Notes { limit: -1, call: parvum_waist::call::EXIT, peer: -1, tag: -1, context: -1 };
        self.engine.leave();
        let flushed = |runtime: &mut Runtime| (runtime.engine.unfinished() == 0).then_some(());
        self.wait_until(&notes, flushed);
        self.await_acknowledgements(&notes);
        if !self.identity.session.is_lost()
            && let Ok(id) = self.identity.session.start(Request::Depart)
        {
            let brief = Notes { limit: 1_000_000_000, ..notes };
            self.wait_until(&brief, |runtime| {
                (runtime.identity.session.take_reply(id).is_some() || runtime.identity.session.is_lost())
                    .then_some(())
            });
        }
    }

    /// Waits until the systems of the peers have what was sent by TCP. A socket that is closed
    /// while something unread lies in it, or comes later, takes back what is still in its buffer.
    fn await_acknowledgements(&mut self, notes: &Notes) {
        // Nothing rings for an acknowledgement.
        let nap = Notes { limit: NAP.as_nanos() as i64, ..*notes };
        let arrived = |runtime: &mut Runtime| (!runtime.is_unacknowledged()).then_some(());
        while self.wait_until(&nap, arrived).is_none() && !self.identity.session.is_lost() {}
    }
}

/// Why the daemon gave no answer.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The time was over.
    Late,
    /// The session is no more.
    Lost(SessionError),
}

fn route_policy() -> Result<RoutePolicy, StartError> {
    let name = std::env::var("PARVUM_ROUTE").ok().filter(|name| !name.is_empty() && name != "auto");
    RoutePolicy::new(&transports::ALL, name.as_deref()).map_err(|use_one_of| StartError::Option {
        name: "PARVUM_ROUTE",
        value: name.unwrap_or_default(),
        use_one_of,
    })
}

fn number_option(name: &'static str, default: u64) -> Result<u64, StartError> {
    match std::env::var(name) {
        Err(_) => Ok(default),
        Ok(text) => match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => {
                let use_one_of = "a positive number of bytes".into();
                Err(StartError::Option { name, value: text, use_one_of })
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use parvum_engine::Counter;
    use parvum_page::COUNTER_NAMES;

    #[test]
    fn the_page_names_the_counters_as_the_engine_numbers_them() {
        for (counter, name) in [
            (Counter::Sent, "messages sent"),
            (Counter::PulledBytes, "bytes fetched from their sender"),
            (Counter::Unexpected, "messages that found none"),
            (Counter::BufferedAtSender, "bytes buffered here, at the sender"),
            (Counter::CreditStalls, "sends that waited for credit"),
            (Counter::Refused, "single copies the system refused"),
            (Counter::WaitingSends, "sends under way now"),
            (Counter::CopiedFromHere, "bytes copied out of what was buffered here"),
        ] {
            assert_eq!(COUNTER_NAMES[counter as usize], name);
        }
    }
}
