//! The engine's face: everything that a task can ask of it, and the step that moves everything on.
//!
//! It owns the peers and the core and hands them to the layers under it; none of them knows of it. If a layer could not
//! do something because of a borrow, [`Engine::wind_up`] does it at the end of each call.

mod ask;
mod claims;
mod copies;
mod direct;
mod extracted;
mod held_up;
#[allow(unsafe_code)]
mod multicast;
mod receive;
mod remote;
#[allow(unsafe_code)]
mod scattered;
#[allow(unsafe_code)]
mod send;

use crate::core::Core;
use crate::ledger::Counters;
use crate::parting::farewell::{Listening, News};
use crate::peers::{OWN_PEER, Peer, PeerState, Peers};
use crate::recorder::Recorder;
use crate::sending::credit::Settings;
pub use ask::AskOutcome;
pub use direct::{Look, Room, Short};
pub use held_up::KeepOutcome;
use parvum_transport::own::OwnLink;
use parvum_transport::{Inbox, Link, Route};
use parvum_wire::Tid;
pub use receive::Received;
use std::time::Duration;

/// One task's message engine.
pub struct Engine {
    peers: Peers,
    core: Core,
    /// The limit of bytes that may be kept for slow peers, if waiting for them would close a cycle.
    keep_limit: u64,
    /// Messages to several peers so far.
    multicasts: u64,
}

impl Engine {
    /// An engine for the task `me`, joined only to itself.
    pub fn new(me: Tid, settings: Settings, ledger: Counters) -> Engine {
        let (peers, core) = (Peers::new(me, ledger), Core::new(settings, ledger));
        let mut engine = Engine { peers, core, keep_limit: 0, multicasts: 0 };
        engine.attach(me, Route::OWN, Box::<OwnLink>::default());
        engine
    }

    /// The task whose engine this is.
    pub fn me(&self) -> Tid {
        self.peers.me
    }

    /// Tells this recorder of messages from now on.
    pub fn record_to(&mut self, recorder: Box<dyn Recorder>) {
        self.core.recorder = Some(recorder);
    }

    /// The task's counters.
    pub fn ledger(&self) -> Counters {
        self.core.ledger
    }

    /// Gives the engine a place where peers may mark that they have sent something.
    pub fn set_inbox(&mut self, inbox: Box<dyn Inbox>) {
        self.peers.set_inbox(inbox);
    }

    /// Receives what has arrived and sends what there is room for. Returns
    /// whether anything moved. Never blocks.
    pub fn progress(&mut self) -> bool {
        let mut moved = false;
        // A link that closes leaves the list, so its length may change on the way.
        let mut at = 0;
        while let Some((index, route)) = self.peers.polled_at(at) {
            if self.core.poll(&mut self.peers, index, route) {
                moved = true;
                self.wind_up();
            }
            at += 1;
        }
        if self.peers.is_crowded() {
            moved |= self.core.poll_marked(&mut self.peers);
        }
        if self.peers.has_output() {
            for index in self.peers.take_pushing() {
                moved |= self.core.push(&mut self.peers, index as usize);
            }
        }
        if !self.core.placed.is_empty() {
            moved |= self.core.help(&mut self.peers);
        }
        if self.is_pulling() {
            moved |= self.core.go_on_pulling(&mut self.peers);
        }
        if !self.core.given_up.is_empty() {
            moved |= self.core.put_back_given_up(&mut self.peers);
        }
        self.wind_up();
        moved
    }

    /// Does the work that a layer could not do during a call: fetches data, and parts from peers that send nothing
    /// more.
    #[inline]
    fn wind_up(&mut self) {
        self.core.run_fetches(&mut self.peers, true);
        if !self.peers.farewells.is_empty() {
            self.core.see_off(&mut self.peers);
        }
    }

    #[cfg(test)]
    pub(crate) fn all_peers(&self) -> &Peers {
        &self.peers
    }

    /// Whether a sender is still filling in what a receive takes.
    #[inline]
    pub fn is_pulling(&self) -> bool {
        !self.core.pulling.is_empty()
    }

    /// Whether something waits for room in a link.
    pub fn has_output(&self) -> bool {
        self.peers.has_output()
    }

    /// Whether data for `peer`, or for any peer if that is this task, waits for room in a link of that route.
    pub fn waits_for_room(&self, peer: Tid, route: Route) -> bool {
        let concerned = |state: &&PeerState| peer == self.me() || peer == state.tid;
        self.peers.with_output().filter(concerned).any(|state| state.outbox.waits_for(route, state.route))
    }

