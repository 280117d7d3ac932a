//! The board of the nodes: how they come to it, and how they wait there.
//!
//! Nodes on one host show each other their data where that is quicker than messages. The board is made for those who need it: the
//! first operation joins a group of all nodes and goes by messages; when it is over all have joined, for each has heard of each, or
//! somebody is missed by name. The second operation opens the board at the daemon, and from then on nobody asks the daemon.
//!
//! The daemon closes the board when a node ends. A turn comes for all or for nobody, so all that are left end the same operation
//! with the name of who is missing. When nobody is, the group had changed for another reason, and the turn is taken at a new board.

use crate::members::Partition;
use parvum_collectives::board::Board;
use parvum_collectives::plans::{Group, choose};
use parvum_collectives::{Failure, Fault};
use parvum_waist::{ANY_TASK, BoardTurn, Notes, Request as Operation, Status, board};
use parvum_wire::control::Request;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// How far the nodes have come towards a board. Told to the one thread at a time that calls operations: relaxed.
pub(crate) struct Sharing {
    stage: AtomicU8,
    board: AtomicU64,
    /// The group that the nodes join, once they have.
    group: OnceLock<String>,
}

/// No operation was called yet.
const NEW: u8 = 0;
/// This node has joined the group; so has each whose first operation is over.
const JOINED: u8 = 1;
/// There is a board.
const OPEN: u8 = 2;
/// There is none.
const NONE: u8 = 3;

/// What a node does while it waits.
pub trait Attend {
    /// Does what there is to do now, and names the requests after whose end there is more. For how many nanoseconds that
    /// holds; negative: until then.
    fn attend(&self, requests: &mut Vec<Operation>) -> i64;
}

impl Sharing {
    pub(crate) fn new() -> Sharing {
        Sharing { stage: AtomicU8::new(NEW), board: AtomicU64::new(0), group: OnceLock::new() }
    }

    /// Begins anew; the board is to be closed by the function.
    pub(crate) fn begin_anew(&mut self, close: impl Fn(u64)) {
        if *self.stage.get_mut() == OPEN {
            close(*self.board.get_mut());
        }
        *self = Sharing::new();
    }
}

impl Partition {
    /// The board of all nodes, if their next operation may use one. Every node asks before each of its operations, and does not
    /// go on when a node is missing. `attend` is called while this node waits at the board.
    #[inline]
    pub fn board<'a>(&'a self, attend: Option<&'a dyn Attend>) -> Result<Option<AtBoard<'a>>, Failure> {
        let sharing = self.sharing();
        let board = match sharing.stage.load(Ordering::Relaxed) {
            NONE => return Ok(None),
            _ if !self.is_on_one_host() || !choose::use_board(self.group()) => return Ok(None),
            // The board knows only of nodes that came to it.
            _ if let Some(node) = self.missing() => return Err(Failure::Fault(Fault::Gone(node))),
            OPEN => sharing.board.load(Ordering::Relaxed),
            NEW => {
                self.join_group()?;
                sharing.stage.store(JOINED, Ordering::Relaxed);
                return Ok(None);
            }
            _ => self.open()?,
        };
        Ok((board != 0).then_some(AtBoard { nodes: self, board, attend, requests: Vec::new() }))
    }

    /// The group whose page the nodes meet in, where they have no board and will have none: their first barrier joins it, and goes by
    /// messages.
    pub(crate) fn page(&self) -> Result<Option<&str>, Failure> {
        let sharing = self.sharing();
        let group = || sharing.group.get().map(String::as_str);
        match sharing.stage.load(Ordering::Relaxed) {
            _ if !self.is_on_one_host() => Ok(None),
            // The page knows only of nodes that came to it.
            _ if let Some(node) = self.missing() => Err(Failure::Fault(Fault::Gone(node))),
            NONE => Ok(group()),
            _ if choose::use_board(self.group()) => Ok(None),
            NEW => {
                self.join_group()?;
                sharing.stage.store(JOINED, Ordering::Relaxed);
                Ok(None)
            }
            _ => Ok(group()),
        }
    }

