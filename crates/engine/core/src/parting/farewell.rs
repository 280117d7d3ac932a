//! Farewell: how a task and a peer part, for all reasons and sources.
//!
//! The first sign of a peer's end may be a report of the daemon, a broken link, a send that is refused for good, or
//! missing memory during a fetch. All signs go to one small state machine, without links or clock:
//!
//! ```text
//! staying    the machine says so, and more may come by itself     -> listening
//!            the machine says so; the link that it was reached by,
//!            or its last, breaks; a send is refused               -> ending
//!            it is found dead                                     -> ending, dead
//! listening  something comes from it                              -> listening anew
//!            no way is left by which anything could come,
//!            or nothing came for `QUIET`                          -> ending
//!            it is found dead                                     -> ending, dead
//! ending     what lies here of it is received, and the rest ended -> gone
//! gone       it is joined again, or asked about anew              -> staying
//! ```
//!
//! Links of two kinds bring last words. Data in shared memory is already there, and is received in the state *ending*.
//! Data in a stream may arrive later, and the stream ends after it. The task *listens* for this data. The engine
//! fetches nothing more from a *dead* peer, because messages after a lost message must not be received.
//!
//! The task itself goes by the same words. [`Engine::leave`](crate::Engine::leave) asks the peers to fetch the offered
//! data. [`Engine::unfinished`](crate::Engine::unfinished) shows when the peers or the system have all of it. Then the
//! links of the task end, which is the sign for the peers.

use parvum_transport::Route;
use parvum_wire::Tid;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

/// The silence after which a peer whose end was reported counts as gone, even if its links have not ended. A forked
/// child of it may hold them open.
pub(crate) const QUIET: Duration = Duration::from_secs(3);

/// The stage of a peer that is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The end of the peer was reported. Its last messages may still come.
    Listening(Listening),
    /// Nothing more comes than lies here already. Dead: nor may that be fetched.
    Ending { dead: bool },
}

/// How a peer is listened to that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listening {
    /// Over which routes more may come. They end by themselves.
    pub(crate) over: [bool; Route::BOUND],
    /// A link was announced over which more may come.
    pub(crate) announced: bool,
    /// When it was looked last whether something had come, and it had, by the caller's clock.
    pub(crate) quiet_since: Duration,
    /// Something has come since.
    pub(crate) heard: bool,
    /// The message that was expected then.
    pub(crate) expected: u32,
}

/// A sign of a peer's end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News {
    /// The daemon reports its end; whether and how more may come.
    Told(Option<Listening>),
    /// The link broke by which it was reached, or its last, or a send was refused for good; whether more may come otherwise.
    Cut { more: bool },
    /// Its memory is gone.
    Dead,
    /// Something came from it.
    Heard,
    /// Time has passed; whether more may come, and the message that is expected now.
    Waited { more: bool, announced: bool, expected: u32, now: Duration },
}

impl Stage {
    /// The stage of a peer after this sign; `None` is staying.
    pub(crate) fn after(stage: Option<Stage>, news: News) -> Option<Stage> {
        let ending = Some(Stage::Ending { dead: false });
        match (stage, news) {
            (_, News::Dead) => Some(Stage::Ending { dead: true }),
            (Some(Stage::Ending { .. }), _) => stage,
            (None, News::Heard | News::Waited { .. }) => None,
            (None, News::Told(Some(listening))) => Some(Stage::Listening(listening)),
            (_, News::Told(None)) | (None, News::Cut { .. }) => ending,
            (Some(Stage::Listening(old)), News::Told(Some(new))) => {
                let mut over = old.over;
                over.iter_mut().zip(new.over).for_each(|(old, new)| *old |= new);
                Some(Stage::Listening(Listening { over, ..new }))
            }
            (Some(Stage::Listening(old)), News::Cut { more }) if more || old.announced => stage,
            (Some(Stage::Listening(_)), News::Cut { .. }) => ending,
            (Some(Stage::Listening(old)), News::Heard) => {
                Some(Stage::Listening(Listening { heard: true, ..old }))
            }
            (Some(Stage::Listening(old)), News::Waited { more, announced, expected, now }) => {
                let heard = old.heard || expected != old.expected;
                let quiet_since = if heard { now } else { old.quiet_since };
                let is_quiet = now.saturating_sub(quiet_since) >= QUIET;
                if (more || announced) && !is_quiet {
                    let heard = false;
                    Some(Stage::Listening(Listening { announced, quiet_since, heard, expected, ..old }))
                } else {
                    ending
                }
            }
        }
    }
}