    /// Gives back memory of the links that no message has used since the last call.
    pub fn rest(&mut self) {
        for link in self.peers.iter_mut().flat_map(|peer| peer.links.iter_mut().flatten()) {
            link.rest();
        }
    }

    /// Prepares all links for a sleep in poll(2), after which the task looks at them once more.
    pub fn doze(&mut self) {
        for link in self.peers.iter_mut().flat_map(|peer| peer.links.iter_mut().flatten()) {
            link.doze();
        }
    }
}

/// Joining peers, and what is known of them.
impl Engine {
    /// Joins `peer` over `route`. The first route is preferred until [`Engine::prefer`] changes this; a message that
    /// began on another route continues there.
    pub fn attach(&mut self, peer: Tid, route: Route, link: Box<dyn Link>) {
        self.peers.attach(peer, route, link);
    }

    /// Whether `peer` is joined over `route`.
    pub fn is_attached(&self, peer: Tid, route: Route) -> bool {
        self.link_to(peer, route).is_some()
    }

    /// Whether `peer` is joined over `route` and has let this task in.
    pub fn stands(&self, peer: Tid, route: Route) -> bool {
        self.link_to(peer, route).is_some_and(|link| link.stands())
    }

    fn link_to(&self, peer: Tid, route: Route) -> Option<&dyn Link> {
        self.peers[self.peers.seek(peer)?].links[route.place()].as_deref()
    }

    /// Sends new messages to `peer` over `route`; `false` when it is not joined over it.
    pub fn prefer(&mut self, peer: Tid, route: Route) -> bool {
        let attached = self.is_attached(peer, route);
        if let (true, Some(index)) = (attached, self.peers.index_of(peer)) {
            self.peers[index].state.route = route;
        }
        attached
    }

    /// Over which route new messages to `peer` go; `None` when it is not joined, or gone.
    #[inline]
    pub fn route_to(&mut self, peer: Tid) -> Option<Route> {
        let index = self.peers.index_of(peer)?;
        Some(self.peers[index].state.route)
    }

    /// Publishes the reasons for the route to `peer`, for tools. `words` has the caller's word for each route, at the
    /// number of the route.
    pub fn explain_route(&mut self, peer: Tid, words: [u8; Route::BOUND]) {
        let Some(index) = self.peers.index_of(peer) else { return };
        let state = &self.peers[index].state;
        let reasons = words.iter().rev().fold(0, |all, &word| all << 8 | u64::from(word));
        state.ledger(state.route).explain(reasons);
    }

    /// Counts the time that `peer` was waited for.
    pub fn waited_for(&mut self, peer: Tid, nanoseconds: u64) {
        let Some(index) = self.peers.index_of(peer) else { return };
        let state = &self.peers[index].state;
        state.ledger(state.route).waited(nanoseconds);
    }

    /// Whether `peer` receives messages while its program computes; this task itself does if it waits.
    #[inline]
    pub fn is_attended(&mut self, peer: Tid) -> bool {
        let Some(index) = self.peers.index_of(peer) else { return false };
        index == OWN_PEER as usize || self.peers[index].preferred().is_some_and(|link| link.is_attended())
    }

    /// Calls `peer` if it computes: something waits for it here.
    pub fn summon(&mut self, peer: Tid) {
        let Some(index) = self.peers.index_of(peer) else { return };
        if let Some(link) = self.peers[index].preferred() {
            link.summon();
        }
    }

    /// Counts at `peer` that a note was sent to it. False: its link has no place for that.
    pub fn notify(&mut self, peer: Tid) -> bool {
        let Some(index) = self.peers.index_of(peer) else { return false };
        self.peers[index].preferred().is_some_and(|link| link.notify())
    }

    /// Whether messages to `peer` wait here until they can be handed over to a link.
    #[inline]
    pub fn is_behind(&mut self, peer: Tid) -> bool {
        let Some(index) = self.peers.index_of(peer) else { return false };
        !self.peers[index].state.outbox.is_idle()
    }

    /// Whether messages to any peer do.
    pub fn is_behind_at_all(&self) -> bool {
        self.peers.iter().any(|peer| !peer.state.outbox.is_idle())
    }

    /// How many bytes of its memory the link to `peer` lends to messages that the peer has not taken.
    pub fn lent_to(&mut self, peer: Tid) -> usize {
        let Some(index) = self.peers.index_of(peer) else { return 0 };
        self.peers[index].preferred().map_or(0, |link| link.lent())
    }

