//! How the data of a message travels: the whole choice, as functions of numbers and flags.
//!
//! [`goes_at_once`] decides whether a message is eager: its data goes into the link at once. If not, [`borrows`]
//! decides whether the sender asks the link for memory, and [`decide`] chooses the protocol.
//! `docs/project/design/rendezvous.md` has the protocols as pictures.

use super::outgoing::{Buffering, Completion};
use parvum_transport::Limits;

/// If this number of bytes is in memory that the link has lent, the receiver is slow. The link keeps as much mapped.
const AHEAD: usize = 4 << 20;

/// The interface's settings for a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) length: usize,
    pub(crate) buffering: Buffering,
    pub(crate) completion: Completion,
    /// The data stays unchanged without the program: an owner keeps the memory, or the data is copied before the send returns.
    pub(crate) is_kept: bool,
    /// The data lies in one piece.
    pub(crate) is_one_piece: bool,
}

/// The state of the receiver and of the link to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    pub(crate) limits: Limits,
    /// The receiver is this task.
    pub(crate) is_self: bool,
    /// Bytes that lie in memory of the link, which the receiver has not read yet.
    pub(crate) lent: usize,
    /// The receiver waits for this message and reads it in place as soon as it is offered.
    pub(crate) reads_in_place: bool,
}

/// The way of a message's data, if the link cannot take all of it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// In frames, from where it lies, as fast as the link takes them.
    Stream,
    /// In frames; what the link does not take at once is copied into memory of this task.
    StreamCopy,
    /// Offered where it lies.
    Offer,
    /// Copied into memory of this task, and offered there.
    OfferCopy,
    /// Copied into memory of the link, and offered there: the receiver follows the sender's copy.
    OfferLoan,
}

impl Decision {
    /// The message begins with an offer, not with its data.
    pub(crate) fn is_offer(self) -> bool {
        matches!(self, Decision::Offer | Decision::OfferCopy | Decision::OfferLoan)
    }

    /// The sender makes a copy that stays with it until the data has left.
    pub(crate) fn is_copy(self) -> bool {
        matches!(self, Decision::StreamCopy | Decision::OfferCopy | Decision::OfferLoan)
    }
}

/// Whether the interface lets the sender copy the data, and the send be over then.
fn may_copy(message: &Message) -> bool {
    matches!(message.buffering, Buffering::BySize | Buffering::AtSender)
        && message.completion == Completion::Copied
}

/// Whether the data of a message that fits into the link goes there at once. `is_awaited` asks the link whether a receive of the
/// message is posted, `is_prompt` says that the receiver had one for the last messages.
#[inline(always)]
pub(crate) fn goes_at_once(
    buffering: Buffering,
    completion: Completion,
    is_prompt: bool,
    is_awaited: impl FnOnce() -> bool,
) -> bool {
    match buffering {
        // The receive is posted already, whatever the send waits for.
        Buffering::Never => is_awaited(),
        _ if completion == Completion::Matched => false,
        Buffering::SenderIfUnposted => is_prompt || is_awaited(),
        _ => true,
    }
}

/// Whether the sender may wait until the receiver has read the data in place. If so, the caller checks whether [the
/// receiver reads in place](Receiver::reads_in_place).
pub(crate) fn may_go_in_place(message: &Message) -> bool {
    may_copy(message) && !message.is_kept && message.buffering == Buffering::BySize && message.is_one_piece
}

/// Whether the sender asks the link for memory, to copy the data there while the receiver copies it out. Two copies by
/// both sides at the same time are faster than one copy by the receiver alone, if the sender has just written the data.
pub(crate) fn borrows(message: &Message, receiver: &Receiver) -> bool {
    // Data that is kept anyway gains nothing from more memory of the link, which a short program would touch first.
    let is_behind = message.is_kept && receiver.limits.single_copy && receiver.lent >= AHEAD;
    may_copy(message)
        && message.length > receiver.limits.eager
        && !receiver.is_self
        && !is_behind
        && !receiver.reads_in_place
}

