//! The contract itself.

use crate::Gather;
use parvum_wire::Header;
use std::io::IoSliceMut;
use std::sync::Arc;

/// What a link can do. Asked for once, when the link is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest payload of one frame.
    pub frame: usize,
    /// Messages up to this length are sent at once; longer ones are offered,
    /// when the link can [`pull`](Link::pull), or streamed in several frames.
    pub eager: usize,
    /// Whether `pull` may work.
    pub single_copy: bool,
    /// Whether taken frames may stay behind until [`flush`](Link::flush).
    pub buffered: bool,
}

/// Why a frame was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No room at present: try again after some progress. A result, not an error.
    Full,
    /// The link is broken for good.
    Closed,
}

/// Why data was not fetched from the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRefused {
    /// The system does not permit it, or not of this memory: ask the peer to send.
    NotPermitted,
    /// The peer is gone, and the data with it.
    Gone,
}

/// A part of the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteMemory {
    /// Where it begins there.
    pub address: u64,
    /// Its bytes.
    pub length: usize,
}

/// Memory of a link that is lent to one message, until it is dropped.
pub trait Loan: Send + Sync {
    /// What the peer's `pull` is to be given for the first byte.
    fn address(&self) -> u64;

    /// Has `write` put `length` bytes behind what was filled before: it is shown room for them part by part, in order. The peer
    /// may be pulling meanwhile, as far as it is filled.
    fn fill_by(&self, length: usize, write: &mut dyn FnMut(&mut [u8]));

    /// The same with a copy of `bytes`.
    fn fill(&self, bytes: &[u8]) {
        let mut rest = bytes;
        self.fill_by(bytes.len(), &mut |part| {
            let (now, later) = rest.split_at(part.len());
            part.copy_from_slice(now);
            rest = later;
        });
    }

    /// What is filled.
    fn filled(&self) -> &[u8];
}

/// Data of a message in memory that outlives its sender.
pub trait Kept: Send + Sync {
    /// Copies `into.len()` bytes from byte `from` on. The caller does not ask for more than there is.
    fn read(&self, from: usize, into: &mut [u8]);
}