/// Peers that are ending, and peers that ended recently.
#[derive(Default)]
pub(crate) struct Farewells {
    parting: Vec<(Tid, Stage)>,
    /// The peers that the task listened to, until their end is reported to the caller.
    told: Vec<Tid>,
    gone: Gone,
    /// This task is leaving: nothing may wait here for its receiver any more.
    pub(crate) leaving: bool,
}

impl Farewells {
    /// Whether the caller knows all ends.
    #[inline]
    pub(crate) fn is_all_told(&self) -> bool {
        self.told.is_empty()
    }

    /// The peers that the task listened to and that are gone, each once.
    pub(crate) fn take_told(&mut self) -> Vec<Tid> {
        let Farewells { parting, told, .. } = self;
        told.extract_if(.., |peer| !parting.iter().any(|(parting, _)| parting == peer)).collect()
    }

    /// Whether no peer is ending.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.parting.is_empty()
    }

    /// Handles a sign of a peer's end. A peer that is gone ignores further signs.
    pub(crate) fn learn(&mut self, peer: Tid, news: News) {
        if self.gone.has(peer) {
            return;
        }
        let at = self.parting.iter().position(|(parting, _)| *parting == peer);
        let before = at.map(|at| self.parting[at].1);
        match (at, Stage::after(before, news)) {
            (Some(at), Some(stage)) => self.parting[at].1 = stage,
            (None, Some(stage)) => {
                if let Stage::Listening(_) = stage {
                    self.told.push(peer);
                }
                self.parting.push((peer, stage));
            }
            // A peer comes back only after it was gone.
            (_, None) => {}
        }
    }

    /// The stage of a peer that is ending.
    pub(crate) fn stage(&self, peer: Tid) -> Option<Stage> {
        self.parting.iter().find(|(parting, _)| *parting == peer).map(|&(_, stage)| stage)
    }

    /// Peers that are listened to.
    pub(crate) fn listened_to(&self) -> Vec<(Tid, Listening)> {
        let listening = |&(peer, stage): &(Tid, Stage)| match stage {
            Stage::Listening(how) => Some((peer, how)),
            Stage::Ending { .. } => None,
        };
        self.parting.iter().filter_map(listening).collect()
    }

    /// An unused peer that sends nothing more.
    pub(crate) fn next_ending(&self, is_in_use: impl Fn(Tid) -> bool) -> Option<Tid> {
        let is_ending =
            |(peer, stage): &&(Tid, Stage)| matches!(stage, Stage::Ending { .. }) && !is_in_use(*peer);
        self.parting.iter().find(is_ending).map(|&(peer, _)| peer)
    }

    /// A peer is gone from now on.
    pub(crate) fn is_over(&mut self, peer: Tid) {
        self.parting.retain(|(parting, _)| *parting != peer);
        self.gone.remember(peer);
    }

    /// Whether a peer has gone lately and not come back.
    pub(crate) fn is_gone(&self, peer: Tid) -> bool {
        self.gone.has(peer)
    }

    /// Forgets the task that had this id.
    pub(crate) fn forget(&mut self, peer: Tid) {
        self.gone.forget(peer);
    }
}

/// Tasks that have gone lately. An id may belong to another task later, so this list has only recent ends.
#[derive(Default)]
struct Gone {
    order: VecDeque<Tid>,
    all: HashSet<Tid>,
}

impl Gone {
    /// The number of remembered peers.
    const MOST: usize = 4096;

    fn remember(&mut self, peer: Tid) {
        if !self.all.insert(peer) {
            return;
        }
        self.order.push_back(peer);
        if self.order.len() > Self::MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }

    fn has(&self, peer: Tid) -> bool {
        !self.all.is_empty() && self.all.contains(&peer)
    }

    fn forget(&mut self, peer: Tid) {
        if self.all.remove(&peer) {
            self.order.retain(|other| *other != peer);
        }
    }
}
