//! The setup that all nodes share, and the results of a node's calls.

use serde::{Deserialize, Serialize};

/// The nodes that have a copy of an unwritten page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// All nodes: memory begins as zeros.
    Everybody,
    /// Node 0, from which the others fetch it, as TreadMarks did.
    First,
}

/// Which pages have a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Homes {
    /// Only pages of regions have homes ([`crate::Node::give_home`]).
    None,
    /// All others too, in turn.
    InTurn,
}

/// The settings on which all nodes must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many nodes there are.
    pub nodes: usize,
    /// Bytes of a page: a multiple of a word, at most 65536 words.
    pub page_bytes: usize,
    /// How many pages there are.
    pub pages: u32,
    /// Locks are numbered below this.
    pub locks: u32,
    /// Barriers too.
    pub barriers: u32,
    /// And views.
    pub views: u32,
    /// Who begins with copies.
    pub start: Start,
    /// Which pages have homes.
    pub homes: Homes,
    /// Homes move to who alone writes to a page. Not with replicas.
    pub move_homes: bool,
    /// An answer has all diffs of a page as one.
    pub fold: bool,
    /// If twins and records have more bytes than this, the next barrier discards them.
    pub room: u64,
    /// The number of requests in a row after which changes of a page are pushed. `None`: never.
    pub push: Option<u32>,
    /// The most further pages that come with a page, if the program misses one page after the other. 0: none.
    pub further: u32,
    /// Accesses are reported ([`crate::Node::touches`]) and compared.
    pub races: bool,
    /// The next node keeps the pages of a node, and deaths are reported ([`crate::Node::gone`]). Then every page has a
    /// home, all nodes begin with copies, and there is neither pushing nor race detection.
    pub replicas: bool,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is over.
    Done,
    /// It waits for answers, until [`crate::Node::is_waiting`] is false.
    Wait,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Fault {
    #[error("there is no lock {0}")]
    NoSuchLock(u32),
    #[error("there is no barrier {0}")]
    NoSuchBarrier(u32),
    #[error("there is no page {0}")]
    NoSuchPage(u32),
    #[error("there is no view {0}, or there is one already")]
    NoSuchView(u32),
    #[error("view {0} is held already by who wants it")]
    ViewHeldAlready(u32),
    #[error("view {0} is not held by who touches or releases it, or not so")]
    ViewNotHeld(u32),
    #[error("view {0} is held to be read by who writes to it")]
    ViewReadOnly(u32),
    #[error("lock {0} is held already by who wants it")]
    HeldAlready(u32),
    #[error("lock {0} is not held by who releases it")]
    NotHeld(u32),
    #[error("node {} is at barrier {}, and node {} at barrier {}", nodes.0, at.0, nodes.1, at.1)]
    DifferentBarriers { nodes: (usize, usize), at: (u32, u32) },
    #[error("another call of the node is under way")]
    Busy,
    #[error("node {0} sent what this program cannot read")]
    Malformed(usize),
    #[error("views are not kept by other nodes")]
    ViewsAreNotKept,
    #[error("node {node} has died, and node {keeper}, which kept its pages, has too")]
    Unkept { node: usize, keeper: usize },
    #[error("pages have a home from before anybody touches them, or not at all")]
    TouchedAlready,
}

impl Fault {
    /// For the task of a node whose call it was, in another process.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("memory can be written to")
    }

    /// What was encoded so.
    pub fn decode(bytes: &[u8]) -> Option<Fault> {
        postcard::from_bytes(bytes).ok()
    }
}

/// A message to another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The receiver.
    pub to: usize,
    /// Whether that node's program waits for it. Otherwise the receiver must handle it at any time; such letters from
    /// one node to another must keep their order.
    pub answer: bool,
    /// For [`crate::Node::receive`].
    pub bytes: Vec<u8>,
}
