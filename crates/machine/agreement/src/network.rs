//! How openraft reaches the others: by the peers.

use crate::Member;
use crate::log::cost;
use crate::messages::{Answer, Question};
use crate::peers::Peers;
use crate::types::{Snapshot, Types, Vote};
use openraft::error::{Fatal, RPCError, RaftError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{Backoff, RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

/// So long nothing is sent to one that was not reached.
const AGAIN: Duration = Duration::from_millis(200);

#[derive(Clone)]
pub(crate) struct Network(pub Rc<Peers>);

/// Entries of more bytes than this are not sent to one that may have them.
const MUCH: usize = 2048;

/// The way to one member.
pub(crate) struct Connection {
    peers: Rc<Peers>,
    to: Member,
    /// Something was sent over it and arrived.
    known: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("life {} of host {} gives no answer", .0.life, .0.host)]
struct NoAnswer(Member);

impl Connection {
    /// Who has just begun to lead, or has changed the members, does not know what the others have, and openraft guesses: the
    /// newer half of the log. In a large machine that is the table of hosts, for each host. So it is left out what
    /// the other has.
    async fn leave_out_what_it_has(&self, request: &mut AppendEntriesRequest<Types>) {
        let Some(last) = request.entries.last().map(|entry| entry.log_id) else { return };
        if self.known || request.entries.iter().map(cost).sum::<usize>() <= MUCH {
            return;
        }
        if let Some(Answer::Has(Some(has))) = self.peers.ask(self.to, Question::Has(last.index)).await
            && let Some(at) = request.entries.iter().position(|entry| entry.log_id == has)
        {
            // Logs that have one entry in common have all before it in common.
            request.entries.drain(..=at);
            request.prev_log_id = Some(has);
        }
    }

    fn unreachable(&self) -> Unreachable {
        Unreachable::new(&NoAnswer(self.to))
    }
}

type Refusal = RPCError<u64, u32, RaftError<u64>>;

impl RaftNetworkFactory<Types> for Network {
    type Network = Connection;

    async fn new_client(&mut self, life: u64, host: &u32) -> Connection {
        Connection { peers: self.0.clone(), to: Member { life, host: *host }, known: false }
    }
}

impl RaftNetwork<Types> for Connection {
    async fn append_entries(
        &mut self,
        mut request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Refusal> {
        self.leave_out_what_it_has(&mut request).await;
        match self.peers.ask(self.to, Question::Append(request)).await {
            Some(Answer::Append(Some(answer))) => {
                self.known |= matches!(answer, AppendEntriesResponse::Success);
                Ok(answer)
            }
            _ => Err(self.unreachable().into()),
        }
    }

    async fn vote(&mut self, request: VoteRequest<u64>, _: RPCOption) -> Result<VoteResponse<u64>, Refusal> {
        match self.peers.ask(self.to, Question::Vote(request)).await {
            Some(Answer::Vote(Some(answer))) => Ok(answer),
            _ => Err(self.unreachable().into()),
        }
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote,
        snapshot: Snapshot,
        cancel: impl Future<Output = ReplicationClosed> + 'static,
        _: RPCOption,
    ) -> Result<SnapshotResponse<u64>, StreamingError<Types, Fatal<u64>>> {
        let question = Question::Snapshot(vote, snapshot.meta, *snapshot.snapshot);
        tokio::select! {
            closed = cancel => Err(closed.into()),
            answer = self.peers.ask(self.to, question) => match answer {
                Some(Answer::Snapshot(Some(answer))) => Ok(answer),
                _ => Err(self.unreachable().into()),
            },
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(AGAIN))
    }
}
