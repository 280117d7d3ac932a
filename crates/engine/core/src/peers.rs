//! The peers: who they are, which links lead to them, and which of them have something to do.

mod awaiting;
mod inbox;
mod incoming;
mod offers;
mod outbox;
mod peer;

use crate::ledger::Counters;
use crate::parting::farewell::{Farewells, News, Stage};
pub(crate) use awaiting::{is_awaited, is_wanted_in_place};
use inbox::InboxState;
pub(crate) use incoming::Stream;
pub(crate) use offers::{Asking, CREDITED, Offered};
pub(crate) use outbox::{Group, Pending};
use parvum_transport::{Link, Route};
use parvum_wire::Tid;
pub(crate) use peer::{Peer, PeerState, sensible};
use rustc_hash::FxHashMap;
use std::ops::{Index, IndexMut};

/// The place among the peers that stands for the task itself.
pub(crate) const OWN_PEER: u32 = 0;

/// All peers of a task, each at a place.
pub(crate) struct Peers {
    pub(crate) me: Tid,
    all: Vec<Peer>,
    by_tid: FxHashMap<Tid, u32>,
    /// The places of peers that are gone, for reuse.
    vacant: Vec<u32>,
    /// The peer looked up last: most tasks talk to one at a time.
    last: (Tid, u32),
    /// Links to look at for what has come, in this order: all, unless their peers say so in the inbox.
    polled: Vec<(u32, Route)>,
    /// The inbox, if there can be one.
    inbox: Option<InboxState>,
    /// Peers with something to push.
    pushing: Vec<u32>,
    /// Pairs that have a ledger.
    pairs: usize,
    ledger: Counters,
    pub(crate) farewells: Farewells,
}

impl Index<usize> for Peers {
    type Output = Peer;

    #[inline]
    fn index(&self, place: usize) -> &Peer {
        &self.all[place]
    }
}

impl IndexMut<usize> for Peers {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut Peer {
        &mut self.all[place]
    }
}

