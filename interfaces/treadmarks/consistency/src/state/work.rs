//! Work: what the call of a program waits for.

use crate::message::Record;
use crate::pages::memory::Access;
use crate::stamp::Stamp;

/// The operation that the program waits for.
pub(crate) enum Work {
    Barrier,
    Miss(Miss),
    /// After a barrier: these pages are still to be brought up to date.
    Collect(Vec<u32>),
    /// Waits until all nodes have collected.
    Clean,
    /// A page that will be put back anyway.
    Stranded(u32, Access),
}

/// A miss under way.
pub(crate) struct Miss {
    pub(crate) page: u32,
    pub(crate) access: Access,
    /// The changes that were known at the time of the request. Another task of the node may learn of more changes
    /// later.
    pub(crate) known: Stamp,
    /// Answers that are still to come.
    pub(crate) awaited: usize,
    /// The diffs come in order from one node that had all of them; or from several nodes.
    pub(crate) orderly: bool,
    pub(crate) records: Vec<Record>,
    /// Pages that were asked for with it.
    pub(crate) further: Vec<Further>,
    /// It is part of a collection: the pages behind it.
    pub(crate) collecting: Option<Vec<u32>>,
}

/// A page that was asked for with a miss.
pub(crate) struct Further {
    pub(crate) page: u32,
    /// The changes in the copy at the time of the request, and the changes that were known.
    pub(crate) has: Stamp,
    pub(crate) known: Stamp,
}

impl Miss {
    /// The page and the access that the program wants.
    pub(crate) fn wanted(&self) -> (u32, Access) {
        (self.page, self.access)
    }

    /// Changes that came without a request.
    pub(crate) fn of_pushed(page: u32, orderly: bool, records: Vec<Record>, known: Stamp) -> Miss {
        Miss {
            page,
            access: Access::None,
            known,
            awaited: 0,
            orderly,
            records,
            further: Vec::new(),
            collecting: None,
        }
    }
}
