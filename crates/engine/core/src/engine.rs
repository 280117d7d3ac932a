//! The engine's state, its peers, and the step that moves everything on.

use crate::arrive::{Arrivals, Core};
use crate::fetch::Fetch;
use crate::gone::Departed;
use crate::inbox::InboxState;
use crate::ledger::Ledger;
use crate::message::Pool;
use crate::peer::{Peer, PeerState};
use crate::queues::Queues;
use crate::recorder::Recorder;
use crate::requests::Requests;
use parvum_transport::own::OwnLink;
use parvum_transport::{Link, Route};
use parvum_wire::Tid;
use std::collections::HashMap;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A sender may have messages of this many bytes with one receiver that the
    /// receiver has not consumed; one more message is begun only below it.
    pub credit: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { credit: 64 << 20 }
    }
}

/// The place in `Engine::peers` that stands for the task itself.
pub(crate) const OWN_PEER: u32 = 0;

/// One task's message engine.
pub struct Engine {
    pub(crate) me: Tid,
    pub(crate) peers: Vec<Peer>,
    pub(crate) by_tid: HashMap<Tid, u32>,
    /// Places in `peers` of those that are gone, for others.
    pub(crate) vacant: Vec<u32>,
    pub(crate) departed: Departed,
    /// The peer looked up last: most tasks talk to one at a time.
    pub(crate) last: (Tid, u32),
    /// Links to look at for what has come, in this order: all, unless their peers say so in the inbox.
    pub(crate) polled: Vec<(u32, Route)>,
    /// The inbox, if there can be one.
    pub(crate) inbox: Option<InboxState>,
    /// Peers with something to push.
    pushing: Vec<u32>,
    pub(crate) core: Core,
    /// Nothing may wait here for its receiver any more.
    pub(crate) leaving: bool,
    /// Reused by `progress`.
    fetches: Vec<Fetch>,
    /// So many bytes may be kept for peers who are behind, when to wait for them closes a circle.
    pub(crate) keep_limit: u64,
    /// Messages to several peers so far.
    pub(crate) multicasts: u64,
    /// Pairs that have a ledger.
    pairs: usize,
}

impl Engine {
    /// An engine for the task `me`, joined to itself and to nobody else.
    pub fn new(me: Tid, settings: Settings, ledger: Ledger) -> Engine {
        let core = Core {
            settings,
            ledger,
            pool: Pool::default(),
            requests: Requests::default(),
            queues: Queues::default(),
            fetches: Vec::new(),
            pulling: Vec::new(),
            waiting_sends: 0,
            claims: Vec::new(),
            given_up: Vec::new(),
            recorder: None,
        };
        let mut engine = Engine {
            me,
            peers: Vec::new(),
            by_tid: HashMap::new(),
            vacant: Vec::new(),
            departed: Departed::default(),
            last: (me, 0),
            polled: Vec::new(),
            inbox: None,
            pushing: Vec::new(),
            core,
            leaving: false,
            fetches: Vec::new(),
            keep_limit: 0,
            multicasts: 0,
            pairs: 0,
        };
        engine.attach(me, Route::OWN, Box::<OwnLink>::default());
        engine
    }

    /// The task whose engine this is.
    pub fn me(&self) -> Tid {
        self.me
    }

    /// Tells this recorder of messages from now on.
    pub fn record_to(&mut self, recorder: Box<dyn Recorder>) {
        self.core.recorder = Some(recorder);
    }

    /// The task's counters.
    pub fn ledger(&self) -> Ledger {
        self.core.ledger
    }

    /// The peer that stands for this task itself.
    pub(crate) fn own_peer(&self) -> usize {
        OWN_PEER as usize
    }