/// How the data travels; `has_loan`: the sender asked the link for memory and got it.
pub(crate) fn decide(message: &Message, receiver: &Receiver, has_loan: bool) -> Decision {
    if has_loan {
        return Decision::OfferLoan;
    }
    let is_long = message.length > receiver.limits.eager;
    let offers = match message.buffering {
        Buffering::Never | Buffering::SenderIfUnposted => true,
        Buffering::OrDiscard => is_long,
        _ => message.completion == Completion::Matched || (receiver.limits.single_copy && is_long),
    };
    let copies = message.buffering == Buffering::AtSender && !message.is_kept;
    match (offers, copies) {
        (true, true) => Decision::OfferCopy,
        (true, false) => Decision::Offer,
        (false, true) => Decision::StreamCopy,
        (false, false) => Decision::Stream,
    }
}

/// Whether the engine ends the send by itself: the program has its memory back, or never gave it.
pub(crate) fn ends_alone(message: &Message, decision: Decision) -> bool {
    (decision.is_copy() || message.is_kept) && message.completion == Completion::Copied
}

/// Whether the data takes memory of this task or of its receiver until it is received, and so costs credit. Data that is offered in
/// place takes none.
pub(crate) fn takes_memory(message: &Message, decision: Decision) -> bool {
    let asks = message.buffering == Buffering::SenderIfUnposted;
    decision.is_copy()
        || (message.is_kept && !asks)
        || !decision.is_offer()
        || message.buffering == Buffering::AtReceiver
}

/// Whether the receiver fetches the data as soon as the offer comes, and keeps it.
pub(crate) fn is_fetched_at_once(message: &Message, decision: Decision) -> bool {
    decision.is_offer() && message.buffering == Buffering::AtReceiver
}

#[cfg(test)]
mod tests {
    use super::Buffering::*;
    use super::Completion::*;
    use super::*;

    const EAGER: usize = 16 << 10;

    fn message(buffering: Buffering, completion: Completion, is_long: bool, is_kept: bool) -> Message {
        let length = if is_long { EAGER + 1 } else { EAGER };
        Message { length, buffering, completion, is_kept, is_one_piece: true }
    }

    fn receiver(single_copy: bool) -> Receiver {
        let limits = Limits { frame: EAGER, eager: EAGER, single_copy, buffered: false };
        Receiver { limits, is_self: false, lent: 0, reads_in_place: false }
    }

    /// The table: every buffering and completion, short and long, with and without single copies, with and without an
    /// owner. `L`: a loan if the link gives one, then `Stream`, `c` StreamCopy, `O`ffer, `C` OfferCopy if it gives
    /// none.
    #[test]
    fn transfer_decision_equals_the_table() {
        let single = |c: char| match c {
            'S' => Decision::Stream,
            'c' => Decision::StreamCopy,
            'O' => Decision::Offer,
            _ => Decision::OfferCopy,
        };
        // Columns: short, long, short with single copies, long with single copies; then the same if the data is kept.
        let table = [
            (BySize, Copied, "S LS S LO  S LS S LO"),
            (BySize, Matched, "O O O O  O O O O"),
            (AtSender, Copied, "c Lc c LC  S LS S LO"),
            (AtSender, Matched, "C C C C  O O O O"),
            (AtReceiver, Copied, "S S S O  S S S O"),
            (AtReceiver, Matched, "O O O O  O O O O"),
            (Never, Copied, "O O O O  O O O O"),
            (Never, Matched, "O O O O  O O O O"),
            (SenderIfUnposted, Copied, "O O O O  O O O O"),
            (SenderIfUnposted, Matched, "O O O O  O O O O"),
            (OrDiscard, Copied, "S O S O  S O S O"),
            (OrDiscard, Matched, "S O S O  S O S O"),
        ];
        for (buffering, completion, row) in table {
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(cells.len(), 8);
            for (place, cell) in cells.into_iter().enumerate() {
                let (is_long, single_copy, is_kept) = (place & 1 != 0, place & 2 != 0, place & 4 != 0);
                let (message, receiver) =
                    (message(buffering, completion, is_long, is_kept), receiver(single_copy));
                let asked = format!("{message:?} to {receiver:?}");
                assert_eq!(borrows(&message, &receiver), cell.starts_with('L'), "{asked}");
                assert_eq!(decide(&message, &receiver, true), Decision::OfferLoan);
                let without = cell.chars().last().map(single).expect("a letter");
                assert_eq!(decide(&message, &receiver, false), without, "{asked}");
            }
        }
    }

