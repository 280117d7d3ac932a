//! What openraft is told of our kinds of things.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

openraft::declare_raft_types!(
    pub(crate) Types:
        D = Proposal,
        R = (),
        NodeId = u64,
        Node = u32,
        Entry = openraft::Entry<Types>,
        SnapshotData = Bytes,
        AsyncRuntime = openraft::TokioRuntime,
        Responder = openraft::impls::OneshotResponder<Types>,
);

pub(crate) type Raft = openraft::Raft<Types>;
pub(crate) type Entry = openraft::Entry<Types>;
pub(crate) type LogId = openraft::LogId<u64>;
pub(crate) type Vote = openraft::Vote<u64>;
pub(crate) type Membership = openraft::Membership<u64, u32>;
pub(crate) type StoredMembership = openraft::StoredMembership<u64, u32>;
pub(crate) type SnapshotMeta = openraft::SnapshotMeta<u64, u32>;
pub(crate) type Snapshot = openraft::Snapshot<Types>;
pub(crate) type Metrics = openraft::RaftMetrics<u64, u32>;
pub(crate) type StorageError = openraft::StorageError<u64>;

/// What a member wants to be agreed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Proposal {
    /// The life that proposes.
    pub by: u64,
    /// Its number among those of this life.
    pub number: u64,
    /// The oldest number of this life that is not settled: those below are agreed or given up.
    pub oldest: u64,
    /// What.
    pub what: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChangeKind {
    /// What the first member has, for the others to begin with.
    Beginning(Bytes),
    /// A change of the daemon's.
    Change(Bytes),
}

impl Proposal {
    /// About how much memory it takes.
    pub fn cost(&self) -> usize {
        let (ChangeKind::Beginning(bytes) | ChangeKind::Change(bytes)) = &self.what;
        64 + bytes.len()
    }
}

impl std::fmt::Display for Proposal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "proposal {} of life {}", self.number, self.by)
    }
}
