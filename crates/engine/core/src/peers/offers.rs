//! Sends whose data waits here until the peer wants it.

use crate::ids::RequestId;
use crate::memory::Source;
use parvum_transport::Route;
use parvum_wire::Header;
use rustc_hash::FxHashMap;

/// In `Done`: the credit for the message comes another way.
pub(crate) const CREDITED: u32 = 1;

/// A send whose data waits here for the receiver.
pub(crate) struct Offered {
    /// Where it was offered.
    pub(crate) route: Route,
    /// `None` once the request was reported: the engine owns the data.
    pub(crate) request: Option<RequestId>,
    pub(crate) source: Source,
    pub(crate) header: Header,
    pub(crate) cost: u64,
    /// Whether the sender has asked for a posted receive, and the answer.
    pub(crate) asked: Asking,
}

/// How far a send came that asks before it moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// It does not ask.
    No,
    /// No answer yet.
    Unanswered,
    /// No receive was posted.
    Unposted,
    /// A receive is posted, and its task has the address of the data: it may be reading the data now.
    Placed,
    /// The receiver has the address of the copy of the data, and fetches it at any time.
    Kept,
}

/// The offers to one peer, by cookie.
pub(crate) struct Offers {
    pub(crate) all: FxHashMap<u64, Offered>,
    pub(crate) next_cookie: u64,
    /// The last send that asked, and the cookie of its offer.
    pub(crate) asking: Option<(RequestId, u64)>,
    /// The peer was waiting for the last short message that asked: the next one is sent before looking.
    pub(crate) is_prompt: bool,
    /// The peer has not answered the last question in time: the next question does not wait.
    pub(crate) is_silent: bool,
}

impl Offers {
    pub(crate) fn new() -> Offers {
        Offers { all: FxHashMap::default(), next_cookie: 1, asking: None, is_prompt: false, is_silent: false }
    }

    /// The offer of a send that asks, and its cookie.
    pub(crate) fn of_request(&mut self, id: RequestId) -> Option<(u64, &mut Offered)> {
        let cookie = match self.asking {
            Some((request, cookie)) if request == id => cookie,
            // Seldom: several sends ask at once.
            _ => {
                self.all.iter().find(|(_, offered)| offered.request == Some(id)).map(|(&cookie, _)| cookie)?
            }
        };
        self.all.get_mut(&cookie).map(|offered| (cookie, offered))
    }

    /// The receiver had no receive posted when our question came.
    pub(crate) fn unposted(&mut self, cookie: u64) {
        self.is_silent = false;
        if let Some(offered) = self.all.get_mut(&cookie)
            && offered.asked == Asking::Unanswered
        {
            offered.asked = Asking::Unposted;
        }
    }
}
