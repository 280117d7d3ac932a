//! Many peers: which of them has brought something is asked of the inbox, and not of each link.
//!
//! A look at a link costs a few nanoseconds while there are few, and a walk through a thousand pages when there are a
//! thousand. So a task with many peers opens its [`Inbox`]: peers mark their place there, which is the peer's place among
//! the engine's, and progress looks at marked ones alone.

use crate::engine::Engine;
use parvum_transport::{Inbox, Route};

/// With more links than this the inbox is opened. A mark costs its sender about as much as so many looks cost here.
const MANY: usize = 16;

/// The inbox, and what is known from it.
pub(crate) struct InboxState {
    marks: Box<dyn Inbox>,
    /// Whether peers mark their places.
    is_open: bool,
    /// Peers to look at whether they are marked or not.
    again: Vec<u32>,
}

impl Engine {
    /// Gives the engine a place where peers may say that they have brought something.
    pub fn set_inbox(&mut self, inbox: Box<dyn Inbox>) {
        self.inbox = Some(InboxState { marks: inbox, is_open: false, again: Vec::new() });
    }

    /// Whether progress depends on what peers say, and a look at the polled links is not enough.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.inbox.as_ref().is_some_and(|inbox| inbox.is_open)
    }

    /// A link was attached. False: it has to be polled.
    pub(crate) fn has_place(&mut self, index: u32, route: Route) -> bool {
        let Some(inbox) = &mut self.inbox else { return false };
        let peer = &mut self.peers[index as usize];
        let Some(link) = &mut peer.links[route.place()] else { return false };
        if index >= inbox.marks.places() || !link.set_place(index) {
            return false;
        }
        peer.state.placed = Some(route);
        if inbox.is_open {
            // What it brought before it knew the place.
            inbox.again.push(index);
        }
        inbox.is_open
    }

    /// Opens the inbox when there are many links.
    pub(crate) fn open_inbox_for_many(&mut self) {
        if self.polled.len() <= MANY || self.is_crowded() {
            return;
        }
        let Some(inbox) = &mut self.inbox else { return };
        inbox.marks.open();
        inbox.is_open = true;
        let peers = &self.peers;
        let again = &mut inbox.again;
        self.polled.retain(|&(index, route)| {
            let placed = peers[index as usize].state.placed == Some(route);
            if placed {
                again.push(index);
            }
            !placed
        });
    }

    /// Looks at those peers who have brought something. Whether anything moved.
    pub(crate) fn poll_marked(&mut self) -> bool {
        /// Marks that are looked at before the caller has its turn.
        const AT_A_TIME: usize = 256;
        let Some(inbox) = &mut self.inbox else { return false };
        let mut moved = false;
        for index in std::mem::take(&mut inbox.again) {
            moved |= self.poll_placed(index);
        }
        for _ in 0..AT_A_TIME {
            match self.inbox.as_mut().and_then(|inbox| inbox.marks.next()) {
                None => return moved,
                // Somebody did not know his place.
                Some(0) => (1..self.peers.len() as u32).for_each(|index| moved |= self.poll_placed(index)),
                Some(place) => moved |= self.poll_placed(place),
            }
        }
        // There may be more: nobody sleeps now.
        true
    }

    fn poll_placed(&mut self, index: u32) -> bool {
        let Some(route) = self.peers.get(index as usize).and_then(|peer| peer.state.placed) else {
            return false;
        };
        let moved = self.poll(index as usize, route);
        if moved && let Some(inbox) = &mut self.inbox {
            // It was given so many frames and no more.
            inbox.again.push(index);
        }
        moved
    }
}
