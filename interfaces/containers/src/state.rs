//! The state of one conversation, as the program sees it: the protocol, and the reaction to a timeout.

use std::fmt;
use std::time::Duration;

/// How one message goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// All of them arrive, once and in order; the sender waits while the container is full.
    #[default]
    Reliable,
    /// A datagram may be lost, or arrive after a later one. If the container is full, the datagram is dropped and
    /// counted.
    Datagram,
}

/// The decision of a timer's handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The call ends with [`Error::TimedOut`](crate::Error::TimedOut).
    GiveUp = 0,
    /// Send once more what is not answered, and wait for as long again. If the port loses no messages, this is the same
    /// as waiting again.
    Again = 1,
    /// Wait for as long again.
    WaitOn = 2,
}

/// Decides when a timer has expired.
pub type Handler = Box<dyn FnMut(&mut ClientState) -> Decision + Send>;

/// The client's side of a conversation. Many calls may use one such state, one after the other.
#[derive(Default)]
pub struct ClientState {
    protocol: Protocol,
    timer: Option<Duration>,
    handler: Option<Handler>,
    expiries: u32,
    in_a_row: u32,
    repeats: u64,
    dropped: u64,
}

impl ClientState {
    /// Without timer: a call waits until its answer comes, or its server is gone.
    pub fn new(protocol: Protocol) -> ClientState {
        ClientState { protocol, ..ClientState::default() }
    }

    /// How messages of this conversation go.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// From now on, a call that has waited this time without an answer calls the handler with this state. The time of
    /// the call begins again with each decision. Without a handler the call gives up. Zero: no timer.
    pub fn set_timer(&mut self, time: Duration, handler: Option<Handler>) {
        self.timer = (!time.is_zero()).then_some(time);
        self.handler = handler;
    }

    /// The time after which the handler is asked.
    pub fn timer(&self) -> Option<Duration> {
        self.timer
    }

    /// How often the timer has expired, in all calls.
    pub fn expiries(&self) -> u32 {
        self.expiries
    }

    /// How often it has expired in the call under way.
    pub fn expiries_in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Messages that were sent again, or fragments of them.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Datagrams that were dropped here because the container was full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// A message is about to be sent: no wait for it is over yet. For ports.
    pub fn begin(&mut self) {
        self.in_a_row = 0;
    }

    pub(crate) fn has_dropped(&mut self) {
        self.dropped += 1;
    }

    /// Counts messages that a port sent once more.
    pub fn has_repeated(&mut self, count: u64) {
        self.repeats += count;
    }

    /// Decides what to do when the time is over. For ports.
    pub fn expire(&mut self) -> Decision {
        self.expiries += 1;
        self.in_a_row += 1;
        let Some(mut handler) = self.handler.take() else { return Decision::GiveUp };
        let decision = handler(self);
        // The handler may have set another.
        self.handler.get_or_insert(handler);
        decision
    }
}

impl fmt::Debug for ClientState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClientState { protocol, timer, expiries, repeats, dropped, .. } = self;
        let mut all = f.debug_struct("ClientState");
        all.field("protocol", protocol).field("timer", timer).field("expiries", expiries);
        all.field("repeats", repeats).field("dropped", dropped).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_expiry_gives_up_without_handler() {
        assert_eq!(ClientState::default().expire(), Decision::GiveUp);
    }

    #[test]
    fn handler_decides_on_expiry_and_may_replace_itself() {
        let mut state = ClientState::new(Protocol::Reliable);
        let second = |state: &mut ClientState| match state.expiries_in_a_row() {
            1..=3 => Decision::Again,
            _ => Decision::GiveUp,
        };
        let first = move |state: &mut ClientState| {
            state.set_timer(Duration::from_millis(2), Some(Box::new(second)));
            Decision::WaitOn
        };
        state.set_timer(Duration::from_millis(1), Some(Box::new(first)));
        state.begin();
        let all: Vec<_> = (0..4).map(|_| state.expire()).collect();
        assert_eq!(all, [Decision::WaitOn, Decision::Again, Decision::Again, Decision::GiveUp]);
        assert_eq!((state.timer(), state.expiries()), (Some(Duration::from_millis(2)), 4));
        state.begin();
        assert_eq!((state.expiries_in_a_row(), state.expiries()), (0, 4));
        state.set_timer(Duration::ZERO, None);
        assert_eq!(state.timer(), None);
    }
}
