//! What a sender chooses for a message: who may buffer it, and when its send is over. Here, since the engine, the core API and every
//! interface mean the same.

/// A message of up to so many bytes is eager on one host: its data goes into the link at once. A longer message is worth the system call of
/// a single copy. Interfaces use the same bound: what is eager needs no room of its own, no offer, and no posted receive.
pub const EAGER: usize = 16 << 10;

/// Who may buffer a message, and so how often it is copied.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// By size: short messages in the transport; longer ones in memory of the link, where both sides copy at once; those that
    /// find no room there stay in place until wanted.
    BySize = 0,
    /// Nobody: data moves only after a receive was posted.
    Never = 1,
    /// The sender: data that cannot leave at once is copied to memory of the engine.
    AtSender = 2,
    /// The receiver: data is fetched on arrival, posted or not. At the sender if nobody serves the receiver.
    AtReceiver = 3,
    /// Nobody, and the message is dropped when no receive is posted on arrival.
    OrDiscard = 4,
    /// Nobody when a receive is posted, else the sender; never the receiver.
    SenderIfUnposted = 5,
}

/// When a send is over.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// When the data is copied, to wherever: the program may reuse the memory of the data.
    Copied = 0,
    /// When the receiver has matched the message with a receive, and the data is copied.
    Matched = 1,
}

impl Buffering {
    /// The choice of a number that came through C.
    #[inline]
    pub fn of(number: u32) -> Option<Buffering> {
        Some(match number {
            0 => Buffering::BySize,
            1 => Buffering::Never,
            2 => Buffering::AtSender,
            3 => Buffering::AtReceiver,
            4 => Buffering::OrDiscard,
            5 => Buffering::SenderIfUnposted,
            _ => return None,
        })
    }
}

impl Completion {
    /// The choice of a number that came through C: everything but 0 waits for the match.
    #[inline]
    pub fn of(number: u32) -> Completion {
        if number == 0 { Completion::Copied } else { Completion::Matched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choice_numbers_round_trip() {
        for number in 0..6 {
            assert_eq!(Buffering::of(number).map(|choice| choice as u32), Some(number));
        }
        assert_eq!(Buffering::of(6), None);
        assert_eq!([Completion::of(0) as u32, Completion::of(1) as u32], [0, 1]);
    }
}