    #[test]
    fn link_lends_memory_only_for_useful_messages() {
        let long = message(BySize, Copied, true, false);
        let kept = message(BySize, Copied, true, true);
        assert!(borrows(&long, &receiver(true)));
        assert!(
            !borrows(&long, &Receiver { is_self: true, ..receiver(true) }),
            "to itself a task copies once"
        );
        assert!(!borrows(&long, &Receiver { reads_in_place: true, ..receiver(true) }));
        let behind = Receiver { lent: AHEAD, ..receiver(true) };
        assert!(borrows(&long, &behind) && !borrows(&kept, &behind), "kept data waits where it lies");
        assert!(borrows(&kept, &Receiver { lent: AHEAD, ..receiver(false) }));
    }

    #[test]
    fn only_unkept_contiguous_data_goes_without_copy() {
        assert!(may_go_in_place(&message(BySize, Copied, true, false)));
        assert!(!may_go_in_place(&message(BySize, Copied, true, true)));
        assert!(!may_go_in_place(&message(AtSender, Copied, true, false)), "the sender does not wait");
        assert!(!may_go_in_place(&message(BySize, Matched, true, false)));
        assert!(!may_go_in_place(&Message { is_one_piece: false, ..message(BySize, Copied, true, false) }));
    }

    #[test]
    fn eager_send_depends_on_buffering_and_receiver() {
        let asked = |buffering, completion, is_prompt, is_awaited| {
            goes_at_once(buffering, completion, is_prompt, || is_awaited)
        };
        for buffering in [BySize, AtSender, AtReceiver, OrDiscard] {
            assert!(asked(buffering, Copied, false, false) && !asked(buffering, Matched, true, true));
        }
        for completion in [Copied, Matched] {
            assert!(asked(Never, completion, false, true) && !asked(Never, completion, true, false));
        }
        assert!(asked(SenderIfUnposted, Copied, true, false) && asked(SenderIfUnposted, Copied, false, true));
        assert!(
            !asked(SenderIfUnposted, Copied, false, false) && !asked(SenderIfUnposted, Matched, true, true)
        );
    }

    /// A send completes without the receiver if there is another copy of the data. Data costs credit if it takes
    /// memory.
    #[test]
    fn sends_complete_and_cost_credit_by_copied_data() {
        for buffering in [BySize, AtSender, AtReceiver, Never, SenderIfUnposted, OrDiscard] {
            for (completion, is_kept, has_loan) in [Copied, Matched]
                .into_iter()
                .flat_map(|c| [(c, false, false), (c, true, false), (c, false, true)])
            {
                let message = message(buffering, completion, true, is_kept);
                let decision = decide(&message, &receiver(true), has_loan);
                let is_elsewhere = decision.is_copy() || is_kept;
                assert_eq!(
                    ends_alone(&message, decision),
                    is_elsewhere && completion == Copied,
                    "{message:?}"
                );
                if decision == Decision::Offer && !is_kept && buffering != AtReceiver {
                    assert!(!takes_memory(&message, decision), "{message:?} lies at the program");
                }
                if decision.is_copy() || !decision.is_offer() {
                    assert!(takes_memory(&message, decision), "{message:?}");
                }
                assert_eq!(
                    is_fetched_at_once(&message, decision),
                    buffering == AtReceiver && decision.is_offer(),
                    "{message:?}"
                );
            }
        }
    }
}
