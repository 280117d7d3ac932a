//! What interfaces have of the library beside messages: groups' pages, parts that tasks play, and memory that was lent.

use crate::board::Board;
use crate::lending::Kept;
use parvum_engine::{Block, Remote};
use parvum_page::MeetingPage;
use parvum_wire::Tid;
use std::sync::Arc;

/// What interfaces were given.
pub(crate) struct Services {
    /// The pages in which the members of groups meet, by the group's name.
    pub(crate) meetings: Vec<(String, Arc<MeetingPage>)>,
    /// The boards in use, by number less one.
    pub(crate) boards: Vec<Option<Board>>,
    /// The barrier that the page names.
    pub(crate) shown_barrier: (String, i32),
    /// The resource manager, if a task plays it.
    pub(crate) manager: Option<Tid>,
    /// What a tracer of all tasks wants, in its interface's words.
    pub(crate) tracer: Option<Vec<u8>>,
    /// Blocks lent to interfaces, by handle.
    pub(crate) lent: Kept<Block>,
    /// Data that is still with its sender, by handle.
    pub(crate) remotes: Kept<Remote>,
    /// How many bytes may be kept for peers beyond the credit, once it was asked or looked up.
    pub(crate) memory: Option<u64>,
}

impl Services {
    pub(crate) fn new(memory: Option<u64>) -> Services {
        Services {
            meetings: Vec::new(),
            boards: Vec::new(),
            shown_barrier: Default::default(),
            manager: None,
            tracer: None,
            lent: Kept::new(),
            remotes: Kept::new(),
            memory,
        }
    }
}
