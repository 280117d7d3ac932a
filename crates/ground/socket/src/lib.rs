//! Unix stream sockets that carry control frames and descriptors, for both ends
//! of the conversation.
//!
//! Nothing here blocks: sends and receives are tried once. The caller decides
//! how to wait (the daemon in its runtime, a task in poll(2)).

#![forbid(unsafe_code)]

mod place;
mod room;
mod spares;

pub use place::{MachineDirectory, PlaceError};
pub use room::{keep_room_beyond, make_room};
pub use spares::Spares;

use parvum_wire::control::{CodecError, Directions, HEADER_BYTES, decode, header};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;

/// The most descriptors in one call; the codec's bound on a frame is lower.
const MAX_FDS: usize = 16;
/// How much the first receive takes at most: plenty for what most connections ever hear at once.
/// Each page of the buffer costs a process that has just begun a page fault.
const SMALL_CHUNK: usize = 2 * 1024;
/// How much one receive takes at most on a connection that has filled smaller ones.
const CHUNK: usize = 64 * 1024;

/// Sends as much of `bytes` as the socket takes now, with `fds` attached to the
/// first byte. Returns how many bytes went; once it is more than zero the
/// descriptors went too. `WouldBlock` when the socket is full.
pub fn send(socket: impl AsFd, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut room);
    if !fds.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    loop {
        match sendmsg(&socket, &[IoSlice::new(bytes)], &mut ancillary, flags) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// What [`Inbox::fill`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// So many bytes more.
    Bytes(usize),
    /// Nothing now.
    Empty,
    /// The other side closed.
    Closed,
}

/// What [`Inbox::ahead`] has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    bytes: usize,
    /// The last of the bytes belong to a frame that brings descriptors.
    pub descriptors: bool,
}

/// Why the inbox gave up; the connection is of no use afterwards.
#[derive(Debug, thiserror::Error)]
pub enum InboxError {
    /// Not a control frame, or one of another release.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// Fewer descriptors came than the frames said, or far more.
    #[error("descriptors and control frames do not match")]
    MissingDescriptors,
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Received bytes and descriptors, on their way to being messages.
#[derive(Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    chunk: usize,
    fds: VecDeque<OwnedFd>,
    /// Some of the descriptors that came last are missing: this process may have no more.
    short: bool,
}

impl Inbox {
    /// What the next receive will find, without taking it: room can be made for descriptors before. A connection that has ended, or
    /// fails, is ahead as well; [`Inbox::fill_with`] tells which.
    pub fn ahead(&mut self, socket: impl AsFd) -> Option<Ahead> {
        let mut none = RecvAncillaryBuffer::default();
        let end = self.bytes.len();
        let result = self.receive(socket, &mut none, RecvFlags::DONTWAIT | RecvFlags::PEEK, usize::MAX);
        self.bytes.truncate(end);
        match result {
            Err(Errno::AGAIN) => None,
            Err(_) => Some(Ahead { bytes: 0, descriptors: false }),
            Ok((bytes, flags)) => Some(Ahead { bytes, descriptors: flags.contains(ReturnFlags::CTRUNC) }),
        }
    }

    /// Receives once what is there, without blocking.
    pub fn fill(&mut self, socket: impl AsFd) -> Result<Filled, InboxError> {
        self.fill_up_to(socket, usize::MAX)
    }

    /// Receives what [`Inbox::ahead`] has found and nothing that came behind it: descriptors among that would find no room.
    pub fn fill_with(&mut self, socket: impl AsFd, ahead: Ahead) -> Result<Filled, InboxError> {
        // Of an end or an error there is nothing to receive: a byte is room enough to hear of it.
        self.fill_up_to(socket, ahead.bytes.max(1))
    }

