//! Which peers still live: who is asked, and when a silent peer is lost.
//!
//! A mesh asks few peers all the time ([`crate::Mesh::watch`]). It asks another peer as long as the peer has not confirmed a
//! message or a part of a stream. The daemon can ask as well ([`crate::Mesh::probe`]). An idle connection therefore costs
//! nothing but a rare packet. If somebody needs a dead connection, its end is found in time.
//!
//! ```text
//! step      0      1          2      3
//! asks      x      x          x
//! silence          doubtful          lost: within four fifths of `Settings::detect`
//! ```
//!
//! If two meshes watch each other, only the one of the lower host number asks. To the other mesh a question is a sign of
//! life. If nothing comes for a step, the other mesh asks too. If that question stays unanswered, the missing question
//! counts as well: the loss is found as early at both ends.
//!
//! Steps are counted, and not time. A daemon that got no processor for a while looks at its peers one step later: the
//! answers of its peers may be there and unread.

use crate::Host;
use crate::events::{Ended, MeshEvent};
use crate::handshake::refusal::SILENT;
use crate::inner::Inner;
use crate::link::Link;
use bytes::Bytes;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A peer is lost after this number of unanswered questions, a step apart. A missing question of the peer counts too.
const UNANSWERED: u8 = 3;
/// A peer asks regularly after this number of steps with questions.
const REGULARLY: u8 = 2;

/// The signs of life of a peer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pulse {
    /// The peer's frames at the last look. Without a look at the last step there is nothing to compare.
    heard: Option<Heard>,
    /// Questions since the peer was last heard.
    unanswered: u8,
    /// Steps in a row with a question of the peer.
    asked: u8,
    /// The peer asked regularly, and no longer does.
    is_missed: bool,
}

/// Frames that a peer has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Frames that show life.
    pub frames: u64,
    /// Questions among them, if the peer asks and this mesh answers.
    pub questions: u64,
}

/// Why a mesh wants a sign of life.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// The peer has not confirmed everything.
    pub owed: bool,
    /// The peer is watched.
    pub watched: bool,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is no question to ask.
    Quiet,
    /// Ask now.
    Ask,
    /// Ask now. The peer has just left a question unanswered.
    Doubt,
    /// The peer has left all questions unanswered.
    Lost,
}

impl Pulse {
    /// Whether a step can be left out.
    fn is_idle(&self, wanted: Wanted) -> bool {
        self.unanswered == 0 && !wanted.owed && !wanted.watched
    }

    /// One step.
    pub fn step(&mut self, heard: Heard, wanted: Wanted) -> Step {
        let was_asked = self.asked >= REGULARLY;
        match self.heard.replace(heard) {
            Some(before) if before == heard => {
                self.asked = 0;
                self.is_missed |= was_asked;
            }
            before => {
                let is_asked = before.is_some_and(|before| before.questions != heard.questions);
                self.asked = if is_asked { self.asked.saturating_add(1) } else { 0 };
                (self.unanswered, self.is_missed) = (0, false);
                if self.asked >= REGULARLY && !wanted.owed {
                    return Step::Quiet;
                }
            }
        }
        if self.unanswered >= UNANSWERED {
            return Step::Lost;
        }
        if self.is_idle(wanted) {
            return Step::Quiet;
        }
        let before = self.unanswered;
        let missed = u8::from(self.is_missed && before == 1);
        self.unanswered = before.saturating_add(1).saturating_add(missed);
        if before == 1 { Step::Doubt } else { Step::Ask }
    }

    /// A question between two steps. False: the peer has been asked already.
    pub fn ask_now(&mut self, heard: Heard) -> bool {
        if self.heard == Some(heard) && self.unanswered > 0 {
            return false;
        }
        *self = Pulse { heard: Some(heard), unanswered: 1, asked: 0, is_missed: false };
        true
    }
}