    fn join_group(&self) -> Result<(), Failure> {
        let group = self.group_name();
        match self.waist().ask(&Request::Join { group: group.clone() }, &self.notes()) {
            Ok(Ok(_)) => {
                self.sharing().group.get_or_init(|| group);
                Ok(())
            }
            Ok(Err(_)) => Err(Failure::Engine(Status::Refused)),
            Err(status) => Err(Failure::Engine(status)),
        }
    }

    /// Opens a board, the first or another; 0: there is none.
    fn open(&self) -> Result<u64, Failure> {
        let sharing = self.sharing();
        let Some(group) = sharing.group.get() else { return Ok(0) };
        loop {
            match self.waist().open_board(group, self.own(), self.size(), &self.notes()) {
                Ok(board) => {
                    sharing.board.store(board, Ordering::Relaxed);
                    sharing.stage.store(OPEN, Ordering::Relaxed);
                    return Ok(board);
                }
                Err(Status::Unknown) => {
                    sharing.stage.store(NONE, Ordering::Relaxed);
                    return Ok(0);
                }
                Err(Status::Gone) => match self.who_is_gone() {
                    // The group has changed without a loss: all open it again.
                    Failure::Engine(Status::Gone) => {}
                    why => return Err(why),
                },
                Err(Status::Refused) => return Err(self.who_is_gone()),
                Err(status) => return Err(Failure::Engine(status)),
            }
        }
    }

    pub(crate) fn notes(&self) -> Notes {
        Notes { limit: -1, call: self.call(), peer: ANY_TASK, tag: -1, context: self.context() as i32 }
    }
}

/// The nodes at their board.
pub struct AtBoard<'a> {
    nodes: &'a Partition,
    board: u64,
    attend: Option<&'a dyn Attend>,
    requests: Vec<Operation>,
}

impl AtBoard<'_> {
    /// The turn did not come, and will not at this board.
    #[cold]
    fn closed(&mut self) -> Result<(), Failure> {
        match self.nodes.who_is_gone() {
            Failure::Engine(Status::Gone) => {}
            why => return Err(why),
        }
        self.nodes.waist().close_board(self.board);
        match self.nodes.open()? {
            // Nobody can go on with half an operation.
            0 => Err(Failure::Engine(Status::Gone)),
            board => {
                self.board = board;
                Ok(())
            }
        }
    }
}

impl Board for AtBoard<'_> {
    fn group(&self) -> Group {
        self.nodes.group()
    }

    fn room(&self) -> usize {
        board::ROOM
    }

    fn turn(&mut self, word: u32, data: [&[u8]; 2]) -> Result<(), Failure> {
        let (waist, notes) = (self.nodes.waist(), self.nodes.notes());
        loop {
            let limit = self.attend.map_or(-1, |node| node.attend(&mut self.requests));
            match waist.take_turn(self.board, word, data, &self.requests, &Notes { limit, ..notes }) {
                BoardTurn::Come => return Ok(()),
                BoardTurn::Over(_) => {}
                BoardTurn::Closed => self.closed()?,
                BoardTurn::Disagreed => return Err(Failure::Fault(Fault::Disagreed)),
                BoardTurn::Late if limit >= 0 && !waist.progress().lost => {}
                BoardTurn::Late => return Err(Failure::Engine(Status::NoMachine)),
            }
        }
    }

    fn read(&mut self, member: usize, from: usize, into: &mut [u8]) -> Result<(), Failure> {
        self.nodes.waist().read_board(self.board, member, from, into).map_err(|status| match status {
            // Under the same word everybody shows as much.
            Status::BadArgument => Failure::Fault(Fault::Disagreed),
            other => Failure::Engine(other),
        })
    }
}