    /// Joins `peer` over `route`. The first route is the preferred one until
    /// [`Engine::prefer`] says otherwise; what was begun on another goes on there.
    pub fn attach(&mut self, peer: Tid, route: Route, link: Box<dyn Link>) {
        let index = self.index_or_new(peer, route);
        self.departed.forget(peer);
        let joined = &mut self.peers[index as usize];
        joined.state.limits[route.place()] = Some(link.limits());
        if joined.links[joined.state.route.place()].is_none() {
            joined.state.route = route;
        }
        if joined.links[route.place()].replace(link).is_none() && !joined.state.counted[route.place()] {
            joined.state.counted[route.place()] = true;
            joined.state.ledgers[route.place()] = self.core.ledger.pair(self.pairs, peer, route);
            self.pairs += 1;
        }
        if !self.has_place(index, route) && !self.polled.contains(&(index, route)) {
            // The link to oneself stays the last: few programs use it, and each look costs a call.
            let before_own = self.polled.len().saturating_sub(1);
            self.polled.insert(before_own, (index, route));
            self.open_inbox_for_many();
        }
    }

    pub(crate) fn index_or_new(&mut self, peer: Tid, route: Route) -> u32 {
        *self.by_tid.entry(peer).or_insert_with(|| {
            let state = PeerState::new(peer, route, self.core.ledger.others());
            let fresh = Peer { links: [const { None }; Route::BOUND], state };
            match self.vacant.pop() {
                Some(place) => {
                    self.peers[place as usize] = fresh;
                    place
                }
                None => {
                    self.peers.push(fresh);
                    self.peers.len() as u32 - 1
                }
            }
        })
    }

    /// Whether `peer` is joined over `route`.
    pub fn is_attached(&self, peer: Tid, route: Route) -> bool {
        self.by_tid.get(&peer).is_some_and(|&index| self.peers[index as usize].links[route.place()].is_some())
    }

    /// Whether `peer` is joined over `route` and has let this task in.
    pub fn stands(&self, peer: Tid, route: Route) -> bool {
        let link = self
            .by_tid
            .get(&peer)
            .and_then(|&index| self.peers[index as usize].links[route.place()].as_ref());
        link.is_some_and(|link| link.stands())
    }

    /// Sends new messages to `peer` over `route`; `false` when it is not joined over it.
    pub fn prefer(&mut self, peer: Tid, route: Route) -> bool {
        let attached = self.is_attached(peer, route);
        if let (true, Some(index)) = (attached, self.index_of(peer)) {
            self.peers[index].state.route = route;
        }
        attached
    }

    /// Over which route new messages to `peer` go; `None` when it is not joined, or gone.
    #[inline]
    pub fn route_to(&mut self, peer: Tid) -> Option<Route> {
        let index = self.index_of(peer)?;
        Some(self.peers[index].state.route)
    }

    /// Writes down, for onlookers, why messages to `peer` take the route they take and not the others: a
    /// word of the caller's for each route, at its number.
    pub fn explain_route(&mut self, peer: Tid, words: [u8; Route::BOUND]) {
        let Some(index) = self.index_of(peer) else { return };
        let state = &self.peers[index].state;
        let reasons = words.iter().rev().fold(0, |all, &word| all << 8 | u64::from(word));
        state.ledger(state.route).explain(reasons);
    }

    /// Counts the time that `peer` was waited for.
    pub fn waited_for(&mut self, peer: Tid, nanoseconds: u64) {
        let Some(index) = self.index_of(peer) else { return };
        let state = &self.peers[index].state;
        state.ledger(state.route).waited(nanoseconds);
    }

    /// Whether `peer` takes in what comes while its program computes; this task itself does when it waits.
    #[inline]
    pub fn is_attended(&mut self, peer: Tid) -> bool {
        let Some(index) = self.index_of(peer) else { return false };
        let Peer { links, state } = &self.peers[index];
        index == self.own_peer() || links[state.route.place()].as_ref().is_some_and(|link| link.is_attended())
    }

    /// Calls `peer` if it computes: something waits for it here.
    pub fn summon(&mut self, peer: Tid) {
        let Some(index) = self.index_of(peer) else { return };
        let Peer { links, state } = &self.peers[index];
        if let Some(link) = &links[state.route.place()] {
            link.summon();
        }
    }

    /// Counts at `peer` that a note was sent to it. False: its link has no place for that.
    pub fn notify(&mut self, peer: Tid) -> bool {
        let Some(index) = self.index_of(peer) else { return false };
        let Peer { links, state } = &self.peers[index];
        links[state.route.place()].as_ref().is_some_and(|link| link.notify())
    }

    /// Whether `peer` has gone lately and not come back.
    pub fn is_gone(&self, peer: Tid) -> bool {
        self.departed.has(peer)
    }

