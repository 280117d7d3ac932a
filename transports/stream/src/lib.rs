//! The common code of transports with sockets: frames over a nonblocking byte stream, and the contract with the runtime
//! ([`sockets`]).

#![forbid(unsafe_code)]
// Peers choose the bytes that this crate reads. A length of theirs must end in an error, not in a panic.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

pub mod readiness;
pub mod sockets;

use parvum_transport::{Gather, Refused};
use rustix::fd::BorrowedFd;
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};

/// A socket to write to. A write to a peer that is gone returns an error: std's vectored write would end the program
/// with SIGPIPE.
pub struct Quiet<'a>(pub BorrowedFd<'a>);

impl Write for Quiet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(sendmsg(self.0, slices, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Output that a stream did not take at once.
#[derive(Default)]
pub struct Outbox {
    pending: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Bytes that may be pending before frames are refused.
    const BOUND: usize = 64 << 10;

    /// Writes `head` and the payload, or keeps what the stream does not take.
    ///
    /// `Full` if the stream has not taken all kept data yet; then no part of the frame is kept.
    pub fn write(&mut self, to: &mut impl Write, head: &[u8], payload: Gather<'_>) -> Result<(), Refused> {
        if !self.flush(to)? {
            self.refuse_beyond_the_bound()?;
            self.keep(0, head, payload);
            return Ok(());
        }
        let mut slices = [IoSlice::new(&[]); 8];
        slices[0] = IoSlice::new(head);
        let mut count = 1usize;
        let mut offered = head.len();
        for (slice, piece) in slices.iter_mut().skip(1).zip(payload.pieces()) {
            *slice = IoSlice::new(piece);
            offered = offered.saturating_add(piece.len());
            count = count.saturating_add(1);
        }
        let written = match to.write_vectored(slices.get(..count).unwrap_or(&slices)) {
            Ok(written) => written,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => return Err(Refused::Closed),
        };
        if written < head.len().saturating_add(payload.len()) {
            self.keep(written, head, payload);
            if written == offered {
                self.flush(to)?;
            }
        }
        Ok(())
    }

    /// The buffer for a frame that leaves with [`flush`](Self::flush), after the data that is already there. `Full` as
    /// in [`write`](Self::write).
    pub fn behind(&mut self, to: &mut impl Write) -> Result<&mut Vec<u8>, Refused> {
        if !self.flush(to)? {
            self.refuse_beyond_the_bound()?;
        }
        Ok(&mut self.pending)
    }

    /// The buffer for the rest of such a frame.
    pub fn further(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    fn refuse_beyond_the_bound(&self) -> Result<(), Refused> {
        if self.pending.len().saturating_sub(self.sent) > Self::BOUND { Err(Refused::Full) } else { Ok(()) }
    }

    /// Keeps the frame from its byte `from` on.
    fn keep(&mut self, from: usize, head: &[u8], payload: Gather<'_>) {
        self.pending.extend_from_slice(head.get(from..).unwrap_or_default());
        for piece in payload.part(from.saturating_sub(head.len()), payload.len()).pieces() {
            self.pending.extend_from_slice(piece);
        }
    }

    /// Writes what is kept; whether all of it has left.
    pub fn flush(&mut self, to: &mut impl Write) -> Result<bool, Refused> {
        while let Some(rest) = self.pending.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match to.write(rest) {
                Ok(0) => return Err(Refused::Closed),
                Ok(written) => self.sent = self.sent.saturating_add(written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(Refused::Closed),
            }
        }
        self.pending.clear();
        self.sent = 0;
        Ok(true)
    }
}

/// Input that has been read and not yet understood.
pub struct Inbox {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    closed: bool,
    emptied: bool,
}

impl Inbox {
    /// Room for `room` bytes, which must hold the longest frame.
    pub fn new(room: usize) -> Inbox {
        Inbox { buffer: vec![0; room].into(), start: 0, end: 0, closed: false, emptied: false }
    }

    /// Reads what has come, once. Whether anything came.
    pub fn fill(&mut self, from: &mut impl Read) -> bool {
        self.fill_some(usize::MAX, from)
    }

    /// The same of at most `most` bytes: where they are the beginning of something long, what follows can be read to
    /// where it shall lie.
    pub fn fill_some(&mut self, most: usize, from: &mut impl Read) -> bool {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end.saturating_sub(self.start));
        }
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        if free.is_empty() || self.closed {
            return false;
        }
        let size = free.len().min(most);
        match from.read(free.get_mut(..size).unwrap_or_default()) {
            Ok(0) => self.closed = true,
            Ok(count) => {
                self.end = self.end.saturating_add(count);
                self.emptied = count < size;
                return true;
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.closed = true,
        }
        false
    }

    /// Reads what has come, once: first into `room`, what is more into the inbox, which must be empty. How many
    /// bytes went into the room.
    ///
    /// The inbox takes little then: enough for what follows the room's data to be understood, and no more
    /// than is worth copying again.
    pub fn fill_behind(&mut self, room: &mut [u8], from: &mut impl Read) -> usize {
        const BEHIND: usize = 4096;
        debug_assert_eq!(self.start, self.end);
        (self.start, self.end) = (0, 0);
        let behind = BEHIND.min(self.buffer.len());
        let size = room.len();
        let own = self.buffer.get_mut(..behind).unwrap_or_default();
        let mut slices = [IoSliceMut::new(room), IoSliceMut::new(own)];
        match from.read_vectored(&mut slices) {
            Ok(0) => self.closed = true,
            Ok(count) => {
                self.emptied = count < size.saturating_add(behind);
                self.end = count.saturating_sub(size);
                return count.min(size);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.closed = true,
        }
        0
    }

    /// Whether the last read that brought something has emptied the stream: nothing more had come then.
    pub fn has_emptied(&self) -> bool {
        self.emptied
    }

    /// The bytes that were read and not consumed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// The first `count` bytes have been understood.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Whether the stream has ended; bytes may be left.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes at a time and every so often none.
    #[derive(Default)]
    struct Reluctant {
        taken: Vec<u8>,
        turn: usize,
    }

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.turn += 1;
            if self.turn.is_multiple_of(3) {
                return Err(ErrorKind::WouldBlock.into());
            }
            let count = bytes.len().min(self.turn % 7 + 1);
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn reluctant_stream_delivers_every_byte_in_order() {
        let (mut outbox, mut stream, mut expected) = (Outbox::default(), Reluctant::default(), Vec::new());
        for round in 0..200u8 {
            let pieces: Vec<Vec<u8>> = (0..round as usize % 12).map(|i| vec![round; i]).collect();
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            outbox.write(&mut stream, &[round, 255], Gather::new(&pieces)).expect("within the bound");
            expected.extend_from_slice(&[round, 255]);
            pieces.iter().for_each(|piece| expected.extend_from_slice(piece));
        }
        while !outbox.flush(&mut stream).expect("open") {}
        assert_eq!(stream.taken, expected);
    }

    #[test]
    fn outbox_is_bounded() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(ErrorKind::WouldBlock.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut outbox = Outbox::default();
        let data = [0; 4096];
        let taken =
            (0..1000).take_while(|_| outbox.write(&mut Full, &[1], Gather::new(&[&data])).is_ok()).count();
        assert!(taken < 20, "{taken} frames kept");
    }

    #[test]
    fn inbox_returns_bytes_and_notices_the_end() {
        let mut inbox = Inbox::new(8);
        let mut source = &b"abcdefghijkl"[..];
        let mut seen = Vec::new();
        while !inbox.is_closed() {
            inbox.fill(&mut source);
            let take = inbox.bytes().len().min(3);
            seen.extend_from_slice(&inbox.bytes()[..take]);
            inbox.consume(take);
        }
        seen.extend_from_slice(inbox.bytes());
        assert_eq!(seen, b"abcdefghijkl");
    }

    #[test]
    fn inbox_reads_only_requested_bytes() {
        let (mut inbox, mut source) = (Inbox::new(8), &b"abcdefghijkl"[..]);
        assert!(inbox.fill_some(2, &mut source));
        assert_eq!((inbox.bytes(), source, inbox.has_emptied()), (&b"ab"[..], &b"cdefghijkl"[..], false));
        assert!(inbox.fill_some(99, &mut source));
        assert_eq!((inbox.bytes(), source), (&b"abcdefgh"[..], &b"ijkl"[..]));
    }
}
