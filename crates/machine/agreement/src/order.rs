//! What openraft calls the state machine: hands agreed changes to the keeper, each once.

use crate::pending::{Done, Pending};
use crate::types::{
    ChangeKind, Entry, LogId, Proposal, Snapshot, SnapshotMeta, StorageError, StoredMembership, Types,
};
use crate::{Agreed, Keeper, Member};
use bytes::Bytes;
use openraft::storage::RaftStateMachine;
use openraft::{AnyError, EntryPayload, RaftSnapshotBuilder, StorageIOError};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) struct Order {
    me: u64,
    keeper: Rc<dyn Keeper>,
    pending: Rc<RefCell<Pending>>,
    /// What was agreed of each life that is a member.
    done: BTreeMap<u64, Done>,
    applied: Option<LogId>,
    members: StoredMembership,
    current: Current,
}

/// The last snapshot.
pub(crate) type Current = Rc<RefCell<Option<Snapshot>>>;

impl Order {
    pub fn new(me: u64, keeper: Rc<dyn Keeper>, pending: Rc<RefCell<Pending>>, current: Current) -> Order {
        Order {
            me,
            keeper,
            pending,
            done: BTreeMap::new(),
            applied: None,
            members: StoredMembership::default(),
            current,
        }
    }

    fn take(&mut self, at: LogId, proposal: Proposal) {
        // Of a life that is no member nothing counts any more: what it had agreed is forgotten.
        let Some(done) = self.done.get_mut(&proposal.by) else { return };
        let takes = done.takes(&proposal);
        if proposal.by == self.me {
            self.pending.borrow_mut().agreed(proposal.number);
        }
        match proposal.what {
            _ if !takes => {}
            ChangeKind::Change(change) => {
                let leader = at.leader_id.node_id;
                self.keeper.agreed(Agreed { index: at.index, by: proposal.by, leader, change });
            }
            ChangeKind::Beginning(state) if proposal.by != self.me => self.keeper.install(&state),
            ChangeKind::Beginning(_) => {}
        }
    }

    fn have_members(&mut self, members: StoredMembership) {
        let before = std::mem::replace(&mut self.members, members);
        let (before, now) = (before.membership(), self.members.membership());
        for (life, _) in missing(now.nodes(), before.nodes()) {
            self.done.entry(*life).or_default();
        }
        for (life, host) in missing(before.nodes(), now.nodes()) {
            self.done.remove(life);
            self.keeper.released(Member { life: *life, host: *host });
        }
    }
}

/// Those of one list that are not in another; both are in order. There may be thousands, and most are in both.
fn missing<'a>(
    list: impl Iterator<Item = (&'a u64, &'a u32)>,
    other: impl Iterator<Item = (&'a u64, &'a u32)>,
) -> impl Iterator<Item = (&'a u64, &'a u32)> {
    let mut other = other.map(|(life, _)| life).peekable();
    list.filter(move |(life, _)| {
        while other.next_if(|there| there < life).is_some() {}
        other.peek() != Some(life)
    })
}

/// What was done, by life, and what the machine keeps.
pub(crate) fn read_snapshot(bytes: &[u8]) -> Result<(BTreeMap<u64, Done>, Bytes), postcard::Error> {
    postcard::from_bytes(bytes)
}

fn broken(error: postcard::Error) -> StorageError {
    StorageIOError::read_snapshot(None, AnyError::new(&error)).into()
}

impl RaftStateMachine<Types> for Order {
    type SnapshotBuilder = Built;

    async fn applied_state(&mut self) -> Result<(Option<LogId>, StoredMembership), StorageError> {
        Ok((self.applied, self.members.clone()))
    }

    async fn apply<I: IntoIterator<Item = Entry>>(&mut self, entries: I) -> Result<Vec<()>, StorageError> {
        let mut answers = Vec::new();
        for entry in entries {
            self.applied = Some(entry.log_id);
            match entry.payload {
                EntryPayload::Blank => {}
                EntryPayload::Normal(proposal) => self.take(entry.log_id, proposal),
                EntryPayload::Membership(members) => {
                    self.have_members(StoredMembership::new(Some(entry.log_id), members));
                }
            }
            answers.push(());
        }
        Ok(answers)
    }

    /// Built here and now, while nothing else is applied.
    async fn get_snapshot_builder(&mut self) -> Built {
        let snapshot = postcard::to_stdvec(&(&self.done, Bytes::from(self.keeper.snapshot())));
        let meta = SnapshotMeta {
            last_log_id: self.applied,
            last_membership: self.members.clone(),
            snapshot_id: self.applied.map_or_else(String::new, |at| at.to_string()),
        };
        let built = snapshot.map(|bytes| Snapshot { meta, snapshot: Box::new(bytes.into()) });
        Built { built: built.map_err(broken), current: self.current.clone() }
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Bytes>, StorageError> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta,
        snapshot: Box<Bytes>,
    ) -> Result<(), StorageError> {
        let (done, state) = read_snapshot(&snapshot).map_err(broken)?;
        if let Some(mine) = done.get(&self.me) {
            self.pending.borrow_mut().forget_all(|number| mine.has(number));
        }
        self.done = done;
        self.applied = meta.last_log_id;
        self.have_members(meta.last_membership.clone());
        self.keeper.install(&state);
        *self.current.borrow_mut() = Some(Snapshot { meta: meta.clone(), snapshot });
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot>, StorageError> {
        Ok(self.current.borrow().clone())
    }
}

/// A snapshot that is ready.
pub(crate) struct Built {
    built: Result<Snapshot, StorageError>,
    current: Current,
}

impl RaftSnapshotBuilder<Types> for Built {
    async fn build_snapshot(&mut self) -> Result<Snapshot, StorageError> {
        let built = self.built.clone()?;
        *self.current.borrow_mut() = Some(built.clone());
        Ok(built)
    }
}
