//! One order of changes for all daemons of a machine, agreed by a majority of its hosts.
//!
//! A daemon proposes changes, which are bytes here, and every daemon is handed the agreed ones: all in the
//! same order, each once. The protocol is Raft, by openraft; this crate joins it to what a machine has:
//!
//! - *Who is alive* the mesh knows already ([`Agreement::lost`], [`Agreement::found_again`]). So there
//!   are no heartbeats and no clocks: a machine in which nothing changes is silent. When the leader is
//!   lost, those who vote say so to each other, and when most of them have lost it the first in rank stands
//!   for election (`succession`). The many who do not vote say nothing.
//! - *Who votes*: the largest odd number of hosts, at most [`MOST_VOTERS`]; the others learn (`members`).
//! - *Nothing is on disk.* A member is one life of a host, and no life is used again: who dies has
//!   forgotten its vote and its log, but comes back as somebody else. So it can never vote twice, which is
//!   all that Raft needs a disk for.
//! - *Each once*: a daemon proposes again what it has not seen agreed when the leader changes. Proposals
//!   are numbered, and a number that was agreed before is passed over (`order`).
//! - *A minority* notices after [`Settings::patience`], says so ([`Standing::Minority`]) and forgets what
//!   it had proposed and not seen agreed.
//!
//! Everything runs on the tokio `LocalSet` of the caller.

#![forbid(unsafe_code)]

mod log;
mod members;
mod messages;
mod network;
mod order;
mod peers;
mod pending;
mod replica;
mod succession;
mod types;

#[cfg(test)]
mod simulated;

/// How bytes of other hosts are read, for fuzzing.
#[cfg(fuzzing)]
pub mod reads {
    /// Pieces of messages, in the order in which they came.
    pub fn messages(pieces: &[&[u8]]) {
        let mut begun = Vec::new();
        for piece in pieces {
            if let Some(whole) = crate::messages::join(&mut begun, piece) {
                let _ = postcard::from_bytes::<crate::messages::Envelope>(&whole);
            }
        }
    }

    /// What a host that comes is handed.
    pub fn snapshot(bytes: &[u8]) {
        let _ = crate::order::read_snapshot(bytes);
    }
}

pub use bytes::Bytes;
pub use members::MOST_VOTERS;

use replica::{Input, Replica};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc;

/// One life of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Never used again.
    pub life: u64,
    /// The number by which the mesh reaches it; another life may have had it before.
    pub host: u32,
}

/// A change that was agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Where it stands in the order.
    pub index: u64,
    /// The life that proposed it.
    pub by: u64,
    /// The life that led when it was written down.
    pub leader: u64,
    /// What was proposed.
    pub change: Bytes,
}

/// How this member stands to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nobody leads whom it reaches, or it leads and reaches too few; that may pass.
    #[default]
    Waiting,
    /// It leads, and reaches a majority.
    Leading,
    /// The member on this host leads.
    Following(u32),
    /// It has waited in vain: nothing can be agreed here.
    Minority,
}

/// What the agreement needs of its daemon. It is never called from inside a call of the daemon's.
pub trait Keeper {
    /// A change is agreed.
    fn agreed(&self, agreed: Agreed);
    /// All that the agreed changes have made, for a member that comes.
    fn snapshot(&self) -> Vec<u8>;
    /// Takes over what another's [`Keeper::snapshot`] gave.
    fn install(&self, snapshot: &[u8]);
    /// Takes bytes to another host's [`Agreement::heard`]: in order; what is lost is followed by
    /// [`Agreement::lost`] on both sides.
    fn send(&self, host: u32, bytes: Bytes);
    /// A life that was to be a member no more is none: it had to vote until now, on its own end too.
    fn released(&self, member: Member);
    /// The standing is another.
    fn stands(&self, standing: Standing);
    /// These members vote from now on. One of them leads next: it must know who is alive, so its host should be connected
    /// with all others.
    fn voters(&self, voters: Vec<Member>);
    /// The agreement has come to an end by a fault, which should not happen.
    fn failed(&self, why: String);
}

/// How a member behaves.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Who cannot agree with a majority for so long is the minority.
    pub patience: Duration,
    /// How long one waits for another in the rank to be elected before it stands itself.
    pub step: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { patience: Duration::from_secs(3), step: Duration::from_millis(150) }
    }
}

/// Why there is no agreement.
#[derive(Debug, thiserror::Error)]
#[error("the hosts cannot begin to agree: {0}")]
pub struct BeginError(String);

/// A member's part in the agreement. It ends when this is dropped.
pub struct Agreement(mpsc::UnboundedSender<Input>);

impl Agreement {
    /// The first member of all, alone; what its keeper has now is what the others will begin with.
    pub fn found(me: Member, keeper: Rc<dyn Keeper>, settings: Settings) -> Agreement {
        Agreement::begin(me, keeper, settings, true)
    }

    /// A member that waits to be taken in by the others.
    pub fn join(me: Member, keeper: Rc<dyn Keeper>, settings: Settings) -> Agreement {
        Agreement::begin(me, keeper, settings, false)
    }

    fn begin(me: Member, keeper: Rc<dyn Keeper>, settings: Settings, founds: bool) -> Agreement {
        let (words, heard) = mpsc::unbounded_channel();
        tokio::task::spawn_local(Replica::run(me, keeper, settings, founds, heard));
        Agreement(words)
    }

    /// Proposes a change. It is agreed sooner or later, unless this member dies or finds itself in the
    /// minority.
    pub fn propose(&self, change: impl Into<Bytes>) {
        self.say(Input::Propose(change.into()));
    }

    /// Bytes that the other host's agreement has sent.
    pub fn heard(&self, host: u32, bytes: Bytes) {
        self.say(Input::Heard(host, bytes));
    }

    /// A host does not answer any more; what was on its way to it, or from it, is lost.
    pub fn lost(&self, host: u32) {
        self.say(Input::Lost(host));
    }

    /// A host answers.
    pub fn found_again(&self, host: u32) {
        self.say(Input::Found(host));
    }

    /// These are the members from now on, this one included. Every member says so when the change that made
    /// it so is agreed; the one that leads acts on it.
    pub fn members(&self, members: Vec<Member>) {
        self.say(Input::Members(members));
    }

    fn say(&self, word: Input) {
        // A replica that is gone has told its keeper why.
        let _ = self.0.send(word);
    }
}