/// Reads a peer's memory from any thread, while the link that gave the reader is used by another thread. A reader stays valid when
/// its link is dropped: what it cannot read any more it says by [`PullRefused::Gone`].
pub trait Puller: Send + Sync {
    /// As [`Link::pull`].
    fn pull(&self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused>;

    /// As [`Link::pull_together`]. Several threads may call it at the same time. The call may last as long as the peer writes its
    /// last piece.
    fn pull_together(
        &self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused>;

    /// As [`Link::show`].
    fn show(&self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused>;

    /// As [`Link::can_pull`].
    fn can_pull(&self, address: u64) -> bool;
}

/// A part of what goes to several peers: which message of this task, and from which byte on.
pub type Alike = (u64, usize);

/// Takes frames as they arrive.
pub trait Sink {
    /// A frame: its header, and the payload where it lies.
    ///
    /// A link that reads a stream may give a long frame of data (`Start`, `Answer`, `More`) in parts: the
    /// first with its header, each further one as a `More`.
    fn frame(&mut self, header: &Header, payload: &[u8]);

    /// Memory where the next `length` bytes of the message under way are to lie, or the first of them: a link
    /// may write there what it would else give as `More`, and says so by [`filled`](Sink::filled).
    fn room(&mut self, length: usize) -> &mut [u8] {
        let _ = length;
        &mut []
    }

    /// So many bytes were written into what [`room`](Sink::room) gave last.
    fn filled(&mut self, length: usize) {
        let _ = length;
    }
}

impl<F: FnMut(&Header, &[u8])> Sink for F {
    #[inline]
    fn frame(&mut self, header: &Header, payload: &[u8]) {
        self(header, payload)
    }
}

/// Where peers say that they have brought something: one look at it instead of one at each link.
pub trait Inbox: Send {
    /// How many places there are. The first stands for all links whose peers do not know their place yet.
    fn places(&self) -> u32;

    /// Peers say from now on when they bring something. What was brought before may not have been said: the caller looks at
    /// all links once more.
    fn open(&mut self);

    /// Where something was brought next, and is not said again until more is; `None`: nowhere. Places may be named at which
    /// nothing lies any more.
    fn next(&mut self) -> Option<u32>;
}

/// One route between this task and one peer.
///
/// - Frames that were taken arrive once each, unchanged, in the order given,
///   unless the link closes; then a prefix of them has arrived.
/// - No call blocks. No call allocates in steady state.
/// - A link is used by one thread at a time; the engine sees to that.
/// - Frames that had arrived before the peer died can still be received.
/// - Dropping a link releases all that it holds on this side; it does not wait.
pub trait Link: Send {
    /// What the link can do.
    fn limits(&self) -> Limits;

    /// Hands over one frame. On `Ok` the payload has been copied and its
    /// memory may be reused. A sleeping peer is woken.
    ///
    /// The payload must not be longer than [`Limits::frame`].
    fn send(&mut self, header: &Header, payload: Gather<'_>) -> Result<(), Refused>;

    /// As [`send`](Link::send), of data that goes to several peers over links that may share a connection. Frames with
    /// the same `data` have the same payload: what follows at once need not carry it again.
    fn send_alike(&mut self, header: &Header, payload: Gather<'_>, data: Alike) -> Result<(), Refused> {
        let _ = data;
        self.send(header, payload)
    }

    /// Publishes for the peer which message this task awaits from it: a word that [`awaited`](Link::awaited) gives there.
    /// A hint to the peer, and nothing on links without shared memory.
    fn await_message(&mut self, word: u64) {
        let _ = word;
    }

    /// What the peer has published last, 0 when it has not or cannot.
    fn awaited(&self) -> u64 {
        0
    }

    /// Publishes for the peer which long message this task waits for just now, 0 for none: a word that [`wanted`](Link::wanted) gives
    /// there. A hint as [`await_message`](Link::await_message) is.
    fn want_message(&mut self, word: u64) {
        let _ = word;
    }

    /// What the peer has published so last.
    fn wanted(&self) -> u64 {
        0
    }

    /// Gives arrived frames to `sink`, at most `most` of them, and returns how many.
    ///
    /// The payload lies in the transport's memory and is gone when `sink` returns.
    /// `Err(Closed)` only after every frame that arrived was given; never `Full`.
    fn receive(&mut self, most: usize, sink: &mut dyn Sink) -> Result<usize, Refused>;

    /// Copies what lies in these places of the peer's memory, one behind the other, to `into`, as far as both reach, and
    /// says how many bytes it has copied: fewer when the peer is still filling its [loan](Link::lend), which is one
    /// place. The caller tries again later, for the rest.
    ///
    /// On an error `into` may hold part of the data.
    fn pull(&mut self, from: &[RemoteMemory], into: &mut [IoSliceMut<'_>]) -> Result<usize, PullRefused> {
        let _ = (from, into);
        Err(PullRefused::NotPermitted)
    }

    /// As [`pull`](Link::pull), of all that `into` has room for: what lies in these places, which are the data of the offer `cookie` from
    /// byte `at` on. A peer that [helps](Link::part_to_put) copies parts of it. On an error nobody writes there any more.
    fn pull_together(
        &mut self,
        cookie: u64,
        at: u64,
        from: &[RemoteMemory],
        into: &mut [u8],
    ) -> Result<(), PullRefused> {
        let _ = (cookie, at);
        self.pull(from, &mut [IoSliceMut::new(into)]).map(|_| ())
    }

    /// A part of the data of the offer `cookie` that the peer [pulls](Link::pull_together), and that this end copies for it: from which
    /// byte on, and how many. The caller gives them to [`put_part`](Link::put_part) at once. `None`: there is none now.
    fn part_to_put(&mut self, cookie: u64) -> Option<(u64, usize)> {
        let _ = cookie;
        None
    }

    /// Copies the part that was asked for last to where the peer wants it. No data: there is none of that.
    fn put_part(&mut self, part: Option<Gather<'_>>) {
        let _ = part;
    }

    /// As [`pull`](Link::pull) of one place, but the data is shown to `take`, part by part and in order, for it to put elsewhere.
    /// Where the link can, it shows it where it lies.
    fn show(&mut self, from: RemoteMemory, take: &mut dyn FnMut(&[u8])) -> Result<usize, PullRefused> {
        show_by_portions(self, from, take)
    }

    /// What other threads read the peer's memory with. `None`: only the link itself can, or nobody.
    fn puller(&mut self) -> Option<Arc<dyn Puller>> {
        None
    }

    /// Whether `pull` is known to work with this peer, for what lies at `address` of its own memory.
    fn can_pull(&self, address: u64) -> bool {
        let _ = address;
        false
    }

    /// Whether what lies at `address` is memory that the peer's end [lends](Link::lend), and will be filled in soon.
    fn lends(&self, address: u64) -> bool {
        let _ = address;
        false
    }

    /// The `length` bytes at `address`, if all of them lie in memory that stays when the peer goes.
    fn kept(&mut self, address: u64, length: usize) -> Option<Arc<dyn Kept>> {
        let _ = (address, length);
        None
    }

    /// Lends memory that the peer can `pull` from, for a message of so many bytes. `None` when this
    /// link has no such memory, or not now.
    fn lend(&mut self, length: usize) -> Option<Arc<dyn Loan>> {
        let _ = length;
        None
    }

    /// How many bytes are lent, and not yet given back by dropping the loans.
    fn lent(&self) -> usize {
        0
    }

    /// Tells the peer its place in this task's [`Inbox`]. False: peers of this link say nothing there.
    fn set_place(&mut self, place: u32) -> bool {
        let _ = place;
        false
    }

    /// Gives back memory in which no message has lain since the last call. Called now and then, some time apart.
    fn rest(&mut self) {}

    /// The task is about to sleep until a socket of a link is readable, and looks at all links once more before that. If the socket
    /// of a link needs a call before it shows anything, the link makes the call here.
    fn doze(&mut self) {}

    /// The peer has ended, and all that it sent lies in this host. The next [`receive`](Link::receive) asks the system, even if an
    /// earlier answer said that nothing is there.
    fn look_anew(&mut self) {}

    /// The task leaves. From now on [`flush`](Link::flush) returns true only if all that was sent will
    /// arrive after the end of this process.
    fn leave(&mut self) {}

    /// Whether the peer has let this end in. Until it has, what is sent may lie anywhere on the way; a link over which nobody
    /// can be kept waiting so always stands.
    fn stands(&self) -> bool {
        true
    }

    /// Whether the peer takes in what comes while its program computes, when it is [called](Link::summon). What is
    /// to lie at the receiver need not be kept by the sender then.
    fn is_attended(&self) -> bool {
        false
    }

    /// Calls the peer if it computes: something waits for it here.
    fn summon(&self) {}

    /// Counts, where the peer sees it without a look at its links, that a note was sent to it. False: there is no such place.
    fn notify(&self) -> bool {
        false
    }

    /// Pushes out what an earlier `send` took but could not hand over yet.
    /// Returns whether all of it has left.
    fn flush(&mut self) -> Result<bool, Refused> {
        Ok(true)
    }
}

/// What [`Link::show`] does where the data cannot be shown where it lies: pulls portions of it.
pub fn show_by_portions<L: Link + ?Sized>(
    link: &mut L,
    from: RemoteMemory,
    take: &mut dyn FnMut(&[u8]),
) -> Result<usize, PullRefused> {
    show_pulled(from, take, |place, portion| link.pull(&[place], &mut [IoSliceMut::new(portion)]))
}

/// Pulls portions by `pull` and shows them to `take`. How many bytes were there.
pub fn show_pulled(
    from: RemoteMemory,
    take: &mut dyn FnMut(&[u8]),
    mut pull: impl FnMut(RemoteMemory, &mut [u8]) -> Result<usize, PullRefused>,
) -> Result<usize, PullRefused> {
    let mut portion = vec![0; from.length.min(PORTION)];
    let mut done = 0;
    while done < from.length {
        let wanted = portion.len().min(from.length - done);
        // An address that a peer made up may be any number.
        let place = RemoteMemory { address: from.address.wrapping_add(done as u64), length: wanted };
        let got = pull(place, &mut portion[..wanted])?;
        take(&portion[..got]);
        done += got;
        if got < wanted {
            break;
        }
    }
    Ok(done)
}

/// So many bytes are pulled at a time: they stay in the near caches until they are taken, and are worth a system call.
const PORTION: usize = 64 << 10;
