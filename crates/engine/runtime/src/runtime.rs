//! The runtime: engine, session and transports of one process. [`crate::progress`] makes its progress.

use crate::connecting::connections::Connections;
use crate::connecting::routes::RoutePolicy;
use crate::connecting::transports::parts;
use crate::errors::StartError;
use crate::identity::Identity;
use crate::services::Services;
use crate::status::recording;
use crate::waiting::away::LONG;
use crate::waiting::waits::Waits;
use parvum_api::{Notes, call};
use parvum_control::Happening;
use parvum_engine::{Counter, Engine, Settings};
use parvum_wire::calls;
use parvum_wire::control::Role;
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

impl Runtime {
    /// Joins the machine in this role, starting it if there is none. `beside` is where this library lies, and `routes` the ways that
    /// messages may take.
    pub(crate) fn start(
        role: Role,
        interface: &str,
        beside: Option<PathBuf>,
        routes: RoutePolicy,
    ) -> Result<Runtime, StartError> {
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
        engine.leave_copies_of(LONG);
        engine.learn_by(parvum_control::monotonic_ns);
        engine.set_inbox(parts::inbox(identity.control_block.clone()));
        if let Some(recording) = &identity.recording {
            engine.record_to(Box::new(recording::Messages(recording.clone())));
        }
        let connections = Connections::new(routes, single_copy);
        let (waits, services) = (Waits::new(), Services::new(memory));
        Ok(Runtime { engine, identity, connections, waits, services, has_left: false })
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

    /// A call that is timed is over.
    #[cold]
    pub(crate) fn ends_call(&mut self, begun: (Instant, u64)) {
        let (looking, in_calls) = self.waits.time.ends_call(begun);
        let ledger = self.engine.ledger();
        ledger.add(Counter::Looking, looking);
        ledger.add(Counter::InCalls, in_calls);
        self.rest(begun.0);
    }

    /// The task is about to wait.
    #[inline]
    pub(crate) fn note_wait(&self, notes: &Notes) {
        if let Some(recording) = &self.identity.recording {
            let &Notes { call, peer, tag, .. } = notes;
            let (kind, word) = calls::apart(call);
            recording.record(Happening::Waits { kind: kind as u8, word, peer, tag });
        }
    }

    /// It has what it waited for, or gives up.
    #[inline]
    pub(crate) fn note_end_of_wait(&self, notes: &Notes) {
        let Some(recording) = &self.identity.recording else { return };
        // The message that it waited for was noted a moment ago.
        recording.note_with_last(Happening::GoesOn, |last| match last {
            Happening::Received { peer, tag, .. } => {
                let fits = |wanted: i32, found: i32| wanted == -1 || wanted == found;
                calls::apart(notes.call).0 == call::RECEIVE && fits(notes.peer, peer) && fits(notes.tag, tag)
            }
            _ => false,
        });
    }

    /// Gives back memory of pairs that are idle, now and then.
    pub(crate) fn rest(&mut self, now: Instant) {
        if self.waits.has_rested(now) {
            self.engine.rest();
        }
    }
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
    use parvum_control::COUNTER_NAMES;
    use parvum_engine::Counter;

    #[test]
    fn control_block_counter_names_equal_engine_indices() {
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
