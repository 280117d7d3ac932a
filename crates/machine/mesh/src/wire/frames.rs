//! Control messages in the control stream: kind (1 byte), length (4 bytes),
//! content.

use super::{Fields, Garbled};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The bytes before each content.
pub const FRAME_HEADER: usize = 5;
const MESSAGE: u8 = 0;
const FAREWELL: u8 = 1;
const RESUME: u8 = 2;
const RECEIVED: u8 = 3;
const TAKEN: u8 = 4;

/// Why a daemon ends a connection on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Farewell {
    /// The speaker leaves the machine, or the machine is being stopped.
    Leaving = 1,
    /// The listener was removed from the machine.
    Removed = 2,
    /// The speaker starts anew and will come back with a higher incarnation.
    Restarting = 3,
}

/// The first frame of each connection: where both ends left off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The number of the speaker's session.
    pub mine: u64,
    /// The number of the listener's session, as far as the speaker has heard of it; else 0.
    pub yours: u64,
    /// So many messages of the listener's session have come.
    pub received: u64,
}

/// One unit of the control stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Where the speaker goes on.
    Resume(Resume),
    /// So many messages have come, in this session.
    Received(u64),
    /// So many bytes of a stream have been taken; one more than there are with its end, all bits with its reader gone.
    Taken {
        /// The stream, as its sender counts.
        stream: u64,
        /// The bytes.
        bytes: u64,
    },
    /// A message for the daemon.
    Message(Bytes),
    /// The last frame: the connection ends, and why.
    Farewell(Farewell),
}

/// The bytes before a message of that length.
pub fn message_header(length: u32) -> [u8; FRAME_HEADER] {
    let [a, b, c, d] = length.to_le_bytes();
    [MESSAGE, a, b, c, d]
}

fn numbers<const N: usize>(kind: u8, numbers: [u64; N]) -> Vec<u8> {
    let length = size_of::<[u64; N]>();
    let mut out = Vec::with_capacity(FRAME_HEADER.saturating_add(length));
    out.push(kind);
    out.extend_from_slice(&(length as u32).to_le_bytes());
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    out
}

/// The first frame, whole.
pub fn resume(Resume { mine, yours, received }: Resume) -> Vec<u8> {
    numbers(RESUME, [mine, yours, received])
}

/// That so many messages have come, whole.
pub fn received(count: u64) -> Vec<u8> {
    numbers(RECEIVED, [count])
}

/// That so many bytes of a stream have been taken, whole.
pub fn taken(stream: u64, bytes: u64) -> Vec<u8> {
    numbers(TAKEN, [stream, bytes])
}

/// A farewell, whole.
pub fn farewell(why: Farewell) -> [u8; FRAME_HEADER + 1] {
    [FAREWELL, 1, 0, 0, 0, why as u8]
}

/// Cuts a stream of bytes into frames. It holds no more than arrived.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    pieces: VecDeque<Bytes>,
    held: usize,
}

impl Framer {
    /// A cutter that refuses messages above `limit` bytes.
    pub fn new(limit: usize) -> Framer {
        Framer { limit, pieces: VecDeque::new(), held: 0 }
    }

    /// The next bytes of the stream.
    pub fn push(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.held = self.held.saturating_add(bytes.len());
            self.pieces.push_back(bytes);
        }
    }

    /// The next frame that is whole; call it until it says none. After an
    /// error the stream is good for nothing more.
    pub fn frame(&mut self) -> Result<Option<Frame>, Garbled> {
        let Some([kind, length @ ..]) = self.peek() else { return Ok(None) };
        let length = u32::from_le_bytes(length) as usize;
        let bound = match kind {
            MESSAGE => self.limit,
            FAREWELL => 1,
            RESUME => 24,
            RECEIVED => 8,
            TAKEN => 16,
            _ => return Err(Garbled::Value("a control frame")),
        };
        if length > bound {
            return Err(Garbled::Bound { what: "a control message", length, bound });
        }
        if self.held.saturating_sub(FRAME_HEADER) < length {
            return Ok(None);
        }
        self.take(FRAME_HEADER);
        let content = self.take(length);
        if kind == MESSAGE {
            return Ok(Some(Frame::Message(content)));
        }
        if kind != FAREWELL {
            return numbered(kind, &content).map(Some);
        }
        let why = match *content {
            [1] => Farewell::Leaving,
            [2] => Farewell::Removed,
            [3] => Farewell::Restarting,
            _ => return Err(Garbled::Value("a farewell")),
        };
        Ok(Some(Frame::Farewell(why)))
    }

    fn peek(&self) -> Option<[u8; FRAME_HEADER]> {
        let mut header = [0; FRAME_HEADER];
        let mut bytes = self.pieces.iter().flatten();
        for slot in &mut header {
            *slot = *bytes.next()?;
        }
        Some(header)
    }

    /// Takes `length` bytes that are there: without a copy when they lie together.
    fn take(&mut self, length: usize) -> Bytes {
        self.held = self.held.saturating_sub(length);
        if let Some(first) = self.pieces.front_mut()
            && first.len() >= length
        {
            let taken = first.split_to(length);
            if first.is_empty() {
                self.pieces.pop_front();
            }
            return taken;
        }
        let mut whole = BytesMut::with_capacity(length);
        while whole.len() < length {
            let Some(first) = self.pieces.front_mut() else { break };
            let part = first.split_to(first.len().min(length.saturating_sub(whole.len())));
            whole.extend_from_slice(&part);
            if first.is_empty() {
                self.pieces.pop_front();
            }
        }
        whole.freeze()
    }
}