    /// All peers but this task itself, with their routes.
    pub fn peers(&self) -> impl Iterator<Item = (Tid, Route)> + '_ {
        self.peers
            .iter()
            .skip(1)
            .filter(|peer| peer.state.tid.is_task())
            .map(|peer| (peer.state.tid, peer.state.route))
    }
}

/// Parting from peers: see `farewell`.
impl Engine {
    /// The daemon reports that `peer` is gone. Its complete messages are received first. A receive that has the
    /// beginning of its message waits again, unless it only wanted messages from this peer. Everything else that waited
    /// for the peer is complete.
    pub fn peer_gone(&mut self, peer: Tid) {
        self.learn_end(peer, None);
    }

    /// If `peer` is gone: ends the receives that only `peer` could satisfy, and that were posted after it had gone.
    pub fn end_receives_from(&mut self, peer: Tid) {
        if self.is_gone(peer) {
            self.core.end_receives_from(peer);
        }
    }

    /// The daemon reports that `peer` is gone. Its last messages may still be on their way: over links of these routes,
    /// which end by themselves, or over an `announced` link. The peer is gone when these links have ended, which
    /// [`Engine::part`] checks. Without links it is gone at once. `now` is by any clock of the caller's.
    pub fn peer_ended(&mut self, peer: Tid, over: &[Route], announced: bool, now: Duration) {
        let mut routes = [false; Route::BOUND];
        over.iter().for_each(|route| routes[route.place()] = true);
        let more = announced || self.peers.has_link_over(peer, &routes);
        let expected = self.peers.expected_from(peer);
        let how = Listening { over: routes, announced, quiet_since: now, heard: false, expected };
        self.learn_end(peer, more.then_some(how));
    }

    fn learn_end(&mut self, peer: Tid, more: Option<Listening>) {
        if peer == self.peers.me {
            return;
        }
        self.peers.farewells.learn(peer, News::Told(more));
        self.wind_up();
    }

    /// Parts from peers that have ended and send nothing more. If nothing comes from the peer for long, no more is
    /// expected, even if it has links. Reports peers that the task listened to and that are gone now. Call this after
    /// [`Engine::progress`], while [a peer is leaving](Engine::has_leaving).
    pub fn part(&mut self, now: Duration, is_announced: impl Fn(Tid) -> bool) -> Vec<Tid> {
        for (peer, how) in self.peers.farewells.listened_to() {
            let more = self.peers.has_link_over(peer, &how.over);
            let (announced, expected) = (is_announced(peer), self.peers.expected_from(peer));
            self.peers.farewells.learn(peer, News::Waited { more, announced, expected, now });
        }
        self.wind_up();
        self.peers.farewells.take_told()
    }

    /// Whether `peer` has ended, and more of its messages may come.
    #[inline]
    pub fn is_leaving(&self, peer: Tid) -> bool {
        self.peers.farewells.stage(peer).is_some()
    }

    /// Whether a peer is leaving, or has gone without a report of [`Engine::part`].
    #[inline]
    pub fn has_leaving(&self) -> bool {
        !self.peers.farewells.is_all_told()
    }

    /// Whether `peer` has gone lately and not come back.
    pub fn is_gone(&self, peer: Tid) -> bool {
        self.peers.farewells.is_gone(peer)
    }

    /// Forgets the task that had this id, because another task may have the id now.
    pub fn forget_gone(&mut self, peer: Tid) {
        self.peers.farewells.forget(peer);
    }

    /// The task is about to leave. Receivers must now fetch all data that waits here for them, even unwanted data.
    /// [`Engine::unfinished`] shows when all data is delivered.
    pub fn leave(&mut self) {
        self.peers.farewells.leaving = true;
        for index in 0..self.peers.len() {
            let Peer { state, links } = &mut self.peers[index];
            links.iter_mut().flatten().for_each(|link| link.leave());
            state.ask_to_fetch();
            self.core.push(&mut self.peers, index);
        }
        self.wind_up();
    }

    /// Sends that are not over, or whose data is still kept here for the
    /// receiver. A task must not end before this is zero, or data is lost.
    pub fn unfinished(&self) -> usize {
        let unflushed = |peer: &Peer| usize::from(peer.state.outbox.unflushed != 0);
        self.peers.iter().map(|peer| peer.state.unfinished() + unflushed(peer)).sum()
    }
}