impl Link {
    fn heard(&self, me: Host) -> Heard {
        let counts = self.carrier.connection.stats().frame_rx;
        let answers = counts.acks.saturating_add(counts.stream).saturating_add(counts.ping);
        let questions = if self.host < me { counts.datagram } else { 0 };
        Heard { frames: answers.saturating_add(counts.datagram), questions }
    }

    /// Asks the peer for a sign of life. The peer's QUIC answers by itself, also if its daemon is slow to read.
    fn ask(&self) {
        // On an error the connection is over. Its reader reports the end.
        let _ = self.carrier.connection.send_datagram(Bytes::new());
    }

    /// Asks the peer now, unless it was asked.
    pub fn probe(&self, me: Host) {
        let mut pulse = self.pulse.get();
        if pulse.ask_now(self.heard(me)) {
            self.probed.set(Some(Instant::now()));
            self.ask();
        }
        self.pulse.set(pulse);
    }

    /// The peer still has to confirm a message or a part of a stream, or to say where this connection continues.
    fn owes(&self) -> bool {
        self.next.get().is_none() || self.session().is_owed()
    }

    /// True: the peer has left a question unanswered for the first time.
    fn step(&self, mesh: &Inner, watched: bool) -> bool {
        let wanted = Wanted { owed: self.owes(), watched };
        let mut pulse = self.pulse.get();
        if pulse.is_idle(wanted) {
            self.pulse.set(Pulse::default());
            return false;
        }
        let length = mesh.settings.step();
        if self.probed.take().is_some_and(|probed| probed.elapsed() < length.mul_f64(0.5)) {
            // The answer may be on its way.
            return false;
        }
        let step = pulse.step(self.heard(mesh.host()), wanted);
        self.pulse.set(pulse);
        match step {
            Step::Quiet => {}
            Step::Ask | Step::Doubt => self.ask(),
            Step::Lost => {
                let silence = length.saturating_mul(u32::from(UNANSWERED));
                let text = format!("no word from it for {:.1} s", silence.as_secs_f64());
                self.ended.borrow_mut().get_or_insert(Ended::Lost(text));
                self.carrier.connection.close(SILENT, b"");
            }
        }
        step == Step::Doubt
    }
}

/// Looks after all links of a mesh until the mesh ends. `beat` is called at each step.
pub(crate) async fn watch(mesh: Weak<Inner>, step: Duration) {
    let mut was_late = false;
    loop {
        let began = Instant::now();
        // The clock of the mesh: silence makes no event that could wake it.
        sleep(step).await;
        let Some(mesh) = mesh.upgrade().filter(|mesh| !mesh.closing.get()) else { return };
        if let Some(beat) = &*mesh.beat.borrow() {
            beat();
        }
        was_late = !was_late && began.elapsed() > step.saturating_mul(2);
        if was_late {
            continue;
        }
        for host in look_at_all(&mesh) {
            mesh.try_emit(MeshEvent::Doubtful { host });
        }
    }
}

