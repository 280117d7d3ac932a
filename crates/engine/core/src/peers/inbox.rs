//! Many peers: which of them has brought something is asked of the inbox, and not of each link.
//!
//! A look at a link costs a few nanoseconds while there are few, and a walk through a thousand pages when there are a
//! thousand. A task with many peers therefore opens its [`Inbox`]. Each peer marks its place there, which is its place
//! among the engine's peers, and progress checks only marked peers.

use super::Peers;
use parvum_transport::{Inbox, Route};

/// With more links than this the inbox is opened. A mark costs its sender about as much as this number of looks costs
/// here.
const MANY: usize = 16;

/// The inbox, and what is known from it.
pub(super) struct InboxState {
    marks: Box<dyn Inbox>,
    /// Whether peers mark their places.
    is_open: bool,
    /// Peers to look at whether they are marked or not.
    again: Vec<u32>,
}

impl Peers {
    /// Gives the engine a place where peers may say that they have brought something.
    pub(crate) fn set_inbox(&mut self, inbox: Box<dyn Inbox>) {
        self.inbox = Some(InboxState { marks: inbox, is_open: false, again: Vec::new() });
    }

    /// Whether progress depends on what peers say, and a look at the polled links is not enough.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.inbox.as_ref().is_some_and(|inbox| inbox.is_open)
    }

    /// A link was attached. False: it has to be polled.
    pub(super) fn has_place(&mut self, index: u32, route: Route) -> bool {
        let Some(inbox) = &mut self.inbox else { return false };
        let peer = &mut self.all[index as usize];
        let Some(link) = &mut peer.links[route.place()] else { return false };
        if index >= inbox.marks.places() || !link.set_place(index) {
            return false;
        }
        peer.state.placed = Some(route);
        if inbox.is_open {
            // The peer may have sent data before it knew the place.
            inbox.again.push(index);
        }
        inbox.is_open
    }

    /// Opens the inbox when there are many links.
    pub(super) fn open_inbox_for_many(&mut self) {
        if self.polled.len() <= MANY || self.is_crowded() {
            return;
        }
        let Some(inbox) = &mut self.inbox else { return };
        inbox.marks.open();
        inbox.is_open = true;
        let peers = &self.all;
        let again = &mut inbox.again;
        self.polled.retain(|&(index, route)| {
            let placed = peers[index as usize].state.placed == Some(route);
            if placed {
                again.push(index);
            }
            !placed
        });
    }

    /// Peers to look at whether they are marked or not.
    pub(crate) fn take_again(&mut self) -> Vec<u32> {
        self.inbox.as_mut().map(|inbox| std::mem::take(&mut inbox.again)).unwrap_or_default()
    }

    /// The next place that is marked.
    pub(crate) fn next_marked(&mut self) -> Option<u32> {
        self.inbox.as_mut()?.marks.next()
    }

    /// The route over which the peer at a place marks new data.
    pub(crate) fn placed_over(&self, index: u32) -> Option<Route> {
        self.all.get(index as usize)?.state.placed
    }

    /// The peer has used its share of frames in this call, so the engine must look at it once more.
    pub(crate) fn look_again(&mut self, index: u32) {
        if let Some(inbox) = &mut self.inbox {
            inbox.again.push(index);
        }
    }
}
