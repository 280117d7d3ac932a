//! What members write to each other, and how it is cut into pieces.

use crate::types::{LogId, Proposal, SnapshotMeta, Types, Vote};
use bytes::Bytes;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Envelope {
    /// The life that writes.
    pub from: u64,
    /// The life that shall read: the host's number may have been another's.
    pub to: u64,
    pub message: Message,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Message {
    /// To be answered under its number.
    Question(u64, Question),
    Answer(u64, Answer),
    /// For the one that leads.
    Proposal(Proposal),
    /// Whether the writer knows nobody who leads with a majority: not even itself.
    Leaderless(bool),
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Question {
    Append(AppendEntriesRequest<Types>),
    /// Which entry has the reader, of those up to this index the last?
    Has(u64),
    Vote(VoteRequest<u64>),
    Snapshot(Vote, SnapshotMeta, Bytes),
}

/// None: that member's part is over.
#[derive(Serialize, Deserialize)]
pub(crate) enum Answer {
    Append(Option<AppendEntriesResponse<u64>>),
    Has(Option<LogId>),
    Vote(Option<VoteResponse<u64>>),
    Snapshot(Option<SnapshotResponse<u64>>),
}

/// The longest piece. A network has a bound on messages, and a snapshot has none.
const PIECE: usize = 1 << 20;

/// Cuts bytes into pieces; the first byte of each says whether more follow.
pub(crate) fn cut(bytes: &[u8]) -> Vec<Bytes> {
    let count = bytes.len().div_ceil(PIECE).max(1);
    let piece = |(at, piece): (usize, &[u8])| {
        let mut framed = Vec::with_capacity(piece.len() + 1);
        framed.push(u8::from(at + 1 < count));
        framed.extend_from_slice(piece);
        Bytes::from(framed)
    };
    bytes.chunks(PIECE).enumerate().map(piece).collect()
}

/// Puts pieces together again; the whole when it is whole.
pub(crate) fn join(begun: &mut Vec<u8>, piece: &[u8]) -> Option<Vec<u8>> {
    let (more, rest) = piece.split_first()?;
    begun.extend_from_slice(rest);
    (*more == 0).then(|| std::mem::take(begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_message_is_reassembled() {
        for length in [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let pieces = cut(&bytes);
            assert!(pieces.iter().all(|piece| piece.len() <= PIECE + 1));
            let mut begun = Vec::new();
            let whole: Vec<_> = pieces.iter().filter_map(|piece| join(&mut begun, piece)).collect();
            assert_eq!(whole, [bytes]);
        }
    }
}
