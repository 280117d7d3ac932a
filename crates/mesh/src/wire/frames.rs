//! Control messages in the control stream: kind (1 byte), length (4 bytes),
//! content.

use super::Garbled;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;

/// The bytes before each content.
pub const FRAME_HEADER: usize = 5;
const MESSAGE: u8 = 0;
const FAREWELL: u8 = 1;

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

/// One unit of the control stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
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
            self.held += bytes.len();
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
            _ => return Err(Garbled::Value("a control frame")),
        };
        if length > bound {
            return Err(Garbled::Bound { what: "a control message", length, bound });
        }
        if self.held < FRAME_HEADER + length {
            return Ok(None);
        }
        self.take(FRAME_HEADER);
        let content = self.take(length);
        if kind == MESSAGE {
            return Ok(Some(Frame::Message(content)));
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
        self.held -= length;
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
            let part = first.split_to(first.len().min(length - whole.len()));
            whole.extend_from_slice(&part);
            if first.is_empty() {
                self.pieces.pop_front();
            }
        }
        whole.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(framer: &mut Framer) -> Result<Vec<Frame>, Garbled> {
        let mut frames = Vec::new();
        while let Some(frame) = framer.frame()? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn too_long_is_refused_before_it_arrives() {
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
        fn any_bytes_are_cut_or_refused(pieces: Vec<Vec<u8>>) {
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