/// One step for each link; the hosts that have become doubtful.
fn look_at_all(mesh: &Rc<Inner>) -> Vec<Host> {
    let links = mesh.table.borrow().links();
    let watched = mesh.watched.borrow();
    let doubtful = links.iter().filter(|link| link.is_up() && link.step(mesh, watched.contains(&link.host)));
    doubtful.map(|link| link.host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Wanted = Wanted { owed: false, watched: false };
    const OWED: Wanted = Wanted { owed: true, watched: false };
    const WATCHED: Wanted = Wanted { owed: false, watched: true };

    fn frames(frames: u64) -> Heard {
        Heard { frames, questions: 0 }
    }

    fn asked(times: u64) -> Heard {
        Heard { frames: times, questions: times }
    }

    #[test]
    fn watched_peer_that_falls_silent_is_doubted_then_lost() {
        let mut pulse = Pulse::default();
        for heard in 1..5 {
            assert_eq!(pulse.step(frames(heard), WATCHED), Step::Ask);
        }
        assert_eq!(pulse.step(frames(4), WATCHED), Step::Doubt);
        assert_eq!(pulse.step(frames(4), WATCHED), Step::Ask);
        assert_eq!(pulse.step(frames(4), WATCHED), Step::Lost);
    }

    #[test]
    fn idle_peer_is_not_asked_and_owing_peer_is_asked_until_it_answers() {
        let mut pulse = Pulse::default();
        assert_eq!(pulse.step(frames(1), NOTHING), Step::Quiet);
        assert_eq!(pulse.step(frames(1), OWED), Step::Ask);
        assert_eq!(pulse.step(frames(1), NOTHING), Step::Doubt);
        assert_eq!(pulse.step(frames(2), NOTHING), Step::Quiet, "it has answered");
        assert_eq!(pulse.step(frames(2), OWED), Step::Ask);
        assert_eq!(pulse.step(frames(2), NOTHING), Step::Doubt, "it is doubted again");
        assert_eq!(pulse.step(frames(2), NOTHING), Step::Ask);
        assert_eq!(pulse.step(frames(2), NOTHING), Step::Lost);
    }

    #[test]
    fn probe_between_steps_counts_as_first_question() {
        let mut pulse = Pulse::default();
        assert!(pulse.ask_now(frames(7)));
        assert!(!pulse.ask_now(frames(7)), "it is on its way");
        assert_eq!(pulse.step(frames(7), NOTHING), Step::Doubt);
        assert_eq!(pulse.step(frames(7), NOTHING), Step::Ask);
        assert_eq!(pulse.step(frames(7), NOTHING), Step::Lost);
        assert_eq!(pulse.step(frames(8), NOTHING), Step::Quiet);
        assert!(pulse.ask_now(frames(8)));
        assert_eq!(pulse.step(frames(9), NOTHING), Step::Quiet);
    }

    #[test]
    fn peer_that_asks_regularly_is_not_asked_until_it_stops() {
        let mut pulse = Pulse::default();
        assert_eq!(pulse.step(asked(1), WATCHED), Step::Ask);
        assert_eq!(pulse.step(asked(2), WATCHED), Step::Ask, "a single question is no habit");
        for times in 3..6 {
            assert_eq!(pulse.step(asked(times), WATCHED), Step::Quiet);
        }
        assert_eq!(pulse.step(asked(5), WATCHED), Step::Ask, "a question is missing");
        assert_eq!(pulse.step(asked(5), WATCHED), Step::Doubt, "and an answer");
        assert_eq!(pulse.step(asked(5), WATCHED), Step::Lost);
    }

    #[test]
    fn late_question_causes_no_doubt_and_other_frames_replace_it() {
        let mut pulse = Pulse::default();
        for times in 1..5 {
            pulse.step(asked(times), WATCHED);
        }
        assert_eq!(pulse.step(asked(4), WATCHED), Step::Ask, "the clocks of two meshes differ");
        assert_eq!(pulse.step(asked(6), WATCHED), Step::Ask);
        let other = Heard { frames: 9, questions: 6 };
        assert_eq!(pulse.step(other, WATCHED), Step::Ask);
        assert_eq!(pulse.step(other, WATCHED), Step::Doubt);
        assert_eq!(pulse.step(other, WATCHED), Step::Ask, "no missing question counts");
    }

    /// The path from this mesh to the peer may be cut in one direction, or the peer may have asked long ago.
    #[test]
    fn peer_that_asks_is_asked_if_it_owes_an_answer() {
        let mut pulse = Pulse::default();
        for times in 1..5 {
            pulse.step(asked(times), WATCHED);
        }
        assert_eq!(pulse.step(asked(5), OWED), Step::Ask);
        let mut pulse = Pulse::default();
        assert_eq!(pulse.step(asked(77), OWED), Step::Ask);
    }
}