/// Reads the frames that are numbers only.
fn numbered(kind: u8, content: &[u8]) -> Result<Frame, Garbled> {
    let mut fields = Fields::new("a control frame", content);
    let mut next = || fields.array().map(u64::from_le_bytes);
    let frame = match kind {
        RESUME => Frame::Resume(Resume { mine: next()?, yours: next()?, received: next()? }),
        RECEIVED => Frame::Received(next()?),
        _ => Frame::Taken { stream: next()?, bytes: next()? },
    };
    fields.end()?;
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frame_numbers_round_trip_and_short_frames_are_refused() {
        let resumed = Resume { mine: 1, yours: u64::MAX, received: 3 };
        let cases = [
            (resume(resumed), Frame::Resume(resumed)),
            (received(1 << 50), Frame::Received(1 << 50)),
            (taken(5, 6), Frame::Taken { stream: 5, bytes: 6 }),
        ];
        for (bytes, frame) in cases {
            let mut framer = Framer::new(0);
            framer.push(Bytes::copy_from_slice(&bytes));
            assert_eq!(framer.frame(), Ok(Some(frame)));
            let mut short = bytes.clone();
            short[1] -= 1;
            short.pop();
            let mut framer = Framer::new(0);
            framer.push(short.into());
            assert_eq!(framer.frame(), Err(Garbled::Short("a control frame")));
        }
    }

    fn all(framer: &mut Framer) -> Result<Vec<Frame>, Garbled> {
        let mut frames = Vec::new();
        while let Some(frame) = framer.frame()? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn framer_refuses_oversized_message_before_it_arrives() {
        let mut framer = Framer::new(100);
        framer.push(Bytes::copy_from_slice(&message_header(101)));
        let refused = Garbled::Bound { what: "a control message", length: 101, bound: 100 };
        assert_eq!(framer.frame(), Err(refused));
    }

    #[test]
    fn unknown_kinds_and_farewells_are_refused() {
        for bytes in [&[7, 0, 0, 0, 0][..], &[1, 1, 0, 0, 0, 9], &[1, 0, 0, 0, 0], &[1, 2, 0, 0, 0, 1, 1]] {
            let mut framer = Framer::new(100);
            framer.push(Bytes::copy_from_slice(bytes));
            assert!(framer.frame().is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn frames_survive_any_cut(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
            cuts in prop::collection::vec(1usize..50, 1..50),
        ) {
            let mut stream = Vec::new();
            for message in &messages {
                stream.extend_from_slice(&message_header(message.len() as u32));
                stream.extend_from_slice(message);
            }
            stream.extend_from_slice(&farewell(Farewell::Removed));
            let (mut framer, mut got, mut rest) = (Framer::new(200), Vec::new(), &stream[..]);
            for cut in cuts.iter().cycle() {
                let (piece, after) = rest.split_at(rest.len().min(*cut));
                framer.push(Bytes::copy_from_slice(piece));
                got.extend(all(&mut framer).expect("good frames"));
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
            let mut sent: Vec<_> =
                messages.into_iter().map(|m| Frame::Message(m.into())).collect();
            sent.push(Frame::Farewell(Farewell::Removed));
            prop_assert_eq!(got, sent);
        }

        #[test]
        fn framer_cuts_or_refuses_any_bytes(pieces: Vec<Vec<u8>>) {
            let mut framer = Framer::new(64);
            for piece in pieces {
                framer.push(piece.into());
                if all(&mut framer).is_err() {
                    break;
                }
            }
        }
    }
}