    fn fill_up_to(&mut self, socket: impl AsFd, most: usize) -> Result<Filled, InboxError> {
        self.make_room();
        let end = self.bytes.len();
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut room);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let result = self.receive(socket, &mut ancillary, flags, most);
        let got = result.as_ref().map_or(0, |(got, _)| *got);
        self.bytes.truncate(end + got);
        if got == self.chunk {
            self.chunk = CHUNK;
        }
        let flags = match result {
            Ok((_, flags)) => flags,
            Err(Errno::AGAIN) => return Ok(Filled::Empty),
            Err(Errno::CONNRESET) => return Ok(Filled::Closed),
            Err(error) => return Err(InboxError::System(error.into())),
        };
        for part in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = part {
                self.fds.extend(fds);
                self.fds.iter().next_back().inspect(|newest| keep_room_beyond(newest));
            }
        }
        self.short |= flags.contains(ReturnFlags::CTRUNC);
        if self.fds.len() > 4 * MAX_FDS {
            return Err(InboxError::MissingDescriptors);
        }
        Ok(if got == 0 { Filled::Closed } else { Filled::Bytes(got) })
    }

    /// Receives behind the bytes that are there, `most` at most, and leaves the buffer longer by as much as could have come.
    fn receive(
        &mut self,
        socket: impl AsFd,
        ancillary: &mut RecvAncillaryBuffer<'_>,
        flags: RecvFlags,
        most: usize,
    ) -> Result<(usize, ReturnFlags), Errno> {
        let end = self.bytes.len();
        self.chunk = self.chunk.max(SMALL_CHUNK);
        self.bytes.resize(end + self.chunk.min(most), 0);
        loop {
            let mut into = [IoSliceMut::new(&mut self.bytes[end..])];
            match recvmsg(&socket, &mut into, ancillary, flags) {
                Err(Errno::INTR) => {}
                other => return other.map(|message| (message.bytes, message.flags)),
            }
        }
    }

    /// Takes the next whole message and its descriptors; `None` when more bytes are needed. Where the message says that
    /// there are some and none come with it, this process had no room for them.
    pub fn take<M: Directions>(&mut self) -> Result<Option<(M, Vec<OwnedFd>)>, InboxError> {
        let waiting = &self.bytes[self.start..];
        let Some(head) = header(waiting)? else { return Ok(None) };
        let Some(body) = waiting.get(HEADER_BYTES..HEADER_BYTES + head.length) else { return Ok(None) };
        let message = decode(body)?;
        // The kernel delivers descriptors with the first byte they were sent
        // with, so those of a whole frame are all here.
        let fds = match self.fds.len() < head.fds {
            false => self.fds.drain(..head.fds).collect(),
            // The kernel had to drop some, and those of later frames have not come yet: it delivers one frame's at a time.
            true if std::mem::take(&mut self.short) => {
                self.fds.clear();
                Vec::new()
            }
            true => return Err(InboxError::MissingDescriptors),
        };
        self.start += HEADER_BYTES + head.length;
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
        Ok(Some((message, fds)))
    }

    /// Bytes received beyond the last message taken: what follows a change of
    /// protocol on the same connection.
    pub fn leftover(&mut self) -> Vec<u8> {
        let rest = self.bytes.split_off(self.start);
        self.bytes.clear();
        self.start = 0;
        rest
    }

    /// Moves the unread bytes to the front once the read ones outweigh them, so
    /// that the buffer is bounded by one frame and one chunk.
    fn make_room(&mut self) {
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parvum_wire::control::{Call, Request, frame};
    use std::os::unix::net::UnixStream;

    #[test]
    fn frames_arrive_whole_with_their_descriptors() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let (extra, _) = UnixStream::pair().expect("a pair");
        let mut inbox = Inbox::default();
        assert_eq!(inbox.fill(&b).expect("works"), Filled::Empty);
        let bytes = frame(&Call { id: 1, request: Request::Hosts }, 0).expect("fits");
        send(&a, &bytes, &[]).expect("room");
        let bytes = frame(&Call { id: 2, request: Request::Info }, 1).expect("fits");
        assert_eq!(send(&a, &bytes[..3], &[extra.as_fd()]).expect("room"), 3);
        while inbox.fill(&b).expect("works") != Filled::Empty {}
        let (call, fds) = inbox.take::<Call>().expect("ours").expect("whole");
        assert_eq!((call.id, fds.len()), (1, 0));
        assert!(inbox.take::<Call>().expect("ours so far").is_none());
        send(&a, &bytes[3..], &[]).expect("room");
        inbox.fill(&b).expect("works");
        let (call, fds) = inbox.take::<Call>().expect("ours").expect("whole");
        assert_eq!((call.id, fds.len()), (2, 1));
        drop(a);
        assert_eq!(inbox.fill(&b).expect("works"), Filled::Closed);
    }

    /// Room is made for what is known to come; what comes between the look and the receive waits for the next look.
    #[test]
    fn inbox_receives_only_descriptors_seen_ahead() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let mut inbox = Inbox::default();
        assert_eq!(inbox.ahead(&b), None);
        send(&a, &frame(&Call { id: 1, request: Request::Hosts }, 0).expect("fits"), &[]).expect("room");
        let plain = inbox.ahead(&b).expect("a frame");
        send(&a, &frame(&Call { id: 2, request: Request::Info }, 1).expect("fits"), &[b.as_fd()])
            .expect("room");
        inbox.fill_with(&b, plain).expect("works");
        assert!(!plain.descriptors && inbox.take::<Call>().expect("ours").is_some());
        assert!(inbox.fds.is_empty() && inbox.take::<Call>().expect("nothing yet").is_none());
        let more = inbox.ahead(&b).expect("another frame");
        inbox.fill_with(&b, more).expect("works");
        let (_, fds) = inbox.take::<Call>().expect("ours").expect("whole");
        assert!(more.descriptors && fds.len() == 1);
        drop(a);
        let end = inbox.ahead(&b).expect("the end");
        assert_eq!(inbox.fill_with(&b, end).expect("works"), Filled::Closed);
    }

    #[test]
    fn frame_without_its_descriptors_is_refused() {
        let (a, b) = UnixStream::pair().expect("a pair");
        let bytes = frame(&Call { id: 2, request: Request::Info }, 1).expect("fits");
        send(&a, &bytes, &[]).expect("room");
        let mut inbox = Inbox::default();
        inbox.fill(&b).expect("works");
        assert!(matches!(inbox.take::<Call>(), Err(InboxError::MissingDescriptors)));
    }
}
