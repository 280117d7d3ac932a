//! How openraft reaches the others: by the post.

use crate::Member;
use crate::letters::{Answer, Question};
use crate::post::Post;
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
pub(crate) struct Roads(pub Rc<Post>);

/// The way to one member.
pub(crate) struct Road {
    post: Rc<Post>,
    to: Member,
}

#[derive(Debug, thiserror::Error)]
#[error("life {} of host {} gives no answer", .0.life, .0.host)]
struct NoAnswer(Member);

impl Road {
    fn unreachable(&self) -> Unreachable {
        Unreachable::new(&NoAnswer(self.to))
    }
}

type Refusal = RPCError<u64, u32, RaftError<u64>>;

impl RaftNetworkFactory<Types> for Roads {
    type Network = Road;

    async fn new_client(&mut self, life: u64, host: &u32) -> Road {
        Road { post: self.0.clone(), to: Member { life, host: *host } }
    }
}

impl RaftNetwork<Types> for Road {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Refusal> {
        match self.post.ask(self.to, Question::Append(request)).await {
            Some(Answer::Append(Some(answer))) => Ok(answer),
            _ => Err(self.unreachable().into()),
        }
    }

    async fn vote(&mut self, request: VoteRequest<u64>, _: RPCOption) -> Result<VoteResponse<u64>, Refusal> {
        match self.post.ask(self.to, Question::Vote(request)).await {
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
            answer = self.post.ask(self.to, question) => match answer {
                Some(Answer::Snapshot(Some(answer))) => Ok(answer),
                _ => Err(self.unreachable().into()),
            },
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(AGAIN))
    }
}