impl Peers {
    pub(crate) fn new(me: Tid, ledger: Counters) -> Peers {
        Peers {
            me,
            all: Vec::new(),
            by_tid: FxHashMap::default(),
            vacant: Vec::new(),
            last: (me, OWN_PEER),
            polled: Vec::new(),
            inbox: None,
            pushing: Vec::new(),
            pairs: 0,
            ledger,
            farewells: Farewells::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Peer> {
        self.all.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Peer> {
        self.all.iter_mut()
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

    /// As [`Peers::index_of`], and remembers nothing.
    pub(crate) fn seek(&self, peer: Tid) -> Option<usize> {
        self.by_tid.get(&peer).map(|&index| index as usize)
    }

    fn index_or_new(&mut self, peer: Tid, route: Route) -> u32 {
        *self.by_tid.entry(peer).or_insert_with(|| {
            let state = PeerState::new(peer, route, self.ledger.others());
            let fresh = Peer { links: [const { None }; Route::BOUND], state };
            match self.vacant.pop() {
                Some(place) => {
                    self.all[place as usize] = fresh;
                    place
                }
                None => {
                    self.all.push(fresh);
                    self.all.len() as u32 - 1
                }
            }
        })
    }

    /// Joins `peer` over `route`, preferred if it is the first.
    pub(crate) fn attach(&mut self, peer: Tid, route: Route, link: Box<dyn Link>) {
        let index = self.index_or_new(peer, route);
        self.farewells.forget(peer);
        let joined = &mut self.all[index as usize];
        joined.state.limits[route.place()] = Some(link.limits());
        if joined.links[joined.state.route.place()].is_none() {
            joined.state.route = route;
        }
        if joined.links[route.place()].replace(link).is_none() && !joined.state.counted[route.place()] {
            joined.state.counted[route.place()] = true;
            joined.state.ledgers[route.place()] = self.ledger.pair(self.pairs, peer, route);
            self.pairs += 1;
        }
        if !self.has_place(index, route) && !self.polled.contains(&(index, route)) {
            // The link to oneself stays the last: few programs use it, and each look costs a call.
            let before_own = self.polled.len().saturating_sub(1);
            self.polled.insert(before_own, (index, route));
            self.open_inbox_for_many();
        }
    }

    /// Takes a link away. Whether messages to the peer went over it, or there is no other.
    pub(crate) fn detach(&mut self, index: usize, route: Route) -> bool {
        let Peer { links, state } = &mut self.all[index];
        links[route.place()] = None;
        state.limits[route.place()] = None;
        self.polled.retain(|&entry| entry != (index as u32, route));
        state.route == route || links.iter().all(Option::is_none)
    }

    /// Something has come from a peer.
    pub(crate) fn heard(&mut self, index: usize) {
        self.farewells.learn(self.all[index].state.tid, News::Heard);
    }

    /// The peer cannot be reached as it was.
    pub(crate) fn cut(&mut self, index: usize) {
        let peer = self.all[index].state.tid;
        let more = match self.farewells.stage(peer) {
            Some(Stage::Listening(how)) => self.has_link_over(peer, &how.over),
            _ => false,
        };
        self.farewells.learn(peer, News::Cut { more });
    }

    /// Whether there is a link to a peer over one of these routes.
    pub(crate) fn has_link_over(&self, peer: Tid, routes: &[bool; Route::BOUND]) -> bool {
        let Some(index) = self.seek(peer) else { return false };
        self.all[index].links.iter().zip(routes).any(|(link, &over)| over && link.is_some())
    }

    /// The number of the message that is expected from a peer.
    pub(crate) fn expected_from(&self, peer: Tid) -> u32 {
        self.seek(peer).map_or(0, |index| self.all[index].state.incoming.expected)
    }

    /// Whether nothing may be fetched from a peer any more.
    #[inline]
    pub(crate) fn is_dead(&self, index: usize) -> bool {
        !self.farewells.is_empty()
            && self.farewells.stage(self.all[index].state.tid) == Some(Stage::Ending { dead: true })
    }

    /// Makes a peer's place free for the next peer.
    pub(crate) fn vacate(&mut self, index: usize) {
        self.polled.retain(|&(polled, _)| polled != index as u32);
        let Peer { links, state } = &mut self.all[index];
        *links = [const { None }; Route::BOUND];
        self.by_tid.remove(&state.tid);
        if self.last.0 == state.tid {
            self.last = (self.me, OWN_PEER);
        }
        // No task has this id, so old names of the place do not find a peer.
        *state = PeerState::new(Tid(0), state.route, self.ledger.others());
        self.vacant.push(index as u32);
    }

    /// The link at a place in the order of polling.
    #[inline]
    pub(crate) fn polled_at(&self, at: usize) -> Option<(usize, Route)> {
        self.polled.get(at).map(|&(index, route)| (index as usize, route))
    }

    /// Notes that a peer has something to push, if it has.
    pub(crate) fn list_for_push(&mut self, index: usize, credit: u64) {
        let state = &mut self.all[index].state;
        if !state.outbox.listed && state.has_output(credit) {
            state.outbox.listed = true;
            self.pushing.push(index as u32);
        }
    }

    /// Whether some peer has something to push.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        !self.pushing.is_empty()
    }

    /// Those that have.
    pub(crate) fn with_output(&self) -> impl Iterator<Item = &PeerState> {
        self.pushing.iter().map(|&index| &self.all[index as usize].state)
    }

    /// The same; the caller must record them again afterwards.
    pub(crate) fn take_pushing(&mut self) -> Vec<u32> {
        let pushing = std::mem::take(&mut self.pushing);
        for &index in &pushing {
            self.all[index as usize].state.outbox.listed = false;
        }
        pushing
    }

    /// Whether the message under way to a peer must wait for the same message to others.
    pub(crate) fn is_ahead(&self, index: usize) -> bool {
        let Some((_, pending)) = &self.all[index].state.outbox.current else { return false };
        let Some(group) = pending.group.as_ref().filter(|_| !pending.handed) else { return false };
        group.members.iter().any(|&member| match &self.all[member as usize].state.outbox.current {
            Some((_, other)) => {
                let same = other.group.as_ref().is_some_and(|its| its.number == group.number);
                same && !other.handed && other.sent < pending.sent
            }
            None => false,
        })
    }
}