    /// What is known of a task that had this id says nothing any more: the id may be another's now.
    pub fn forget_gone(&mut self, peer: Tid) {
        self.departed.forget(peer);
    }

    /// All peers but this task itself, with their routes.
    pub fn peers(&self) -> impl Iterator<Item = (Tid, Route)> + '_ {
        self.peers
            .iter()
            .skip(1)
            .filter(|peer| peer.state.tid.is_task())
            .map(|peer| (peer.state.tid, peer.state.route))
    }

    #[inline]
    pub(crate) fn index_of(&mut self, peer: Tid) -> Option<usize> {
        if self.last.0 == peer {
            return Some(self.last.1 as usize);
        }
        let index = *self.by_tid.get(&peer)?;
        self.last = (peer, index);
        Some(index as usize)
    }

    /// Receives what has arrived and sends what there is room for. Returns
    /// whether anything moved. Never blocks.
    pub fn progress(&mut self) -> bool {
        let mut moved = false;
        // A link that closes leaves the list, so its length may change on the way.
        let mut at = 0;
        while let Some(&(index, route)) = self.polled.get(at) {
            moved |= self.poll(index as usize, route);
            at += 1;
        }
        if self.is_crowded() {
            moved |= self.poll_marked();
        }
        if !self.pushing.is_empty() {
            for index in std::mem::take(&mut self.pushing) {
                self.peers[index as usize].state.listed = false;
                moved |= self.push(index as usize);
            }
        }
        if self.is_pulling() {
            moved |= self.go_on_pulling();
        }
        if !self.core.given_up.is_empty() {
            moved |= self.put_back_given_up();
        }
        moved
    }

    /// The link at a place in the order of polling.
    pub(crate) fn polled_at(&self, at: usize) -> Option<(usize, Route)> {
        self.polled.get(at).map(|&(index, route)| (index as usize, route))
    }

    /// Frames taken from one link before the next is looked at.
    const FRAMES_AT_A_TIME: usize = 32;

    #[inline]
    pub(crate) fn poll(&mut self, index: usize, route: Route) -> bool {
        let Peer { links, state } = &mut self.peers[index];
        let Some(link) = &mut links[route.place()] else { return false };
        let mut arrivals = Arrivals { core: &mut self.core, peer: index as u32, state, route };
        let got = link.receive(Self::FRAMES_AT_A_TIME, &mut arrivals);
        match got {
            Ok(0) => false,
            Ok(_) => {
                self.after_arrivals(index);
                true
            }
            Err(_) => {
                self.close(index, route);
                true
            }
        }
    }

    /// Does what could not be done while the link was lent out.
    pub(crate) fn after_arrivals(&mut self, index: usize) {
        if !self.core.fetches.is_empty() {
            std::mem::swap(&mut self.fetches, &mut self.core.fetches);
            let mut fetches = std::mem::take(&mut self.fetches);
            for fetch in fetches.drain(..) {
                self.fetch(fetch);
            }
            self.fetches = fetches;
        }
        if self.peers[index].state.awaited.is_some() {
            self.await_on(index);
        }
        if self.peers[index].state.has_output(self.core.settings.credit) {
            self.push(index);
        }
        self.core.publish_sends(&mut self.peers[index].state);
        self.core.publish_waiting();
    }

    pub(crate) fn list_for_push(&mut self, index: usize) {
        let state = &mut self.peers[index].state;
        if !state.listed && state.has_output(self.core.settings.credit) {
            state.listed = true;
            self.pushing.push(index as u32);
        }
    }

    /// Whether something waits for room in a link.
    pub fn has_output(&self) -> bool {
        !self.pushing.is_empty()
    }

    /// Gives back memory of the links that no message has used since the last call.
    pub fn rest(&mut self) {
        for link in self.peers.iter_mut().flat_map(|peer| peer.links.iter_mut().flatten()) {
            link.rest();
        }
    }

    /// Sends that are not over, or whose data is still kept here for the
    /// receiver. A task must not end before this is zero, or data is lost.
    pub fn unfinished(&self) -> usize {
        self.peers.iter().map(|peer| peer.state.unfinished() + usize::from(peer.state.unflushed)).sum()
    }
}
